/* The law of a contact point: spring, damper, friction (step_penalty.h).
 *
 * Tested by tests/step/test_penalty.c. */
#include "base/base_text.h"
#include "base/base_trig.h"
#include "shape/shape_terrain.h"
#include "step/step_penalty.h"

/* Halvings of the search for a damping: as many as a double has bits. */
enum { HALVINGS = 53 };

/* Restitution with a share of critical damping below 1. */
static double restitution_of(double damping) {
    double rest = sqrt((1 - damping) * (1 + damping));
    return rg_exp(-2 * damping * rg_acos(damping) / rest);
}

double rg_penalty_damping(double restitution) {
    double low = 0, high = 1;
    if (restitution >= 1)
        return 0;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = 0.5 * (low + high);
        if (middle == 1 || restitution_of(middle) < restitution)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static double damping_of(rg_penalty *p, double restitution) {
    if (p->restitution != restitution) {
        p->restitution = restitution;
        p->damping = rg_penalty_damping(restitution);
    }
    return p->damping;
}

double rg_penalty_inverse_mass(const rg_world_content *c, const rg_contact_row *row, rg_vec3 point,
                               rg_vec3 direction, rg_vec3 along) {
    double sum = 0;
    const uint32_t body[2] = {row->body_a, row->body_b};
    for (int side = 0; side < 2; side++) {
        const rg_body_dynamics *d = &c->dynamics[body[side]];
        if (!(side ? row->moves_b : row->moves_a))
            continue;
        rg_quat q = c->orientation[body[side]];
        rg_vec3 arm = rg_sub(point, c->position[body[side]]);
        rg_vec3 x = rg_rotate_back(q, rg_cross(arm, direction));
        rg_vec3 y = rg_rotate_back(q, rg_cross(arm, along));
        sum +=
            d->inverse_mass * rg_dot(direction, along) + rg_dot(x, rg_times(d->inverse_inertia, y));
    }
    return sum;
}

static rg_vec3 velocity_at(const rg_world_content *c, uint32_t body, rg_vec3 point) {
    return rg_add(c->velocity[body],
                  rg_cross(c->angular_velocity[body], rg_sub(point, c->position[body])));
}

/* What the law, or else the settings, give a point. */
static double stiffness_of(rg_penalty *p, const rg_contact_row *row) {
    const rg_world_content *c = &p->world->content;
    const rg_penalty_settings *s = &c->settings.penalty;
    double k = row->law.stiffness > 0 ? row->law.stiffness : s->stiffness;
    if (k > 0)
        return k;
    double w = (row->moves_a ? c->dynamics[row->body_a].inverse_mass : 0) +
               (row->moves_b ? c->dynamics[row->body_b].inverse_mass : 0);
    double g = rg_length(c->gravity);
    if (!(g > 0) && !p->status)
        p->status = rg_fail(p->error, RG_INVALID_ARGUMENT,
                            "penalty: without gravity no stiffness follows from a depth; give the "
                            "material or the method a stiffness in N/m");
    return g / (w * s->depth);
}

/* --- the ratio metric as measure -------------------------------------------------------------- */

typedef struct placed_part {
    const rg_shape *shape;
    rg_vec3 centre; /* world */
} placed_part;

static placed_part part_of(const rg_world_content *c, rg_collider_id id, uint32_t part,
                           rg_terrain_room *room) {
    const rg_collider *collider = &c->collider[rg_handle_index(&c->colliders, RG_HANDLE(id))];
    rg_pose pose =
        rg_pose_compose(rg_body_origin_pose(c, rg_body_dense(c, collider->body)), collider->pose);
    rg_pose local;
    const rg_shape *shape = rg_shape_part(collider->shape, part, room, &local);
    return (placed_part){shape,
                         rg_pose_apply(rg_pose_compose(pose, local), rg_shape_centre(shape))};
}

/* The spring's force and where it acts; false where a body has no centre. n . d = gap + h, so that
 * t = n . d / h, rho = 1 - 1 / t = gap / (n . d) and |grad rho| = h / (n . d)^2. */
static bool measure_ratio(const rg_penalty *p, const rg_penalty_look *look, size_t i,
                          rg_penalty_contact *contact) {
    const rg_contact_row *row = &look->set.rows[i];
    const rg_touch *touch = &look->view.touches[row->touch];
    const rg_manifold *manifold = &look->view.manifolds[row->manifold];
    const rg_world_content *c = &p->world->content;
    rg_terrain_room room[2];
    placed_part b = part_of(c, touch->collider_b, manifold->part1, &room[0]);
    placed_part a = part_of(c, touch->collider_a, manifold->part2, &room[1]);
    if (!rg_shape_is_bounded(a.shape) || !rg_shape_is_bounded(b.shape))
        return false;
    double apart = rg_dot(row->normal, rg_sub(a.centre, b.centre)), h = apart - row->gap;
    double length = rg_shape_inradius(a.shape) + rg_shape_inradius(b.shape);
    if (!(apart > 0))
        return false;
    const rg_contact_point *point = &look->view.points[row->point];
    contact->spring =
        contact->stiffness * length * length * (-row->gap / apart) * h / (apart * apart);
    /* The vertex in the grown body that owns it; both bodies' surfaces meet there. */
    bool owns = point->feature.kind == RG_FEATURES_VERTEX_FACE;
    rg_vec3 centre = owns ? b.centre : a.centre, on = owns ? point->on_b : point->on_a;
    contact->point = rg_add_scaled(centre, apart / h, rg_sub(on, centre));
    return true;
}

/* --- forces ----------------------------------------------------------------------------------- */

static void push(rg_penalty *p, const rg_penalty_look *look, size_t i,
                 rg_penalty_contact *contact) {
    const rg_world_content *c = &p->world->content;
    const rg_contact_row *row = &look->set.rows[i];
    *contact = (rg_penalty_contact){.point = row->position};
    contact->stiffness = stiffness_of(p, row);
    bool ratio = c->settings.penalty.measure == RG_PENALTY_RATIO && row->gap < 0 &&
                 measure_ratio(p, look, i, contact);
    if (!ratio)
        contact->spring = contact->stiffness * fmax(0, -row->gap);
    contact->velocity = rg_sub(velocity_at(c, row->body_a, contact->point),
                               velocity_at(c, row->body_b, contact->point));
    contact->mass = 1 / rg_penalty_inverse_mass(c, row, contact->point, row->normal, row->normal);
    if (row->gap >= 0)
        return;
    double u = rg_dot(row->normal, contact->velocity);
    double damper =
        2 * damping_of(p, row->law.restitution) * sqrt(contact->stiffness * contact->mass);
    contact->normal = fmax(0, contact->spring - damper * u);
    rg_vec3 slip = rg_add_scaled(contact->velocity, -u, row->normal);
    double speed = fmax(rg_length(slip), c->settings.penalty.slip);
    contact->friction = rg_scale(-row->law.friction * contact->normal / speed, slip);
}

rg_status rg_penalty_forces(rg_penalty *p, rg_penalty_look *look) {
    look->contacts = rg_arena_take(p->arena, look->set.count, sizeof *look->contacts);
    if (!look->contacts)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < look->set.count; i++)
        push(p, look, i, &look->contacts[i]);
    return p->status;
}
