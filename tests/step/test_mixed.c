/* Steps of which the stepping method makes a part, because the analytic method cannot: that
 * everybody else moves by the same bits as if those in trouble were not there, that those move by
 * the stepping method's, that the ledger is the sum of both and closes, that forces and events of
 * both are there, once, and name the right bodies. */
#include "test_world_support.h"

#include "rigor/contact_force.h"
#include "rigor/event.h"
#include "step/step_analytic.h"

#include <stdlib.h>
#include <string.h>

#define H    (1.0 / 240)
#define SIDE 0.2
#define DEEP 1e-4 /* m */
#define G    9.81
/* m, m/s: of the press. */
#define AIR_OF_PRESS   1e-4
#define SPEED_OF_PRESS 0.01
/* Relative: sums in another order. */
#define ROUNDING 1e-12

/* Islands, far apart; a floor is always there. */
enum {
    GOOD = 1,  /* a brick that slides, a ball that falls on it */
    SUNK = 2,  /* a box in the floor */
    PAIR = 4,  /* two boxes on the floor, in each other, the second with a spin */
    PRESS = 8, /* a box between the floor and a press that goes down */
    AIR = 16,  /* two balls that meet in the air, without touching anything else */
    BELT = 32, /* the floor moves */
    LATER = 64 /* the press comes later, between the second and the third step */
};

static rg_material_id material_of(rg_world *world, const char *name, double friction,
                                  double restitution) {
    rg_contact_law law = {0};
    law.friction = friction;
    law.restitution = restitution;
    rg_material_id material;
    assert_int_equal(rg_world_add_material(world, name, &law, &material, NULL), RG_OK);
    return material;
}

static rg_body_id add_ball(rg_world *world, const char *name, double radius, rg_vec3 position,
                           rg_vec3 velocity, rg_material_id material) {
    rg_collider_def collider = rg_collider_def_default();
    collider.material = material;
    rg_body_def def = rg_body_def_default();
    def.name = name;
    def.pose.position = position;
    def.velocity = velocity;
    return add_collider(world, rg_shape_def_sphere(radius), collider, &def);
}

static void add_floor(rg_world *world, int what) {
    rg_body_def def = rg_body_def_default();
    def.name = "floor";
    def.motion = what & BELT ? RG_MOTION_KINEMATIC : RG_MOTION_FIXED;
    def.prescription.kind = RG_PRESCRIBED_VELOCITY;
    def.velocity = (rg_vec3){what & BELT ? 0.3 : 0, 0, 0};
    def.pose.position.z = -0.5;
    add_shape(world, rg_shape_def_box(60, 8, 1), &def);
}

static void add_smooth_box(rg_world *world, const char *name, rg_vec3 size, rg_vec3 position,
                           rg_vec3 spin) {
    rg_collider_def collider = rg_collider_def_default();
    collider.material = material_of(world, "smooth", 0, 0);
    rg_body_def def = rg_body_def_default();
    def.name = name;
    def.pose.position = position;
    def.angular_velocity = spin;
    add_collider(world, rg_shape_def_box(size.x, size.y, size.z), collider, &def);
}

/* Without friction the analytic method sees soon that there is no way out. */
static void add_press(rg_world *world, double air) {
    add_smooth_box(world, "squeezed", (rg_vec3){SIDE, SIDE, SIDE}, (rg_vec3){-20, 0, SIDE / 2},
                   (rg_vec3){0, 0, 0});
    rg_body_def def = rg_body_def_default();
    def.name = "press";
    def.motion = RG_MOTION_KINEMATIC;
    def.prescription.kind = RG_PRESCRIBED_VELOCITY;
    def.velocity = (rg_vec3){0, 0, -SPEED_OF_PRESS};
    def.pose.position = (rg_vec3){-20, 0, SIDE + 0.05 + air};
    add_shape(world, rg_shape_def_box(0.4, 0.4, 0.1), &def);
}

/* Some thresholds are relative to the fastest body: it is the same in all worlds. Nobody meets
 * it. */
static void add_runner(rg_world *world) {
    rg_body_def def = rg_body_def_default();
    def.name = "runner";
    def.motion = RG_MOTION_KINEMATIC;
    def.prescription.kind = RG_PRESCRIBED_VELOCITY;
    def.velocity = (rg_vec3){0, 10, 0};
    def.pose.position.z = 1000;
    add_shape(world, rg_shape_def_sphere(1), &def);
}

static rg_world_def analytic_def(void) {
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find("analytic");
    def.settings.hand_over = true;
    return def;
}

static rg_world *fill_world(const rg_world_def *def, int what) {
    rg_world *world = world_of(def);
    add_floor(world, what);
    add_runner(world);
    rg_vec3 size = {SIDE, SIDE, SIDE};
    if (what & PAIR) {
        add_box(world, "left", size, (rg_vec3){10, 0, SIDE / 2});
        rg_body_id right = add_box(world, "right", size, (rg_vec3){10 + SIDE - DEEP, 0, SIDE / 2});
        rg_body_set_angular_velocity(world, right, (rg_vec3){0, 0, 0.1});
    }
    if (what & GOOD) {
        rg_body_id brick = add_box(world, "brick", (rg_vec3){0.5, 0.3, 0.2}, (rg_vec3){0, 0, 0.1});
        rg_body_set_velocity(world, brick, (rg_vec3){0.6, 0.1, 0});
        add_ball(world, "ball", 0.1, (rg_vec3){0.1, 0.05, 0.32}, (rg_vec3){0.5, 0, 0},
                 material_of(world, "rubber", 0.4, 0.6));
    }
    if (what & SUNK)
        add_box(world, "sunk", size, (rg_vec3){-10, 0, SIDE / 2 - DEEP});
    if (what & PRESS)
        add_press(world, what & LATER ? AIR_OF_PRESS : 0);
    if (what & AIR) {
        rg_material_id hard = material_of(world, "hard", 0.2, 0.8);
        add_ball(world, "one", 0.1, (rg_vec3){20, 0, 5}, (rg_vec3){1, 0, 0}, hard);
        add_ball(world, "two", 0.1, (rg_vec3){20.204, 0.02, 5}, (rg_vec3){-1, 0, 0}, hard);
    }
    return world;
}

static rg_world *make_world(const char *method, int what, int threads) {
    rg_world_def def = analytic_def();
    def.method = rg_method_find(method);
    def.threads = threads;
    return fill_world(&def, what);
}

static size_t index_of(const rg_world *world, const char *name) {
    rg_body_id body;
    assert_int_equal(rg_world_find_body(world, name, &body), RG_OK);
    return rg_body_index(world, body);
}

/* All bits of a body's state. */
static void assert_same(const rg_world *w, const rg_world *v, const char *name) {
    const rg_world_content *c = &w->content, *d = &v->content;
    size_t i = index_of(w, name), j = index_of(v, name);
    assert_memory_equal(&c->position[i], &d->position[j], sizeof(rg_vec3));
    assert_memory_equal(&c->orientation[i], &d->orientation[j], sizeof(rg_quat));
    assert_memory_equal(&c->velocity[i], &d->velocity[j], sizeof(rg_vec3));
    assert_memory_equal(&c->angular_velocity[i], &d->angular_velocity[j], sizeof(rg_vec3));
    assert_memory_equal(&c->momentum[i], &d->momentum[j], sizeof(rg_vec3));
    assert_memory_equal(&c->angular_momentum[i], &d->angular_momentum[j], sizeof(rg_vec3));
}

static rg_step_info step(rg_world *world) {
    return step_once(world, H);
}

/* Hand-overs of the last step; they stand before everything else. */
static size_t hand_overs(const rg_world *world, const rg_step_event **events) {
    size_t kept, count, found = 0;
    *events = rg_world_step_events(world, &kept, &count);
    for (size_t i = 0; i < kept; i++) {
        if ((*events)[i].kind == RG_STEP_EVENT_HANDED_OVER)
            assert_int_equal(found++, i);
        if (i > 0)
            assert_true((*events)[i].time >= (*events)[i - 1].time);
    }
    return found;
}

static bool is_body(const rg_world *world, rg_body_id body, const char *name) {
    return body.index1 && strcmp(rg_body_name(world, body), name) == 0;
}

/* --- bits ------------------------------------------------------------------------------------- */

static void assert_sums(const rg_step_info *all, const rg_step_info *x, const rg_step_info *y) {
    const rg_energy_ledger *a = &all->energy, *p = &x->energy, *q = &y->energy;
    double work = fabs(q->impact_loss) + fabs(q->prescribed_work);
    double scale = ROUNDING * (fabs(p->initial) + fabs(q->initial)), more = scale + ROUNDING * work;
    assert_near(a->initial, p->initial + q->initial, scale);
    assert_near(a->final, p->final + q->final, scale);
    assert_near(a->friction_work, p->friction_work + q->friction_work, scale);
    assert_near(a->impact_loss, p->impact_loss + q->impact_loss, more);
    assert_near(a->stabilisation, p->stabilisation + q->stabilisation, scale);
    assert_near(a->integration, p->integration + q->integration, scale);
    assert_near(a->external_work, p->external_work + q->external_work, scale);
    assert_near(a->prescribed_work, p->prescribed_work + q->prescribed_work, more);
    assert_true(a->closure_rel < 1e-11);
    /* What squeezes a body gives it momentum from both sides, with the rounding of that. */
    assert_true(all->certificate.momentum_error < 1e-12 + y->certificate.momentum_error);
    assert_int_equal(all->substeps, x->substeps + y->substeps);
    assert_int_equal(all->evaluations, x->evaluations + y->evaluations);
    assert_int_equal(all->contacts_max, x->contacts_max + y->contacts_max);
    assert_int_equal(all->solves, x->solves + y->solves);
    assert_int_equal(all->solver_iterations, x->solver_iterations + y->solver_iterations);
    assert_int_equal(all->impacts, x->impacts + y->impacts);
    assert_true(all->certificate.complementarity ==
                fmax(x->certificate.complementarity, y->certificate.complementarity));
    assert_true(all->certificate.min_gap == fmin(x->certificate.min_gap, y->certificate.min_gap));
}

/* Two islands in one world are what they are in worlds of their own, body by body and entry by
 * entry. */
static void compare_with_parts(int good, int bad, const char *const *good_names,
                               const char *const *bad_names, int steps, int least) {
    int handed = 0, belt = BELT & good;
    rg_world *all = make_world("analytic", good | bad, 1);
    rg_world *x = make_world("analytic", good, 1), *y = make_world("analytic", bad | belt, 1);
    for (int n = 0; n < steps; n++) {
        rg_step_info info = step(all), p = step(x), q = step(y);
        for (size_t i = 0; good_names[i]; i++)
            assert_same(all, x, good_names[i]);
        for (size_t i = 0; bad_names[i]; i++)
            assert_same(all, y, bad_names[i]);
        assert_sums(&info, &p, &q);
        const rg_step_event *e;
        assert_int_equal(hand_overs(x, &e), 0);
        handed += hand_overs(y, &e) > 0;
        assert_int_equal(hand_overs(all, &e), hand_overs(y, &e));
    }
    assert_in_range(handed, least, steps);
    rg_world_destroy(all);
    rg_world_destroy(x);
    rg_world_destroy(y);
}

static const char *const good_bodies[] = {"brick", "ball", NULL};

static void the_others_keep_their_bits(void **state) {
    (void)state;
    compare_with_parts(GOOD, SUNK, good_bodies, (const char *const[]){"sunk", NULL}, 60, 1);
    compare_with_parts(GOOD, PAIR, good_bodies, (const char *const[]){"left", "right", NULL}, 60,
                       1);
}

/* For two steps: then the stepping method, which has no answer either, throws it out at thousands
 * of metres a second, within reach of everybody. */
static void a_squeezed_body_is_no_ones_business(void **state) {
    (void)state;
    compare_with_parts(GOOD, PRESS, good_bodies, (const char *const[]){"squeezed", "press", NULL},
                       2, 2);
}

/* A belt that carries both is moved once a step, and the work of its motor is that of both. */
static void a_belt_carries_both(void **state) {
    (void)state;
    compare_with_parts(GOOD | BELT, SUNK, good_bodies, (const char *const[]){"sunk", NULL}, 30, 1);
    rg_world *world = make_world("analytic", GOOD | SUNK | BELT, 1);
    for (int n = 1; n <= 30; n++) {
        rg_step_info info = step(world);
        rg_vec3 at = world->content.position[index_of(world, "floor")];
        assert_near(at.x, 0.3 * H * n, 1e-15);
        assert_near(at.z, -0.5, 0);
        assert_true(info.energy.prescribed_work != 0 && info.energy.closure_rel < 1e-9);
    }
    rg_world_destroy(world);
}

/* Those that are handed over move by the stepping method's bits, with its forces. */
static void the_part_is_the_stepping_methods(void **state) {
    (void)state;
    rg_world *all = make_world("analytic", GOOD | SUNK | PAIR, 1);
    rg_world *stepping = make_world("stepping", SUNK | PAIR, 1);
    (void)step(all);
    (void)step(stepping);
    assert_same(all, stepping, "sunk");
    assert_same(all, stepping, "left");
    assert_same(all, stepping, "right");
    size_t count, other_count, found = 0;
    const rg_contact_force *f = rg_world_contact_forces(all, &count);
    const rg_contact_force *g = rg_world_contact_forces(stepping, &other_count);
    assert_true(other_count >= 9 && count > other_count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < other_count; k++)
            found += f[i].id == g[k].id &&
                     memcmp(&f[i].impulse, &g[k].impulse, sizeof(rg_vec3)) == 0 &&
                     memcmp(&f[i].position, &g[k].position, sizeof(rg_vec3)) == 0;
    assert_int_equal(found, other_count);
    rg_world_destroy(all);
    rg_world_destroy(stepping);
}

/* --- laws, by the test's own formulas --------------------------------------------------------- */

typedef struct totals {
    double energy;
    rg_vec3 momentum, angular_momentum; /* about the origin */
    double mass;
} totals;

static totals look(const rg_world *world) {
    totals t = {0};
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        if (rg_body_motion(world, body) != RG_MOTION_DYNAMIC)
            continue;
        /* All centres are origins here; cubes and balls, so that inertia is a number. */
        rg_mass_properties m = rg_body_mass(world, body);
        rg_vec3 x = rg_body_pose(world, body).position, v = rg_body_velocity(world, body);
        rg_vec3 w = rg_body_angular_velocity(world, body);
        double inertia = m.inertia.m[0][0];
        assert_near(m.inertia.m[1][1], inertia, 1e-12 * inertia);
        assert_near(m.inertia.m[2][2], inertia, 1e-12 * inertia);
        t.mass += m.mass;
        t.energy += m.mass * (rg_dot(v, v) / 2 + G * x.z) + inertia * rg_dot(w, w) / 2;
        t.momentum = rg_add_scaled(t.momentum, m.mass, v);
        t.angular_momentum =
            rg_add(t.angular_momentum, rg_add_scaled(rg_scale(inertia, w), m.mass, rg_cross(x, v)));
    }
    return t;
}

static double work_of(const rg_energy_ledger *e) {
    return e->external_work + e->friction_work - e->impact_loss + e->stabilisation +
           e->integration + e->prescribed_work;
}

/* The impulses of weights over a step, and their moment about the origin. Balls in the air: as long
 * as they only meet each other, the centre of both moves on as it did. Bodies that were stepped:
 * where they began. */
static void add_weights(const rg_world *world, rg_vec3 *impulse, rg_vec3 *moment) {
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        if (rg_body_motion(world, body) != RG_MOTION_DYNAMIC)
            continue;
        rg_vec3 weight = {0, 0, -G * rg_body_mass(world, body).mass * H};
        rg_vec3 x = rg_body_pose(world, body).position;
        if (is_body(world, body, "one") || is_body(world, body, "two"))
            x = rg_add_scaled(x, H / 2, rg_body_velocity(world, body));
        *impulse = rg_add(*impulse, weight);
        *moment = rg_add(*moment, rg_cross(x, weight));
    }
}

/* The balls touch nothing that does not move, so that all that changes momentum is gravity and what
 * the floor gives to those that were stepped, which is in the list of forces. */
static void momentum_and_energy_balance(void **state) {
    (void)state;
    rg_world *world = make_world("analytic", AIR | SUNK | PAIR, 1);
    int handed = 0;
    double lost = 0;
    for (;; handed++) {
        totals before = look(world);
        rg_vec3 given = {0, 0, 0}, moment = {0, 0, 0};
        add_weights(world, &given, &moment);
        rg_step_info info = step(world);
        const rg_step_event *e;
        if (hand_overs(world, &e) < 2)
            break; /* forces of the other method are not impulses */
        size_t count;
        const rg_contact_force *f = rg_world_contact_forces(world, &count);
        for (size_t i = 0; i < count; i++) {
            if (!is_body(world, f[i].body_b, "floor"))
                continue;
            given = rg_add(given, f[i].impulse);
            moment = rg_add(moment, rg_cross(f[i].position, f[i].impulse));
        }
        totals after = look(world);
        assert_vector(rg_sub(after.momentum, before.momentum), given, 1e-11);
        assert_vector(rg_sub(after.angular_momentum, before.angular_momentum), moment, 1e-9);
        assert_near(after.energy - before.energy, work_of(&info.energy), 1e-10);
        assert_near(info.energy.final - info.energy.initial, after.energy - before.energy, 1e-10);
        assert_true(info.certificate.momentum_error < 1e-12);
        lost += info.energy.impact_loss;
    }
    assert_in_range(handed, 1, 10);
    assert_true(lost > 0.1); /* the balls have met meanwhile */
    rg_world_destroy(world);
}

/* --- events ----------------------------------------------------------------------------------- */

static void two_of_three_groups_fail(void **state) {
    (void)state;
    rg_world *world = make_world("analytic", GOOD | SUNK | PAIR, 1);
    (void)step(world);
    const rg_step_event *e;
    assert_int_equal(hand_overs(world, &e), 2);
    /* In the order of their first bodies. */
    assert_true(is_body(world, e[0].body_a, "left") && is_body(world, e[0].body_b, "right"));
    assert_true(is_body(world, e[1].body_a, "sunk") && e[1].body_b.index1 == 0);
    assert_int_equal(e[0].contacts, 2);
    assert_int_equal(e[1].contacts, 1);
    char text[1200];
    for (int i = 0; i < 2; i++) {
        assert_true(e[i].time == 0);
        assert_int_equal((int)e[i].value, RG_INVALID_ARGUMENT);
    }
    (void)rg_step_event_text(world, &e[0], text, sizeof text);
    assert_non_null(strstr(text,
                           "t = 0 s: the method stepping makes this step of \"left\" and "
                           "\"right\": at t = 0 s \"left\" and \"right\" overlap by 0.0001 m"));
    size_t length = rg_step_event_text(world, &e[1], text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_non_null(
        strstr(text, "this step of \"sunk\": at t = 0 s \"floor\" and \"sunk\" overlap"));
    rg_world_destroy(world);
}

/* The list of forces has those of all methods, in the order of colliders. */
static void forces_of_both_are_there(void **state) {
    (void)state;
    rg_world *world = make_world("analytic", GOOD | SUNK | PAIR, 1);
    (void)step(world);
    size_t count;
    const rg_contact_force *f = rg_world_contact_forces(world, &count);
    for (size_t i = 1; i < count; i++) {
        const rg_contact_force *p = &f[i - 1], *q = &f[i];
        assert_true(p->collider_b.index1 < q->collider_b.index1 ||
                    (p->collider_b.index1 == q->collider_b.index1 &&
                     (p->collider_a.index1 < q->collider_a.index1 ||
                      (p->collider_a.index1 == q->collider_a.index1 && p->id < q->id))));
    }
    rg_body_id brick, sunk;
    assert_int_equal(rg_world_find_body(world, "brick", &brick), RG_OK);
    assert_int_equal(rg_world_find_body(world, "sunk", &sunk), RG_OK);
    rg_vec3 force;
    assert_int_equal(rg_body_contact_force(world, brick, &force, NULL), 4);
    assert_near(force.z, 1000 * 0.5 * 0.3 * 0.2 * G, 1e-6);
    assert_int_equal(rg_body_contact_force(world, sunk, &force, NULL), 4);
    assert_true(force.z > 1000 * SIDE * SIDE * SIDE * G);
    rg_world_destroy(world);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* What is known of dynamic bodies stands at the end of the method's memory. */
static double learnt(const rg_world *world, const char *name) {
    const rg_memory_block *block = &world->content.memory[RG_MEMORY_METHOD];
    size_t bodies = rg_world_body_count(world), dynamic = 0, place = 0;
    for (size_t i = 0; i < bodies; i++) {
        if (i == index_of(world, name))
            place = dynamic;
        dynamic += rg_body_motion(world, rg_world_body_at(world, i)) == RG_MOTION_DYNAMIC;
    }
    const char *end = (const char *)block->data + block->size;
    rg_analysis_known known;
    memcpy(&known, end - (dynamic - place) * sizeof known, sizeof known);
    return known.next_step;
}

/* A press comes down on a body that the method has followed so far. Nothing of the attempt to
 * follow it further is left: neither step sizes nor events. */
static void what_was_learnt_of_them_is_forgotten(void **state) {
    (void)state;
    rg_world *world = make_world("analytic", GOOD | PRESS | LATER, 1);
    const int whole = (int)(AIR_OF_PRESS / SPEED_OF_PRESS / H);
    for (int n = 0; n <= whole; n++) {
        if (n > 0)
            assert_true(learnt(world, "squeezed") > 0 && learnt(world, "brick") > 0);
        (void)step(world);
        const rg_step_event *e;
        size_t kept, count, found = 0;
        assert_int_equal(hand_overs(world, &e), n == whole);
        e = rg_world_step_events(world, &kept, &count);
        assert_int_equal(kept, count);
        for (size_t i = 0; n == whole && i < kept; i++)
            found +=
                is_body(world, e[i].body_a, "squeezed") || is_body(world, e[i].body_b, "squeezed");
        assert_int_equal(found, n == whole);
    }
    assert_true(learnt(world, "squeezed") == 0 && learnt(world, "brick") > 0);
    rg_world_destroy(world);
}

static uint64_t hash_after(int threads, int way, int first, int rest) {
    int what = GOOD | SUNK | PAIR | AIR;
    rg_world *world = make_world("analytic", what, threads);
    step_world(world, H, first);
    if (way == 1)
        world = replace_by_clone(world);
    if (way == 2)
        world = carry_over(world, make_world("analytic", what, threads));
    step_world(world, H, rest);
    uint64_t hash = rg_world_state_hash(world);
    rg_world_destroy(world);
    return hash;
}

static void copies_saved_states_and_threads(void **state) {
    (void)state;
    uint64_t hash = hash_after(1, 0, 1, 40);
    assert_true(hash_after(1, 1, 1, 40) == hash);
    assert_true(hash_after(1, 2, 1, 40) == hash);
    assert_true(hash_after(4, 0, 1, 40) == hash);
    assert_true(hash_after(3, 2, 1, 40) == hash);
}

/* Every allocation may fail, in the first steps, which are mixed, and later: a status, nothing
 * lost, on it goes. */
static void memory_failures_lose_nothing(void **state) {
    (void)state;
    counting_allocator counter;
    rg_world_def def = analytic_def();
    def.allocator = counting_allocator_make(&counter);
    rg_world *world = fill_world(&def, GOOD | SUNK | PAIR);
    rg_world *reference = make_world("analytic", GOOD | SUNK | PAIR, 1);
    int failures = 0;
    for (int n = 0; n < 8; n++) {
        uint64_t before = rg_world_state_hash(world);
        for (size_t k = 0;; k++) {
            counter.resizes = 1;
            counter.fail_after = 1 + k;
            rg_status status = rg_world_step(world, H, NULL, NULL);
            if (status == RG_OK)
                break;
            assert_int_equal(status, RG_OUT_OF_MEMORY);
            assert_true(rg_world_state_hash(world) == before);
            failures++;
        }
        counter.fail_after = 0;
        (void)step(reference);
        assert_true(rg_world_state_hash(world) == rg_world_state_hash(reference));
    }
    print_message("%d failures\n", failures);
    assert_true(failures > 10);
    rg_world_destroy(world);
    rg_world_destroy(reference);
}

/* A body that is put back into the floor before every step: mixed steps for ever, without a heap
 * call. */
static void it_makes_no_heap_call(void **state) {
    (void)state;
    counting_allocator counter;
    rg_world_def def = analytic_def();
    def.allocator = counting_allocator_make(&counter);
    rg_world *world = fill_world(&def, SUNK);
    add_box(world, "rests", (rg_vec3){SIDE, SIDE, SIDE}, (rg_vec3){0, 0, SIDE / 2});
    rg_body_id sunk = rg_world_body_at(world, index_of(world, "sunk"));
    rg_pose pose = rg_body_pose(world, sunk);
    size_t resizes = 0;
    for (int n = 0; n < 40; n++) {
        if (n == 20)
            resizes = counter.resizes;
        assert_int_equal(rg_body_set_pose(world, sunk, pose), RG_OK);
        assert_int_equal(rg_body_set_velocity(world, sunk, (rg_vec3){0, 0, 0}), RG_OK);
        (void)step(world);
        const rg_step_event *e;
        assert_int_equal(hand_overs(world, &e), 1);
    }
    assert_int_equal(counter.resizes, resizes);
    rg_world_destroy(world);
}

/* --- many ------------------------------------------------------------------------------------- */

/* Heaps here and there; in some of them bodies are a little in each other. */
static rg_world *random_world(uint64_t seed, bool planar, int threads) {
    rg_world_def def = analytic_def();
    def.planar = planar;
    def.threads = threads;
    rg_world *world = world_of(&def);
    rg_body_def floor = rg_body_def_default();
    floor.motion = RG_MOTION_FIXED;
    add_shape(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &floor);
    rg_random random = rg_random_make(seed);
    rg_material_id material = material_of(world, "any", rg_random_between(&random, 0, 0.8),
                                          rg_random_between(&random, 0, 0.5));
    const double r = 0.1;
    const rg_vec3 square[4] = {{-r, 0, -r}, {r, 0, -r}, {r, 0, r}, {-r, 0, r}};
    for (int heap = 0; heap < 4; heap++) {
        double height = r;
        for (int k = 0; k < 3; k++) {
            rg_collider_def collider = rg_collider_def_default();
            collider.material = material;
            rg_body_def body = rg_body_def_default();
            height -= rg_random_between(&random, -2e-3, 1e-3);
            body.pose.position =
                (rg_vec3){3 * heap + rg_random_between(&random, -0.03, 0.03), 0, height};
            body.velocity.x = rg_random_between(&random, -0.3, 0.3);
            bool round = rg_random_between(&random, 0, 1) < 0.4;
            rg_shape_def solid =
                round ? rg_shape_def_sphere(r) : rg_shape_def_box(2 * r, 2 * r, 2 * r);
            rg_shape_def flat = round ? rg_shape_def_disc(r) : rg_shape_def_polygon(square, 4);
            add_collider(world, planar ? flat : solid, collider, &body);
            height += 2 * r;
        }
    }
    return world;
}

static void random_heaps_close_their_ledger(void **state) {
    (void)state;
    int mixed = 0, whole = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        bool planar = seed % 2;
        rg_world *world = random_world(seed, planar, 1), *other = random_world(seed, planar, 3);
        for (int n = 0; n < 25; n++) {
            rg_step_info info = step(world);
            assert_true(info.energy.closure_rel < 1e-8);
            assert_true(info.certificate.momentum_error < 1e-9);
            assert_true(info.certificate.max_penetration < 2e-3);
            const rg_step_event *e;
            size_t found = hand_overs(world, &e), bodies = 0;
            for (size_t i = 0; i < found; i++)
                bodies += e[i].contacts;
            mixed += bodies > 0 && bodies < 12;
            whole += bodies == 12;
        }
        step_world(other, H, 25);
        assert_true(rg_world_state_hash(world) == rg_world_state_hash(other));
        rg_world_destroy(world);
        rg_world_destroy(other);
    }
    print_message("%d steps were mixed, %d handed over as a whole\n", mixed, whole);
    assert_true(mixed > 8);
}

/* --- reach ------------------------------------------------------------------------------------ */

/* Two balls deep in each other push a third one, out of their reach at rest: the step must know of
 * it. */
static void who_strays_takes_others_along(void **state) {
    (void)state;
    rg_world_def def = analytic_def();
    def.gravity = (rg_vec3){0, 0, 0};
    rg_world *world = world_of(&def);
    rg_material_id smooth = material_of(world, "smooth", 0, 0);
    rg_vec3 still = {0, 0, 0};
    add_ball(world, "a", 0.5, (rg_vec3){0, 0, 0}, still, smooth);
    add_ball(world, "b", 0.5, (rg_vec3){0.6, 0, 0}, still, smooth);
    add_ball(world, "c", 0.5, (rg_vec3){1.601, 0, 0}, still, smooth);
    add_ball(world, "d", 0.5, (rg_vec3){9, 0, 0}, (rg_vec3){0, 1e-3, 0}, smooth);
    rg_step_info info = step(world);
    const rg_step_event *e;
    assert_int_equal(hand_overs(world, &e), 1);
    assert_int_equal(e[0].contacts, 3);
    assert_true(is_body(world, e[0].body_a, "a") && is_body(world, e[0].body_b, "b"));
    char text[1200];
    (void)rg_step_event_text(world, &e[0], text, sizeof text);
    assert_non_null(
        strstr(text, "this step of \"a\", \"b\" and 1 more: at t = 0 s \"a\" and \"b\""));
    const rg_vec3 *x = world->content.position;
    size_t b = index_of(world, "b"), c = index_of(world, "c");
    assert_true(x[b].x > 0.6 + 1e-3); /* it went as far as the gap was */
    assert_true(x[c].x - x[b].x > 1 - 1e-9);
    assert_true(info.energy.closure_rel < 1e-9 && info.certificate.momentum_error < 1e-12);
    assert_near(x[index_of(world, "d")].y, 1e-3 * H, 1e-18);
    assert_true(learnt(world, "d") > 0);
    rg_world_destroy(world);
}

static void count_first(void *user, uint64_t at, size_t island, const rg_problem *problem) {
    (void)at;
    (void)problem;
    *(int *)user += island == 0;
}

/* A box that comes out of the floor faster than it was taken to, and meets nobody: nobody's step is
 * made again. */
static void who_strays_alone_stays_alone(void **state) {
    (void)state;
    rg_world *world = make_world("analytic", GOOD | SUNK, 1),
             *good = make_world("analytic", GOOD, 1);
    rg_body_id sunk = rg_world_body_at(world, index_of(world, "sunk"));
    rg_pose pose = rg_body_pose(world, sunk);
    pose.position.z = SIDE / 2 - 0.02;
    assert_int_equal(rg_body_set_pose(world, sunk, pose), RG_OK);
    int first = 0;
    assert_int_equal(rg_world_observe_problems(world, count_first, &first), RG_OK);
    rg_step_info info = step(world);
    (void)step(good);
    assert_int_equal(first, 1);
    /* Farther than twice the fall of a step, which is what it was taken to reach. */
    assert_true(world->content.position[index_of(world, "sunk")].z - pose.position.z >
                2 * G * H * H);
    assert_same(world, good, "brick");
    assert_same(world, good, "ball");
    assert_true(info.energy.closure_rel < 1e-11);
    const rg_step_event *e;
    assert_int_equal(hand_overs(world, &e), 1);
    assert_int_equal(e[0].contacts, 1);
    rg_world_destroy(world);
    rg_world_destroy(good);
}

/* --- failure ---------------------------------------------------------------------------------- */

/* The stepping method may fail, too: both causes are told, of the group that it fails at; and
 * nothing has changed. */
static void both_may_fail(void **state) {
    (void)state;
    rg_world *world = make_world("analytic", GOOD | SUNK | PAIR, 1);
    add_smooth_box(world, "spun", (rg_vec3){1e-3, 2e-3, 3e-3}, (rg_vec3){-25, 0, 1.5e-3 - DEEP},
                   (rg_vec3){0, 0, 6e5});
    uint64_t before = rg_world_state_hash(world);
    rg_error error = {0};
    assert_int_equal(rg_world_step(world, H, NULL, &error), RG_ITERATION_LIMIT);
    assert_true(rg_world_state_hash(world) == before);
    assert_non_null(strstr(error.text, "\"floor\" and \"spun\" overlap by"));
    assert_non_null(
        strstr(error.text, "Handed over to the method stepping: body 7 \"spun\" turns"));
    rg_world_destroy(world);
}

/* Forces join bodies over any distance: then it is the step of all of them. */
static void forces_make_one_group(void **state) {
    (void)state;
    rg_world *all = make_world("analytic", GOOD | SUNK, 1);
    rg_world *stepping = make_world("stepping", GOOD | SUNK, 1);
    rg_body_id body;
    assert_int_equal(rg_world_find_body(all, "brick", &body), RG_OK);
    assert_int_equal(rg_body_apply_central_force(all, body, (rg_vec3){1, 2, 3}), RG_OK);
    assert_int_equal(rg_world_find_body(stepping, "brick", &body), RG_OK);
    assert_int_equal(rg_body_apply_central_force(stepping, body, (rg_vec3){1, 2, 3}), RG_OK);
    rg_step_info p = step(all), q = step(stepping);
    assert_true(rg_world_state_hash(all) == rg_world_state_hash(stepping));
    assert_true(p.energy.friction_work == q.energy.friction_work);
    assert_true(p.energy.stabilisation == q.energy.stabilisation && q.energy.stabilisation > 0);
    assert_true(p.energy.external_work == q.energy.external_work && q.energy.external_work != 0);
    assert_true(p.energy.integration == q.energy.integration);
    assert_true(p.energy.closure_rel == q.energy.closure_rel && p.energy.closure_rel < 1e-10);
    assert_true(p.certificate.momentum_error == q.certificate.momentum_error);
    assert_int_equal(p.contacts_max, q.contacts_max);
    assert_int_equal(p.solves, q.solves);
    const rg_step_event *e;
    assert_int_equal(hand_overs(all, &e), 1);
    assert_int_equal(e[0].contacts, 3);
    rg_world_destroy(all);
    rg_world_destroy(stepping);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_others_keep_their_bits),
                                       cmocka_unit_test(a_squeezed_body_is_no_ones_business),
                                       cmocka_unit_test(a_belt_carries_both),
                                       cmocka_unit_test(the_part_is_the_stepping_methods),
                                       cmocka_unit_test(momentum_and_energy_balance),
                                       cmocka_unit_test(two_of_three_groups_fail),
                                       cmocka_unit_test(forces_of_both_are_there),
                                       cmocka_unit_test(what_was_learnt_of_them_is_forgotten),
                                       cmocka_unit_test(copies_saved_states_and_threads),
                                       cmocka_unit_test(memory_failures_lose_nothing),
                                       cmocka_unit_test(it_makes_no_heap_call),
                                       cmocka_unit_test(random_heaps_close_their_ledger),
                                       cmocka_unit_test(who_strays_takes_others_along),
                                       cmocka_unit_test(who_strays_alone_stays_alone),
                                       cmocka_unit_test(both_may_fail),
                                       cmocka_unit_test(forces_make_one_group)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
