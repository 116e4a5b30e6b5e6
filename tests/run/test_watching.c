/* Watching never changes a world: programs that read views, events, forces and queries, and look
 * for contacts on their own, every step, every few steps or never, get the same bits and the same
 * events. */
#include "test_scene_support.h"

#include "rigor/rigor.h"

#include <stdlib.h>

enum { STEPS = 150, EVENTS_MOST = 4096, INTERVALS = 4 };
static const int intervals[INTERVALS] = {1, 4, 20, 0}; /* steps between looks; 0: never */

typedef struct told {
    uint32_t step, kind; /* 0 began, 1 ended */
    rg_collider_id b, a;
} told;

typedef struct watcher {
    rg_collision *own;
    told told[EVENTS_MOST];
    size_t count;
    size_t queries, forces;
} watcher;

static void tell(watcher *w, uint32_t step, uint32_t kind, rg_collider_id b, rg_collider_id a) {
    assert_true(w->count < EVENTS_MOST);
    w->told[w->count++] = (told){step, kind, b, a};
}

static void look(watcher *w, const rg_world *world, uint32_t step) {
    rg_collision_view view = rg_collision_get(rg_world_collision(world));
    for (size_t i = 0; i < view.touch_count; i++)
        if (view.touches[i].began)
            tell(w, step, 0, view.touches[i].collider_b, view.touches[i].collider_a);
    for (size_t i = 0; i < view.ended_count; i++)
        tell(w, step, 1, view.ended[i].collider_b, view.ended[i].collider_a);
    size_t count, kept;
    rg_world_contact_forces(world, &count);
    w->forces += count;
    rg_world_step_events(world, &kept, &count);
    rg_world_hit hit;
    w->queries +=
        rg_world_cast_ray(world, (rg_vec3){0.01, 0, 50}, (rg_vec3){0, 0, -1}, 100, NULL, &hit);
    assert_int_equal(rg_collision_update(w->own, world, step % 2 ? 0 : 0.01, NULL), RG_OK);
}

/* Runs a scene; returns its state hash. The world also tells its last touches. */
static uint64_t run(const char *name, rg_scene_parameter parameter, const char *method,
                    int interval, watcher *w, size_t *touching) {
    rg_scene_options options = {
        .method = method, .parameters = &parameter, .parameter_count = parameter.name ? 1 : 0};
    rg_scene *scene;
    rg_error error = {0};
    if (rg_scene_create_builtin(name, &options, &scene, &error))
        fail_msg("%s: %s", name, error.text);
    rg_world *world = rg_scene_world(scene);
    rg_collision_def def = rg_collision_def_default();
    assert_int_equal(rg_collision_create(&def, NULL, &w->own, NULL), RG_OK);
    w->count = 0;
    for (uint32_t i = 0; i < STEPS; i++) {
        if (rg_world_step(world, 1.0 / 100, NULL, &error))
            fail_msg("%s by %s: %s", name, method, error.text);
        if (interval && i % (uint32_t)interval == 0)
            look(w, world, i);
    }
    *touching = 0;
    rg_collision_view view = rg_collision_get(rg_world_collision(world));
    for (size_t i = 0; i < view.touch_count; i++)
        *touching += view.touches[i].touching;
    uint64_t hash = rg_world_state_hash(world);
    rg_collision_destroy(w->own);
    rg_scene_destroy(scene);
    return hash;
}

/* What was told at the steps that a watcher looked at, out of all that was told. */
static size_t told_at(const watcher *all, int interval, told *part) {
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (interval && all->told[i].step % (uint32_t)interval == 0)
            part[count++] = all->told[i];
    return count;
}

static void nothing_depends_on_who_looks(void **state) {
    (void)state;
    static const struct {
        const char *name;
        rg_scene_parameter parameter;
    } scenes[] = {{"dominoes", {"count", "6"}},
                  {"tower", {"count", "4"}},
                  {"brick-stack", {"count", "3"}},
                  {"incline", {"mu", "0.3"}},
                  {"pile", {"count", "8"}},
                  {"balance2", {0}},
                  {"dice3", {0}},
                  {"bounce", {"e", "0.5"}},
                  {"thrown-cube", {0}},
                  {"slide-to-roll", {0}},
                  {"cradle", {"law", "poisson"}}};
    static const char *const methods[] = {"stepping", "analytic"};
    watcher *all = malloc(sizeof *all), *some = malloc(sizeof *some);
    told *part = malloc(EVENTS_MOST * sizeof *part);
    size_t events = 0, forces = 0;
    /* Where cases are thinned, scenes by one method each. */
    size_t every = test_stride() > 1 ? 2 : 1;
    for (size_t s = 0; s < sizeof scenes / sizeof scenes[0]; s++)
        for (size_t m = every > 1 ? s % 2 : 0; m < 2; m += every) {
            all->forces = some->forces = some->queries = all->queries = 0;
            size_t touching, again;
            uint64_t hash =
                run(scenes[s].name, scenes[s].parameter, methods[m], intervals[0], all, &touching);
            size_t began = 0;
            for (size_t i = 0; i < all->count; i++)
                began += all->told[i].kind == 0;
            /* Every end has its beginning, and what has not ended touches. */
            assert_int_equal(began - (all->count - began), touching);
            for (int k = 1; k < INTERVALS; k++) {
                uint64_t other = run(scenes[s].name, scenes[s].parameter, methods[m], intervals[k],
                                     some, &again);
                if (other != hash)
                    fail_msg("%s by %s: looking every %d steps changes it", scenes[s].name,
                             methods[m], intervals[k]);
                assert_int_equal(again, touching);
                size_t count = told_at(all, intervals[k], part);
                assert_int_equal(some->count, count);
                assert_memory_equal(some->told, part, count * sizeof *part);
            }
            events += all->count;
            forces += all->forces;
        }
    print_message("%zu events, %zu contact forces\n", events, forces);
    assert_true(events * every > 100 && forces * every > 1000);
    free(all);
    free(some);
    free(part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_depends_on_who_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
