/* All mistakes of a scene file: each once, in the order of the lines, and none that merely follows
 * from another. */
#include "test_support.h"

#include "rigor/scene.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct found {
    size_t count;
    rg_error list[RG_SCENE_MISTAKES_MOST + 1];
} found;

static void take(void *user, const rg_error *mistake) {
    found *this = user;
    assert_true(this->count < RG_SCENE_MISTAKES_MOST);
    this->list[this->count++] = *mistake;
}

/* The first mistake is the error. */
static rg_status read_all(const char *text, size_t size, const char *name, found *all) {
    rg_scene_options options = {.mistake = take, .mistake_user = all};
    rg_scene *scene = NULL;
    rg_error error = {0};
    all->count = 0;
    rg_status status = rg_scene_read_text(text, size, name, NULL, &options, &scene, &error);
    if (status != RG_OK && all->count == 0)
        fail_msg("no mistake is told: %s", error.text);
    assert_int_equal(status == RG_OK, all->count == 0);
    assert_int_equal(status == RG_OK, scene != NULL);
    if (all->count) {
        assert_string_equal(error.text, all->list[0].text);
        assert_int_equal(status, all->list[0].status);
    }
    for (size_t i = 1; i < all->count; i++) {
        const rg_error *a = &all->list[i - 1], *b = &all->list[i];
        assert_true(a->line < b->line || (a->line == b->line && a->column <= b->column));
        assert_string_not_equal(a->text, b->text);
    }
    rg_scene_destroy(scene);
    return status;
}

/* The lines of `expected` are all mistakes. */
static void check(const char *text, const char *expected) {
    static found all;
    char told[8192] = "";
    read_all(text, strlen(text), "t.yaml", &all);
    for (size_t i = 0; i < all.count; i++)
        snprintf(told + strlen(told), sizeof told - strlen(told), "%s\n", all.list[i].text);
    if (strcmp(told, expected) != 0) /* longer than the messages of cmocka */
        fprintf(stderr, "got:\n%sinstead of:\n%s", told, expected);
    assert_string_equal(told, expected);
}

static void keys_of_one_body_and_entries_of_a_list(void **state) {
    (void)state;
    check("bodies:\n"
          "  - name: floor\n"
          "    motion: fixed\n"
          "    shape: {halfspace: {normal: [0, 0, 0]}}\n"
          "  - name: box\n"
          "    positon: [0, 0, 1]\n"
          "    velocity: [a, 0, b]\n"
          "    density: -1\n"
          "    material: ice\n"
          "    shape: {box: [1, 1]}\n"
          "  - {name: good, shape: {sphere: 1}}\n"
          "  - 5\n",
          "t.yaml:4:33: bodies[0].shape.halfspace.normal: a normal must have a length; write e.g. "
          "[0, 0, 1]\n"
          "t.yaml:6:5: bodies[1].positon: unknown key; did you mean \"position\"?\n"
          "t.yaml:7:16: bodies[1].velocity[0]: expected a number or an expression, got the text "
          "\"a\"\n"
          "t.yaml:7:22: bodies[1].velocity[2]: expected a number or an expression, got the text "
          "\"b\"\n"
          "t.yaml:8:14: bodies[1].density: a density must be positive, not -1\n"
          "t.yaml:9:15: bodies[1].material: there is no material \"ice\"; define it under "
          "materials\n"
          "t.yaml:10:18: bodies[1].shape.box: expected three numbers, got a list of 2; write [x, "
          "y, z]\n"
          "t.yaml:12:5: bodies[3]: expected a mapping with keys such as name, got the number 5\n");
}

static void world_materials_joints_and_forces(void **state) {
    (void)state;
    check("method: {name: steping, step: 0, gamma: 2}\n"
          "gravity: [0, 0]\n"
          "solver: dantzg\n"
          "duration: -1\n"
          "materials: {ice: {friction: -1, restitution: 2}, oak: {friktion: 1}}\n"
          "shapes: {a: {box: [0, 1, 1]}, b: {sphere: -1}, c: 5}\n"
          "bodies: [{name: one, shape: {sphere: 1}}]\n"
          "joints:\n"
          "  - {kind: hing, bodies: [one, world], point: [0, 0, 0]}\n"
          "  - {kind: hinge, bodies: [won, tow], point: [0, 0], axis: [0, 0, 0], collide: 1}\n"
          "forces:\n"
          "  - {kind: spring, body: one, stiffness: -1}\n"
          "  - {kind: drag, body: onne, start: 2, stop: 1}\n",
          "t.yaml:1:9: method: gamma: 2 is outside 0 ... 1\n"
          "t.yaml:1:16: method.name: \"steping\" is not known here; did you mean \"stepping\"?\n"
          "t.yaml:1:31: method.step: a step must be positive, not 0\n"
          "t.yaml:2:10: gravity: expected three numbers, got a list of 2; write [x, y, z]\n"
          "t.yaml:3:9: solver: \"dantzg\" is not known here; did you mean \"dantzig\"?\n"
          "t.yaml:4:11: duration: a duration must be positive, not -1\n"
          "t.yaml:5:29: materials.ice.friction: a coefficient of friction must not be negative, "
          "not -1\n"
          "t.yaml:5:46: materials.ice.restitution: restitution must be from 0 to 1, not 2\n"
          "t.yaml:5:56: materials.oak.friktion: unknown key; did you mean \"friction\"?\n"
          "t.yaml:6:20: shapes.a.box[0]: a size must be positive, not 0; give edge lengths in "
          "metres, e.g. [1.0, 0.5, 0.5]\n"
          "t.yaml:6:43: shapes.b.sphere: a radius must be positive, not -1\n"
          "t.yaml:6:51: shapes.c: expected a shape such as {box: [1, 1, 1]}, got the number 5\n"
          "t.yaml:9:12: joints[0].kind: \"hing\" is not known here; did you mean \"hinge\"?\n"
          "t.yaml:10:28: joints[1].bodies[0]: there is no body \"won\"; give the name of a body\n"
          "t.yaml:10:33: joints[1].bodies[1]: there is no body \"tow\"; give the name of a body\n"
          "t.yaml:10:46: joints[1].point: expected three numbers, got a list of 2; write [x, y, "
          "z]\n"
          "t.yaml:10:80: joints[1].collide: expected true or false, got the number 1\n"
          "t.yaml:12:42: forces[0].stiffness: a stiffness must not be negative, not -1\n"
          "t.yaml:13:24: forces[1].body: there is no body \"onne\"; did you mean \"one\"?\n"
          "t.yaml:13:46: forces[1].stop: the force stops before it starts; stop must be later than "
          "start\n");
}

/* What is named by others and fails is told once. */
static void what_follows_is_left_out(void **state) {
    (void)state;
    check("parameters: {size: wide, other: 2}\n"
          "materials: {ice: {friction: -1}}\n"
          "pairs: [{between: [ice, default], friction: 0.1}]\n"
          "shapes: {brick: {box: [0, 1, 1]}}\n"
          "bodies:\n"
          "  - {name: a, shape: brick, material: ice}\n"
          "  - {name: 'b{i}', repeat: 3, shape: {box: [size, 1, 1]}, position: [0, 0, 2*size]}\n"
          "  - {name: c, shape: {sphere: other}}\n"
          "joints: [{kind: ball, bodies: [a, b2], point: [0, 0, 0]}]\n"
          "forces: [{kind: drag, body: b0}, {kind: drag, body: b4x}]\n",
          "t.yaml:1:20: parameters.size: expected a number or an expression, got the text "
          "\"wide\"\n"
          "t.yaml:2:29: materials.ice.friction: a coefficient of friction must not be negative, "
          "not -1\n"
          "t.yaml:4:24: shapes.brick.box[0]: a size must be positive, not 0; give edge lengths in "
          "metres, e.g. [1.0, 0.5, 0.5]\n"
          "t.yaml:10:53: forces[1].body: there is no body \"b4x\"; give the name of a body\n");
    /* A list that cannot be read may have held any name. */
    check("bodys: [{name: a}]\nforces: [{kind: drag, body: a}]\n",
          "t.yaml:1:1: bodys: unknown key; did you mean \"bodies\"?\n");
    check("bodies: 5\nforces: [{kind: drag, body: a}]\n",
          "t.yaml:1:9: bodies: expected a list of bodies, got the number 5\n");
    /* Copies and aliases of one mistake are one. */
    check("bodies: [{name: 'a{i}', repeat: 9, mass: -1, shape: {sphere: 1}}]\n",
          "t.yaml:1:42: bodies[0].mass: a mass must be positive, not -1\n");
    check("bodies: [{shape: &s {sphere: 0}}, {shape: *s}, {shape: *s}]\n",
          "t.yaml:1:30: bodies[0].shape.sphere: a radius must be positive, not 0\n");
    check("bodies: [{repeat: 0, name: 'a{i}', shape: {sphere: 1}}, {name: b, mass: 0}]\n"
          "forces: [{kind: drag, body: a1}, {kind: drag, body: c}]\n",
          "t.yaml:1:19: bodies[0].repeat: must be a whole number from 1 to 10000000, not 0\n"
          "t.yaml:1:73: bodies[1].mass: a mass must be positive, not 0\n"
          "t.yaml:2:53: forces[1].body: there is no body \"c\"; give the name of a body\n");
}

/* Behind these nothing can be judged. */
static void some_mistakes_end_the_reading(void **state) {
    (void)state;
    check("planar: 2\nduration: -1\nbodies: [{mass: -1}]\n",
          "t.yaml:1:9: planar: expected true or false, got the number 2\n"
          "t.yaml:2:11: duration: a duration must be positive, not -1\n");
    check("duration: -1\nbodies: [}\n",
          "t.yaml:2:10: not valid YAML: did not find expected node content, while parsing a flow "
          "node that begins at line 2; check brackets, commas and indentation\n");
    check("duration: -1\nduration: 2\nseed: x\n",
          "t.yaml:2:1: duration: the key is given twice, first at line 1; keep one\n"
          "t.yaml:3:7: seed: expected a whole number from 0 to 18446744073709551615, or 0x..., got "
          "the text \"x\"\n");
}

static void no_more_than_the_stated_number(void **state) {
    (void)state;
    static found all;
    char text[4096] = "bodies:\n";
    for (int i = 0; i < 30; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "  - {mass: -%d}\n", i + 1);
    assert_int_equal(read_all(text, strlen(text), "t.yaml", &all), RG_INVALID_SIZE);
    assert_int_equal(all.count, RG_SCENE_MISTAKES_MOST);
    assert_int_equal(all.list[RG_SCENE_MISTAKES_MOST - 1].line, RG_SCENE_MISTAKES_MOST + 1);
}

/* Each broken scene of the corpus has one mistake, and no other is made of it. */
static void one_mistake_stays_one(void **state) {
    (void)state;
    static found all;
    static char text[1 << 20];
    size_t scenes = 0;
    assert_int_equal(chdir(RIGOR_TEST_DATA "/scenes/broken"), 0);
    DIR *directory = opendir(".");
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".yaml") != 0)
            continue;
        FILE *file = fopen(entry->d_name, "rb");
        assert_non_null(file);
        size_t size = fread(text, 1, sizeof text, file);
        fclose(file);
        rg_scene *scene;
        rg_error error = {0};
        assert_int_not_equal(
            rg_scene_read_text(text, size, entry->d_name, NULL, NULL, &scene, &error), RG_OK);
        read_all(text, size, entry->d_name, &all);
        if (all.count != 1)
            for (size_t i = 0; i < all.count; i++)
                print_error("%s\n", all.list[i].text);
        assert_int_equal(all.count, 1);
        assert_string_equal(all.list[0].text, error.text);
        scenes++;
    }
    closedir(directory);
    assert_true(scenes >= 15);
}

/* A failure that has no place in the file is told by the error alone. */
static void what_is_no_mistake_of_the_file(void **state) {
    (void)state;
    static found all;
    rg_scene_options options = {.method = "none", .mistake = take, .mistake_user = &all};
    rg_scene *scene;
    rg_error error = {0};
    const char text[] = "duration: -1\n";
    all.count = 0;
    assert_int_equal(
        rg_scene_read_text(text, strlen(text), "t.yaml", NULL, &options, &scene, &error),
        RG_NOT_FOUND);
    assert_int_equal(all.count, 0);
    assert_non_null(strstr(error.text, "there is no method \"none\""));
    const char robot[] = "<robot name='r'><link/></robot>";
    options.method = NULL;
    assert_int_not_equal(
        rg_scene_read_text(robot, strlen(robot), "r.urdf", NULL, &options, &scene, &error), RG_OK);
    assert_int_equal(all.count, 1);
    assert_string_equal(all.list[0].text, error.text);
}

/* Without memory there are no half lists. */
static void no_memory_is_no_mistake(void **state) {
    (void)state;
    static const char text[] = "parameters: {p: x}\nmaterials: {m: {friction: -1}}\n"
                               "bodies: [{name: a, mass: -1}, {name: b, material: m}]\n"
                               "forces: [{kind: drag, body: a}, {kind: drag, body: c}]\n";
    static found all;
    rg_status status = RG_OUT_OF_MEMORY;
    size_t calls = 1;
    for (; status == RG_OUT_OF_MEMORY; calls++) {
        counting_allocator counter;
        rg_allocator allocator = counting_allocator_make(&counter);
        rg_scene_options options = {.allocator = &allocator, .mistake = take, .mistake_user = &all};
        rg_scene *scene;
        rg_error error = {0};
        counter.fail_after = calls;
        all.count = 0;
        status = rg_scene_read_text(text, strlen(text), "t.yaml", NULL, &options, &scene, &error);
        assert_int_equal(error.status, status);
        assert_int_equal(all.count, status == RG_OUT_OF_MEMORY ? 0 : 4);
    }
    assert_true(calls > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_one_body_and_entries_of_a_list),
        cmocka_unit_test(world_materials_joints_and_forces),
        cmocka_unit_test(what_follows_is_left_out),
        cmocka_unit_test(some_mistakes_end_the_reading),
        cmocka_unit_test(no_more_than_the_stated_number),
        cmocka_unit_test(one_mistake_stays_one),
        cmocka_unit_test(what_is_no_mistake_of_the_file),
        cmocka_unit_test(no_memory_is_no_mistake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
