/* No step gives a mechanism energy.
 *
 * Joints turn velocities twice in a step of h seconds: at its beginning into the chord of the
 * motion, J(q) v' = -s, at its end into the tangent, J(q+) v+ = 0 (step_joints_rows.c and
 * step_joints_project.c). With the velocities v, J(q) v = 0, of the beginning, impulses r of joints
 * and A = J M^-1 J',
 *
 *     at the beginning they work  r . J (v + v') / 2 = -r . s / 2, of either sign,
 *     at the end                  -J(q+) v' . A^-1 J(q+) v' / 2 <= 0,
 *
 * and bodies that gravity moves at the beginning only leave its path by h (v' - v) / 2.
 *
 * For s = O(h) of a smooth motion, with half of gravity at each end, the sum is O(h^3), and would
 * come back (RATTLE). Where a step does not resolve the motion, because a chain whips or goes taut
 * or a block falls on it (r is then that of an impact, and s that of the velocities before it), the
 * sum is O(h) times the impulse: up to 3e-3 of the energy of the chains of Baraff 1989, Figure 14.
 *
 * So an island whose energy has risen by more than SHARE of its kinetic energy gets it down to what
 * it was, by the smallest change in the metric of the masses that keeps momenta and J(q+) v+ = 0:
 * velocities relative to the rigid motion of each mechanism (to the world, if it is joined to it)
 * are made smaller by a common factor. Where a step is that of RATTLE, with halves of gravity, and
 * nothing can take energy, neither contacts nor friction nor limits, a loss is made good likewise:
 * cutting rises only would cut what RATTLE gives back, and damp the motion. (In a step from rest
 * all of gravity acts at the beginning: velocities are right, and places ahead of them.) Tendons
 * change at a rate that the joints of an island have: they need no place in its trees.
 * The impulses of that are dampers in the joints of a spanning tree, found from the leaves to the
 * root; the judge is told of them as of any others, and has their work as stabilisation.
 *
 * Left alone: islands with springs, motors, armatures, prescribed motion or forces of users, which
 * give energy; bodies without joints. How it fails: if most of the energy is in bodies without
 * joints, SLOWEST leaves some of the rise.
 * Tested by tests/step/test_stepping_energy.c. */
#include "step/step_judge.h"
#include "step/step_stepping.h"

#include <string.h>

/* Of the kinetic energy of an island: changes that are left, because they are rounding. With 1e-6,
 * so that a motion that steps resolve is that of RATTLE alone, energy rises by 2e-7 of itself in a
 * step of chain-pivot, and by 2.6e-5 instead of 1.5e-5 of the swing of a chain of 20 links. */
#define SHARE 1e-12
/* Velocities are not made smaller than this share of theirs, or larger than 1 over it. */
#define SLOWEST 0.5
/* Of the speed of bodies, by the largest component: more than the projection of velocities leaves,
 * RG_JOINT_GIVE of what it changes. (With 1e-10 a door on three hinges was taken for one that loses
 * energy, and moved 4e-7 m away from one on one hinge in 2 s; 8e-12 m in 5 s now.) */
#define STILL 1e-7

#define ROOT_NONE UINT32_MAX

typedef struct mechanism {
    bool held; /* joined to the world, or to what forces do not move */
    double mass;
    rg_vec3 momentum, centre; /* of a free one: sums over its bodies; then velocity and centre */
    rg_vec3 angular_momentum; /* about the centre; then the angular velocity */
    rg_mat3 inertia;
    double factor; /* of relative velocities */
} mechanism;

typedef struct damper {
    rg_stepping *job;
    rg_arena *arena;
    size_t bodies, joints;
    /* The joints of a body: half-edges, two for each joint. */
    uint32_t *first, *next, *other, *joint;
    uint32_t *order; /* bodies of mechanisms, parents first */
    size_t ordered;
    uint32_t *parent;          /* per body: body, or UINT32_MAX: the world; of a free root itself */
    uint32_t *link;            /* per body: the joint with its parent */
    uint32_t *root;            /* per body: the first of its mechanism; ROOT_NONE: of none */
    mechanism *mechanisms;     /* per root */
    rg_vec3 *linear, *angular; /* per body: N s, N m s */
} damper;

/* --- energy of an island ---------------------------------------------------------------------- */

static double kinetic_of(rg_vec3 p, rg_vec3 l, rg_vec3 v, rg_vec3 w) {
    return 0.5 * (rg_dot(p, v) + rg_dot(l, w));
}

static double kinetic_after(const rg_stepping *job, size_t i) {
    const rg_stepping_velocities *v = &job->end;
    return kinetic_of(v->momentum[i], v->angular_momentum[i], v->velocity[i],
                      v->angular_velocity[i]);
}

/* Does something that forces do not move act on it? */
static bool is_anchored(const rg_stepping *job, const rg_island *island) {
    const rg_islands *islands = &job->contacts.islands;
    for (size_t k = 0; k < island->joint_count; k++) {
        const rg_joint_row *row =
            &job->contacts.joints.rows[islands->joints[island->first_joint + k]];
        if (!row->moves[0] || !row->moves[1])
            return true;
    }
    for (size_t k = 0; k < island->contact_count; k++) {
        const rg_contact_row *row =
            &job->contacts.set.rows[islands->contacts[island->first_contact + k]];
        if (!row->moves_a || !row->moves_b)
            return true;
    }
    return false;
}

/* J: by how much a step has raised the energy of an island; `kinetic`: what it has then, without
 * the motion of its centre if nothing holds it, and what gravity brings in a step, so that rounding
 * is not taken for a rise where nothing moves. */
static double rise_of(const rg_stepping *job, const rg_island *island, double *kinetic) {
    const rg_world_content *c = job->content;
    double rise = 0, mass = 0, gained = job->step * rg_length(c->gravity);
    rg_vec3 momentum = {0, 0, 0};
    *kinetic = 0;
    for (size_t k = 0; k < island->body_count; k++) {
        uint32_t i = job->contacts.islands.bodies[island->first_body + k];
        const rg_body_dynamics *d = &c->dynamics[i];
        double after = kinetic_after(job, i);
        rg_vec3 moved = rg_sub(job->position[i], c->position[i]);
        mass += d->mass;
        momentum = rg_add(momentum, job->end.momentum[i]);
        double speed = gained * fabs(d->gravity_scale);
        *kinetic += after + 0.5 * d->mass * speed * speed;
        rise += after - kinetic_of(c->momentum[i], c->angular_momentum[i], c->velocity[i],
                                   c->angular_velocity[i]);
        rise -= d->mass * d->gravity_scale * rg_dot(c->gravity, moved);
    }
    if (!is_anchored(job, island))
        *kinetic -= 0.5 * rg_dot(momentum, momentum) / mass;
    return rise;
}

static bool is_prescribed(const rg_world_content *c, uint32_t body) {
    return body != UINT32_MAX && c->record[body].prescription1;
}

/* Does a tendon sum what prescribed motion moves? */
static bool is_driven(const rg_world_content *c, const rg_joint_def *tendon) {
    for (size_t k = 0; k < tendon->part_count; k++) {
        rg_joint_look look;
        rg_joint_look_at(c, rg_joint_dense(c, tendon->part[k].joint),
                         (rg_body_places){c->position, c->orientation}, &look);
        if (is_prescribed(c, look.body[0]) || is_prescribed(c, look.body[1]))
            return true;
    }
    return false;
}

/* Does nothing but gravity give energy to it? */
static bool is_passive(const rg_stepping *job, const rg_island *island) {
    const rg_islands *islands = &job->contacts.islands;
    const rg_world_content *c = job->content;
    uint32_t joint = RG_NO_JOINT;
    for (size_t k = 0; k < island->joint_count; k++) {
        const rg_joint_row *row =
            &job->contacts.joints.rows[islands->joints[island->first_joint + k]];
        bool again = k > 0 && row->joint != RG_NO_JOINT && row->joint == joint;
        joint = row->joint;
        if (!again && (is_prescribed(c, row->body[0]) || is_prescribed(c, row->body[1])))
            return false;
        if (!again && joint != RG_NO_JOINT && is_driven(c, &c->joint[joint].def))
            return false;
        if (row->joint == RG_NO_JOINT || row->place < RG_JOINT_LOCKED)
            continue;
        size_t part = (size_t)(row->place - RG_JOINT_LOCKED) % RG_JOINT_PARTS;
        if (part != RG_JOINT_LOWER && part != RG_JOINT_UPPER && part != RG_JOINT_FRICTION)
            return false;
    }
    for (size_t k = 0; k < island->contact_count; k++) {
        const rg_contact_row *row =
            &job->contacts.set.rows[islands->contacts[island->first_contact + k]];
        if (rg_largest_entry(row->surface) != 0 || is_prescribed(c, row->body_a) ||
            is_prescribed(c, row->body_b))
            return false;
    }
    for (size_t k = 0; k < island->body_count && job->force; k++) {
        uint32_t i = islands->bodies[island->first_body + k];
        if (rg_largest_entry(job->force[i]) != 0 || rg_largest_entry(job->torque[i]) != 0)
            return false;
    }
    return true;
}

/* A limit that pushes what moves neither towards nor from it does what a locked direction does. And
 * velocities that a user gave may contradict a locked direction: what it takes is lost for good. */
static bool holds_still(const rg_joint_row *row, double speed) {
    return fabs(row->before - row->surface) <= STILL * speed;
}

/* m/s: of the bodies of a row, what turns at the distance of its unit of length. */
static double speed_at(const rg_stepping *job, const rg_joint_row *row) {
    const rg_world_content *c = job->content;
    double speed = 0, unit = row->unit > 0 ? row->unit : 1;
    for (int side = 0; side < 2; side++)
        if (row->moves[side])
            speed += rg_largest_entry(c->velocity[row->body[side]]) +
                     unit * rg_largest_entry(c->angular_velocity[row->body[side]]);
    return speed;
}

/* Does nothing take energy from it either (no contacts, no friction, no limit that is reached), and
 * is its step that of RATTLE? */
static bool is_conservative(const rg_stepping *job, const rg_island *island) {
    const rg_joint_set *joints = &job->contacts.joints;
    if (island->contact_count > 0 || !job->halved[job->contacts.islands.bodies[island->first_body]])
        return false;
    double speed = 0;
    for (size_t k = 0; k < island->joint_count; k++) {
        size_t i = job->contacts.islands.joints[island->first_joint + k];
        const rg_joint_row *row = &joints->rows[i];
        bool again = k > 0 && i > 0 && row[-1].joint == row->joint;
        if (!again || row->joint == RG_NO_JOINT || row->sum1[1]) /* of a tendon: other bodies */
            speed = speed_at(job, row);
        bool free = isinf(row->lower) && isinf(row->upper);
        if (!free && (row->place - RG_JOINT_LOCKED) % RG_JOINT_PARTS == RG_JOINT_FRICTION)
            return false;
        if ((free || joints->impulse[i] != 0) && !holds_still(row, speed))
            return false;
    }
    return true;
}

/* --- mechanisms as trees ---------------------------------------------------------------------- */

static bool take_memory(damper *d) {
    size_t n = d->bodies, m = 2 * d->joints;
    d->first = rg_arena_take(d->arena, n, sizeof *d->first);
    d->order = rg_arena_take(d->arena, n, sizeof *d->order);
    d->parent = rg_arena_take(d->arena, n, sizeof *d->parent);
    d->root = rg_arena_take(d->arena, n, sizeof *d->root);
    d->mechanisms = rg_arena_take(d->arena, n, sizeof *d->mechanisms);
    d->linear = rg_arena_take(d->arena, n, sizeof *d->linear);
    d->angular = rg_arena_take(d->arena, n, sizeof *d->angular);
    d->next = rg_arena_take(d->arena, m, sizeof *d->next);
    d->other = rg_arena_take(d->arena, m, sizeof *d->other);
    d->joint = rg_arena_take(d->arena, m, sizeof *d->joint);
    d->link = rg_arena_take(d->arena, n, sizeof *d->link);
    d->job->dampers = rg_arena_take(d->arena, n, sizeof *d->job->dampers);
    return d->first && d->order && d->parent && d->root && d->mechanisms && d->linear &&
           d->angular && d->next && d->other && d->joint && d->link && d->job->dampers;
}

static void begin_mechanism(damper *d, uint32_t body, uint32_t parent, uint32_t joint) {
    d->root[body] = body;
    d->parent[body] = parent;
    d->link[body] = joint;
    d->mechanisms[body] = (mechanism){.held = parent != body, .factor = 1};
    d->order[d->ordered++] = body;
}

/* All that joints connect with the bodies from `at` on in the order. */
static void reach(damper *d, size_t at) {
    for (; at < d->ordered; at++) {
        uint32_t body = d->order[at];
        for (uint32_t k = d->first[body]; k != UINT32_MAX; k = d->next[k]) {
            uint32_t other = d->other[k];
            if (d->root[other] != ROOT_NONE)
                continue;
            d->root[other] = d->root[body];
            d->parent[other] = body;
            d->link[other] = d->joint[k];
            d->order[d->ordered++] = other;
        }
    }
}

/* Mechanisms that are joined to the world first: those that are joined to it in several places
 * count as several, which are slowed alike. */
static void find_trees(damper *d) {
    const rg_joint_set *set = &d->job->contacts.joints;
    memset(d->first, 0xff, d->bodies * sizeof *d->first);
    memset(d->root, 0xff, d->bodies * sizeof *d->root);
    d->ordered = 0;
    uint32_t edges = 0;
    for (size_t i = 0; i < set->count && set->rows[i].joint != RG_NO_JOINT; i++) {
        const rg_joint_row *row = &set->rows[i];
        if ((i > 0 && set->rows[i - 1].joint == row->joint) ||
            d->job->content->joint[row->joint].def.kind == RG_JOINT_TENDON)
            continue;
        for (int side = 0; side < 2; side++) {
            uint32_t body = row->body[side], other = row->body[1 - side];
            if (!row->moves[side])
                continue;
            if (!row->moves[1 - side]) {
                if (d->root[body] == ROOT_NONE)
                    begin_mechanism(d, body, other, row->joint);
                continue;
            }
            d->other[edges] = other, d->joint[edges] = row->joint;
            d->next[edges] = d->first[body];
            d->first[body] = edges++;
        }
    }
    reach(d, 0);
    for (uint32_t i = 0; i < d->bodies; i++)
        if (d->first[i] != UINT32_MAX && d->root[i] == ROOT_NONE) {
            begin_mechanism(d, i, i, RG_NO_JOINT);
            reach(d, d->ordered - 1);
        }
}

/* --- rigid motion of free mechanisms ---------------------------------------------------------- */

static rg_vec3 inertia_times(const rg_stepping *job, size_t i, rg_vec3 w) {
    rg_vec3 own = job->content->dynamics[i].inertia;
    rg_quat q = job->orientation[i];
    if (job->content->planar)
        return rg_vec3_make(0, own.y * w.y, 0);
    return rg_rotate(q, rg_times(own, rg_rotate_back(q, w)));
}

/* Of a point mass and a body at `arm` from the centre. */
static void add_inertia(const rg_stepping *job, size_t i, rg_vec3 arm, rg_mat3 *sum) {
    double mass = job->content->dynamics[i].mass;
    for (int k = 0; k < 3; k++) {
        rg_vec3 unit = rg_vec3_make(k == 0, k == 1, k == 2);
        rg_vec3 own = inertia_times(job, i, unit);
        rg_vec3 column = rg_add_scaled(own, mass, rg_cross(arm, rg_cross(unit, arm)));
        sum->m[0][k] += column.x, sum->m[1][k] += column.y, sum->m[2][k] += column.z;
    }
}

static void find_rigid_motions(damper *d) {
    const rg_stepping *job = d->job;
    for (size_t k = 0; k < d->ordered; k++) {
        uint32_t i = d->order[k];
        mechanism *m = &d->mechanisms[d->root[i]];
        double mass = job->content->dynamics[i].mass;
        if (m->held)
            continue;
        m->mass += mass;
        m->momentum = rg_add(m->momentum, job->end.momentum[i]);
        m->centre = rg_add_scaled(m->centre, mass, job->position[i]);
    }
    for (size_t k = 0; k < d->ordered; k++) {
        uint32_t i = d->order[k];
        mechanism *m = &d->mechanisms[d->root[i]];
        if (m->held)
            continue;
        rg_vec3 arm = rg_sub(job->position[i], rg_scale(1 / m->mass, m->centre));
        m->angular_momentum = rg_add(m->angular_momentum, job->end.angular_momentum[i]);
        m->angular_momentum = rg_add(m->angular_momentum, rg_cross(arm, job->end.momentum[i]));
        add_inertia(job, i, arm, &m->inertia);
    }
    for (size_t k = 0; k < d->ordered; k++) {
        mechanism *m = &d->mechanisms[d->order[k]];
        if (d->root[d->order[k]] != d->order[k] || m->held)
            continue;
        rg_vec3 l = m->angular_momentum;
        m->momentum = rg_scale(1 / m->mass, m->momentum);
        m->centre = rg_scale(1 / m->mass, m->centre);
        rg_mat3 inverse = rg_judge_inverse(&m->inertia);
        m->angular_momentum = job->content->planar ? rg_vec3_make(0, l.y / m->inertia.m[1][1], 0)
                                                   : rg_mat3_apply(&inverse, l);
    }
}

/* How a body moves relative to the rigid motion of its mechanism. */
typedef struct relative {
    rg_vec3 velocity, angular_velocity, momentum, angular_momentum;
} relative;

static relative relative_motion(const damper *d, uint32_t i) {
    const mechanism *m = &d->mechanisms[d->root[i]];
    const rg_stepping_velocities *end = &d->job->end;
    relative r = {end->velocity[i], end->angular_velocity[i], end->momentum[i],
                  end->angular_momentum[i]};
    if (m->held)
        return r;
    rg_vec3 arm = rg_sub(d->job->position[i], m->centre);
    r.velocity = rg_sub(r.velocity, rg_add(m->momentum, rg_cross(m->angular_momentum, arm)));
    r.angular_velocity = rg_sub(r.angular_velocity, m->angular_momentum);
    r.momentum = rg_scale(d->job->content->dynamics[i].mass, r.velocity);
    r.angular_momentum = inertia_times(d->job, i, r.angular_velocity);
    return r;
}

/* --- slowing ---------------------------------------------------------------------------------- */

/* The factor that takes `rise` from the mechanisms of an island. */
static void find_factor(damper *d, const rg_island *island, double rise) {
    const uint32_t *bodies = d->job->contacts.islands.bodies + island->first_body;
    double kinetic = 0;
    for (size_t k = 0; k < island->body_count; k++) {
        if (d->root[bodies[k]] == ROOT_NONE)
            continue;
        if (d->mechanisms[d->root[bodies[k]]].held) {
            kinetic += kinetic_after(d->job, bodies[k]);
            continue;
        }
        relative r = relative_motion(d, bodies[k]);
        kinetic += kinetic_of(r.momentum, r.angular_momentum, r.velocity, r.angular_velocity);
    }
    double left = kinetic > 0 ? 1 - rise / kinetic : 1;
    double factor = fmin(fmax(sqrt(fmax(left, 0)), SLOWEST), 1 / SLOWEST);
    for (size_t k = 0; k < island->body_count; k++)
        if (d->root[bodies[k]] != ROOT_NONE)
            d->mechanisms[d->root[bodies[k]]].factor = factor;
}

static void slow_body(damper *d, uint32_t i) {
    rg_stepping_velocities *end = &d->job->end;
    double by = d->mechanisms[d->root[i]].factor - 1;
    if (by == 0)
        return;
    if (d->mechanisms[d->root[i]].held) {
        d->linear[i] = rg_scale(by, end->momentum[i]);
        d->angular[i] = rg_scale(by, end->angular_momentum[i]);
        end->momentum[i] = rg_add(end->momentum[i], d->linear[i]);
        end->angular_momentum[i] = rg_add(end->angular_momentum[i], d->angular[i]);
        end->velocity[i] = rg_add_scaled(end->velocity[i], by, end->velocity[i]);
        end->angular_velocity[i] =
            rg_add_scaled(end->angular_velocity[i], by, end->angular_velocity[i]);
        return;
    }
    relative r = relative_motion(d, i);
    d->linear[i] = rg_scale(by, r.momentum);
    d->angular[i] = rg_scale(by, r.angular_momentum);
    end->momentum[i] = rg_add(end->momentum[i], d->linear[i]);
    end->angular_momentum[i] = rg_add(end->angular_momentum[i], d->angular[i]);
    end->velocity[i] = rg_add_scaled(end->velocity[i], by, r.velocity);
    end->angular_velocity[i] = rg_add_scaled(end->angular_velocity[i], by, r.angular_velocity);
}

/* Impulses on all bodies; in joints, from the leaves to the root. */
static void slow(damper *d) {
    rg_stepping *job = d->job;
    for (size_t k = 0; k < d->ordered; k++)
        slow_body(d, d->order[k]);
    for (size_t k = d->ordered; k-- > 0;) {
        uint32_t i = d->order[k], parent = d->parent[i];
        if (parent == i || d->mechanisms[d->root[i]].factor == 1)
            continue;
        job->dampers[job->damper_count++] =
            (rg_stepping_damper){i, parent, d->link[i], d->linear[i], d->angular[i]};
        if (d->root[i] == i)
            continue; /* on the world */
        rg_vec3 arm = rg_sub(job->position[i], job->position[parent]);
        d->linear[parent] = rg_add(d->linear[parent], d->linear[i]);
        d->angular[parent] =
            rg_add(d->angular[parent], rg_add(d->angular[i], rg_cross(arm, d->linear[i])));
    }
}

rg_status rg_stepping_hold_energy(rg_stepping *job, rg_arena *arena) {
    const rg_islands *islands = &job->contacts.islands;
    damper d = {.job = job,
                .arena = arena,
                .bodies = job->content->bodies.count,
                .joints = job->content->joints.count};
    job->dampers = NULL;
    job->damper_count = 0;
    bool any = false;
    for (size_t k = 0; k < islands->count; k++) {
        const rg_island *island = &islands->islands[k];
        double kinetic;
        if (island->joint_count == 0)
            continue;
        double rise = rise_of(job, island, &kinetic);
        if (!(fabs(rise) > SHARE * kinetic) || !is_passive(job, island) ||
            (rise < 0 && !is_conservative(job, island)))
            continue;
        if (!any) {
            if (!take_memory(&d))
                return RG_OUT_OF_MEMORY;
            find_trees(&d);
            find_rigid_motions(&d);
            any = true;
        }
        find_factor(&d, island, rise);
    }
    if (any)
        slow(&d);
    return RG_OK;
}

/* A damper is told with what its joint did: moved to the point of that, it does the same. False:
 * its joint did nothing. */
static bool add_to_joint(const rg_stepping *job, const rg_stepping_damper *d, rg_judge_joint *w) {
    bool second = w->body_b == d->body && w->body_a == d->parent;
    if (!second && !(w->body_a == d->body && w->body_b == d->parent))
        return false;
    double sign = second ? 1 : -1;
    rg_vec3 arm = rg_sub(job->position[d->body], w->point), *push = &w->linear[RG_JUDGE_JOINT_HOLD];
    rg_vec3 *turn = &w->angular[RG_JUDGE_JOINT_HOLD];
    *push = rg_add_scaled(*push, sign, d->linear);
    *turn = rg_add_scaled(*turn, sign, rg_add(d->angular, rg_cross(arm, d->linear)));
    return true;
}

rg_status rg_stepping_tell_end(const rg_stepping *job, rg_arena *arena, rg_judge_joint **wrenches,
                               size_t *count) {
    size_t joints = job->content->joints.count;
    const rg_joint_set *set = &job->end_joints;
    uint32_t *told1 = rg_arena_take(arena, joints, sizeof *told1); /* place + 1; 0: it is not */
    if (!told1)
        return RG_OUT_OF_MEMORY;
    rg_status status =
        rg_joints_tell_held(job->content, set, job->held_end, arena, wrenches, count);
    if (status || job->damper_count == 0)
        return status;
    memset(told1, 0, joints * sizeof *told1);
    uint32_t place = 0;
    for (size_t i = 0; i < set->count && set->link_count == 0; i++)
        if (set->rows[i].joint != RG_NO_JOINT &&
            (i == 0 || set->rows[i - 1].joint != set->rows[i].joint))
            told1[set->rows[i].joint] = ++place;
    rg_judge_joint *all = *wrenches;
    for (size_t k = 0; k < job->damper_count; k++) {
        const rg_stepping_damper *d = &job->dampers[k];
        uint32_t at1 = d->joint == RG_NO_JOINT ? 0 : told1[d->joint];
        if (at1 && add_to_joint(job, d, &all[at1 - 1]))
            continue;
        rg_judge_joint *w = &all[(*count)++];
        *w = (rg_judge_joint){
            .body_a = d->parent, .body_b = d->body, .point = job->position[d->body], .holds = true};
        w->linear[RG_JUDGE_JOINT_HOLD] = d->linear;
        w->angular[RG_JUDGE_JOINT_HOLD] = d->angular;
    }
    return RG_OK;
}
