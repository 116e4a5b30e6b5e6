/* Caps of curved shapes: a point; two ends where a straight line of the surface is level; a disc
 * where a flat base is.
 *
 * Away from lines and bases a curved surface meets another convex one in one point, however near to
 * flat it is: curvature is not a reason for more points. The points are exact points of the
 * surface. Fails: only for want of memory. */
#include "contact/contact.h"

#include "base/base_trig.h"
#include "shape/shape.h"

static rg_cap_corner corner_at(const rg_contact_frame *frame, rg_vec3 p, uint32_t code) {
    return (rg_cap_corner){rg_dot(frame->u, p), rg_dot(frame->v, p), rg_dot(frame->n, p), code,
                           RG_CURVED_LINE};
}

static void set_point(const rg_contact_frame *frame, rg_vec3 p, uint32_t code, rg_cap *cap) {
    cap->corners[0] = corner_at(frame, p, code);
    cap->corner_count = 1;
    cap->top = cap->corners[0].z;
}

/* The line from `low` to `high` on the surface, or the end of it that is nearer to the other
 * shape. */
static void set_line(const rg_contact_frame *frame, rg_vec3 low, rg_vec3 high, double band,
                     rg_cap *cap) {
    rg_cap_corner a = corner_at(frame, low, RG_CURVED_END),
                  b = corner_at(frame, high, RG_CURVED_END + 1);
    bool first = cap->sign * a.z >= cap->sign * b.z;
    cap->top = first ? a.z : b.z;
    if (fabs(a.z - b.z) <= band) {
        cap->corners[0] = a;
        cap->corners[1] = b;
        cap->corner_count = 2;
    } else {
        cap->corners[0] = first ? a : b;
        cap->corner_count = 1;
    }
}

/* A base of radius r about `centre` with outward normal `axis`; x and y span it, fixed in the body.
 */
static void set_disc(const rg_contact_frame *frame, rg_vec3 centre, rg_vec3 axis, rg_vec3 x,
                     rg_vec3 y, double r, rg_cap *cap) {
    double c = rg_dot(axis, frame->n), sx = rg_dot(axis, frame->u) / c,
           sy = rg_dot(axis, frame->v) / c;
    rg_cap_corner middle = corner_at(frame, centre, 0);
    cap->kind = RG_CAP_DISC;
    cap->face = true;
    cap->centre_x = middle.x;
    cap->centre_y = middle.y;
    cap->radius = r;
    cap->plane_count = 1;
    cap->planes[0] = (rg_cap_plane){middle.z + sx * middle.x + sy * middle.y, -sx, -sy, 0};
    cap->corner_count = RG_RIM_POINTS;
    cap->top = middle.z;
    for (uint32_t i = 0; i < RG_RIM_POINTS; i++) {
        double sine, cosine;
        rg_sin_cos(2 * RG_PI * i / RG_RIM_POINTS, &sine, &cosine);
        rg_vec3 p = rg_add_scaled(rg_add_scaled(centre, r * cosine, x), r * sine, y);
        cap->corners[i] = corner_at(frame, p, RG_CURVED_RIM_POINT + i);
    }
    /* The farthest point of a tilted rim. */
    cap->top += cap->sign * r * rg_length(rg_cross(axis, frame->n));
}

typedef struct axes {
    rg_vec3 x, y, z;
} axes;

static axes axes_of(const rg_mat3 *r) {
    return (axes){{r->m[0][0], r->m[1][0], r->m[2][0]},
                  {r->m[0][1], r->m[1][1], r->m[2][1]},
                  {r->m[0][2], r->m[1][2], r->m[2][2]}};
}

/* The unit direction across `axis` that goes most towards m; any if m is along the axis. */
static rg_vec3 across(rg_vec3 m, rg_vec3 axis, rg_vec3 any) {
    rg_vec3 w = rg_add_scaled(m, -rg_dot(m, axis), axis);
    return rg_largest_entry(w) > 0 ? rg_normalised(w) : any;
}

/* The sine between two unit vectors; exact where they are nearly parallel. */
static double tilt(rg_vec3 m, rg_vec3 axis) {
    return rg_length(rg_cross(m, axis));
}

static void set_cylinder(const rg_contact_side *side, const rg_contact_frame *frame, double band,
                         rg_cap *cap) {
    const rg_shape_def *def = &side->shape->def;
    axes body = axes_of(&side->rotation);
    rg_vec3 m = rg_scale(side->sign, frame->n), w = across(m, body.z, body.x);
    double c = rg_dot(m, body.z), half = def->length / 2;
    rg_vec3 end = rg_scale(c < 0 ? -1 : 1, body.z);
    if (2 * def->radius * tilt(m, body.z) <= band) {
        rg_vec3 base = rg_add_scaled(side->position, half, end);
        set_disc(frame, base, end, body.x, body.y, def->radius, cap);
        return;
    }
    rg_vec3 middle = rg_add_scaled(side->position, def->radius, w);
    set_line(frame, rg_add_scaled(middle, -half, body.z), rg_add_scaled(middle, half, body.z), band,
             cap);
}

static void set_cone(const rg_contact_side *side, const rg_contact_frame *frame, double band,
                     rg_cap *cap) {
    const rg_shape_def *def = &side->shape->def;
    axes body = axes_of(&side->rotation);
    rg_vec3 m = rg_scale(side->sign, frame->n), w = across(m, body.z, body.x);
    rg_vec3 base = rg_add_scaled(side->position, -0.25 * def->length, body.z);
    rg_vec3 apex = rg_add_scaled(side->position, 0.75 * def->length, body.z);
    if (rg_dot(m, body.z) < 0 && 2 * def->radius * tilt(m, body.z) <= band)
        set_disc(frame, base, rg_neg(body.z), body.x, body.y, def->radius, cap);
    else
        set_line(frame, rg_add_scaled(base, def->radius, w), apex, band, cap);
}

rg_status rg_cap_make_curved(const rg_contact_pair *pair, const rg_contact_side *side,
                             const rg_contact_frame *frame, double band, rg_arena *arena,
                             rg_cap *cap) {
    (void)pair;
    cap->curved = true;
    cap->corners = rg_arena_take(arena, RG_RIM_POINTS, sizeof *cap->corners);
    cap->planes = rg_arena_take(arena, 1, sizeof *cap->planes);
    if (!cap->corners || !cap->planes)
        return RG_OUT_OF_MEMORY;
    rg_shape_kind kind = rg_shape_get_kind(side->shape);
    const rg_shape_def *def = &side->shape->def;
    rg_vec3 m = rg_scale(side->sign, frame->n);
    if (kind == RG_SHAPE_CAPSULE) {
        rg_vec3 middle = rg_add_scaled(side->position, def->radius, m);
        rg_vec3 axis = axes_of(&side->rotation).z;
        set_line(frame, rg_add_scaled(middle, -def->length / 2, axis),
                 rg_add_scaled(middle, def->length / 2, axis), band, cap);
    } else if (kind == RG_SHAPE_CYLINDER) {
        set_cylinder(side, frame, band, cap);
    } else if (kind == RG_SHAPE_CONE) {
        set_cone(side, frame, band, cap);
    } else {
        rg_mat3 back = rg_mat3_transpose(&side->rotation);
        rg_vec3 p = rg_shape_support(side->shape, rg_mat3_apply(&back, m), NULL);
        set_point(frame, rg_add(side->position, rg_mat3_apply(&side->rotation, p)), RG_CURVED_POINT,
                  cap);
    }
    return RG_OK;
}
