/* The hand: see view_grab.h.
 *
 * Stiffness k = m w^2 and damping c = 2 m w (critical) with w = 12 rad/s, so that a hand feels the
 * same whatever the mass, and a body follows within a quarter of a second. The stepping method
 * evaluates forces at the beginning of a step. There an explicit spring can be unstable: far from
 * the centre of mass the point is as light as 1 / largest eigenvalue of K, K = 1/m - [r] I^-1 [r],
 * which has no lower bound, and the step is the user's. So the force is that of the linearly
 * implicit Euler step,
 *
 *     (1 + (h c + h^2 k) K) f = -k (x + h v - target) - c v,
 *
 * a smooth function of the state that tends to the spring as h -> 0 and is stable for every h.
 * Turning about the held point is damped in the same way: with its inertia J about that point and s
 * = 4 / s,
 *
 *     torque = -s J w+,   (I + h s J) w+ = I w,
 *
 * and v above is that with w+: otherwise both would brake the same turning, and the sum would turn
 * it round. The pull is bounded by 40 g, so that a pointer that runs off to the horizon does not
 * turn the scene into a cannon. Gravity is not cancelled: a body hangs g / w^2 = 7 cm below the
 * pointer. */
#include "view_grab.h"

#include "rigor/math.h"
#include "rigor/method.h"

#include <string.h>

#define FREQUENCY    12.0  /* rad/s */
#define SPIN_DAMPING 4.0   /* 1/s */
#define LARGEST_PULL 400.0 /* m/s^2 */

static rg_mat3 transpose(rg_mat3 a) {
    return rg_mat3_transpose(&a);
}

static rg_mat3 multiply(rg_mat3 a, rg_mat3 b) {
    return rg_mat3_multiply(&a, &b);
}

static rg_vec3 apply(rg_mat3 a, rg_vec3 v) {
    return rg_mat3_apply(&a, v);
}

/* Of a symmetric positive definite matrix: adjugate over determinant. */
static rg_mat3 invert(rg_mat3 a) {
    rg_vec3 r0 = {a.m[0][0], a.m[0][1], a.m[0][2]}, r1 = {a.m[1][0], a.m[1][1], a.m[1][2]},
            r2 = {a.m[2][0], a.m[2][1], a.m[2][2]};
    rg_vec3 c0 = rg_cross(r1, r2), c1 = rg_cross(r2, r0), c2 = rg_cross(r0, r1);
    double over = 1 / (r0.x * c0.x + r0.y * c0.y + r0.z * c0.z);
    return (rg_mat3){{{over * c0.x, over * c1.x, over * c2.x},
                      {over * c0.y, over * c1.y, over * c2.y},
                      {over * c0.z, over * c1.z, over * c2.z}}};
}

/* 1 + a K: how much the held point of a body gives way to a force, K = E / m - [r] I^-1 [r]. */
static rg_mat3 one_and_response(const view_grab *grab, rg_mat3 inverse, rg_vec3 r, double a) {
    rg_mat3 skew = {{{0, -r.z, r.y}, {r.z, 0, -r.x}, {-r.y, r.x, 0}}};
    rg_mat3 turning = multiply(multiply(skew, inverse), skew), sum;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum.m[i][j] = (i == j ? 1 + a / grab->mass : 0) - a * turning.m[i][j];
    return sum;
}

/* The torque that damps turning about the held point; brings the spin to what it will be after
 * it. */
static rg_vec3 damp_spin(const view_grab *grab, rg_mat3 inertia, rg_vec3 r, rg_vec3 *spin) {
    double rr = r.x * r.x + r.y * r.y + r.z * r.z, parts[] = {r.x, r.y, r.z};
    rg_mat3 about_point, sum;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double arm = (i == j ? rr : 0) - parts[i] * parts[j];
            about_point.m[i][j] = inertia.m[i][j] + grab->mass * arm;
            sum.m[i][j] = inertia.m[i][j] + grab->step * SPIN_DAMPING * about_point.m[i][j];
        }
    *spin = apply(invert(sum), apply(inertia, *spin));
    return rg_scale(-SPIN_DAMPING, apply(about_point, *spin));
}

static void pull(void *user, rg_force_context *context) {
    const view_grab *grab = user;
    size_t b = rg_body_index(context->world, grab->body);
    double h = grab->step, k = grab->mass * FREQUENCY * FREQUENCY, c = 2 * grab->mass * FREQUENCY;
    rg_mat3 axes = rg_mat3_of_quat(context->orientation[b]);
    rg_mat3 inverse = multiply(multiply(axes, grab->inverse), transpose(axes));
    rg_mat3 inertia = multiply(multiply(axes, grab->inertia), transpose(axes));
    rg_vec3 spin = context->angular_velocity[b], r = apply(axes, grab->point);
    rg_vec3 damping = damp_spin(grab, inertia, r, &spin);
    rg_vec3 x = rg_add(context->position[b], r),
            v = rg_add(context->velocity[b], rg_cross(spin, r));
    rg_vec3 ahead = rg_add(rg_add(x, rg_scale(h, v)), rg_scale(-1, grab->target));
    rg_vec3 wanted = rg_add(rg_scale(-k, ahead), rg_scale(-c, v));
    rg_vec3 f = apply(invert(one_and_response(grab, inverse, r, h * c + h * h * k)), wanted);
    double size = rg_length(f), most = grab->mass * LARGEST_PULL;
    if (size > most)
        f = rg_scale(most / size, f);
    rg_vec3 t = rg_add(rg_cross(r, f), damping);
    if (grab->planar) {
        f.y = 0;
        t.x = t.z = 0;
    }
    context->force[b] = rg_add(context->force[b], f);
    context->torque[b] = rg_add(context->torque[b], t);
}

/* Inertia in the centre frame, from that in the origin frame. Planar bodies turn about y only: any
 * inertia will do about the other axes, about which nothing turns them. */
static void set_inertia(view_grab *grab, const rg_mass_properties *mass, rg_quat centre_axes) {
    rg_mat3 axes = rg_mat3_of_quat(centre_axes);
    grab->mass = mass->mass;
    if (grab->planar) {
        grab->inertia = (rg_mat3){{{1, 0, 0}, {0, mass->inertia.m[1][1], 0}, {0, 0, 1}}};
        grab->inverse = (rg_mat3){{{0}}};
        grab->inverse.m[1][1] = 1 / mass->inertia.m[1][1];
        return;
    }
    grab->inertia = multiply(multiply(transpose(axes), mass->inertia), axes);
    grab->inverse = invert(grab->inertia);
}

void view_grab_adapt(view_grab *grab, const rg_world *world, double step) {
    bool fixed = strcmp(rg_method_name(rg_world_method(world)), "stepping") == 0;
    grab->step = fixed ? step : 0;
}

rg_status view_grab_begin(view_grab *grab, rg_world *world, double step, rg_body_id body,
                          rg_vec3 point, rg_vec3 target, rg_error *error) {
    rg_pose centre = rg_body_local_centre(world, body);
    rg_mass_properties mass = rg_body_mass(world, body);
    rg_force_def def = rg_force_def_default(RG_FORCE_FUNCTION);
    *grab = (view_grab){.body = body, .target = target, .planar = rg_world_is_planar(world)};
    grab->point = apply(transpose(rg_mat3_of_quat(centre.orientation)),
                        rg_add(point, rg_scale(-1, centre.position)));
    if (grab->planar)
        grab->point.y = grab->target.y = 0;
    set_inertia(grab, &mass, centre.orientation);
    view_grab_adapt(grab, world, step);
    def.body = body;
    def.function = pull;
    def.user = grab;
    rg_status status = rg_world_add_force(world, &def, &grab->force, error);
    if (status != RG_OK)
        *grab = (view_grab){0};
    return status;
}

void view_grab_end(view_grab *grab, rg_world *world) {
    if (world && grab->body.index1 != 0)
        (void)rg_world_remove_force(world, grab->force);
    *grab = (view_grab){0};
}
