/* Laws of contact: one coefficient or two, what a zero means, and how two materials meet. */
#include "test_support.h"

#include "rigor/world.h"

static rg_world *make_world(void) {
    rg_world_def def = rg_world_def_default();
    rg_world *world;
    assert_int_equal(rg_world_create(&def, &world, NULL), RG_OK);
    return world;
}

static rg_material_id add(rg_world *world, const char *name, rg_contact_law law) {
    rg_material_id material;
    assert_int_equal(rg_world_add_material(world, name, &law, &material, NULL), RG_OK);
    return material;
}

/* {.friction = mu} is mu for stick and slip, in materials, mixtures and pairs. */
static void one_coefficient(void **state) {
    (void)state;
    rg_world *world = make_world();
    rg_material_id wood = add(world, "wood", (rg_contact_law){.friction = 0.4});
    rg_material_id stone =
        add(world, "stone", (rg_contact_law){.friction = 0.9, .static_friction = 1.6});
    rg_contact_law law = rg_world_pair_law(world, wood, wood);
    assert_near(law.friction, 0.4, 1e-16);
    assert_near(law.static_friction, 0.4, 1e-16);
    law = rg_world_pair_law(world, wood, stone);
    assert_near(law.friction, 0.6, 1e-15);
    assert_near(law.static_friction, 0.8, 1e-15);
    law = (rg_contact_law){.friction = 0.1};
    assert_int_equal(rg_world_set_pair_law(world, wood, stone, &law, NULL), RG_OK);
    assert_near(rg_world_pair_law(world, stone, wood).static_friction, 0.1, 0);
    /* What is read is what was given: to change one coefficient changes both. */
    law = rg_world_material_law(world, wood);
    assert_near(law.static_friction, 0, 0);
    law.friction = 0.2;
    assert_int_equal(rg_world_set_material_law(world, wood, &law, NULL), RG_OK);
    assert_near(rg_world_pair_law(world, wood, wood).static_friction, 0.2, 1e-16);
    assert_near(rg_contact_law_complete(rg_contact_law_default()).static_friction, 0.5, 0);
    rg_world_destroy(world);
}

/* A static coefficient alone is no law; the smaller of the two must be the dynamic one. */
static void refused(void **state) {
    (void)state;
    rg_world *world = make_world();
    rg_material_id material;
    rg_error error;
    rg_contact_law law = {.static_friction = 0.5};
    assert_int_equal(rg_world_add_material(world, "a", &law, &material, &error),
                     RG_INVALID_ARGUMENT);
    assert_string_equal(error.text, "friction: static 0.5 without dynamic; give friction "
                                    "too, or it alone for both");
    law.friction = 0.6;
    assert_int_equal(rg_world_add_material(world, "a", &law, &material, &error),
                     RG_INVALID_ARGUMENT);
    law = (rg_contact_law){.friction = -1};
    assert_int_equal(rg_world_add_material(world, "a", &law, &material, &error),
                     RG_INVALID_ARGUMENT);
    law = (rg_contact_law){0}; /* without friction */
    assert_int_equal(rg_world_add_material(world, "a", &law, &material, &error), RG_OK);
    assert_near(rg_world_pair_law(world, material, (rg_material_id){0}).static_friction, 0, 0);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_coefficient),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
