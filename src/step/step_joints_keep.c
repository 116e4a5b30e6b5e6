/* What is kept and told of the joints of a step: impulses for the next one to start from, forces
 * for readers, wrenches for the judge.
 * Tested by tests/step/test_joints.c. */
#include "step/step_joints.h"
#include "step/step_judge.h"
#include "step/step_log.h"
#include "step/step_machinery.h"

#include <string.h>

/* --- looks ------------------------------------------------------------------------------------ */

static bool is_of(const rg_joints_seen *seen, const rg_world *world) {
    return seen->count == world->content.joints.count && seen->revision == world->revision;
}

rg_status rg_joints_seen_begin(rg_joints_seen *seen, const rg_world *world) {
    size_t count = world->content.joints.count;
    if (is_of(seen, world))
        return RG_OK;
    rg_arena_reset(&seen->memory);
    seen->count = 0;
    seen->loops = NULL;
    seen->islands = (rg_islands){0};
    seen->joints = rg_arena_take(&seen->memory, count, sizeof *seen->joints);
    if (!seen->joints)
        return RG_OUT_OF_MEMORY;
    for (size_t j = 0; j < count; j++)
        seen->joints[j].known = seen->joints[j].yields = false;
    seen->count = count;
    seen->revision = world->revision;
    return RG_OK;
}

rg_status rg_joints_seen_loops(rg_joints_seen *seen, const rg_world_content *c) {
    if (seen->loops)
        return RG_OK;
    uint8_t *loops;
    rg_status status = rg_joint_loops(c, &seen->memory, &loops);
    if (!status)
        status = rg_articulated_find(c, loops, &seen->memory, &seen->tree);
    if (!status)
        seen->loops = loops;
    return status;
}

static bool is_there(const rg_joint_seen *s, rg_body_places places) {
    for (int side = 0; side < 2; side++) {
        uint32_t body = s->look.body[side];
        if (body != UINT32_MAX &&
            !(rg_same_bits(&s->position[side], &places.position[body], 3) &&
              rg_same_bits(&s->orientation[side], &places.orientation[body], 4)))
            return false;
    }
    return true;
}

const rg_joint_look *rg_joint_look_again(rg_joints_seen *seen, const rg_world_content *c,
                                         size_t joint, rg_body_places places, rg_joint_look *own) {
    if (!seen || c->joint[joint].def.kind == RG_JOINT_TENDON) { /* of many bodies */
        rg_joint_look_at(c, joint, places, own);
        return own;
    }
    rg_joint_seen *s = &seen->joints[joint];
    if (s->known && is_there(s, places))
        return &s->look;
    if (!s->known) {
        s->anchors = rg_joint_anchors_of(c, joint);
        memset(&s->look, 0, sizeof s->look);
    }
    rg_joint_look_from(c, joint, &s->anchors, places, &s->look);
    for (int side = 0; side < 2; side++) {
        uint32_t body = s->look.body[side];
        if (body == UINT32_MAX)
            continue;
        s->position[side] = places.position[body];
        s->orientation[side] = places.orientation[body];
    }
    s->known = true;
    return &s->look;
}

/* --- memory ----------------------------------------------------------------------------------- */

rg_status rg_joints_begin(const rg_world_content *c, double step, rg_arena *arena,
                          rg_joint_memory **next) {
    size_t n = c->joints.count;
    *next = NULL;
    if (n == 0)
        return RG_OK;
    *next = rg_arena_take(arena, n, sizeof **next);
    if (!*next)
        return RG_OUT_OF_MEMORY;
    memcpy(*next, rg_joint_memories(c), n * sizeof **next);
    for (size_t j = 0; j < n; j++) {
        rg_joint_memory *m = &(*next)[j];
        memset(m->impulse, 0, sizeof m->impulse);
        m->step = step;
        m->force = m->torque = (rg_vec3){0, 0, 0};
    }
    return RG_OK;
}

/* The rows of a joint from `first` on; where those of the next begin. */
static size_t add_joint(const rg_joint_set *set, size_t first, rg_joint_memory *m) {
    rg_vec3 force = {0, 0, 0}, torque = {0, 0, 0}; /* N s, N m s */
    size_t i = first;
    for (; i < set->count && set->rows[i].joint == set->rows[first].joint; i++) {
        const rg_joint_row *row = &set->rows[i];
        double r = set->impulse[i];
        if (row->link1)
            continue;
        m->impulse[row->place] += r * rg_joint_row_unit(row);
        if (row->along.turns)
            torque = rg_add_scaled(torque, r, row->along.direction);
        else
            force = rg_add_scaled(force, r, row->along.direction);
    }
    m->force = rg_add_scaled(m->force, 1 / m->step, force);
    m->torque = rg_add_scaled(m->torque, 1 / m->step, torque);
    return i;
}

void rg_joints_add(const rg_joint_set *set, rg_joint_memory *next) {
    for (size_t i = 0; i < set->count && set->rows[i].joint != RG_NO_JOINT;)
        i = add_joint(set, i, &next[set->rows[i].joint]);
}

static rg_judge_joint_part part_of(const rg_world_content *c, const rg_joint_row *row) {
    if (row->place < RG_JOINT_LOCKED)
        return RG_JUDGE_JOINT_HOLD;
    size_t place = (size_t)row->place - RG_JOINT_LOCKED;
    const rg_joint_axis *axis = &c->joint[row->joint].def.axis[place / RG_JOINT_PARTS];
    switch (place % RG_JOINT_PARTS) {
    case RG_JOINT_LOWER:
    case RG_JOINT_UPPER: /* equal: a rod */
        return axis->lower == axis->upper ? RG_JUDGE_JOINT_HOLD : RG_JUDGE_JOINT_LIMIT;
    case RG_JOINT_FRICTION:
        return RG_JUDGE_JOINT_FRICTION;
    default:
        return RG_JUDGE_JOINT_DRIVE;
    }
}

/* A tendon pushes the two bodies of each axis that it sums: told once for each, with the first of
 * its links. */
static void tell_link(const rg_world_content *c, const rg_joint_set *set, size_t i,
                      rg_judge_joint *wrenches, size_t *count) {
    const rg_tendon_link *link = set->rows[i].link1 ? &set->links[set->rows[i].link1 - 1] : NULL;
    size_t first, end;
    if (!link || link->part == UINT32_MAX)
        return;
    rg_joint_links_of(set, i, &first, &end);
    for (size_t k = first; k < i; k++)
        if (set->links[set->rows[k].link1 - 1].part == link->part)
            return;
    rg_judge_joint *w = &wrenches[(*count)++];
    *w = (rg_judge_joint){.body_a = link->body[0], .body_b = link->body[1], .point = link->point};
    for (size_t k = end; k < set->count && set->rows[k].joint == set->rows[i].joint; k++) {
        rg_judge_joint_part part = part_of(c, &set->rows[k]);
        rg_vec3 *sum = link->along.turns ? &w->angular[part] : &w->linear[part];
        *sum = rg_add_scaled(*sum, set->impulse[k], link->along.direction);
    }
}

/* The rows of a joint from `first` on; where those of the next begin. */
static size_t tell_joint(const rg_world_content *c, const rg_joint_set *set, size_t first,
                         rg_judge_joint *w) {
    const rg_joint_row *shared = &set->rows[first];
    rg_vec3 force = {0, 0, 0}, torque = {0, 0, 0}; /* of rows that are locked */
    size_t i = first;
    *w = (rg_judge_joint){.body_a = shared->body[0],
                          .body_b = shared->body[1],
                          .point = shared->point,
                          .holds = true};
    for (; i < set->count && set->rows[i].joint == shared->joint; i++) {
        const rg_joint_row *row = &set->rows[i];
        double r = set->impulse[i];
        if (row->place < RG_JOINT_LOCKED && row->along.turns) {
            torque = rg_add_scaled(torque, r, row->along.direction);
        } else if (row->place < RG_JOINT_LOCKED) {
            force = rg_add_scaled(force, r, row->along.direction);
        } else {
            rg_judge_joint_part part = part_of(c, row);
            rg_vec3 *sum = row->along.turns ? &w->angular[part] : &w->linear[part];
            *sum = rg_add_scaled(*sum, r, row->along.direction);
            w->holds = w->holds && part == RG_JUDGE_JOINT_HOLD;
        }
    }
    w->linear[RG_JUDGE_JOINT_HOLD] = rg_add(w->linear[RG_JUDGE_JOINT_HOLD], force);
    w->angular[RG_JUDGE_JOINT_HOLD] = rg_add(w->angular[RG_JUDGE_JOINT_HOLD], torque);
    return i;
}

rg_status rg_joints_tell(const rg_world_content *c, const rg_joint_set *set, rg_arena *arena,
                         rg_judge_joint **wrenches, size_t *count) {
    *count = 0;
    *wrenches = rg_arena_take(arena, c->joints.count + 2 * c->bodies.count + set->link_count,
                              sizeof **wrenches);
    if (!*wrenches)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < set->count && set->rows[i].joint != RG_NO_JOINT;) {
        if (set->rows[i].sum1[1])
            tell_link(c, set, i++, *wrenches, count);
        else
            i = tell_joint(c, set, i, &(*wrenches)[(*count)++]);
    }
    return RG_OK;
}

rg_status rg_joints_tell_held(const rg_world_content *c, const rg_joint_set *set,
                              const rg_vec3 *held, rg_arena *arena, rg_judge_joint **wrenches,
                              size_t *count) {
    rg_status status = rg_joints_tell(c, set, arena, wrenches, count);
    for (size_t i = 0; i < c->bodies.count && held && !status; i++) {
        if (rg_largest_entry(held[i]) == 0)
            continue;
        rg_judge_joint *w = &(*wrenches)[(*count)++];
        *w = (rg_judge_joint){
            .body_a = UINT32_MAX, .body_b = (uint32_t)i, .numerical = true, .holds = true};
        w->angular[RG_JUDGE_JOINT_HOLD] = rg_neg(held[i]);
    }
    return status;
}

static void log_joint(rg_world *world, size_t j, rg_step_event event) {
    const rg_joint_def *def = &world->content.joint[j].def;
    event.contacts = (uint32_t)j;
    event.body_a = def->body_a, event.body_b = def->body_b;
    rg_step_log_add(world->machinery, &event);
}

/* Limits that push now and did not push in the step before. */
static void log_limits(rg_world *world, size_t j, const rg_joint_memory *before) {
    const rg_world_content *c = &world->content;
    const rg_joint_memory *now = &rg_joint_memories(c)[j];
    for (size_t k = 0; k < rg_joint_axis_count(c->joint[j].def.kind); k++) {
        const rg_joint_axis *a = &c->joint[j].def.axis[k];
        size_t place = RG_JOINT_LOCKED + k * RG_JOINT_PARTS;
        for (size_t side = RG_JOINT_LOWER; side <= RG_JOINT_UPPER && a->lower < a->upper; side++)
            if (now->impulse[place + side] != 0 && before->impulse[place + side] == 0)
                log_joint(world, j,
                          (rg_step_event){.time = c->time + now->step,
                                          .kind = RG_STEP_EVENT_LIMIT,
                                          .value = now->coordinate[k],
                                          .restitution = a->restitution});
    }
}

void rg_joints_add_missed(const rg_joint_set *set, double step, double *missed) {
    const rg_joint_row *row = set->rows, *end = row + set->count;
    while (row < end && row->joint != RG_NO_JOINT) {
        uint32_t joint = row->joint;
        double most = 0;
        for (; row < end && row->joint == joint; row++)
            most = fmax(most, fabs(row->yielded) / rg_joint_row_unit(row));
        missed[joint] += step * most;
    }
}

void rg_joints_log_missed(rg_world *world, const double *missed, double step, double time) {
    rg_step_machinery *machinery = world->machinery;
    rg_joints_seen *seen = is_of(&machinery->seen, world) ? &machinery->seen : NULL;
    for (size_t j = 0; j < world->content.joints.count; j++) {
        bool before = seen && seen->joints[j].yields, now = missed[j] > 0;
        if (seen)
            seen->joints[j].yields = now;
        if (now && !before)
            log_joint(world, j,
                      (rg_step_event){.time = time,
                                      .kind = RG_STEP_EVENT_JOINT_YIELD,
                                      .value = missed[j] / step});
    }
}

void rg_joints_store(rg_world *world, const rg_joint_memory *next) {
    rg_world_content *c = &world->content;
    rg_joint_memory *memories = rg_joint_memories(c);
    rg_step_machinery *machinery = world->machinery;
    rg_joints_seen *seen = machinery && is_of(&machinery->seen, world) ? &machinery->seen : NULL;
    for (size_t j = 0; next && j < c->joints.count; j++) {
        const rg_joint_def *def = &c->joint[j].def;
        bool gear = def->kind == RG_JOINT_GEAR || def->kind == RG_JOINT_RACK;
        if (!gear && rg_joint_axis_count(def->kind) == 0) {
            memories[j] = next[j];
        } else {
            rg_joint_look own;
            rg_joint_memory before = memories[j];
            memories[j] = next[j];
            const rg_joint_look *look = rg_joint_look_again(
                seen, c, j, (rg_body_places){c->position, c->orientation}, &own);
            memcpy(memories[j].coordinate, look->keep, sizeof look->keep);
            log_limits(world, j, &before);
        }
        if (def->break_force == INFINITY && def->break_torque == INFINITY)
            continue;
        double force = rg_length(next[j].force), torque = rg_length(next[j].torque);
        if (memories[j].broken != 0 || !(force > def->break_force || torque > def->break_torque))
            continue;
        memories[j].broken = 1;
        if (seen)
            seen->loops = NULL;
        log_joint(world, j,
                  (rg_step_event){.time = c->time + next[j].step,
                                  .kind = RG_STEP_EVENT_JOINT_BREAK,
                                  .value = force,
                                  .other = torque});
    }
}
