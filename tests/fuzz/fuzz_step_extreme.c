/* Any bytes as a scene of extreme numbers, stepped up to 20 times: shapes of 1 um to 1,000 km,
 * masses of 1e-12 to 1e12 kg, speeds to 1e6 m/s and rad/s, any shape, method and solver, joints,
 * friction, restitution, and in some inputs numbers up to the limits that a world states. A step
 * succeeds, and the state is finite, or it fails with a status and a sentence, and the state is as
 * it was. One that takes long is interrupted.
 *
 * One byte chooses one thing, so that mutations are small changes of a scene: ten bytes for the
 * world, eight for each body, four for each joint. */
#include "base/base_math.h"
#include "base/base_trig.h"
#include "rigor/impact.h"
#include "rigor/world.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 20, BODIES_MOST = 6, JOINTS_MOST = 4 };
/* What an input may ask for in all its steps, as the methods count it; one step may ask for more,
 * up to the limits of its method. */
enum { WORK_MOST = 4000 };
/* s of processor time for an input: then the step is asked to end, and must. */
enum { SECONDS_MOST = 1 };
/* Radians that a body turns by in a step of the method analytic, at its first speed: to find out
 * when a body that turns meets another takes time in proportion. */
#define TURN_MOST 100.0

static void require(bool condition) {
    if (!condition)
        abort();
}

typedef struct bytes {
    const uint8_t *data;
    size_t left;
} bytes;

static unsigned next(bytes *b) {
    if (b->left == 0)
        return 0;
    b->left--;
    return *b->data++;
}

static unsigned pick(bytes *b, unsigned count) {
    return next(b) % count;
}

static double log_between(unsigned byte, double low, double high) {
    return low * rg_exp(rg_log(high / low) * byte / 255);
}

typedef struct scene {
    rg_world *world;
    bool planar;
    bool widest; /* numbers up to the limits, not only those of the title */
    rg_body_id bodies[BODIES_MOST];
    rg_bounds bounds[BODIES_MOST]; /* about their places */
    double radius[BODIES_MOST];    /* a length of each */
    size_t count;
} scene;

/* --- numbers ---------------------------------------------------------------------------------- */

static double size_of(const scene *s, bytes *b) {
    return s->widest ? log_between(next(b), 1e-40, 1e45) : log_between(next(b), 1e-6, 1e6);
}

/* The low bits choose a direction, the high ones a size; 0: none. */
static rg_vec3 vector_of(const scene *s, unsigned byte, double low, double high) {
    static const rg_vec3 directions[8] = {{1, 0, 0},         {0, 0, -1},      {-1, 0, 0},
                                          {0, 0, 1},         {0, 1, 0},       {0, -1, 0},
                                          {0.6, 0.48, 0.64}, {-0.1, 1, -0.02}};
    if (byte < 8)
        return (rg_vec3){0, 0, 0};
    rg_vec3 v = rg_scale(log_between(byte / 8 * 8, low, high), directions[byte % 8]);
    if (s->planar)
        v.y = 0;
    return v;
}

static rg_vec3 rate_of(const scene *s, bytes *b) {
    return s->widest ? vector_of(s, next(b), 1e-50, 1e50) : vector_of(s, next(b), 1e-6, 1e6);
}

/* --- shapes ----------------------------------------------------------------------------------- */

static rg_shape *hull_of(double x, double y, double z, bool tetrahedron) {
    const rg_vec3 points[6] = {{x, 0, 0},    {0, y, 0},  {0, 0, z},
                               {-x, -y, -z}, {-x, y, 0}, {0, -y, z}};
    rg_shape *shape = NULL;
    rg_shape_def def = rg_shape_def_hull(points, tetrahedron ? 4 : 6);
    rg_shape_create(&def, NULL, &shape, NULL);
    return shape;
}

static rg_shape *compound_of(double x, double y, double z) {
    rg_shape *ball = NULL, *box = NULL, *shape = NULL;
    rg_shape_def def = rg_shape_def_sphere(x);
    if (!rg_shape_create(&def, NULL, &ball, NULL)) {
        def = rg_shape_def_box(x, y, z);
        if (!rg_shape_create(&def, NULL, &box, NULL)) {
            rg_compound_part parts[2] = {{ball, rg_pose_identity(), 1},
                                         {box, rg_pose_identity(), 2}};
            parts[1].pose.position.x = x + y;
            def = rg_shape_def_compound(parts, 2);
            rg_shape_create(&def, NULL, &shape, NULL);
        }
    }
    rg_shape_release(ball);
    rg_shape_release(box);
    return shape;
}

static rg_shape *terrain_of(double x, double y, double z) {
    const double heights[9] = {0, z, 0, 0.1 * z, 0, -z, 0, 0, 0.5 * z};
    rg_heights field = {.columns = 3, .rows = 3, .dx = x, .dy = y, .heights = heights};
    rg_shape *shape = NULL;
    rg_shape_create_heights(&field, NULL, &shape, NULL);
    return shape;
}

static rg_shape *planar_of(unsigned kind, double x, double z) {
    const rg_vec3 corners[4] = {{-x, 0, -z}, {x, 0, -z}, {x, 0, z}, {-0.5 * x, 0, z}};
    rg_shape_def def = kind == 0   ? rg_shape_def_disc(x)
                       : kind == 1 ? rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0)
                                   : rg_shape_def_polygon(corners, kind == 2 ? 4 : 3);
    rg_shape *shape = NULL;
    rg_shape_create(&def, NULL, &shape, NULL);
    return shape;
}

/* Null: such a shape is refused. */
static rg_shape *shape_of(const scene *s, bytes *b, double *radius) {
    unsigned kind = next(b), aspect = next(b);
    double x = size_of(s, b);
    double y = x * log_between(aspect % 16 * 17, s->widest ? 1e-5 : 1e-3, 1);
    double z = x * log_between(aspect / 16 * 17, s->widest ? 1e-5 : 1e-3, 1);
    rg_shape_def def = {0};
    rg_shape *shape = NULL;
    *radius = x;
    if (s->planar)
        return planar_of(kind % 4, x, z);
    switch (kind % 12) {
    case 0:
        def = rg_shape_def_sphere(x);
        break;
    case 1:
        def = rg_shape_def_box(x, y, z);
        break;
    case 2:
        def = rg_shape_def_halfspace((rg_vec3){0, kind & 16 ? 0.01 : 0, 1}, 0);
        break;
    case 3:
        def = rg_shape_def_capsule(y, x);
        break;
    case 4:
        def = rg_shape_def_cylinder(y, z);
        break;
    case 5:
        def = rg_shape_def_cone(y, z);
        break;
    case 6:
        def = rg_shape_def_ellipsoid(x, y, z);
        break;
    case 7:
    case 8:
        return hull_of(x, y, z, kind % 12 == 8);
    case 9:
        return compound_of(x, y, z);
    case 10:
        return terrain_of(x, y, z);
    default:
        def = rg_shape_def_cylinder(z, y);
    }
    rg_shape_create(&def, NULL, &shape, NULL);
    return shape;
}

/* --- bodies ----------------------------------------------------------------------------------- */

static double reach_along(double direction, double lower, double upper) {
    double reach = direction * (direction > 0 ? upper : lower);
    return isfinite(reach) ? reach : 0;
}

/* How far bounds reach along a direction; 0 where they have no end. */
static double reach_of(const rg_bounds *b, rg_vec3 direction) {
    return reach_along(direction.x, b->lower.x, b->upper.x) +
           reach_along(direction.y, b->lower.y, b->upper.y) +
           reach_along(direction.z, b->lower.z, b->upper.z);
}

/* Beside the body before, in it, or at a distance. */
static rg_pose place_of(const scene *s, bytes *b, const rg_shape *shape, rg_bounds *bounds) {
    static const double apart[8] = {1, 0.999, 1 - 1e-9, 0.7, 1 + 1e-9, 1.1, 0, 8};
    static const rg_quat turns[4] = {
        {0, 0, 0, 1}, {0.6, 0, 0, 0.8}, {0.36, 0.48, 0, 0.8}, {0.001, 0, 0, 0.9999995}};
    unsigned byte = next(b);
    rg_pose pose = {.orientation = turns[s->planar ? 0 : byte / 64]};
    *bounds = rg_shape_bounds(shape, pose);
    if (s->count == 0)
        return pose;
    rg_vec3 direction = vector_of(s, 8 + (byte + 3) % 8, 1, 1);
    double distance =
        reach_of(&s->bounds[s->count - 1], direction) + reach_of(bounds, rg_neg(direction));
    pose.position = rg_add_scaled(rg_body_pose(s->world, s->bodies[s->count - 1]).position,
                                  apart[byte / 8 % 8] * distance, direction);
    return pose;
}

static void require_refusal(rg_status status, const rg_error *error) {
    require(error->status == status && error->text[0] && status != RG_OUT_OF_MEMORY);
}

static void add_body(scene *s, bytes *b) {
    rg_error error = {0};
    rg_collider_def collider = rg_collider_def_default();
    rg_body_def def = rg_body_def_default();
    rg_bounds bounds;
    double radius;
    unsigned motion = next(b);
    collider.shape = shape_of(s, b, &radius);
    if (!collider.shape)
        return;
    double most = s->widest ? 1e45 : 1e12;
    def.total_mass = log_between(next(b), 1 / most, most);
    def.pose = place_of(s, b, collider.shape, &bounds);
    def.angle = s->planar && motion & 32 ? 0.3 : 0;
    def.velocity = rate_of(s, b);
    def.angular_velocity = rate_of(s, b);
    if (s->planar)
        def.angular_velocity = (rg_vec3){0, def.angular_velocity.x + def.angular_velocity.z, 0};
    rg_shape_kind kind = rg_shape_get_kind(collider.shape);
    if (kind == RG_SHAPE_HALFSPACE || kind == RG_SHAPE_TERRAIN || motion % 8 == 7) {
        def.motion = RG_MOTION_FIXED;
        def.velocity = def.angular_velocity = (rg_vec3){0, 0, 0};
    } else if (motion % 8 == 6) {
        def.motion = RG_MOTION_KINEMATIC;
        def.prescription.kind = motion & 8 ? RG_PRESCRIBED_OSCILLATION : RG_PRESCRIBED_VELOCITY;
        def.prescription.amplitude = vector_of(s, motion, radius, radius);
        def.prescription.frequency = log_between(motion, 1, 1e6);
        if (motion & 8)
            def.velocity = def.angular_velocity = (rg_vec3){0, 0, 0};
    }
    collider.sensor = motion % 64 == 63;
    def.colliders = &collider, def.collider_count = 1;
    rg_status status = rg_world_add_body(s->world, &def, &s->bodies[s->count], &error);
    rg_shape_release(collider.shape);
    if (status) {
        require_refusal(status, &error);
        return;
    }
    s->bounds[s->count] = bounds;
    s->radius[s->count++] = radius;
}

static void add_joint(scene *s, bytes *b) {
    rg_error error = {0};
    rg_joint_def def = rg_joint_def_default((rg_joint_kind)pick(b, RG_JOINT_KIND_COUNT));
    rg_joint_id joint;
    unsigned pair = next(b), bits = next(b);
    double strength =
        s->widest ? log_between(next(b), 1e-45, 1e45) : log_between(next(b), 1e-6, 1e12);
    if (s->count == 0)
        return;
    size_t at = pair % s->count, other = pair / 16 % (s->count + 1);
    def.body_b = s->bodies[at];
    if (other < s->count)
        def.body_a = s->bodies[other];
    rg_vec3 point = rg_body_pose(s->world, def.body_b).position;
    point.x += bits & 1 ? s->radius[at] : 0;
    rg_joint_def_place(s->world, &def, point,
                       s->planar && def.kind != RG_JOINT_SLIDER ? (rg_vec3){0, 1, 0}
                                                                : (rg_vec3){0, 0, 1});
    def.frame_b.position.x += bits & 2 ? 0.1 * s->radius[at] : 0;
    def.collide = bits & 4;
    def.ratio = bits & 8 ? strength : -1;
    def.surface = (rg_quadric){.square = {1, bits & 16 ? 1 : 0, 1}, .constant = -strength};
    if (def.kind == RG_JOINT_DISTANCE)
        def.axis[0].upper = s->radius[at];
    for (size_t i = 0; i < rg_joint_axis_count(def.kind); i++) {
        rg_joint_axis *axis = &def.axis[i];
        if (bits & 16 && def.kind != RG_JOINT_SURFACE)
            axis->lower = -0.1 * s->radius[at], axis->upper = s->radius[at];
        if (bits & 32)
            axis->stiffness = strength, axis->damping = 0.01 * strength;
        if (bits & 64)
            axis->motor = RG_MOTOR_VELOCITY, axis->target = strength;
        if (bits & 128)
            axis->friction = strength, axis->armature = 1 / strength;
    }
    rg_status status = rg_world_add_joint(s->world, &def, &joint, &error);
    if (status)
        require_refusal(status, &error);
}

/* --- the world -------------------------------------------------------------------------------- */

static void set_law(scene *s, bytes *b) {
    unsigned friction = next(b), bounce = next(b);
    rg_contact_law law = rg_contact_law_default();
    law.friction = friction < 32    ? 0
                   : friction < 200 ? friction / 100.0
                                    : log_between(friction, 1e-3, 1e3);
    law.static_friction = friction % 4 == 3 ? 1.5 * law.friction : 0;
    law.restitution = bounce % 4 == 0 ? 0 : bounce / 255.0;
    law.stiffness = bounce % 16 == 15 ? log_between(bounce, 1e-6, 1e20) : 0;
    law.rolling_friction = bounce % 32 == 31 && law.friction > 0 ? 0.01 : 0;
    require(rg_world_set_material_law(s->world, (rg_material_id){0}, &law, NULL) == RG_OK);
}

static rg_world_def world_def_of(scene *s, bytes *b) {
    rg_world_def def = rg_world_def_default();
    unsigned method = next(b), solver = next(b), options = next(b), impact = next(b);
    rg_method_settings *settings = &def.settings;
    def.method = rg_method_at(method % rg_method_count());
    s->planar = def.planar = method & 64;
    s->widest = method & 128;
    settings->solver = solver < 64 ? NULL : rg_solver_at(solver % rg_solver_count());
    settings->discrete_detection = options & 1;
    settings->hand_over = options & 2;
    settings->penalty.impulses = options & 4;
    settings->penalty.measure = options & 8 ? RG_PENALTY_RATIO : RG_PENALTY_DISTANCE;
    settings->integrator = options & 16 ? RG_INTEGRATOR_ADAMS : RG_INTEGRATOR_DORMAND_PRINCE;
    settings->policy = options & 32 ? RG_POLICY_LARGEST_FORCE : RG_POLICY_SMALLEST_FORCE;
    settings->friction_directions = options & 64 ? 8 : 0;
    settings->gamma = options & 128 ? 0.1 : 1;
    settings->impact = impact < 64 ? NULL : rg_impact_law_at(impact % rg_impact_law_count());
    def.gravity = vector_of(s, next(b), s->widest ? 1e-50 : 1e-3, s->widest ? 1e50 : 1e6);
    return def;
}

static double step_of(const scene *s, bytes *b) {
    static const double odd[6] = {1e308, 1e-308, INFINITY, NAN, 0, -1};
    unsigned byte = next(b);
    if (byte >= 250)
        return odd[byte - 250];
    return byte < 64   ? 1.0 / 240
           : s->widest ? log_between(byte, 1e-20, 1e12)
                       : log_between(byte, 1e-6, 1);
}

static void require_finite(const rg_world *world) {
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        rg_pose pose = rg_body_centre_pose(world, body);
        require(rg_is_finite(pose.position) && rg_is_finite(rg_body_velocity(world, body)) &&
                rg_is_finite(rg_body_angular_velocity(world, body)) &&
                rg_is_finite(rg_body_momentum(world, body)) &&
                rg_is_finite(rg_body_angular_momentum(world, body)));
        require(fabs(rg_quat_norm_squared(pose.orientation) - 1) < 1e-9);
    }
}

/* Of a step that has failed: by what the numbers are, not by what the program is. */
static bool is_sensible(rg_status status) {
    return status == RG_NOT_FINITE || status == RG_LIMIT_EXCEEDED || status == RG_STEP_TOO_SMALL ||
           status == RG_ITERATION_LIMIT || status == RG_INTERRUPTED || status == RG_UNSUPPORTED ||
           status == RG_INVALID_ARGUMENT;
}

static rg_world *stepping; /* for the timer */

static void interrupt(int signal) {
    (void)signal;
    if (stepping)
        rg_world_interrupt(stepping);
}

static void set_timer(time_t seconds) {
    signal(SIGVTALRM, interrupt);
    setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_value = {.tv_sec = seconds}}, NULL);
}

/* A step shorter than was chosen, where bodies turn too fast for it. */
static double shortened(const scene *s, double step) {
    double spin = 0;
    for (size_t i = 0; i < s->count; i++)
        spin = fmax(spin, rg_length(rg_body_angular_velocity(s->world, s->bodies[i])));
    bool analytic = rg_world_method(s->world) == rg_method_find("analytic");
    return analytic && step * spin > TURN_MOST ? TURN_MOST / spin : step;
}

static void run(const scene *s, double step) {
    uint64_t work = 0;
    for (int i = 0; i < STEPS && work < WORK_MOST; i++) {
        rg_step_info info;
        rg_error error = {0};
        uint64_t hash = rg_world_state_hash(s->world);
        rg_status status = rg_world_step(s->world, step, &info, &error);
        if (status) {
            require(error.status == status && error.text[0] && is_sensible(status));
            require(rg_world_state_hash(s->world) == hash);
            return;
        }
        require(step > 0 && isfinite(step) && info.time == rg_world_time(s->world));
        require_finite(s->world);
        work += info.evaluations + info.solver_iterations + info.substeps + info.rejected;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bytes b = {data, size};
    scene s = {0};
    rg_error error = {0};
    rg_world_def def = world_def_of(&s, &b);
    double step = step_of(&s, &b);
    rg_status status = rg_world_create(&def, &s.world, &error);
    if (status) {
        require_refusal(status, &error);
        return 0;
    }
    set_law(&s, &b);
    unsigned bodies = 1 + pick(&b, BODIES_MOST), many = next(&b);
    unsigned joints = many % 8 < 3 ? many / 8 % JOINTS_MOST : 0;
    for (unsigned i = 0; i < bodies; i++)
        add_body(&s, &b);
    for (unsigned i = 0; i < joints; i++)
        add_joint(&s, &b);
    stepping = s.world;
    set_timer(SECONDS_MOST);
    run(&s, shortened(&s, step));
    set_timer(0);
    stepping = NULL;
    rg_world_destroy(s.world);
    return 0;
}
