/* No length, mass or force is in the path: a scene whose lengths and gravity are multiplied by 4^k
 * and whose masses by 4^j does the same, bit for bit, scaled; with both methods. */
#include "scaled_world.h"
#include "test_scene_support.h"

#include <stdio.h>

enum { OPTIONS_MOST = 4, K_MOST = 8 };

typedef struct scale_case {
    const char *scene;
    const char *method;
    rg_scene_parameter parameters[OPTIONS_MOST];
    size_t parameter_count;
    int steps;
} scale_case;

/* The first number of the two states that is another, as a text; false: none. */
static bool states_differ(const rg_world *one, const rg_world *two, world_units u, char text[200]) {
    const rg_world_content *a = &one->content, *b = &two->content;
    const struct {
        const char *name;
        const double *one, *two;
        double factor;
        size_t width;
    } arrays[] = {
        {"position", &a->position->x, &b->position->x, u.length, 3},
        {"orientation", &a->orientation->x, &b->orientation->x, 1, 4},
        {"angle", a->angle, b->angle, 1, 1},
        {"velocity", &a->velocity->x, &b->velocity->x, u.length, 3},
        {"angular velocity", &a->angular_velocity->x, &b->angular_velocity->x, 1, 3},
        {"momentum", &a->momentum->x, &b->momentum->x, u.mass * u.length, 3},
        {"angular momentum", &a->angular_momentum->x, &b->angular_momentum->x,
         u.mass * u.length * u.length, 3},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        for (size_t k = 0; k < arrays[i].width * rg_world_body_count(one); k++) {
            double x = arrays[i].one[k], y = arrays[i].two[k] / arrays[i].factor;
            if (x == y || (x != x && y != y))
                continue;
            size_t body = k / arrays[i].width;
            snprintf(text, 200, "%s %zu of body %zu \"%.40s\": %.17g, %.17g", arrays[i].name,
                     k % arrays[i].width, body, rg_body_name(one, rg_world_body_at(one, body)), x,
                     y);
            return true;
        }
    return false;
}

typedef struct scaled_run {
    world_units units;
    rg_world *world;
    int parted; /* at this step; -1: not */
    char text[200];
} scaled_run;

/* Steps all worlds beside the first one, which is not scaled, until they part. */
static void run_beside(rg_world *world, scaled_run *runs, size_t count, int steps, double step) {
    rg_status status = RG_OK;
    for (int k = 0; k < steps && status == RG_OK; k++) {
        rg_error error = {0};
        status = rg_world_step(world, step, NULL, &error);
        if (status)
            print_message("step %d: %s\n", k, error.text);
        for (size_t i = 0; i < count; i++) {
            if (runs[i].parted >= 0)
                continue;
            rg_status other = rg_world_step(runs[i].world, step, NULL, &error);
            if (other != status)
                snprintf(runs[i].text, sizeof runs[i].text, "%.199s", error.text);
            if (other != status || states_differ(world, runs[i].world, runs[i].units, runs[i].text))
                runs[i].parted = k;
        }
    }
}

static void run_case(const scale_case *c, scaled_run *runs, size_t count) {
    rg_scene_options options = {
        .method = c->method, .parameters = c->parameters, .parameter_count = c->parameter_count};
    rg_scene *scene;
    rg_error error = {0};
    if (rg_scene_create(c->scene, &options, &scene, &error))
        fail_msg("%s: %s", c->scene, error.text);
    const rg_world *given = rg_scene_world(scene);
    rg_world *world = scaled_world(given, (world_units){1, 1});
    for (size_t i = 0; i < count; i++) {
        runs[i].world = scaled_world(given, runs[i].units);
        runs[i].parted = states_differ(world, runs[i].world, runs[i].units, runs[i].text) ? 0 : -1;
    }
    run_beside(world, runs, count, c->steps, rg_scene_step_size(scene));
    for (size_t i = 0; i < count; i++)
        rg_world_destroy(runs[i].world);
    rg_world_destroy(world);
    rg_scene_destroy(scene);
}

/* test_run_scale SCENE METHOD STEPS K J [NAME=VALUE ...]: where one run parts. */
static int run_one(int count, char **arguments) {
    scale_case c = {.scene = arguments[1], .method = arguments[2], .steps = atoi(arguments[3])};
    for (int i = 6; i < count && c.parameter_count < OPTIONS_MOST; i++) {
        char *equals = strchr(arguments[i], '=');
        if (!equals)
            return 2;
        *equals = 0;
        c.parameters[c.parameter_count++] = (rg_scene_parameter){arguments[i], equals + 1};
    }
    scaled_run run = {.units = {ldexp(1, 2 * atoi(arguments[4])), ldexp(1, atoi(arguments[5]))}};
    run_case(&c, &run, 1);
    if (run.parted >= 0)
        printf("step %d: %s\n", run.parted, run.text);
    else
        printf("same\n");
    return run.parted >= 0;
}

/* --- the cases -------------------------------------------------------------------------------- */

/* Built-in scenes that would take long as they are; and what method analytic cannot go through. */
typedef struct smaller_scene {
    const char *scene, *name, *value;
} smaller_scene;
static const smaller_scene smaller[] = {
    {"dominoes", "count", "6"},     {"pile", "count", "10"},      {"funnel", "count", "20"},
    {"tower", "count", "5"},        {"pyramid", "base", "4"},     {"kapla", "levels", "4"},
    {"projectiles", "count", "50"}, {"chain", "links", "6"},      {"chain-pivot", "links", "8"},
    {"wall", "rows", "3"},          {"pyramid-hit", "base", "4"}, {"shaken-box", "count", "20"},
    {"ring-chain", "links", "3"},   {"dry-wall", "courses", "3"}, {"card-castle", "storeys", "2"},
    {"arch", "stones", "12"},       {"ring-balls", "balls", "3"},
};

/* A tenth of the scenes, of each kind one: free flight, curved contacts, boxes, impacts, joints
 * with and without loops, limits, motors, meshes. */
static const char *const quick[] = {"tennis-racket", "dominoes", "rolling",  "dice3",
                                    "bounce",        "chain",    "four-bar", "ragdoll",
                                    "rover",         "gripper",  "teapot"};

static bool is_quick(const char *scene) {
    for (size_t i = 0; i < sizeof quick / sizeof *quick; i++)
        if (!strcmp(scene, quick[i]))
            return true;
    return false;
}

/* k, and j with every even number from -8 to 8. */
static world_units units_of(int k) {
    int j = 2 * ((3 * k + 27) % 9) - 8;
    return (world_units){ldexp(1, 2 * k), ldexp(1, j)};
}

static int check_scene(const char *scene, const char *method, int steps) {
    static const int few[] = {-8, 8};
    scale_case c = {.scene = scene, .method = method, .steps = steps};
    scaled_run runs[2 * K_MOST + 1] = {0};
    size_t count = 0;
    int parted = 0;
    for (size_t i = 0; i < sizeof smaller / sizeof *smaller; i++)
        if (!strcmp(scene, smaller[i].scene))
            c.parameters[c.parameter_count++] =
                (rg_scene_parameter){smaller[i].name, smaller[i].value};
    for (int k = -K_MOST; k <= K_MOST; k++)
        if (test_is_long() || k == few[0] || k == few[1])
            runs[count++].units = units_of(k);
    run_case(&c, runs, count);
    for (size_t i = 0; i < count; i++) {
        if (runs[i].parted < 0)
            continue;
        print_message("%s, %s, lengths times %g, masses times %g: step %d: %s\n", scene, method,
                      runs[i].units.length, runs[i].units.mass, runs[i].parted, runs[i].text);
        parted++;
    }
    return parted;
}

static void check_scenes(const char *method, int steps) {
    int parted = 0;
    for (size_t i = 0; i < rg_builtin_count(); i++)
        if (test_is_long() || is_quick(rg_builtin_at(i).name))
            parted += check_scene(rg_builtin_at(i).name, method, steps);
    assert_int_equal(parted, 0);
}

static void stepping_has_no_units(void **state) {
    (void)state;
    check_scenes("stepping", test_cases(60, 120));
}

static void analytic_has_no_units(void **state) {
    (void)state;
    check_scenes("analytic", test_cases(15, 30));
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stepping_has_no_units),
        cmocka_unit_test(analytic_has_no_units),
    };
    return count > 5 ? run_one(count, arguments) : cmocka_run_group_tests(tests, NULL, NULL);
}
