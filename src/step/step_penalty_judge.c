/* What the penalty method shows the judge: the motion, and forces of springs, dampers and friction
 * on the polynomial of every step that was taken, whose work the judge adds up by Lobatto's formula
 * of five points. Work of springs is told as stabilisation, that of dampers as loss of impacts: as
 * long as a body rests the first is minus what springs store. Contacts are looked for apart from
 * those of the method, so that a run has the same bits with and without the judge.
 *
 * Tested by tests/step/test_penalty.c. */
#include "step/step_penalty.h"

#include <string.h>

rg_status rg_penalty_judge_make(rg_penalty *p) {
    size_t n = p->world->content.bodies.count;
    p->found = rg_judge_findings_none();
    if (!p->world->certify)
        return RG_OK;
    rg_step_machinery *m = p->machinery;
    if (!m->between)
        if (rg_collision_create(&p->world->collision, &p->world->allocator, &m->between, NULL))
            return RG_OUT_OF_MEMORY;
    p->judged.collision = m->between;
    rg_collision_look_deep(m->between, true);
    p->linear = rg_arena_take(p->arena, n, sizeof *p->linear);
    p->angular = rg_arena_take(p->arena, n, sizeof *p->angular);
    p->inverse = rg_arena_take(p->arena, n, sizeof *p->inverse);
    p->tracks = rg_arena_take(p->arena, 1, sizeof *p->tracks);
    if (!p->linear || !p->angular || !p->inverse || !p->tracks ||
        rg_collision_begin(m->between, p->world, NULL))
        return RG_OUT_OF_MEMORY;
    rg_arena_reset(&m->tracks);
    return rg_judge_tracks_make(&m->tracks, n, p->tracks);
}

/* The instant of a look with some of its forces; false without memory. */
static bool instant_of(const rg_penalty *p, const rg_penalty_look *look, rg_judge_instant *now,
                       rg_judge_contact **contacts) {
    const rg_world_content *c = &p->world->content;
    *contacts = rg_arena_take(p->arena, look->set.count, sizeof **contacts);
    if (!*contacts)
        return false;
    *now = (rg_judge_instant){.content = c,
                              .position = c->position,
                              .velocity = c->velocity,
                              .angular_velocity = c->angular_velocity,
                              .orientation = c->orientation,
                              .scale = 1,
                              .widest = 1,
                              .linear = p->linear,
                              .angular = p->angular,
                              .inverse = p->inverse,
                              .contacts = *contacts,
                              .count = look->set.count};
    for (size_t i = 0; i < look->set.count; i++) {
        const rg_contact_row *row = &look->set.rows[i];
        (*contacts)[i] = (rg_judge_contact){.body_a = row->body_a,
                                            .body_b = row->body_b,
                                            .point = look->contacts[i].point,
                                            .normal = row->normal,
                                            .law = row->law};
    }
    return true;
}

/* Of springs, and of dampers and friction, at a state. */
static void powers(rg_penalty *p, double t, const double *y, rg_judge_power *spring,
                   rg_judge_power *other) {
    rg_judge_instant now;
    rg_judge_contact *contacts;
    *spring = *other = (rg_judge_power){0};
    if (!rg_penalty_look_at(p, t, y, &p->judged) || !instant_of(p, &p->judged, &now, &contacts))
        return;
    for (size_t i = 0; i < now.count; i++)
        contacts[i].force = rg_scale(p->judged.contacts[i].spring, contacts[i].normal);
    *spring = rg_judge_power_of(&now);
    for (size_t i = 0; i < now.count; i++) {
        const rg_penalty_contact *c = &p->judged.contacts[i];
        contacts[i].force = rg_add_scaled(c->friction, c->normal - c->spring, contacts[i].normal);
    }
    *other = rg_judge_power_of(&now);
}

void rg_penalty_judge_begin(rg_penalty *p, double t, const double *y) {
    if (p->tracks)
        powers(p, t, y, &p->spring_begin, &p->other_begin);
}

void rg_penalty_judge_span(rg_penalty *p, double length) {
    enum { RULE = 1, COUNT = RG_JUDGE_INSIDE + 2 };
    if (!p->tracks)
        return;
    const rg_dense_output *dense = &p->trial.output;
    rg_judge_power spring[COUNT] = {p->spring_begin}, other[COUNT] = {p->other_begin};
    rg_flight_track(&p->flight, dense, p->tracks);
    for (int i = 1; i < COUNT; i++) {
        double theta = (i < COUNT - 1 ? rg_judge_node[RULE][i - 1] : 1) * (length / dense->step);
        rg_dense_evaluate(dense, theta, p->scratch_y);
        rg_flight_accept(&p->flight, 0, p->scratch_y);
        powers(p, dense->begin + theta * dense->step, p->scratch_y, &spring[i], &other[i]);
    }
    p->spring_begin = spring[COUNT - 1];
    p->other_begin = other[COUNT - 1];
    rg_judge_findings rest = rg_judge_findings_none();
    rg_judge_span(spring, RULE, length, &p->found);
    rg_judge_span(other, RULE, length, &rest);
    p->found.impact += rest.stabilisation;
    p->found.friction += rest.friction;
    p->found.prescribed += rest.prescribed;
}

void rg_penalty_judge_impulse(rg_penalty *p, size_t i, rg_vec3 impulse) {
    rg_judge_instant now;
    rg_judge_contact *contacts;
    if (!p->tracks || !instant_of(p, &p->now, &now, &contacts))
        return;
    contacts[i].force = impulse;
    rg_judge_impact(&now, &p->found);
}
