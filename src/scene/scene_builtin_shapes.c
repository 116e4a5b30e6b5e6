/* Built-in scenes of bodies that are not convex: rings that hang in each other, a chain of them
 * without joints, a nut on a bolt, balls on a ring. Rings and threads are compounds whose parts fit
 * together without gaps: a segment of a ring between two planes through its axis is convex.
 * Tested by tests/scene/test_shapes.c. */
#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_trig.h"
#include "scene/scene_builtin.h"

#include <stdio.h>

enum { SECTION = 8, MOST_SEGMENTS = 96, MOST_TURNS = 12, MOST_RINGS = 200 };

/* ---- compounds of hulls ---- */

typedef struct parts {
    rg_scene *scene;
    rg_compound_part *list;
    size_t count, capacity;
} parts;

static rg_status add_hull(parts *p, const rg_vec3 *points, size_t count, rg_error *error) {
    rg_shape_def def = rg_shape_def_hull(points, count);
    if (rg_array_grow(&p->scene->allocator, &p->list, &p->capacity, p->count + 1) != RG_OK)
        return rg_builtin_fail_memory(p->scene, error);
    rg_compound_part *part = &p->list[p->count];
    *part = (rg_compound_part){.pose = rg_pose_identity(), .density = 1};
    rg_status status = rg_shape_create(&def, &p->scene->allocator, &part->shape, error);
    p->count += status == RG_OK;
    return status;
}

static void free_parts(parts *p) {
    for (size_t i = 0; i < p->count; i++)
        rg_shape_release(p->list[i].shape);
    rg_release(&p->scene->allocator, p->list);
}

/* A body of all the parts; they are let go. */
static rg_status add_body(parts *p, rg_status status, const rg_body_def *def, rg_error *error) {
    rg_shape_def shape = rg_shape_def_compound(p->list, p->count);
    if (!status)
        status = rg_builtin_add(p->scene, &shape, 1000, def, NULL, error);
    free_parts(p);
    return status;
}

static rg_vec3 around(double radius, double angle, double z) {
    return rg_vec3_make(radius * rg_cos(angle), radius * rg_sin(angle), z);
}

/* ---- rings ---- */

/* A torus about z, of flat faces: `segments` around, SECTION around the section. */
static rg_status add_ring(rg_scene *scene, double large, double small, size_t segments,
                          const rg_body_def *def, rg_error *error) {
    parts p = {.scene = scene};
    rg_status status = RG_OK;
    for (size_t i = 0; i < segments && !status; i++) {
        rg_vec3 points[2 * SECTION];
        for (size_t k = 0; k < 2 * SECTION; k++) {
            double u = 2 * RG_PI * (double)((i + k / SECTION) % segments) / (double)segments;
            double v = 2 * RG_PI * ((double)(k % SECTION) + 0.5) / SECTION;
            points[k] = around(large + small * rg_cos(v), u, small * rg_sin(v));
        }
        status = add_hull(&p, points, 2 * SECTION, error);
    }
    return add_body(&p, status, def, error);
}

typedef struct linked {
    size_t count;  /* rings: all bodies, each linked with the one before */
    double large;  /* m: radius of their centre lines */
    double parted; /* s: when two neighbours came apart; 0: never */
    double lowest; /* m: of any centre */
    double apart;  /* m: the centres of neighbours, at most */
    double limit;  /* m: where their centres are if they hang in each other */
} linked;

static rg_pose pose_at(const rg_scene *scene, size_t body) {
    return rg_body_centre_pose(scene->world, rg_world_body_at(scene->world, body));
}

/* Whether the centre line of one ring goes through the disc of the other once: of the two places at
 * which a circle meets the plane of another, one is inside. */
static bool are_linked(rg_pose one, rg_pose two, double radius) {
    rg_vec3 n = rg_rotate(one.orientation, rg_vec3_make(0, 0, 1));
    rg_vec3 u = rg_rotate(two.orientation, rg_vec3_make(1, 0, 0));
    rg_vec3 v = rg_rotate(two.orientation, rg_vec3_make(0, 1, 0));
    rg_vec3 to = rg_sub(two.position, one.position);
    double a = rg_dot(n, u), b = rg_dot(n, v), size = sqrt(a * a + b * b);
    double c = -rg_dot(n, to) / radius;
    if (!(fabs(c) < size))
        return false;
    /* a cos t + b sin t = c */
    double along = c / size, across = sqrt(1 - along * along);
    int inside = 0;
    for (int side = -1; side <= 1; side += 2) {
        double cosine = (along * a - side * across * b) / size;
        double sine = (along * b + side * across * a) / size;
        rg_vec3 p = rg_add(to, rg_add(rg_scale(radius * cosine, u), rg_scale(radius * sine, v)));
        inside += rg_length(p) < radius;
    }
    return inside == 1;
}

static void observe_links(rg_scene *scene) {
    linked *state = scene->measuring;
    for (size_t i = 0; i < state->count; i++) {
        rg_pose pose = pose_at(scene, i);
        state->lowest = fmin(state->lowest, pose.position.z);
        if (i == 0)
            continue;
        rg_pose before = pose_at(scene, i - 1);
        state->apart = fmax(state->apart, rg_length(rg_sub(pose.position, before.position)));
        if (state->parted == 0 && !are_linked(before, pose, state->large))
            state->parted = rg_world_time(scene->world);
    }
}

static size_t measure_links(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const linked *state = scene->measuring;
    measures[0] = rg_measure_truth("linked", state->parted == 0, true);
    measures[1] = rg_measure_of("lowest_m", state->lowest);
    measures[2] = rg_measure_of("apart_share_of_limit", state->apart / state->limit);
    return 3;
}

/* The flat sides of a ring's section face its hole: its inner radius, at the corners of its centre
 * line, is large - small cos(pi / SECTION), and two that hang in each other are twice that apart at
 * most. */
static void begin_links(rg_scene *scene, size_t count, double large, double small) {
    linked *state = scene->measuring;
    *state = (linked){.count = count, .large = large, .lowest = INFINITY};
    state->limit = 2 * (large - small * rg_cos(RG_PI / SECTION));
}

enum { RINGS_SEGMENTS, RINGS_AMPLITUDE, RINGS_FREQUENCY, RINGS_MU };
static const rg_builtin_parameter rings_parameters[] = {
    {"segments", "16", "of a ring", 6, MOST_SEGMENTS, true, NULL},
    {"amplitude", "0.3", "m, of the shaking", 0, 5, false, NULL},
    {"frequency", "1.5", "hertz", 0, 20, false, NULL},
    {"mu", "0.3", "coefficient of friction", 0, 100, false, NULL},
};

static rg_status build_rings(rg_scene *scene, const double *values, rg_error *error) {
    const double large = 0.5, small = 0.12;
    size_t segments = (size_t)values[RINGS_SEGMENTS];
    rg_status status = rg_builtin_set_law(scene, values[RINGS_MU], 0.3, error);
    rg_body_def def = rg_body_def_default();
    def.name = "shaken";
    def.motion = RG_MOTION_KINEMATIC;
    def.prescription =
        (rg_prescription){.kind = RG_PRESCRIBED_OSCILLATION,
                          .amplitude = rg_scale(values[RINGS_AMPLITUDE], (rg_vec3){0.5, 0.3, 0.8}),
                          .rotation_amplitude = {0.4, 0.2, 0},
                          .frequency = values[RINGS_FREQUENCY]};
    def.pose.orientation = rg_quat_of_rotation_vector(rg_vec3_make(RG_PI / 2, 0, 0));
    if (!status)
        status = add_ring(scene, large, small, segments, &def, error);
    def = rg_body_def_default();
    def.name = "free";
    def.pose.position = rg_vec3_make(0, 0, -2 * large + 2.2 * small);
    def.pose.orientation = rg_quat_of_rotation_vector(rg_vec3_make(0, RG_PI / 2, 0));
    if (!status)
        status = add_ring(scene, large, small, segments, &def, error);
    begin_links(scene, 2, large, small);
    return status;
}

enum { CHAIN_LINKS, CHAIN_SEGMENTS, CHAIN_MU };
static const rg_builtin_parameter chain_parameters[] = {
    {"links", "8", "rings, the first of them fixed", 2, MOST_RINGS, true, NULL},
    {"segments", "12", "of a ring", 6, MOST_SEGMENTS, true, NULL},
    {"mu", "0.3", "coefficient of friction", 0, 100, false, NULL},
};

/* A chain that is let go sideways and swings. */
static rg_status build_chain(rg_scene *scene, const double *values, rg_error *error) {
    const double large = 0.1, small = 0.025;
    size_t links = (size_t)values[CHAIN_LINKS];
    rg_status status = rg_builtin_set_law(scene, values[CHAIN_MU], 0, error);
    for (size_t i = 0; i < links && !status; i++) {
        char name[32];
        snprintf(name, sizeof name, "link%zu", i);
        rg_body_def def = rg_body_def_default();
        def.name = name;
        def.motion = i == 0 ? RG_MOTION_FIXED : RG_MOTION_DYNAMIC;
        def.pose.position = rg_vec3_make((2 * large - 2.2 * small) * (double)i, 0, 0);
        def.pose.orientation =
            rg_quat_of_rotation_vector(rg_vec3_make(i % 2 ? RG_PI / 2 : 0, 0, 0));
        status = add_ring(scene, large, small, (size_t)values[CHAIN_SEGMENTS], &def, error);
    }
    begin_links(scene, links, large, small);
    return status;
}

/* ---- balls on a ring ---- */

#define BALL 0.18 /* m: their radius */

enum { BALLS_COUNT };
static const rg_builtin_parameter balls_parameters[] = {
    {"balls", "12", "dropped one after the other", 1, 200, true, NULL},
};

static rg_status build_balls(rg_scene *scene, const double *values, rg_error *error) {
    const double large = 0.6, small = 0.2;
    rg_status status = rg_builtin_lay_floor(scene, 0.4, 0, error);
    rg_body_def def = rg_body_def_default();
    def.name = "ring";
    def.pose.position = rg_vec3_make(0, 0, small * rg_cos(RG_PI / SECTION));
    if (!status)
        status = add_ring(scene, large, small, 24, &def, error);
    for (size_t i = 0; i < (size_t)values[BALLS_COUNT] && !status; i++) {
        char name[32];
        snprintf(name, sizeof name, "ball%zu", i);
        rg_shape_def shape = rg_shape_def_sphere(BALL);
        def = rg_body_def_default();
        def.name = name;
        def.pose.position = around(0.3, 2.4 * (double)i, 0.8 + 0.4 * (double)i);
        status = rg_builtin_add(scene, &shape, 1000, &def, NULL, error);
    }
    return status;
}

typedef struct balls_state {
    double deepest; /* m: how far a ball went below the floor */
} balls_state;

static void observe_balls(rg_scene *scene) {
    balls_state *state = scene->measuring;
    for (size_t i = 2; i < rg_world_body_count(scene->world); i++)
        state->deepest = fmax(state->deepest, BALL - pose_at(scene, i).position.z);
}

static size_t measure_balls(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const balls_state *state = scene->measuring;
    measures[0] = rg_measure_beside("deepest_m", state->deepest, 0);
    return 1;
}

/* ---- nut and bolt ---- */

/* m: square threads. They meet in a narrow band, from HOLLOW to CREST: a flank is a helicoid, flat
 * faces differ from it by (pitch / 2 pi) (width / radius) (pi / segments), and what that lets the
 * nut rise and fall by as faces pass over faces is to be little. */
#define PITCH  0.2
#define CORE   0.235
#define CREST  0.25  /* of the bolt */
#define HOLLOW 0.24  /* inside of the nut's thread */
#define WALL   0.255 /* inside of the nut */
#define OUTER  0.35
#define RIDGE  0.08 /* height of a ridge: the rest of half a pitch is play */

/* m: radii of the ridges of the bolt and of the nut, which reach into the core and the wall. */
static const double outside[2] = {CORE - 0.001, CREST}, inside[2] = {HOLLOW, WALL + 0.001};

/* Ridges along a helix, over `count` segments. */
static rg_status add_thread(parts *p, size_t segments, size_t count, const double radius[2],
                            rg_error *error) {
    rg_status status = RG_OK;
    for (size_t i = 0; i < count && !status; i++) {
        rg_vec3 points[8];
        for (size_t k = 0; k < 8; k++) {
            double turns = (double)(i + (k & 1)) / (double)segments;
            points[k] = around(radius[k >> 1 & 1], 2 * RG_PI * turns,
                               PITCH * turns + (k & 4 ? RIDGE / 2 : -RIDGE / 2));
        }
        status = add_hull(p, points, 8, error);
    }
    return status;
}

static rg_status add_wall(parts *p, size_t segments, double low, double high, rg_error *error) {
    rg_status status = RG_OK;
    for (size_t i = 0; i < segments && !status; i++) {
        rg_vec3 points[8];
        for (size_t k = 0; k < 8; k++)
            points[k] =
                around(k & 2 ? OUTER : WALL, 2 * RG_PI * (double)(i + (k & 1)) / (double)segments,
                       k & 4 ? high : low);
        status = add_hull(p, points, 8, error);
    }
    return status;
}

enum { NUT_MU, NUT_SEGMENTS, NUT_TURNS };
static const rg_builtin_parameter nut_parameters[] = {
    {"mu", "0", "coefficient of friction; above pitch / (2 pi r) the nut holds", 0, 100, false,
     NULL},
    {"segments", "48", "of a turn", 8, MOST_SEGMENTS, true, NULL},
    {"turns", "4", "of the bolt", 4, MOST_TURNS, true, NULL},
};

typedef struct nut_state {
    double mu, start, last, turned; /* m: height; rad: angle so far, from the last one */
    double inertia_over_mass;       /* m^2 */
} nut_state;

static double angle_of(const rg_scene *scene) {
    rg_vec3 x = rg_rotate(pose_at(scene, 1).orientation, rg_vec3_make(1, 0, 0));
    return rg_atan2(x.y, x.x);
}

static void observe_nut(rg_scene *scene) {
    nut_state *state = scene->measuring;
    double angle = angle_of(scene), step = angle - state->last;
    step -= 2 * RG_PI * rint(step / (2 * RG_PI));
    state->turned += step;
    state->last = angle;
}

/* m: how far apart helices must be for flat faces on them to touch, ridge over ridge. Four points
 * of a flank are not in a plane: its hull has an edge across, above on the bolt, from the crest of
 * one end to the core of the other, and below in the nut, from the hollow to the wall. They touch
 * where these edges cross, at the shares s and t of a segment's rise. */
static double rise_between_helices(size_t segments) {
    double s = (outside[1] - inside[0]) / (outside[1] - inside[0] * outside[0] / inside[1]);
    double t = s * outside[0] / inside[1];
    return (s - t) * PITCH / (double)segments;
}

static rg_status add_nut(rg_scene *scene, size_t segments, double height, rg_error *error) {
    parts p = {.scene = scene};
    rg_body_def def = rg_body_def_default();
    def.name = "nut";
    def.pose.position = rg_vec3_make(0, 0, height + RIDGE + rise_between_helices(segments));
    rg_status status = add_thread(&p, segments, segments, inside, error);
    if (!status)
        status = add_wall(&p, segments, -0.5 * PITCH, 1.5 * PITCH, error);
    return add_body(&p, status, &def, error);
}

static rg_status build_nut(rg_scene *scene, const double *values, rg_error *error) {
    size_t segments = (size_t)values[NUT_SEGMENTS], turns = (size_t)values[NUT_TURNS];
    rg_status status = rg_builtin_set_law(scene, values[NUT_MU], 0, error);
    parts p = {.scene = scene};
    rg_body_def def = rg_body_def_default();
    def.name = "bolt";
    def.motion = RG_MOTION_FIXED;
    rg_vec3 core[2 * MOST_SEGMENTS];
    for (size_t i = 0; i < 2 * segments; i++)
        core[i] = around(CORE, 2 * RG_PI * (double)(i % segments) / (double)segments,
                         i < segments ? -0.1 : PITCH * (double)turns);
    if (!status)
        status = add_hull(&p, core, 2 * segments, error);
    if (!status)
        status = add_thread(&p, segments, turns * segments, outside, error);
    status = add_body(&p, status, &def, error);
    if (!status)
        status = add_nut(scene, segments, PITCH * (double)(turns - 2), error);
    if (status)
        return status;
    rg_mass_properties mass = rg_body_mass(scene->world, rg_world_body_at(scene->world, 1));
    nut_state *state = scene->measuring;
    *state = (nut_state){.mu = values[NUT_MU],
                         .start = pose_at(scene, 1).position.z,
                         .inertia_over_mass = mass.inertia.m[2][2] / mass.mass};
    state->last = angle_of(scene);
    return RG_OK;
}

/* Without friction the nut falls by g / (1 + (I / m) (2 pi / pitch)^2): energy, with v = pitch
 * omega / (2 pi). */
static size_t measure_nut(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const nut_state *state = scene->measuring;
    double drop = state->start - pose_at(scene, 1).position.z;
    double time = rg_world_time(scene->world), per = 2 * RG_PI / PITCH;
    double g = -rg_world_gravity(scene->world).z;
    double fall = 0.5 * g / (1 + state->inertia_over_mass * per * per) * time * time;
    double lock = PITCH / (2 * RG_PI * HOLLOW);
    size_t n = 0;
    bool free = state->mu == 0, held = state->mu > lock;
    measures[n++] = free || held ? rg_measure_beside("drop_m", drop, free ? fall : 0)
                                 : rg_measure_of("drop_m", drop);
    measures[n++] = rg_measure_beside("turned_rad", state->turned, held ? 0 : -per * drop);
    measures[n++] = rg_measure_of("friction_that_holds", lock);
    return n;
}

/* ---- the list ---- */

const rg_builtin rg_builtin_shapes[] = {
    {"rings", "a ring that hangs in another one, which is shaken", RG_PARAMETERS(rings_parameters),
     0, 60, sizeof(linked), build_rings, observe_links, measure_links},
    {"ring-chain", "a chain of rings without joints, let go sideways",
     RG_PARAMETERS(chain_parameters), 0, 5, sizeof(linked), build_chain, observe_links,
     measure_links},
    {"ring-balls", "balls that fall into a ring on the floor", RG_PARAMETERS(balls_parameters), 0,
     6, sizeof(balls_state), build_balls, observe_balls, measure_balls},
    {"nut-and-bolt", "a nut that turns down a bolt by its weight", RG_PARAMETERS(nut_parameters), 0,
     1.5, sizeof(nut_state), build_nut, observe_nut, measure_nut},
    {0},
};
