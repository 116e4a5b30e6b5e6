/* What makes a run pointless before it has begun: steps and sizes that nobody means. Said by `rigor
 * check`, and by `rigor run`, whose options may have made it so. */
#include "cli.h"

#include <math.h>
#include <string.h>

/* Of circumradius and inradius of one shape: beyond, the arithmetic of its contacts loses all
 * digits that matter. */
static const double extreme_slenderness = 1e6;

static const char *name_of(const rg_world *world, rg_body_id body) {
    const char *name = rg_body_name(world, body);
    return name[0] ? name : "unnamed";
}

typedef struct sizes {
    double least; /* m: smallest circumradius of what moves */
    const char *least_name;
    double slenderness; /* the largest */
    const char *slender_name;
} sizes;

static void take_body(sizes *found, const rg_world *world, rg_body_id body) {
    for (size_t i = 0; i < rg_body_collider_count(world, body); i++) {
        const rg_shape *shape =
            rg_collider_get_def(world, rg_body_collider_at(world, body, i)).shape;
        if (!rg_shape_is_bounded(shape))
            continue;
        double outer = rg_shape_circumradius(shape), inner = rg_shape_inradius(shape);
        if (inner > 0 && outer > found->slenderness * inner) {
            found->slenderness = outer / inner;
            found->slender_name = name_of(world, body);
        }
        if (rg_body_motion(world, body) == RG_MOTION_DYNAMIC && outer < found->least) {
            found->least = outer;
            found->least_name = name_of(world, body);
        }
    }
}

/* A body that falls by more than its size in a step. */
static bool warn_of_step(const char *prefix, const rg_scene *scene, const rg_world *world,
                         const sizes *found, FILE *out) {
    double h = rg_scene_step_size(scene), size = found->least;
    rg_vec3 gravity = rg_world_gravity(world);
    double g = sqrt(gravity.x * gravity.x + gravity.y * gravity.y + gravity.z * gravity.z);
    bool stepped = strcmp(rg_method_name(rg_world_method(world)), "analytic") != 0;
    if (!stepped || !(g * h * h / 2 > size))
        return false;
    if (out)
        fprintf(out,
                "%s: warning: in a step of %g s a body falls by %.3g m, more than the size of %s, "
                "%.3g m; take a step below %.2g s\n",
                prefix, h, g * h * h / 2, found->least_name, size, sqrt(2 * size / g) / 10);
    return true;
}

bool cli_warn_of_run(const char *prefix, rg_scene *scene, double duration, FILE *out) {
    const rg_world *world = rg_scene_world(scene);
    double h = rg_scene_step_size(scene);
    sizes found = {INFINITY, "", 0, ""};
    for (size_t i = 0; i < rg_world_body_count(world); i++)
        take_body(&found, world, rg_world_body_at(world, i));
    bool slender = found.slenderness > extreme_slenderness, brief = duration < h;
    if (slender && out)
        fprintf(out,
                "%s: warning: %s is %.3g times as long as it is thick, more than %.0g: its "
                "contacts are not accurate\n",
                prefix, found.slender_name, found.slenderness, extreme_slenderness);
    bool fast = warn_of_step(prefix, scene, world, &found, out);
    if (brief && out)
        fprintf(out,
                "%s: warning: the duration, %g s, is shorter than a step of %g s; take a smaller "
                "step (--step)\n",
                prefix, duration, h);
    return slender || fast || brief;
}
