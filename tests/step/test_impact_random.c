/* Impact laws on random problems: what must hold whatever the numbers are. Energy does not grow,
 * nothing approaches afterwards, impulses stay in their cones, the identity of energy below, the
 * order of contacts does not matter, and nothing is ever NaN. */
#include "test_support.h"

#include "impact_support.h"

#include <float.h>
#include <stdio.h>

static rg_solve_context *context;

static int start(void **state) {
    (void)state;
    return rg_solve_context_create(NULL, &context);
}

static int stop(void **state) {
    (void)state;
    rg_solve_context_destroy(context);
    return 0;
}

typedef struct recipe {
    int d;
    size_t bodies, contacts, joints;
    double mu, ratio;
    bool redundant; /* the same points again */
} recipe;

static recipe random_recipe(rg_random *random, int d, size_t most_bodies, size_t most_contacts,
                            double mu) {
    recipe r = {.d = d, .mu = mu, .ratio = 10};
    r.bodies = 1 + rg_random_below(random, most_bodies);
    r.contacts = 1 + rg_random_below(random, most_contacts);
    return r;
}

static rg_vec3 random_vector(rg_random *random, double size) {
    return rg_scale(size, rg_random_direction(random));
}

static double random_restitution(rg_random *random) {
    uint64_t kind = rg_random_below(random, 4);
    return kind == 0 ? 0 : kind == 1 ? 1 : rg_random_unit(random);
}

static double power_of(rg_random *random, double ratio) {
    double x = 1, steps = floor(9 * rg_random_unit(random));
    for (double i = 0; i < steps; i++)
        x *= pow(ratio, 1.0 / 8);
    return x;
}

static scene *random_scene(rg_random *random, const recipe *r) {
    scene *s = scene_make(r->d);
    for (size_t i = 0; i < r->bodies; i++) {
        double m = power_of(random, r->ratio);
        rg_vec3 inertia = {m * rg_random_between(random, 0.1, 1),
                           m * rg_random_between(random, 0.1, 1),
                           m * rg_random_between(random, 0.1, 1)};
        uint32_t body = scene_body(s, m, inertia);
        scene_velocity(s, body, random_vector(random, rg_random_between(random, 0, 3)),
                       random_vector(random, rg_random_between(random, 0, 3)));
    }
    for (size_t i = 0; i < r->contacts; i++) {
        uint32_t a = (uint32_t)rg_random_below(random, r->bodies);
        uint32_t b = (uint32_t)rg_random_below(random, r->bodies + 1);
        b = b == a || b == r->bodies ? FIXED : b;
        rg_vec3 n = rg_random_direction(random), pa = random_vector(random, 0.7),
                pb = random_vector(random, 0.7);
        double mu = rg_random_below(random, 5) ? r->mu * rg_random_unit(random) : 0;
        double e = random_restitution(random);
        scene_contact(s, a, b, n, pa, pb, mu, e);
        for (int k = 0; r->redundant && k < 2 && s->contacts < SCENE_CONTACTS; k++)
            scene_contact(s, a, b, n, pa, pb, mu, e);
    }
    for (size_t i = 0; i < r->joints && r->bodies > 1; i++)
        scene_joint(s, (uint32_t)(i % (r->bodies - 1)) + 1, 0, rg_random_direction(random),
                    random_vector(random, 0.7), random_vector(random, 0.7));
    return s;
}

static const char *law_name(size_t k) {
    return rg_impact_law_name(rg_impact_law_at(k));
}

static void resolve(rg_solve_context *with, scene *s, const char *law, impact_answer *a) {
    assert_int_equal(scene_try(with, s, law, 0, RG_FORM_LOCAL, a), RG_OK);
}

/* A solver ends with a step that is added to the impulses: one that hardly pushes keeps the
 * rounding of the largest. */
static void check_cone(const scene *s, const impact_answer *a) {
    size_t d = (size_t)s->d;
    double largest = 0;
    for (size_t i = 0; i < s->contacts; i++)
        largest = fmax(largest, a->r[i * d]);
    for (size_t i = 0; i < s->contacts; i++) {
        assert_true(a->r[i * d] >= 0);
        double t =
            d == 1   ? 0
            : d == 2 ? fabs(a->r[i * d + 1])
                     : sqrt(a->r[i * d + 1] * a->r[i * d + 1] + a->r[i * d + 2] * a->r[i * d + 2]);
        assert_true(t <= s->mu[i] * a->r[i * d] * (1 + 1e-12) + DBL_EPSILON * largest);
    }
}

typedef struct tally {
    int runs, rounds, unsolved, scaled;
    double worst_energy, worst_left;
} tally;

static void check_law(scene *s, const char *law, tally *t, impact_answer *a) {
    rg_contact_form form = (s->contacts & 1) ? RG_FORM_GLOBAL : RG_FORM_LOCAL;
    assert_int_equal(scene_try(context, s, law, 0, form, a), RG_OK);
    double energy = scene_energy(s, s->v), change = scene_energy(s, a->v) - energy;
    for (size_t i = 0; i < scene_rows(s); i++)
        assert_true(isfinite(a->r[i]) && isfinite(a->u[i]));
    t->runs++;
    t->rounds += a->info.outcome == RG_IMPACT_ROUNDS;
    t->unsolved += a->info.outcome == RG_IMPACT_UNSOLVED;
    t->scaled += a->info.scaled < 1;
    t->worst_energy = fmax(t->worst_energy, change / energy);
    t->worst_left = fmax(t->worst_left, a->info.left);
    if (!(change <= 1e-11 * energy))
        fail_msg("%s makes %.3g of the energy", law, change / energy);
    if (a->info.outcome != RG_IMPACT_UNSOLVED && !(a->info.left <= 2e-9))
        fail_msg("%s leaves an approach of %.3g m/s (%s)", law, a->info.left, a->info.text);
    assert_near(a->info.energy_change, change, 1e-10 * energy);
    for (size_t i = s->contacts * (size_t)s->d; i < scene_rows(s); i++)
        assert_near(a->u[i], 0, 1e-9);
    check_cone(s, a);
}

static void report(const char *law, const char *what, const tally *t) {
    print_message("%-13s %-13s %4d runs, %d at the cap, %d unsolved, %d scaled, energy %+.1e, left "
                  "%.1e\n",
                  law, what, t->runs, t->rounds, t->unsolved, t->scaled, t->worst_energy,
                  t->worst_left);
}

typedef struct family {
    const char *name;
    double mu, ratio;
    bool redundant;
    size_t joints; /* at most */
    int runs;
} family;
static family frictionless = {"frictionless", 0, 10, false, 0, 400},
              frictional = {"friction", 1, 10, false, 0, 300},
              redundant = {"redundant", 0.6, 4, true, 0, 100},
              ratios = {"ratio 1e6", 0.5, 1e6, false, 0, 100},
              jointed = {"joints", 0.7, 10, false, 4, 200};

/* Of all families and laws. Of 52,800 impacts like these 6,600, with eight other seeds, 7 are not
 * solved, and are told so; which ones changes with the last digit. */
static int unsolved;

static void laws_hold(void **state) {
    const family *f = *state;
    for (size_t k = 0; k < rg_impact_law_count(); k++) {
        const char *law = law_name(k);
        rg_random random = rg_random_make(1000);
        tally t = {.worst_energy = -INFINITY};
        impact_answer a;
        for (int i = 0; i < f->runs; i++) {
            int d = 1 + (int)rg_random_below(&random, 3);
            recipe r = random_recipe(&random, d, 5, 7, f->mu);
            r.joints = rg_random_below(&random, f->joints + 1);
            r.ratio = f->ratio, r.redundant = f->redundant;
            scene *s = random_scene(&random, &r);
            check_law(s, law, &t, &a);
            free(s);
        }
        report(law, f->name, &t);
        unsolved += t.unsolved;
        assert_true(unsolved <= 1);
        assert_true(f->mu > 0 || t.scaled == 0 || strcmp(law, "reflection") == 0 ||
                    strcmp(law, "poisson") == 0);
    }
}

/* Baraff 1989, eq. 27-29, also with a different e at each contact: the energy changes by
 * -1/2 sum (1 - e_i) j_i |v_i-|, and v+ >= -e v-, where one round was enough. */
static void identity(void **state) {
    (void)state;
    rg_random random = rg_random_make(22);
    int single = 0;
    for (int i = 0; i < 3000; i++) {
        recipe r = random_recipe(&random, 1, 6, 8, 0);
        scene *s = random_scene(&random, &r);
        impact_answer a;
        resolve(context, s, "simultaneous", &a);
        if (a.info.rounds == 1) {
            double expected = 0;
            for (size_t c = 0; c < s->contacts; c++) {
                double before = s->u[c];
                if (before > 0) {
                    assert_true(a.r[c] == 0); /* discarded */
                    continue;
                }
                expected -= 0.5 * (1 - s->e[c]) * a.r[c] * fabs(before);
                assert_true(a.u[c] >= -s->e[c] * before - 1e-12 * (1 + fabs(before)));
                assert_near(a.r[c] > 0 ? a.u[c] + s->e[c] * before : 0, 0, 1e-11);
            }
            double energy = scene_energy(s, s->v);
            assert_near(scene_energy(s, a.v) - energy, expected, 1e-12 * energy);
            assert_near(a.info.energy_change, expected, 1e-12 * energy);
            single++;
        }
        free(s);
    }
    assert_true(single > 1500);
}

/* With friction too the answer of one round is a solution of the contact problem, by the judge. */
static void judged(void **state) {
    (void)state;
    rg_random random = rg_random_make(27);
    int single = 0;
    for (int i = 0; i < 200; i++) {
        recipe r = random_recipe(&random, 2 + i % 2, 4, 6, 1);
        scene *s = random_scene(&random, &r);
        for (size_t c = 0; c < s->contacts; c++) { /* nothing separates: all are in the problem */
            s->e[c] *= 0.5;
            scene_condense(s);
            s->q[c * (size_t)s->d] -= fmax(0, s->u[c * (size_t)s->d]) + 0.1;
        }
        impact_answer a;
        resolve(context, s, "simultaneous", &a);
        if (a.info.rounds == 1 && a.info.scaled == 1) {
            rg_impact_problem p = scene_problem(s, RG_FORM_LOCAL);
            for (size_t c = 0; c < s->contacts; c++)
                s->u[c * (size_t)s->d] *= 1 + s->e[c];
            rg_residual residual;
            assert_int_equal(rg_judge(&p.contact, a.r, NULL, NULL, &residual, NULL), RG_OK);
            assert_true(residual.natural < 1e-10);
            single++;
        }
        free(s);
    }
    assert_true(single > 150);
}

/* Dissipative: friction within its bounds makes the energy the least. It is convex, so a descent
 * from the answer over the friction alone must find nothing better. The bounds are mu times the
 * normal impulses of the answer or, where friction was found after the normals, of the impact
 * without friction: what is within both is within either. */
static void most_dissipative(void **state) {
    (void)state;
    rg_random random = rg_random_make(28);
    for (int i = 0; i < 100; i++) {
        recipe r = random_recipe(&random, 2 + i % 2, 4, 6, 1);
        scene *s = random_scene(&random, &r);
        impact_answer a, plain;
        resolve(context, s, "dissipative", &a);
        double mu[SCENE_CONTACTS];
        memcpy(mu, s->mu, sizeof mu);
        memset(s->mu, 0, sizeof s->mu);
        resolve(context, s, "simultaneous", &plain);
        memcpy(s->mu, mu, sizeof mu);
        double best = scene_energy(s, a.v);
        for (int trial = 0; trial < 300; trial++) {
            double f[SCENE_ROWS], v[SCENE_BODIES * 6];
            memcpy(f, a.r, sizeof f);
            for (size_t c = 0; c < s->contacts; c++) {
                size_t d = (size_t)s->d, n = c * d;
                double bound = mu[c] * fmin(a.r[n], plain.r[n]), size = 0;
                for (size_t k = 1; k < d; k++) {
                    f[n + k] += bound * 0.1 * rg_random_normal(&random);
                    size += f[n + k] * f[n + k];
                }
                for (size_t k = 1; k < d && sqrt(size) > bound; k++)
                    f[n + k] *= bound / sqrt(size);
            }
            scene_after(s, f, v);
            assert_true(scene_energy(s, v) >= best * (1 - 1e-9));
        }
        free(s);
    }
}

/* e = 1 everywhere and no friction: conserved by every law, over all rounds. */
static void conserved(void **state) {
    (void)state;
    rg_random random = rg_random_make(23);
    for (int i = 0; i < 300; i++) {
        recipe r = random_recipe(&random, 1 + i % 3, 6, 8, 0);
        scene *s = random_scene(&random, &r);
        for (size_t c = 0; c < s->contacts; c++)
            s->e[c] = 1;
        for (size_t k = 0; k < rg_impact_law_count(); k++) {
            impact_answer a;
            const char *law = law_name(k);
            resolve(context, s, law, &a);
            if (a.info.outcome == RG_IMPACT_RESOLVED && strcmp(law, "poisson") != 0)
                assert_near(scene_energy(s, a.v), scene_energy(s, s->v),
                            1e-9 * scene_energy(s, s->v));
        }
        free(s);
    }
}

/* The order of the contacts changes nothing in the motion. */
static void permuted(void **state) {
    (void)state;
    rg_random random = rg_random_make(24);
    for (int i = 0; i < 150; i++) {
        recipe r = {.d = 1 + i % 3, .bodies = 4, .contacts = 6, .ratio = 10};
        scene *s = random_scene(&random, &r);
        scene *t = scene_make(s->d);
        memcpy(t, s, sizeof *t);
        size_t d = (size_t)s->d, block = 2 * d * 6;
        for (size_t c = 0; c < s->contacts; c++) {
            size_t from = s->contacts - 1 - c;
            memcpy(t->jacobian + c * block, s->jacobian + from * block,
                   block * sizeof *t->jacobian);
            memcpy(t->contact_blocks + 2 * c, s->contact_blocks + 2 * from,
                   2 * sizeof *t->contact_blocks);
            t->mu[c] = s->mu[from], t->e[c] = s->e[from];
        }
        for (size_t k = 0; k < rg_impact_law_count(); k++) {
            impact_answer a, b;
            const char *law = law_name(k);
            resolve(context, s, law, &a);
            resolve(context, t, law, &b);
            for (size_t j = 0; j < 6 * s->bodies; j++)
                assert_near(a.v[j], b.v[j], 1e-8);
        }
        free(s), free(t);
    }
}

/* The same bits when run again, and from a context that has seen other problems. */
static void deterministic(void **state) {
    (void)state;
    rg_random random = rg_random_make(25);
    rg_solve_context *fresh;
    assert_int_equal(rg_solve_context_create(NULL, &fresh), RG_OK);
    for (int i = 0; i < 30; i++) {
        recipe r = {.d = 3, .bodies = 3, .contacts = 5, .mu = 1, .ratio = 10};
        scene *s = random_scene(&random, &r);
        for (size_t k = 0; k < rg_impact_law_count(); k++) {
            impact_answer a, b;
            const char *law = law_name(k);
            resolve(context, s, law, &a);
            resolve(fresh, s, law, &b);
            assert_memory_equal(a.r, b.r, sizeof a.r);
        }
        free(s);
    }
    rg_solve_context_destroy(fresh);
}

/* Memory that runs out is a status, at whatever call. */
static void memory(void **state) {
    (void)state;
    rg_random random = rg_random_make(26);
    recipe r = {.d = 3, .bodies = 3, .contacts = 4, .joints = 2, .mu = 1, .ratio = 10};
    scene *s = random_scene(&random, &r);
    for (size_t k = 0; k < rg_impact_law_count(); k++)
        for (size_t after = 1; after < 40; after++) {
            counting_allocator counter;
            rg_allocator allocator = counting_allocator_make(&counter);
            rg_solve_context *small;
            counter.fail_after = after;
            if (rg_solve_context_create(&allocator, &small) != RG_OK)
                continue;
            impact_answer a;
            rg_status status = scene_try(small, s, law_name(k), 0, RG_FORM_GLOBAL, &a);
            assert_true(status == RG_OK || status == RG_OUT_OF_MEMORY);
            rg_solve_context_destroy(small);
            assert_true(counter.releases >= 1);
        }
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identity),
        cmocka_unit_test(conserved),
        cmocka_unit_test(judged),
        cmocka_unit_test(most_dissipative),
        cmocka_unit_test(permuted),
        {"frictionless", laws_hold, NULL, NULL, &frictionless},
        {"frictional", laws_hold, NULL, NULL, &frictional},
        {"redundant", laws_hold, NULL, NULL, &redundant},
        {"ratios", laws_hold, NULL, NULL, &ratios},
        {"jointed", laws_hold, NULL, NULL, &jointed},
        cmocka_unit_test(deterministic),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
