/* Built-in scenes of contact forces with a closed form: the worked figures of Baraff 1989, a bead
 * on a circle, a table on four legs. Nothing has friction here.
 * Tested by tests/scene/test_force.c. */
#include "base/base_math.h"
#include "base/base_text.h"
#include "base/base_trig.h"
#include "rigor/contact_force.h"
#include "rigor/event.h"
#include "scene/scene_builtin.h"

/* s: of the step that shows forces at t = 0. */
#define AT_ONCE 1e-9

static double normal_force_at(const rg_world *world, const size_t *order, size_t count, size_t k) {
    size_t known;
    const rg_contact_force *forces = rg_world_contact_forces(world, &known);
    return k < count && order[k] < known ? forces[order[k]].normal_force : NAN;
}

/* ---- point-on-incline ---- */

/* Figure 7: a ball of 1 kg and radius 1 cm stands for a point mass. f = m g cos(angle), and it
 * slides with g sin(angle). */
static const rg_builtin_parameter slope_parameters[] = {
    {"angle", "30", "degrees of the slope", 0, 89, false, NULL},
};
#define POINT_RADIUS 0.01

typedef struct slope_state {
    double sine, cosine;
} slope_state;

static rg_status build_slope(rg_scene *scene, const double *values, rg_error *error) {
    slope_state *state = scene->measuring;
    rg_sin_cos(values[0] * RG_PI / 180, &state->sine, &state->cosine);
    rg_vec3 normal = rg_vec3_make(state->sine, 0, state->cosine);
    rg_status status = rg_builtin_set_law(scene, 0, 0, error);
    if (!status)
        status = rg_builtin_add_wall(scene, "slope", normal, 0, error);
    rg_shape_def ball = rg_shape_def_sphere(POINT_RADIUS);
    rg_body_def def = rg_body_def_default();
    def.name = "point";
    def.pose.position = rg_scale(POINT_RADIUS, normal);
    def.total_mass = 1;
    return status ? status : rg_builtin_add(scene, &ball, 1000, &def, NULL, error);
}

static size_t measure_slope(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const slope_state *state = scene->measuring;
    double g = rg_length(rg_world_gravity(scene->world)), time = rg_world_time(scene->world);
    size_t order[1], count = rg_builtin_sorted_forces(scene->world, order, 1);
    rg_vec3 v = rg_body_velocity(scene->world, rg_world_body_at(scene->world, 1));
    double along = rg_dot(v, rg_vec3_make(state->cosine, 0, -state->sine));
    measures[0] = rg_measure_beside("force_N", normal_force_at(scene->world, order, count, 0),
                                    g * state->cosine);
    measures[1] = rg_measure_beside("acceleration", time > 0 ? along / time : NAN, g * state->sine);
    return 2;
}

/* ---- block-on-floor ---- */

/* Figure 8: a planar block of 2 kg that rests on two corners, a to the left and b to the right of
 * its centre of mass: f1 = m g b/(a + b), f2 = m g a/(a + b). */
enum { BLOCK_A, BLOCK_B };
static const rg_builtin_parameter block_parameters[] = {
    {"a", "0.4", "m: left corner to the left of the centre of mass", 0.01, 10, false, NULL},
    {"b", "0.6", "m: right corner to the right of it", 0.01, 10, false, NULL},
};
#define BLOCK_MASS 2.0

typedef struct block_state {
    double a, b;
} block_state;

static rg_status build_block(rg_scene *scene, const double *values, rg_error *error) {
    block_state *state = scene->measuring;
    double a = state->a = values[BLOCK_A], b = state->b = values[BLOCK_B];
    rg_status status = rg_builtin_lay_floor(scene, 0, 0, error);
    const rg_vec3 corners[4] = {{-a, 0, -0.25}, {b, 0, -0.25}, {b, 0, 0.25}, {-a, 0, 0.25}};
    rg_shape_def shape = rg_shape_def_polygon(corners, 4);
    rg_body_def def = rg_body_def_default();
    def.name = "block";
    def.pose.position = rg_vec3_make(0, 0, 0.25);
    def.has_mass = true;
    def.mass = (rg_mass_properties){
        .mass = BLOCK_MASS,
        .inertia = rg_mat3_diagonal((rg_vec3){1, BLOCK_MASS * ((a + b) * (a + b) + 0.25) / 12, 1})};
    return status ? status : rg_builtin_add(scene, &shape, 1000, &def, NULL, error);
}

static size_t measure_block(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const block_state *state = scene->measuring;
    double weight = BLOCK_MASS * rg_length(rg_world_gravity(scene->world));
    size_t order[2], count = rg_builtin_sorted_forces(scene->world, order, 2);
    rg_body_id block = rg_world_body_at(scene->world, 1);
    measures[0] = rg_measure_beside("force_left_N", normal_force_at(scene->world, order, count, 0),
                                    weight * state->b / (state->a + state->b));
    measures[1] = rg_measure_beside("force_right_N", normal_force_at(scene->world, order, count, 1),
                                    weight * state->a / (state->a + state->b));
    measures[2] = rg_measure_beside("speed", rg_length(rg_body_velocity(scene->world, block)), 0);
    return 3;
}

/* ---- ledge ---- */

/* Figure 9: a planar brick of 2 m x 1 m and 1 kg, its centre of mass `past` metres beyond the edge
 * of a ledge. At t = 0 there are two contacts, the edge and the brick's corner, the latter one
 * vanishing: with I = 5/12 kg m^2, p = past, and the corner 1 m from the centre,
 *     A = 1 + (p p, p; p, 1)/I,   f = (g/A11, 0),   acceleration of the corner = A21 g/A11 - g. */
static const rg_builtin_parameter ledge_parameters[] = {
    {"past", "0.25", "m: centre of mass beyond the edge", 0.001, 0.999, false, NULL},
};
#define LEDGE_INERTIA (5.0 / 12)

static rg_status build_ledge(rg_scene *scene, const double *values, rg_error *error) {
    *(double *)scene->measuring = values[0]; /* past */
    rg_status status = rg_builtin_set_law(scene, 0, 0, error);
    const rg_vec3 ledge[4] = {{-4, 0, -1}, {0, 0, -1}, {0, 0, 0}, {-4, 0, 0}};
    rg_shape_def shape = rg_shape_def_polygon(ledge, 4);
    rg_body_def def = rg_body_def_default();
    def.name = "ledge", def.motion = RG_MOTION_FIXED;
    if (!status)
        status = rg_builtin_add(scene, &shape, 1000, &def, NULL, error);
    const rg_vec3 brick[4] = {{-1, 0, -0.5}, {1, 0, -0.5}, {1, 0, 0.5}, {-1, 0, 0.5}};
    shape = rg_shape_def_polygon(brick, 4);
    def = rg_body_def_default();
    def.name = "brick";
    def.pose.position = rg_vec3_make(values[0], 0, 0.5);
    return status ? status : rg_builtin_add(scene, &shape, 0.5, &def, NULL, error);
}

static size_t measure_ledge(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    double p = *(const double *)scene->measuring, g = rg_length(rg_world_gravity(scene->world));
    double a11 = 1 + p * p / LEDGE_INERTIA, a21 = 1 + p / LEDGE_INERTIA;
    double edge = NAN, corner = NAN, acceleration = NAN;
    rg_scene *twin = rg_builtin_first_step(scene, AT_ONCE);
    if (twin) {
        size_t order[2], count = rg_builtin_sorted_forces(twin->world, order, 2);
        rg_body_id brick = rg_world_body_at(twin->world, 1);
        /* The corner is on the left; once it is off, its force is not on the list any more. */
        corner = count > 1 ? normal_force_at(twin->world, order, count, 0) : 0;
        edge = normal_force_at(twin->world, order, count, count > 1 ? 1 : 0);
        acceleration =
            (rg_body_velocity(twin->world, brick).z - rg_body_spin(twin->world, brick)) / AT_ONCE;
    }
    rg_scene_destroy(twin);
    measures[0] = rg_measure_beside("force_edge_N", edge, g / a11);
    measures[1] = rg_measure_beside("force_corner_N", corner, 0);
    measures[2] = rg_measure_beside("corner_acceleration", acceleration, a21 * g / a11 - g);
    return 3;
}

/* ---- bead ---- */

/* A planar bead of radius 0.1 m on a circle of radius 0.9 m, so that its centre moves on one of 1
 * m, given `speed` at the top. It leaves where gravity no longer bends its path enough, at cos =
 * 2/3 + v^2/(3 g r). */
#define BEAD_RADIUS 0.1
#define BEAD_CIRCLE 0.9
#define BEAD_PATH   1.0
static const rg_builtin_parameter bead_parameters[] = {
    {"speed", "0.01", "m/s at the top", 1e-9, 3, false, NULL},
};

typedef struct bead_state {
    double speed;
    double left; /* s: when it left, 0: not yet */
    double cosine;
} bead_state;

static rg_status build_bead(rg_scene *scene, const double *values, rg_error *error) {
    bead_state *state = scene->measuring;
    state->speed = values[0], state->cosine = NAN;
    rg_status status = rg_builtin_set_law(scene, 0, 0, error);
    rg_shape_def circle = rg_shape_def_disc(BEAD_CIRCLE), bead = rg_shape_def_disc(BEAD_RADIUS);
    rg_body_def def = rg_body_def_default();
    def.name = "circle", def.motion = RG_MOTION_FIXED;
    if (!status)
        status = rg_builtin_add(scene, &circle, 1000, &def, NULL, error);
    def = rg_body_def_default();
    def.name = "bead";
    def.pose.position = rg_vec3_make(0, 0, BEAD_PATH);
    def.velocity = rg_vec3_make(values[0], 0, 0);
    return status ? status : rg_builtin_add(scene, &bead, 1000, &def, NULL, error);
}

/* The bead flies freely after it has left: where it did follows from where it is now. */
static void observe_bead(rg_scene *scene) {
    bead_state *state = scene->measuring;
    if (state->left > 0 || rg_world_body_count(scene->world) < 2)
        return;
    rg_body_id bead = rg_world_body_at(scene->world, 1);
    rg_vec3 x = rg_body_pose(scene->world, bead).position;
    double now = rg_world_time(scene->world), v = rg_body_velocity(scene->world, bead).z;
    double left = rg_builtin_event_time(scene->world, RG_STEP_EVENT_BREAK, true, NULL);
    /* By a method without a log of events: the first step after which they are apart. */
    if (isnan(left) && rg_length(x) > BEAD_PATH * (1 + 1e-6))
        left = now;
    if (isnan(left))
        return;
    double ago = now - left;
    state->left = left;
    state->cosine =
        (x.z - v * ago - 0.5 * rg_length(rg_world_gravity(scene->world)) * ago * ago) / BEAD_PATH;
}

static size_t measure_bead(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const bead_state *state = scene->measuring;
    double g = rg_length(rg_world_gravity(scene->world));
    measures[0] = rg_measure_beside("leaving_cosine", state->cosine,
                                    2.0 / 3 + state->speed * state->speed / (3 * g * BEAD_PATH));
    measures[1] = rg_measure_of("leaving_s", state->left > 0 ? state->left : NAN);
    return 2;
}

/* ---- table-legs ---- */

/* A table of 12 kg: a board of 1 x 1 x 0.1 m on four legs that end in points, 0.4 m to either side.
 * Four points carry what three would: how they share it is not determined, what the table does
 * is. */
enum { LEGS = 4 };
#define TABLE_MASS 12.0
#define LEG_LENGTH 0.6

static rg_status build_table(rg_scene *scene, const double *values, rg_error *error) {
    (void)values;
    static const double sides[LEGS][2] = {{-0.4, -0.4}, {0.4, -0.4}, {0.4, 0.4}, {-0.4, 0.4}};
    rg_status status = rg_builtin_lay_floor(scene, 0, 0, error);
    rg_compound_part parts[LEGS + 1] = {{0}};
    rg_shape_def board = rg_shape_def_box(1, 1, 0.1);
    const rg_vec3 corners[5] = {{0.04, 0.04, LEG_LENGTH},
                                {-0.04, 0.04, LEG_LENGTH},
                                {-0.04, -0.04, LEG_LENGTH},
                                {0.04, -0.04, LEG_LENGTH},
                                {0, 0, 0}};
    rg_shape_def leg = rg_shape_def_hull(corners, 5);
    rg_shape *shapes[2] = {NULL, NULL};
    if (!status)
        status = rg_shape_create(&board, &scene->allocator, &shapes[0], error);
    if (!status)
        status = rg_shape_create(&leg, &scene->allocator, &shapes[1], error);
    for (int i = 0; i <= LEGS; i++) {
        parts[i].shape = shapes[i < LEGS];
        parts[i].density = 1;
        parts[i].pose = rg_pose_identity();
        parts[i].pose.position = i < LEGS ? rg_vec3_make(sides[i][0], sides[i][1], 0)
                                          : rg_vec3_make(0, 0, LEG_LENGTH + 0.05);
    }
    rg_shape_def whole = rg_shape_def_compound(parts, LEGS + 1);
    rg_body_def def = rg_body_def_default();
    def.name = "table";
    def.total_mass = TABLE_MASS;
    if (!status)
        status = rg_builtin_add(scene, &whole, 1000, &def, NULL, error);
    rg_shape_release(shapes[0]);
    rg_shape_release(shapes[1]);
    return status;
}

static size_t measure_table(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    static const char *const names[LEGS] = {"force_1_N", "force_2_N", "force_3_N", "force_4_N"};
    double weight = TABLE_MASS * rg_length(rg_world_gravity(scene->world)), sum = 0;
    size_t order[LEGS], count = rg_builtin_sorted_forces(scene->world, order, LEGS), n = 0;
    rg_body_id table = rg_world_body_at(scene->world, 1);
    for (size_t i = 0; i < LEGS; i++) {
        double force = normal_force_at(scene->world, order, count, i);
        sum += force;
        measures[n++] = rg_measure_of(names[i], force);
    }
    measures[n++] = rg_measure_beside("contacts", (double)count, LEGS);
    measures[n++] = rg_measure_beside("force_sum_N", sum, weight);
    measures[n++] = rg_measure_beside("speed", rg_length(rg_body_velocity(scene->world, table)), 0);
    measures[n++] =
        rg_measure_beside("spin", rg_length(rg_body_angular_velocity(scene->world, table)), 0);
    return n;
}

/* ---- the list ---- */

const rg_builtin rg_builtin_force[] = {
    {"point-on-incline", "a point mass on a slope without friction: m g cos(angle) (Figure 7)",
     RG_PARAMETERS(slope_parameters), RG_ANALYTIC, 1, sizeof(slope_state), build_slope, NULL,
     measure_slope},
    {"block-on-floor", "a block on two corners: how they share its weight (Figure 8)",
     RG_PARAMETERS(block_parameters), RG_ANALYTIC | RG_PLANAR, 1, sizeof(block_state), build_block,
     NULL, measure_block},
    {"ledge", "a brick tips over a ledge: one of its contacts vanishes at once (Figure 9)",
     RG_PARAMETERS(ledge_parameters), RG_ANALYTIC | RG_PLANAR, 1, sizeof(double), build_ledge, NULL,
     measure_ledge},
    {"bead", "a bead slides down the outside of a circle and leaves it at cos = 2/3",
     RG_PARAMETERS(bead_parameters), RG_ANALYTIC | RG_PLANAR, 3, sizeof(bead_state), build_bead,
     observe_bead, measure_bead},
    {"table-legs", "a table on four legs: forces are not unique, its rest is", RG_NO_PARAMETERS,
     RG_ANALYTIC, 1, 0, build_table, NULL, measure_table},
    {0},
};
