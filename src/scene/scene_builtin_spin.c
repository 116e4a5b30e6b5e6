/* Built-in scenes of bodies with curved surfaces that spin and roll on the floor: rattleback, tippe
 * top, Euler's disc.
 * Tested by tests/scene/test_spin.c. */
#include "base/base_math.h"
#include "base/base_text.h"
#include "base/base_trig.h"
#include "scene/scene_builtin.h"

/* ---- rattleback ---- */

/* The stone of Kane and Levinson 1982: an ellipsoid of semi-axes 0.2, 0.03, 0.02 m, 1 kg, its
 * centre of mass 1 cm below the middle, principal axes turned against the ellipsoid's. Friction 2,
 * so that it rolls without slipping. Spun one way it begins to rattle and turns round; the other
 * way it goes on. */
static const rg_builtin_parameter rattle_parameters[] = {
    {"spin", "-5", "rad/s about the vertical; from below 0 it turns round", -20, 20, false, NULL},
};

typedef struct rattle_state {
    double spin;    /* rad/s, at the start */
    double sign;    /* of the way it goes now */
    double largest; /* rad/s: fastest against the way it began */
    uint64_t reversals;
} rattle_state;

static rg_status build_rattle(rg_scene *scene, const double *values, rg_error *error) {
    rattle_state *state = scene->measuring;
    state->spin = values[0], state->sign = values[0] < 0 ? -1 : 1;
    rg_status status = rg_builtin_lay_floor(scene, 2, 0, error);
    const rg_vec3 axes = {0.2, 0.03, 0.02};
    rg_shape_def shape = rg_shape_def_ellipsoid(axes.x, axes.y, axes.z);
    rg_body_def def = rg_body_def_default();
    def.name = "stone";
    def.has_mass = true;
    def.mass =
        (rg_mass_properties){.mass = 1,
                             .centre = {0, 0, -0.01},
                             .inertia = {{{2e-4, -2e-5, 0}, {-2e-5, 1.6e-3, 0}, {0, 0, 1.7e-3}}}};
    /* Half a degree about each of the long axes. */
    double tilt = 0.5 * RG_PI / 180;
    def.pose.orientation = rg_quat_of_rotation_vector(rg_vec3_make(tilt, tilt, 0));
    rg_vec3 up = rg_rotate_back(def.pose.orientation, rg_vec3_make(0, 0, 1));
    rg_vec3 lowest = rg_scale(-1, rg_times(rg_times(axes, axes), up));
    double height = rg_length(rg_times(axes, up));
    lowest = rg_scale(1 / height, lowest); /* from the middle, in the stone's axes */
    def.pose.position = rg_vec3_make(0, 0, height);
    def.angular_velocity = rg_vec3_make(0, 0, values[0]);
    rg_vec3 arm = rg_rotate(def.pose.orientation, rg_sub(lowest, def.mass.centre));
    def.velocity = rg_neg(rg_cross(def.angular_velocity, arm));
    return status ? status : rg_builtin_add(scene, &shape, 1000, &def, NULL, error);
}

/* A turn counts when the stone has a tenth of its speed the other way: rattling sways it, too. */
static void observe_rattle(rg_scene *scene) {
    rattle_state *state = scene->measuring;
    if (rg_world_body_count(scene->world) < 2)
        return;
    double w = rg_body_angular_velocity(scene->world, rg_world_body_at(scene->world, 1)).z;
    if (w * state->sign < -0.1 * fabs(state->spin)) {
        state->sign = -state->sign;
        state->reversals++;
    }
    state->largest = fmax(state->largest, state->spin < 0 ? w : -w);
}

static size_t measure_rattle(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const rattle_state *state = scene->measuring;
    rg_step_info summary = rg_world_summary(scene->world);
    rg_body_id stone = rg_world_body_at(scene->world, 1);
    measures[0] = rg_measure_truth("turned_round", state->reversals > 0, state->spin < 0);
    measures[1] = rg_measure_of("reversals", (double)state->reversals);
    measures[2] = rg_measure_of("spin_end", rg_body_angular_velocity(scene->world, stone).z);
    measures[3] = rg_measure_of("spin_against", state->largest);
    double spinning = 0.5 * 1.7e-3 * state->spin * state->spin;
    measures[4] = rg_measure_beside(
        "energy_error_rel", fabs(summary.energy.final - summary.energy.initial) / spinning, 0);
    return 5;
}

/* ---- tippe-top ---- */

/* A ball of radius 2 cm and 15 g whose centre of mass is 6 mm below its middle, spun fast about the
 * vertical, its axis `tilt` from upright. The friction of its sliding turns it over. */
enum { TOP_SPIN, TOP_MU, TOP_TILT };
static const rg_builtin_parameter tippe_parameters[] = {
    {"spin", "160", "rad/s about the vertical", 0, 1000, false, NULL},
    {"mu", "0.3", "coefficient of friction", 0, 10, false, NULL},
    {"tilt", "0.1", "rad from upright at the start", 0, 3.2, false, NULL},
};
#define TIPPE_RADIUS 0.02
#define TIPPE_OFFSET 0.006
#define TIPPE_MASS   0.015

typedef struct tippe_state {
    double lowest;   /* cosine of its axis from upright */
    double jellett;  /* kg m^3/s, at the start */
    double inverted; /* s: when it was first past 150 degrees; 0: not yet */
} tippe_state;

/* Jellett's constant: the angular momentum about the centre of mass times the arm to the contact.
 * No friction at the contact changes it. */
static double jellett_of(const rg_scene *scene) {
    rg_body_id top = rg_world_body_at(scene->world, 1);
    rg_quat q = rg_body_pose(scene->world, top).orientation;
    rg_vec3 arm = rg_rotate(q, rg_vec3_make(0, 0, TIPPE_OFFSET));
    arm.z -= TIPPE_RADIUS;
    return rg_dot(rg_body_angular_momentum(scene->world, top), arm);
}

static rg_status build_tippe(rg_scene *scene, const double *values, rg_error *error) {
    tippe_state *state = scene->measuring;
    state->lowest = 1;
    rg_status status = rg_builtin_lay_floor(scene, values[TOP_MU], 0, error);
    double mr = TIPPE_MASS * TIPPE_RADIUS * TIPPE_RADIUS;
    rg_shape_def shape = rg_shape_def_sphere(TIPPE_RADIUS);
    rg_body_def def = rg_body_def_default();
    def.name = "top";
    def.has_mass = true;
    def.mass = (rg_mass_properties){
        .mass = TIPPE_MASS,
        .centre = {0, 0, -TIPPE_OFFSET},
        .inertia = rg_mat3_diagonal((rg_vec3){0.38 * mr, 0.38 * mr, 0.4 * mr})};
    def.pose.orientation = rg_quat_of_rotation_vector(rg_vec3_make(0, values[TOP_TILT], 0));
    def.pose.position = rg_vec3_make(0, 0, TIPPE_RADIUS);
    def.angular_velocity = rg_vec3_make(0, 0, values[TOP_SPIN]);
    if (!status)
        status = rg_builtin_add(scene, &shape, 1000, &def, NULL, error);
    state->jellett = status ? 0 : jellett_of(scene);
    return status;
}

static void observe_tippe(rg_scene *scene) {
    tippe_state *state = scene->measuring;
    if (rg_world_body_count(scene->world) < 2)
        return;
    rg_quat q = rg_body_pose(scene->world, rg_world_body_at(scene->world, 1)).orientation;
    double cosine = rg_rotate(q, rg_vec3_make(0, 0, 1)).z;
    state->lowest = fmin(state->lowest, cosine);
    if (state->inverted == 0 && cosine < -0.86602540378443865)
        state->inverted = rg_world_time(scene->world);
}

static size_t measure_tippe(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const tippe_state *state = scene->measuring;
    rg_step_info summary = rg_world_summary(scene->world);
    measures[0] = rg_measure_truth("turned_over", state->inverted > 0, true);
    measures[1] = rg_measure_of("turned_over_s", state->inverted > 0 ? state->inverted : NAN);
    measures[2] = rg_measure_of("largest_tilt_deg", rg_acos(state->lowest) * 180 / RG_PI);
    measures[3] = rg_measure_of("friction_work_J", summary.energy.friction_work);
    measures[4] =
        rg_measure_beside("jellett_error_rel", fabs(jellett_of(scene) / state->jellett - 1), 0);
    return 5;
}

/* ---- euler-disc ---- */

/* A disc of radius r = 0.1 m and height h = 1 cm rolls on its rim at `angle` from the floor, its
 * centre at rest. The contact runs round at
 *     W^2 = m g r (r cos - h/2 sin) / (sin (I1 r cos - I3 h/2 sin)),
 * which for a thin disc is 4 g/(r sin). Rolling costs nothing here, so it goes on for ever. */
static const rg_builtin_parameter disc_parameters[] = {
    {"angle", "10", "degrees from the floor", 1, 60, false, NULL},
};
#define DISC_RADIUS 0.1
#define DISC_HEIGHT 0.01

typedef struct disc_state {
    double angle, rate;
    double azimuth, turned; /* rad: of the axis now; in all */
    double tilt_error;      /* rad, largest */
    double drift;           /* m, largest, of the centre */
    rg_vec3 start;
} disc_state;

static double disc_rate(double sine, double cosine, double g) {
    double half = 0.5 * DISC_HEIGHT, r = DISC_RADIUS;
    double across = r * r / 4 + DISC_HEIGHT * DISC_HEIGHT / 12, along = r * r / 2;
    return sqrt(g * r * (r * cosine - half * sine) /
                (sine * (across * r * cosine - along * half * sine)));
}

static rg_status build_disc(rg_scene *scene, const double *values, rg_error *error) {
    disc_state *state = scene->measuring;
    double s, c;
    state->angle = values[0] * RG_PI / 180;
    rg_sin_cos(state->angle, &s, &c);
    state->rate = disc_rate(s, c, rg_length(rg_world_gravity(scene->world)));
    rg_status status = rg_builtin_add_floor(scene, error);
    rg_shape_def shape = rg_shape_def_cylinder(DISC_RADIUS, DISC_HEIGHT);
    rg_body_def def = rg_body_def_default();
    def.name = "disc";
    def.pose.orientation = rg_quat_of_rotation_vector(rg_vec3_make(0, state->angle, 0));
    /* From the centre to the lowest point of the rim: about this line it turns. */
    rg_vec3 lowest = rg_vec3_make(DISC_RADIUS * c - 0.5 * DISC_HEIGHT * s, 0,
                                  -DISC_RADIUS * s - 0.5 * DISC_HEIGHT * c);
    def.pose.position = state->start = rg_vec3_make(0, 0, -lowest.z);
    def.angular_velocity = rg_scale(-state->rate * s / DISC_RADIUS, lowest);
    return status ? status : rg_builtin_add(scene, &shape, 1000, &def, NULL, error);
}

static void observe_disc(rg_scene *scene) {
    disc_state *state = scene->measuring;
    if (rg_world_body_count(scene->world) < 2)
        return;
    rg_pose pose = rg_body_pose(scene->world, rg_world_body_at(scene->world, 1));
    rg_vec3 axis = rg_rotate(pose.orientation, rg_vec3_make(0, 0, 1));
    double azimuth = rg_atan2(axis.y, axis.x), moved = azimuth - state->azimuth;
    double tilt = rg_atan2(sqrt(axis.x * axis.x + axis.y * axis.y), axis.z);
    moved -= 2 * RG_PI * floor(moved / (2 * RG_PI) + 0.5);
    state->turned += moved;
    state->azimuth = azimuth;
    state->tilt_error = fmax(state->tilt_error, fabs(tilt - state->angle));
    state->drift = fmax(state->drift, rg_length(rg_sub(pose.position, state->start)));
}

static size_t measure_disc(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const disc_state *state = scene->measuring;
    double time = rg_world_time(scene->world);
    measures[0] =
        rg_measure_beside("rate_rad_s", time > 0 ? state->turned / time : NAN, state->rate);
    measures[1] = rg_measure_beside("tilt_error_rad", state->tilt_error, 0);
    measures[2] = rg_measure_beside("drift_m", state->drift, 0);
    return 3;
}

/* ---- the list ---- */

const rg_builtin rg_builtin_spin[] = {
    {"rattleback", "a stone that will be spun one way only", RG_PARAMETERS(rattle_parameters),
     RG_ANALYTIC, 5, sizeof(rattle_state), build_rattle, observe_rattle, measure_rattle},
    {"tippe-top", "a top that turns over while it spins", RG_PARAMETERS(tippe_parameters),
     RG_ANALYTIC, 4, sizeof(tippe_state), build_tippe, observe_tippe, measure_tippe},
    {"euler-disc", "a coin that rolls round on its rim, at a known rate",
     RG_PARAMETERS(disc_parameters), RG_ANALYTIC, 2, sizeof(disc_state), build_disc, observe_disc,
     measure_disc},
    {0},
};
