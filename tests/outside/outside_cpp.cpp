/* The same in C++: what is made is owned and freed, failures are exceptions. */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <rigor/rigor.hpp>
#include <rigor/scene.h>

using scene = rigor::owned<rg_scene, rg_scene_destroy>;

static int alive = 0; /* pieces of memory */

static void *resize(void *, void *pointer, size_t size) {
    void *made = std::realloc(pointer, size);
    alive += made && !pointer;
    return made;
}

static void release(void *, void *pointer) {
    alive -= pointer != nullptr;
    std::free(pointer);
}

/* Falls for a second, from rest; then fails. */
static void fall() {
    rg_allocator allocator = {resize, release, nullptr};
    rg_world_def def = rg_world_def_default();
    def.allocator = allocator;
    rigor::world world = rigor::make<rigor::world>(rg_world_create, &def);
    rg_shape_def ball = rg_shape_def_sphere(0.5);
    rigor::shape shape = rigor::make<rigor::shape>(rg_shape_create, &ball, &allocator);
    rg_collider_def collider = rg_collider_def_default();
    collider.shape = shape.get();
    rg_body_def body_def = rg_body_def_default();
    body_def.colliders = &collider;
    body_def.collider_count = 1;
    rg_body_id body;
    rigor::call(rg_world_add_body, world.get(), &body_def, &body);
    rg_snapshot *made = nullptr;
    rigor::check(rg_snapshot_create(world.get(), &made));
    rigor::snapshot start(made);
    for (int i = 0; i < 100; i++)
        rigor::call(rg_world_step, world.get(), 0.01, nullptr);
    double speed = -rg_body_velocity(world.get(), body).z;
    rigor::check(rg_world_restore(world.get(), start.get()));
    if (rg_world_time(world.get()) != 0 || alive == 0 || !(std::fabs(speed - 9.81) < 1e-9))
        throw std::logic_error("not restored, not from this allocator, or not fallen");
    rigor::call(rg_world_step, world.get(), -1.0, nullptr); /* throws: nothing may leak */
}

int main() {
    try {
        fall();
        std::puts("a step backwards is accepted");
        return 1;
    } catch (const rigor::error &e) {
        std::printf("%s (%s)\n", e.what(), rg_status_name(e.status));
    }
    if (alive != 0) {
        std::printf("%d pieces of memory are left\n", alive);
        return 1;
    }
    try {
        static const char text[] = "rigor: 1\nbodies:\n  - {nam: a}\n";
        rigor::make<scene>(rg_scene_read_text, text, std::strlen(text), "text", nullptr, nullptr);
    } catch (const rigor::error &e) {
        std::printf("line %d: %s\n", e.line, e.what());
        return e.line == 3 && e.status == RG_UNKNOWN_KEY ? 0 : 1;
    }
    return 1;
}
