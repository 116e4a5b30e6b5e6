/* A program of somebody else: a box is thrown upwards, and lands in the numbers where it should.
 * Prints the version and the state. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <rigor/rigor.h>

static int fail(const char *what, const char *why) {
    fprintf(stderr, "outside_core: %s: %s\n", what, why);
    return 1;
}

static int throw_box(rg_world *world) {
    rg_error error;
    rg_shape *shape;
    rg_shape_def shape_def = rg_shape_def_box(1, 1, 1);
    if (rg_shape_create(&shape_def, NULL, &shape, &error))
        return fail("shape", error.text);

    rg_collider_def collider = rg_collider_def_default();
    collider.shape = shape;
    rg_body_def body_def = rg_body_def_default();
    body_def.name = "box";
    body_def.velocity.z = 9.81;
    body_def.colliders = &collider;
    body_def.collider_count = 1;
    rg_body_id body;
    rg_status status = rg_world_add_body(world, &body_def, &body, &error);
    rg_shape_release(shape);
    if (status)
        return fail("body", error.text);

    for (int i = 0; i < 240; i++)
        if (rg_world_step(world, 1.0 / 240, NULL, &error))
            return fail("step", error.text);

    rg_vec3 velocity = rg_body_velocity(world, body);
    printf("t = %g s, z = %.6f m, vz = %.6f m/s, state %016llx\n", rg_world_time(world),
           rg_body_pose(world, body).position.z, velocity.z,
           (unsigned long long)rg_world_state_hash(world));
    if (rg_world_body_count(world) != 1 || !(fabs(velocity.z) < 1e-9))
        return fail("state", "after one second the box should stand still at the top");
    return 0;
}

int main(void) {
    if (strcmp(rg_version_text(), RG_VERSION_TEXT) != 0 || rg_version_api() != RG_API_VERSION)
        return fail("version", rg_version_text());
    printf("rigor %s\n", rg_version_text());

    rg_error error;
    rg_world *world;
    rg_world_def def = rg_world_def_default();
    if (rg_world_create(&def, &world, &error))
        return fail("world", error.text);
    int result = throw_box(world);
    rg_world_destroy(world);
    return result;
}
