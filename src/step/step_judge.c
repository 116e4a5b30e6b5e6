#include "step/step_judge.h"

#include "base/base_math.h"

static bool is_diagonal(const rg_mat3 *m) {
    return m->m[0][1] == 0 && m->m[0][2] == 0 && m->m[1][2] == 0;
}

rg_vec3 rg_judge_turn_through(const rg_mat3 *inertia, bool inverse, rg_quat orientation,
                              rg_vec3 v) {
    rg_mat3 r = rg_mat3_of_quat(orientation), other;
    rg_vec3 local = {r.m[0][0] * v.x + r.m[1][0] * v.y + r.m[2][0] * v.z,
                     r.m[0][1] * v.x + r.m[1][1] * v.y + r.m[2][1] * v.z,
                     r.m[0][2] * v.x + r.m[1][2] * v.y + r.m[2][2] * v.z};
    double x = inertia->m[0][0], y = inertia->m[1][1], z = inertia->m[2][2];
    if (is_diagonal(inertia)) {
        local = inverse ? rg_vec3_make(local.x / x, local.y / y, local.z / z)
                        : rg_vec3_make(local.x * x, local.y * y, local.z * z);
    } else {
        if (inverse)
            other = rg_judge_inverse(inertia);
        local = rg_mat3_apply(inverse ? &other : inertia, local);
    }
    return rg_mat3_apply(&r, local);
}

static inline rg_vec3 spin_momentum(const rg_world_content *c, size_t i, rg_quat orientation) {
    const rg_mat3 *inertia = &c->record[i].mass.inertia;
    rg_vec3 w = c->angular_velocity[i];
    if (c->planar)
        return (rg_vec3){0, inertia->m[1][1] * w.y, 0};
    if (rg_is_zero(w) || rg_mat3_is_scalar(inertia))
        return rg_scale(inertia->m[0][0], w);
    return rg_judge_turn_through(inertia, false, orientation, w);
}

static inline void add_body(const rg_world_content *c, size_t i, rg_vec3 spin, rg_judge_totals *t) {
    double mass = c->record[i].mass.mass;
    rg_vec3 x = c->position[i], v = c->velocity[i], p = rg_scale(mass, v);
    double size = rg_length(p);
    t->kinetic += 0.5 * (mass * rg_dot(v, v) + rg_dot(c->angular_velocity[i], spin));
    t->potential -= mass * c->dynamics[i].gravity_scale * rg_dot(c->gravity, x);
    t->momentum = rg_add(t->momentum, p);
    t->angular_momentum = rg_add(t->angular_momentum, rg_add(rg_cross(x, p), spin));
    double gyration = c->dynamics[i].gyration_radius;
    t->momentum_size += size + (rg_is_zero(spin) ? 0 : rg_length(spin) / gyration);
    t->reach = fmax(t->reach, rg_length(x) + gyration);
    t->angular_size += rg_length(x) * size + rg_length(spin);
}

rg_judge_totals rg_judge_look(const rg_world_content *c) {
    rg_judge_totals t = {0};
    for (size_t i = 0; i < c->bodies.count; i++)
        if (c->record[i].motion == RG_MOTION_DYNAMIC)
            add_body(c, i, spin_momentum(c, i, rg_body_origin_pose(c, i).orientation), &t);
    return t;
}

rg_judge_totals rg_judge_arrive(const rg_world_content *c, const uint8_t *whose,
                                const rg_judge_memory *memory) {
    rg_judge_totals t = {0};
    for (size_t i = 0; i < c->bodies.count; i++) {
        bool dynamic = c->record[i].motion == RG_MOTION_DYNAMIC;
        if (whose && !whose[i] && dynamic)
            continue;
        rg_judge_origin(c, i, &memory->now[i]);
        if (!dynamic)
            continue;
        memory->turning[i] = spin_momentum(c, i, memory->now[i].orientation);
        add_body(c, i, memory->turning[i], &t);
    }
    return t;
}

/* What is beyond the range of numbers proves nothing, so it counts as wrong. */
static double relative(double error, double size) {
    if (!isfinite(error) || !isfinite(size))
        return INFINITY;
    return size > 0 ? error / size : error > 0 ? INFINITY : 0;
}

/* What of a change neither the impulse of forces nor that of contacts explains. `size`: of what
 * they are known to the rounding of. */
static double unexplained(rg_vec3 before, rg_vec3 after, rg_vec3 forces, rg_vec3 contacts,
                          double size) {
    rg_vec3 error = rg_sub(rg_sub(after, before), rg_add(forces, contacts));
    return relative(rg_length(error), size);
}

/* Forces and contacts may balance each other, as those of a body that is pressed to the ground do,
 * and torques among contacts as well: the magnitudes of the impulses count, and how far from the
 * origin they may act. */
static double momentum_error(const rg_judge_totals *before, const rg_judge_totals *after,
                             const rg_step_report *report, const rg_judge_contacts *contacts) {
    double exchanged = rg_length(report->impulse) + rg_length(contacts->impulse);
    double linear =
        fmax(before->momentum_size, after->momentum_size) + contacts->momentum_stake + exchanged;
    double angular = fmax(before->angular_size, after->angular_size) + contacts->angular_stake +
                     fmax(before->reach, after->reach) * exchanged +
                     rg_length(report->angular_impulse) + rg_length(contacts->angular_impulse);
    return fmax(
        unexplained(before->momentum, after->momentum, report->impulse, contacts->impulse, linear),
        unexplained(before->angular_momentum, after->angular_momentum, report->angular_impulse,
                    contacts->angular_impulse, angular));
}

void rg_judge_measure_nothing(rg_step_info *info) {
    info->certificate = (rg_certificate){.min_gap = NAN,
                                         .max_penetration = NAN,
                                         .complementarity = NAN,
                                         .cone_violation = NAN,
                                         .joint_error = NAN,
                                         .momentum_error = NAN};
    info->energy = (rg_energy_ledger){.initial = NAN,
                                      .final = NAN,
                                      .impact_loss = NAN,
                                      .friction_work = NAN,
                                      .stabilisation = NAN,
                                      .integration = NAN,
                                      .external_work = NAN,
                                      .prescribed_work = NAN,
                                      .closure = NAN,
                                      .closure_rel = NAN};
}

/* Everything that changed the energy, and the sum of the magnitudes. */
static double work_of(const rg_energy_ledger *e) {
    return e->external_work + e->friction_work - e->impact_loss + e->stabilisation +
           e->integration + e->prescribed_work;
}

static double work_size(const rg_energy_ledger *e) {
    return fabs(e->external_work) + fabs(e->friction_work) + fabs(e->impact_loss) +
           fabs(e->stabilisation) + fabs(e->integration) + fabs(e->prescribed_work);
}

void rg_judge_step(const rg_judge_totals *before, const rg_judge_totals *after,
                   const rg_step_report *report, const rg_judge_contacts *contacts,
                   rg_step_info *info) {
    rg_judge_measure_nothing(info);
    info->certificate.momentum_error = momentum_error(before, after, report, contacts);
    if (report->counts.solves) {
        info->certificate.complementarity = rg_max3(
            report->counts.worst_residual, report->found.complementarity, contacts->twist_error);
        info->certificate.cone_violation =
            rg_max3(report->counts.worst_cone, report->found.cone, contacts->twist_cone);
    }
    info->energy = (rg_energy_ledger){0};
    rg_energy_ledger *e = &info->energy;
    e->initial = before->kinetic + before->potential;
    e->final = after->kinetic + after->potential;
    e->external_work = report->external_work + contacts->drive;
    e->impact_loss = -contacts->impact;
    e->friction_work = contacts->friction;
    e->stabilisation =
        contacts->stabilisation + report->projected_kinetic + report->projected_potential;
    e->integration = contacts->integration - report->projected_potential;
    e->prescribed_work = contacts->prescribed;
    double fall = after->potential - before->potential;
    e->closure = (after->kinetic - before->kinetic) + fall - work_of(e);
    double size =
        fmax(before->kinetic, after->kinetic) + work_size(e) + fabs(fall) + contacts->stake;
    e->closure_rel = relative(fabs(e->closure), size);
}

/* The worse of two figures of which either may be missing (NaN). */
static double larger(double a, double b) {
    return isnan(a) || b > a ? b : a;
}

static double smaller(double a, double b) {
    return isnan(a) || b < a ? b : a;
}

void rg_certificate_keep_worst(rg_certificate *worst, const rg_certificate *step) {
    worst->min_gap = smaller(worst->min_gap, step->min_gap);
    worst->max_penetration = larger(worst->max_penetration, step->max_penetration);
    worst->complementarity = larger(worst->complementarity, step->complementarity);
    worst->cone_violation = larger(worst->cone_violation, step->cone_violation);
    worst->joint_error = larger(worst->joint_error, step->joint_error);
    worst->momentum_error = larger(worst->momentum_error, step->momentum_error);
}

rg_step_info rg_step_info_nothing(void) {
    rg_step_info nothing = {0};
    rg_judge_measure_nothing(&nothing);
    return nothing;
}

void rg_ledger_add_work(rg_energy_ledger *sum, const rg_energy_ledger *step) {
    sum->final = step->final;
    sum->external_work += step->external_work;
    sum->impact_loss += step->impact_loss;
    sum->friction_work += step->friction_work;
    sum->stabilisation += step->stabilisation;
    sum->integration += step->integration;
    sum->prescribed_work += step->prescribed_work;
    sum->closure += step->closure;
}

static void add_ledger(rg_energy_ledger *sum, const rg_energy_ledger *step) {
    if (isnan(step->initial) && isnan(step->final))
        return; /* no judge */
    if (isnan(sum->initial) && isnan(sum->final))
        *sum = (rg_energy_ledger){.initial = step->initial};
    rg_ledger_add_work(sum, step);
    sum->closure_rel = fmax(sum->closure_rel, step->closure_rel);
}

void rg_step_info_add(rg_step_info *sum, const rg_step_info *step) {
    rg_certificate_keep_worst(&sum->certificate, &step->certificate);
    add_ledger(&sum->energy, &step->energy);
    rg_step_info_count(sum, step);
}

void rg_step_info_count(rg_step_info *sum, const rg_step_info *step) {
    sum->steps += step->steps;
    sum->time = step->time;
    sum->substeps += step->substeps;
    sum->rejected += step->rejected;
    sum->evaluations += step->evaluations;
    if (step->contacts_max > sum->contacts_max)
        sum->contacts_max = step->contacts_max;
    sum->impacts += step->impacts;
    sum->solves += step->solves;
    sum->solver_iterations += step->solver_iterations;
    sum->solver_failures += step->solver_failures;
    sum->fallbacks += step->fallbacks;
    sum->passed_through += step->passed_through;
}

void rg_judge_record(rg_run_record *run, const rg_judge_totals *before,
                     const rg_judge_totals *after, const rg_judge_contacts *contacts,
                     const rg_step_info *info) {
    rg_step_info *sum = &run->summary;
    if (run->judged++ == 0) {
        rg_judge_measure_nothing(sum);
        sum->energy = (rg_energy_ledger){.initial = info->energy.initial};
        run->initial_potential = before->potential;
    }
    rg_certificate_keep_worst(&sum->certificate, &info->certificate);
    rg_ledger_add_work(&sum->energy, &info->energy);
    run->total_work += work_size(&info->energy);
    run->largest_kinetic =
        fmax(run->largest_kinetic, fmax(before->kinetic, after->kinetic) + contacts->stake);
    double size =
        run->largest_kinetic + run->total_work + fabs(after->potential - run->initial_potential);
    sum->energy.closure_rel = relative(fabs(sum->energy.closure), size);
}

void rg_judge_forget(rg_run_record *run) {
    run->judged = 0;
    run->largest_kinetic = run->total_work = 0;
}

rg_step_info rg_world_summary(const rg_world *world) {
    const rg_run_record *run = &world->content.run;
    rg_step_info summary = run->summary;
    if (run->judged == 0)
        rg_judge_measure_nothing(&summary);
    return summary;
}

rg_overlap rg_world_deepest_overlap(const rg_world *world) {
    const rg_world_content *c = &world->content;
    return c->run.judged == 0 ? (rg_overlap){0} : c->overlaps.deepest;
}

rg_overlap rg_world_last_overlap(const rg_world *world) {
    const rg_world_content *c = &world->content;
    return c->run.judged == 0 ? (rg_overlap){0} : c->overlaps.last;
}

double rg_world_energy(const rg_world *world) {
    rg_judge_totals t = rg_judge_look(&world->content);
    return t.kinetic + t.potential;
}

rg_vec3 rg_world_momentum(const rg_world *world) {
    return rg_judge_look(&world->content).momentum;
}

rg_vec3 rg_world_angular_momentum(const rg_world *world) {
    return rg_judge_look(&world->content).angular_momentum;
}
