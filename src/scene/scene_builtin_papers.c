/* The examples of Hart and Anitescu 2010, section 5. The paper gives no dimensions; these are ours,
 * chosen so that what happens is spread over the paper's frames.
 *
 * balance2 (planar, 12 s; frames at 0, 2, 3, 5, 6, 12 s): a wedge (a triangle of base and height 4
 * m) on the floor; on its tip, in the balance, a plank of 16 x 0.8 m with two squares (2 m) on it,
 * 3 m to either side of the middle, and a triangle (base 2.4 m, height 2 m) over the tip. A third
 * square, 6 m above the plank, drops on the right end: the plank tips, and all slide down.
 *
 * pyramid1 (planar, 10 s; frames at 0, 1, 2, 3, 4, 10 s): nine upright rectangles of 0.5 x 3 m, 1.5
 * m apart, in a row; a triangle flies against the upper end of the first one, which is only just
 * enough to tip it, and the row falls like dominoes. At the end all are at rest.
 *
 * dice3 (3 s; frames at 0, 1, 2, 3 s): two cubes of 2.5 m, one on top of the other, its middle 12.5
 * mm past the edge, so that it tips over the edge and falls to the floor, where it is not quite at
 * rest at the end. It is turned by 20 degrees about the vertical and 0.25 m off to the side, so
 * that nothing is symmetric.
 *
 * infeasibility_m is the largest penetration of any pair at any step; infeasibility_rho the largest
 * of the ratio metric itself, -rho, which has no unit (the quantity of the paper's figures).
 * Tested by tests/scene/test_papers.c. */
#include "base/base_math.h"
#include "base/base_text.h"
#include "base/base_trig.h"
#include "rigor/proximity.h"
#include "scene/scene_builtin.h"

#include <stdio.h>

/* At rest: slower than this, m/s and rad/s times a metre. */
#define AT_REST 1e-3

static rg_status add_polygon(rg_scene *scene, const char *name, const rg_vec3 *corners,
                             size_t count, rg_vec3 position, rg_vec3 velocity, rg_error *error) {
    rg_shape_def shape = rg_shape_def_polygon(corners, count);
    rg_body_def def = rg_body_def_default();
    def.name = name;
    def.pose.position = position;
    def.velocity = velocity;
    return rg_builtin_add(scene, &shape, 100, &def, NULL, error); /* kg/m^2 */
}

static rg_status add_rectangle(rg_scene *scene, const char *name, double width, double height,
                               double x, double z, rg_error *error) {
    double a = 0.5 * width, b = 0.5 * height;
    const rg_vec3 corners[4] = {{-a, 0, -b}, {a, 0, -b}, {a, 0, b}, {-a, 0, b}};
    return add_polygon(scene, name, corners, 4, rg_vec3_make(x, 0, z), rg_vec3_make(0, 0, 0),
                       error);
}

/* Its origin is the middle of the base. */
static rg_status add_triangle(rg_scene *scene, const char *name, double base, double height,
                              double x, double z, rg_error *error) {
    const rg_vec3 corners[3] = {{-0.5 * base, 0, 0}, {0.5 * base, 0, 0}, {0, 0, height}};
    return add_polygon(scene, name, corners, 3, rg_vec3_make(x, 0, z), rg_vec3_make(0, 0, 0),
                       error);
}

static bool all_at_rest(const rg_world *world) {
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        if (rg_length(rg_body_velocity(world, body)) > AT_REST ||
            rg_length(rg_body_angular_velocity(world, body)) > AT_REST)
            return false;
    }
    return true;
}

/* Every body has one collider, with the pose of the body. */
static const rg_shape *shape_of(const rg_world *world, rg_body_id body) {
    return rg_collider_get_def(world, rg_body_collider_at(world, body, 0)).shape;
}

/* -rho of the pair that overlaps most by the ratio metric, over the run. */
static void observe_papers(rg_scene *scene) {
    double *worst = scene->measuring;
    const rg_world *world = scene->world;
    for (size_t i = 0; i < rg_world_body_count(world); i++)
        for (size_t j = i + 1; j < rg_world_body_count(world); j++) {
            rg_body_id a = rg_world_body_at(world, i), b = rg_world_body_at(world, j);
            rg_growth growth;
            if (rg_growth_between(shape_of(world, a), rg_body_pose(world, a), shape_of(world, b),
                                  rg_body_pose(world, b), NULL, &growth) == RG_OK)
                *worst = fmax(*worst, -growth.rho);
        }
}

static size_t measure_papers(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    rg_step_info summary = rg_world_summary(scene->world);
    measures[0] = rg_measure_of("infeasibility_m", summary.certificate.max_penetration);
    measures[1] = rg_measure_of("infeasibility_rho", *(const double *)scene->measuring);
    measures[2] = rg_measure_truth("at_rest", all_at_rest(scene->world), true);
    return 3;
}

/* ---- balance2 ---- */

static rg_status build_balance2(rg_scene *scene, const double *values, rg_error *error) {
    (void)values;
    rg_status status = rg_builtin_add_floor(scene, error);
    if (!status)
        status = add_triangle(scene, "wedge", 4, 4, 0, 0, error);
    if (!status)
        status = add_rectangle(scene, "plank", 16, 0.8, 0, 4.4, error);
    if (!status)
        status = add_triangle(scene, "triangle", 2.4, 2, 0, 4.8, error);
    if (!status)
        status = add_rectangle(scene, "left", 2, 2, -3, 5.8, error);
    if (!status)
        status = add_rectangle(scene, "right", 2, 2, 3, 5.8, error);
    if (!status)
        status = add_rectangle(scene, "dropped", 2, 2, 6.8, 11.8, error);
    return status;
}

/* ---- pyramid1 ---- */

static rg_status build_pyramid1(rg_scene *scene, const double *values, rg_error *error) {
    (void)values;
    /* Its tip ahead, 0.25 m from the first rectangle. */
    const rg_vec3 thrown[3] = {{-0.8, 0, -0.4}, {0, 0, 0}, {-0.8, 0, 0.4}};
    rg_status status = rg_builtin_add_floor(scene, error);
    if (!status)
        status = add_polygon(scene, "triangle", thrown, 3, rg_vec3_make(-0.5, 0, 2.75),
                             rg_vec3_make(4, 0, 0), error);
    for (int i = 0; i < 9 && !status; i++) {
        char name[16];
        snprintf(name, sizeof name, "slab%d", i);
        status = add_rectangle(scene, name, 0.5, 3, 1.5 * i, 1.5, error);
    }
    return status;
}

/* ---- dice3 ---- */

#define DICE_EDGE 2.5 /* m */

/* As it is in the paper, the fall is so slow that planes chosen for the motion leave rounding only;
 * with a spin there is infeasibility to measure. */
static const rg_builtin_parameter dice_parameters[] = {
    {"spin", "0", "rad/s of the upper cube about the vertical, half of it about y", -20, 20, false,
     NULL},
};

static rg_status build_dice3(rg_scene *scene, const double *values, rg_error *error) {
    double edge = DICE_EDGE;
    rg_status status = rg_builtin_add_floor(scene, error);
    if (!status)
        status = rg_builtin_add_box(scene, "lower", rg_vec3_make(edge, edge, edge),
                                    rg_vec3_make(0, 0, 0.5 * edge), NULL, error);
    rg_shape_def cube = rg_shape_def_box(edge, edge, edge);
    rg_body_def def = rg_body_def_default();
    def.name = "upper";
    def.pose.position = rg_vec3_make(0.505 * edge, 0.1 * edge, 1.5 * edge);
    def.pose.orientation = rg_quat_of_rotation_vector(rg_vec3_make(0, 0, RG_PI / 9));
    def.angular_velocity = rg_vec3_make(0, 0.5 * values[0], values[0]);
    return status ? status : rg_builtin_add(scene, &cube, 1000, &def, NULL, error);
}

static size_t measure_dice3(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    rg_step_info summary = rg_world_summary(scene->world);
    rg_strided p = rg_world_centre_positions(scene->world);
    bool on_floor = p.count == 3;
    for (size_t i = 1; i < p.count; i++) /* a cube on an edge has its centre at 0.71 edges */
        on_floor &= p.data[i * p.stride + 2] < 0.9 * DICE_EDGE;
    measures[0] = rg_measure_of("infeasibility_m", summary.certificate.max_penetration);
    measures[1] = rg_measure_of("infeasibility_rho", *(const double *)scene->measuring);
    measures[2] = rg_measure_truth("on_floor", on_floor, true);
    measures[3] = rg_measure_truth("at_rest", all_at_rest(scene->world), false);
    return 4;
}

/* ---- the list ---- */

const rg_builtin rg_builtin_papers[] = {
    {"balance2", "a plank on a wedge tips under falling squares (Hart-Anitescu 2010)",
     RG_NO_PARAMETERS, RG_PLANAR, 12, sizeof(double), build_balance2, observe_papers,
     measure_papers},
    {"pyramid1", "a triangle starts a row of rectangles falling (Hart-Anitescu 2010)",
     RG_NO_PARAMETERS, RG_PLANAR, 10, sizeof(double), build_pyramid1, observe_papers,
     measure_papers},
    {"dice3", "a cube tips over the edge of another (Hart-Anitescu 2010)",
     RG_PARAMETERS(dice_parameters), 0, 3, sizeof(double), build_dice3, observe_papers,
     measure_dice3},
    {0},
};
