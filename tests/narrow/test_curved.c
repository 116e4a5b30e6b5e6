/* Growth of curved pairs: closed forms, random storms with a certificate of the test's own,
 * degenerate arrangements, invariances, and facetted bodies that converge to smooth ones. */
#include "narrow_support.h"

#include "narrow/narrow_curved.h"
#include "narrow/narrow_simplex_long.h"

/* What every certificate must reach. */
#define CERTIFIED 1e-12

static const rg_quat no_turn = {0, 0, 0, 1};

static rg_growth grow(const rg_shape *a, rg_quat qa, const rg_shape *b, rg_quat qb, rg_vec3 d) {
    rg_pair pair = {{side_of(a, qa), side_of(b, qb)}, d};
    rg_growth growth;
    assert_int_equal(rg_growth_curved(&pair, NULL, &growth), RG_OK);
    return growth;
}

static double worst_of(const rg_growth *g) {
    return rg_max3(g->primal_error, g->dual_error, g->duality_gap);
}

static double half_width(const rg_shape *shape, rg_quat turn, rg_vec3 n) {
    rg_vec3 local = rg_rotate_back(turn, n);
    return rg_dot(local, rg_sub(rg_shape_support(shape, local, NULL), rg_shape_centre(shape)));
}

/* n.d / h(n), from the public support functions alone. */
static double dual_ratio(const rg_shape *a, rg_quat qa, const rg_shape *b, rg_quat qb, rg_vec3 d,
                         rg_vec3 n) {
    return rg_dot(n, d) / (half_width(a, qa, n) + half_width(b, qb, rg_neg(n)));
}

/* A normal in doubles: where it is nearly perpendicular to d, or to a long body, n.d and h(n) lose
 * digits. */
static double rounded(const rg_shape *a, const rg_shape *b, rg_vec3 d, const rg_growth *g) {
    double reach = rg_shape_circumradius(a) + rg_shape_circumradius(b);
    return CERTIFIED + 1e-15 * (rg_length(d) / rg_dot(g->normal, d) + reach / g->width);
}

static void check_certificate(const rg_shape *a, rg_quat qa, const rg_shape *b, rg_quat qb,
                              rg_vec3 d, const rg_growth *g) {
    if (worst_of(g) <= CERTIFIED)
        return;
    rg_shape_def p = rg_shape_get_def(a), q = rg_shape_get_def(b);
    fail_msg("%s-%s: primal %.3g dual %.3g gap %.3g, %u iterations; sizes %g %g, %g %g %g; turns "
             "%.17g %.17g %.17g %.17g, %.17g %.17g %.17g %.17g; d %.17g %.17g %.17g",
             rg_shape_kind_name(p.kind), rg_shape_kind_name(q.kind), g->primal_error, g->dual_error,
             g->duality_gap, g->iterations, p.radius, p.length, q.size.x, q.size.y, q.size.z, qa.x,
             qa.y, qa.z, qa.w, qb.x, qb.y, qb.z, qb.w, d.x, d.y, d.z);
}

/* Checks t from both sides by the test's own formulas. `slack` for the gauges: x* is one vector for
 * both bodies, so it is good to rounding of the larger one only. */
static void check_growth(const rg_shape *a, rg_quat qa, const rg_shape *b, rg_quat qb, rg_vec3 d,
                         const rg_growth *g, double slack) {
    assert_true(isfinite(g->ratio) && g->ratio > 0);
    assert_true(rg_is_finite(g->normal) && rg_is_finite(g->point));
    assert_near(rg_length(g->normal), 1, 1e-14);
    assert_true(g->width > 0);
    assert_int_equal(g->features.kind, RG_FEATURES_SMOOTH);
    check_certificate(a, qa, b, qb, d, g);
    assert_near(dual_ratio(a, qa, b, qb, d, g->normal) / g->ratio, 1, rounded(a, b, d, g));
    double t1 = gauge_of(a, rg_rotate_back(qa, g->point)),
           t2 = gauge_of(b, rg_rotate_back(qb, rg_sub(g->point, d)));
    if (!(t1 <= g->ratio * (1 + slack) && t2 <= g->ratio * (1 + slack)))
        fail_msg("%s-%s: x* is at %.17g and %.17g times the bodies, t = %.17g",
                 rg_shape_kind_name(rg_shape_get_kind(a)), rg_shape_kind_name(rg_shape_get_kind(b)),
                 t1, t2, g->ratio);
}

/* ------------------------------------------------------------------ closed forms */

static void check_ratio(rg_shape *a, rg_quat qa, rg_shape *b, rg_quat qb, rg_vec3 d, double ratio,
                        rg_vec3 normal) {
    rg_growth g = grow(a, qa, b, qb, d);
    check_growth(a, qa, b, qb, d, &g, 1e-12);
    assert_near(g.ratio / ratio, 1, 2e-14);
    rg_vec3 off = rg_sub(g.normal, rg_normalised(normal));
    assert_near(rg_length(off), 0, 1e-7);
    assert_near(g.width * ratio, rg_dot(g.normal, d), 1e-14 * rg_length(d));
    rg_shape_release(a);
    rg_shape_release(b);
}

static void test_spheres_and_discs(void **state) {
    (void)state;
    rg_vec3 d = {1, -2, 2};
    check_ratio(make_shape(rg_shape_def_sphere(0.5)), no_turn, make_shape(rg_shape_def_sphere(1.5)),
                no_turn, d, 1.5, d);
    rg_vec3 flat = {3, 0, -4};
    check_ratio(make_shape(rg_shape_def_disc(0.25)), no_turn, make_shape(rg_shape_def_disc(0.75)),
                no_turn, flat, 5, flat);
}

static void test_capsules(void **state) {
    (void)state;
    rg_shape_def def = rg_shape_def_capsule(0.5, 2);
    rg_quat across = rg_quat_of_rotation_vector(rg_vec3_make(RG_PI / 2, 0, 0));
    /* side by side, parallel: a whole segment touches */
    check_ratio(make_shape(def), no_turn, make_shape(def), no_turn, rg_vec3_make(3, 0, 0), 3,
                rg_vec3_make(1, 0, 0));
    /* end to end */
    check_ratio(make_shape(def), no_turn, make_shape(def), no_turn, rg_vec3_make(0, 0, 6), 2,
                rg_vec3_make(0, 0, 1));
    /* crossed: normal along both perpendiculars */
    check_ratio(make_shape(def), no_turn, make_shape(def), across, rg_vec3_make(2, 0.1, -0.2), 2,
                rg_vec3_make(1, 0, 0));
    /* sphere on the end: |tau d - (0, 0, 1)| = 1 for d = (3, 0, 4): 25 tau^2 = 8 tau */
    check_ratio(make_shape(def), no_turn, make_shape(rg_shape_def_sphere(0.5)), no_turn,
                rg_vec3_make(3, 0, 4), 25.0 / 8.0, rg_vec3_make(24, 0, 7));
}

static void test_sphere_and_box(void **state) {
    (void)state;
    rg_shape_def box = rg_shape_def_box(2, 4, 6), ball = rg_shape_def_sphere(0.5);
    check_ratio(make_shape(box), no_turn, make_shape(ball), no_turn, rg_vec3_make(3, 0.2, 0.1), 2,
                rg_vec3_make(1, 0, 0));
    /* edge of x and y: (t - 1)... the ray to (1 + 0.3, 2 + 0.4) leaves through that very point */
    check_ratio(make_shape(box), no_turn, make_shape(ball), no_turn, rg_vec3_make(2.6, 4.8, 0.5), 2,
                rg_vec3_make(0.3, 0.4, 0));
    rg_vec3 n = rg_normalised(rg_vec3_make(1, 2, 2)), corner = {1, 2, 3};
    rg_vec3 exit = rg_add_scaled(corner, 0.5, n);
    check_ratio(make_shape(ball), no_turn, make_shape(box), no_turn, rg_scale(-0.25, exit), 0.25,
                rg_neg(n));
}

static void test_flat_contacts(void **state) {
    (void)state;
    rg_quat over = rg_quat_of_rotation_vector(rg_vec3_make(RG_PI, 0, 0));
    rg_quat lying = rg_quat_of_rotation_vector(rg_vec3_make(0, RG_PI / 2, 0));
    rg_vec3 up = {0, 0, 1};
    rg_shape_def table = rg_shape_def_box(20, 20, 2), can = rg_shape_def_cylinder(0.5, 3);
    rg_shape_def cone = rg_shape_def_cone(1, 4);
    /* cap on a face; on its side; cone on its base, on its apex; the same off the middle */
    for (int i = 0; i < 2; i++) {
        double off = 0.7 * i;
        check_ratio(make_shape(table), no_turn, make_shape(can), no_turn,
                    rg_vec3_make(off, -off, 2.5), 1, up);
        check_ratio(make_shape(table), no_turn, make_shape(can), lying, rg_vec3_make(off, off, 3),
                    2, up);
        check_ratio(make_shape(table), no_turn, make_shape(cone), no_turn,
                    rg_vec3_make(off, off, 1), 0.5, up);
        check_ratio(make_shape(table), no_turn, make_shape(cone), over, rg_vec3_make(off, 0, 8), 2,
                    up);
    }
    /* cans stacked, coaxial and not; side by side; a cone tip to tip with another */
    check_ratio(make_shape(can), no_turn, make_shape(can), no_turn, rg_vec3_make(0, 0, 3), 1, up);
    check_ratio(make_shape(can), no_turn, make_shape(can), no_turn, rg_vec3_make(0.2, 0.3, 3), 1,
                up);
    check_ratio(make_shape(can), no_turn, make_shape(can), no_turn, rg_vec3_make(0, 1.5, 0.4), 1.5,
                rg_vec3_make(0, 1, 0));
    check_ratio(make_shape(cone), no_turn, make_shape(cone), over, rg_vec3_make(0, 0, 12), 2, up);
    /* crossed cans */
    check_ratio(make_shape(can), no_turn, make_shape(can), lying, rg_vec3_make(0.1, 2, 0.1), 2,
                rg_vec3_make(0, 1, 0));
}

static void test_ellipsoid_on_table(void **state) {
    (void)state;
    /* h of an ellipsoid is |S n|; the table is wide enough to touch with its upper face only */
    rg_random random = rg_random_make(11);
    for (int i = 0; i < 1000; i++) {
        rg_shape *egg = make_shape(rg_shape_def_ellipsoid(rg_random_between(&random, 0.1, 2),
                                                          rg_random_between(&random, 0.1, 2),
                                                          rg_random_between(&random, 0.1, 2)));
        rg_shape *table = make_shape(rg_shape_def_box(100, 100, 1));
        rg_quat turn = rg_random_rotation(&random);
        rg_vec3 up = {0, 0, 1}, s = rg_shape_get_def(egg).size;
        rg_vec3 local = rg_rotate_back(turn, up);
        double height = 0.5 + rg_length(rg_times(s, local));
        rg_vec3 d = {rg_random_between(&random, -1, 1), rg_random_between(&random, -1, 1),
                     rg_random_between(&random, 0.5, 2) * height};
        check_ratio(table, no_turn, egg, turn, d, d.z / height, up);
    }
}

static void test_coincident_centres(void **state) {
    (void)state;
    rg_shape *a = make_shape(rg_shape_def_cylinder(2, 1)), *b = make_shape(rg_shape_def_sphere(1));
    rg_growth g = grow(a, no_turn, b, no_turn, rg_vec3_make(0, 0, 0));
    assert_true(g.ratio == 0);
    assert_near(fabs(g.normal.z), 1, 1e-15); /* the thinnest direction */
    assert_near(g.width, 1.5, 1e-15);
    /* nearly coincident: t is tiny, and right */
    g = grow(a, no_turn, b, no_turn, rg_vec3_make(0, 0, 1e-300));
    assert_near(g.ratio / (1e-300 / 1.5), 1, 1e-14);
    rg_shape_release(a);
    rg_shape_release(b);
}

/* ------------------------------------------------------------------ storms */

typedef struct storm {
    double worst, worst_swap;
    unsigned long pairs, fallbacks;
    double iterations;
} storm;

/* Axes permuted and reversed in pairs: a rotation without rounding, so nothing but the solver can
 * make a difference. */
static void check_exact_motion(const rg_shape *a, const rg_shape *b, rg_quat qa, rg_quat qb,
                               rg_vec3 d, const rg_growth *g, rg_random *random) {
    int first = (int)rg_random_below(random, 3);
    double sign[3] = {1, -1, -1};
    rg_pair pair = {{side_of(a, qa), side_of(b, qb)}, d}, moved = pair;
    const double from[3] = {d.x, d.y, d.z};
    double to[3];
    for (int i = 0; i < 3; i++) {
        int k = (first + i) % 3;
        to[i] = sign[i] * from[k];
        for (int side = 0; side < 2; side++)
            for (int j = 0; j < 3; j++)
                moved.side[side].rotation.m[i][j] = sign[i] * pair.side[side].rotation.m[k][j];
    }
    moved.d = rg_vec3_make(to[0], to[1], to[2]);
    rg_growth growth;
    assert_int_equal(rg_growth_curved(&moved, NULL, &growth), RG_OK);
    assert_true(worst_of(&growth) <= CERTIFIED);
    assert_near(growth.ratio / g->ratio, 1, 2 * CERTIFIED);
}

static void check_pair(rg_random *random, const rg_shape *a, const rg_shape *b, rg_quat qa,
                       rg_quat qb, rg_vec3 d, double slack, storm *s) {
    rg_growth g = grow(a, qa, b, qb, d);
    check_growth(a, qa, b, qb, d, &g, slack);
    s->worst = fmax(s->worst, worst_of(&g));
    s->fallbacks += g.fallback;
    s->iterations += g.iterations;
    s->pairs++;
    /* swapped */
    rg_growth back = grow(b, qb, a, qa, rg_neg(d));
    s->worst_swap = fmax(s->worst_swap, fabs(back.ratio / g.ratio - 1));
    assert_near(back.ratio / g.ratio, 1, 2 * CERTIFIED);
    assert_near(dual_ratio(a, qa, b, qb, d, rg_neg(back.normal)) / g.ratio, 1,
                CERTIFIED + rounded(a, b, d, &g));
    /* turned, warm from the first answer */
    if (rg_shape_is_planar(a))
        return;
    rg_quat turn = rg_random_rotation(random);
    rg_pair pair = {
        {side_of(a, rg_quat_multiply(turn, qa)), side_of(b, rg_quat_multiply(turn, qb))},
        rg_rotate(turn, d)};
    rg_mat3 to_body = rg_mat3_of_quat(rg_quat_conjugate(qa));
    rg_growth_cache cache = {.valid = 1, .normal1 = rg_mat3_apply(&to_body, g.normal)};
    rg_growth turned;
    assert_int_equal(rg_growth_curved(&pair, &cache, &turned), RG_OK);
    check_certificate(a, rg_quat_multiply(turn, qa), b, rg_quat_multiply(turn, qb), pair.d,
                      &turned);
    /* the turned matrices and d are rounded, which for flat pairs is another problem */
    assert_near(turned.ratio / g.ratio, 1, CERTIFIED + rounded(a, b, d, &g));
    assert_true(cache.valid);
    check_exact_motion(a, b, qa, qb, d, &g, random);
}

static rg_quat random_turn(rg_random *random, bool planar) {
    return planar ? rg_quat_of_planar_angle(rg_random_between(random, -4, 4))
                  : rg_random_rotation(random);
}

/* Multiples of 45 degrees about the axes. */
static rg_quat special_turn(rg_random *random, bool planar) {
    double angle = RG_PI / 4 * (double)rg_random_below(random, 8);
    if (planar)
        return rg_quat_of_planar_angle(angle);
    rg_quat q = no_turn;
    for (int i = 0; i < 2; i++) {
        uint64_t axis = rg_random_below(random, 3);
        angle = RG_PI / 4 * (double)rg_random_below(random, 8);
        rg_vec3 v = {axis == 0 ? angle : 0, axis == 1 ? angle : 0, axis == 2 ? angle : 0};
        q = rg_quat_multiply(rg_quat_of_rotation_vector(v), q);
    }
    return rg_quat_normalised(q);
}

static rg_vec3 random_ray(rg_random *random, bool planar) {
    rg_vec3 u = rg_random_direction(random);
    if (planar)
        u.y = 0;
    return rg_normalised(u);
}

static bool is_pair_here(int a, int b) {
    bool flat_a = a == BOX || a == HULL || a == POLYGON,
         flat_b = b == BOX || b == HULL || b == POLYGON;
    return (a >= SPATIAL_KINDS) == (b >= SPATIAL_KINDS) && !(flat_a && flat_b);
}

static void report(const char *what, int a, int b, const storm *s) {
    if (getenv("RIGOR_VERBOSE"))
        printf("%s %-9s %-9s %8lu pairs: certificate %.1e, swap %.1e, iterations %.1f, fallbacks "
               "%lu\n",
               what, kind_name[a], kind_name[b], s->pairs, s->worst, s->worst_swap,
               s->iterations / (double)s->pairs, s->fallbacks);
}

/* The certificate is relative to both bodies together: seen from the smaller or thinner one, the
 * same error is larger. `share` of it, per unit of that ratio. */
static double slack_of(const rg_shape *p, const rg_shape *q, double share) {
    return 1e-12 + share * (rg_shape_circumradius(p) + rg_shape_circumradius(q)) /
                       fmin(rg_shape_inradius(p), rg_shape_inradius(q));
}

/* Any shapes, scales 1e-6 to 1e6, from deep to far. */
static void storm_of(int a, int b, long count) {
    rg_random random = rg_random_make(1000 + 100 * (uint64_t)a + (uint64_t)b);
    bool planar = a >= SPATIAL_KINDS;
    storm s = {0};
    for (long i = 0; i < count; i += 8) {
        /* needles and plates in every second batch; every fourth has sizes of its own */
        double stretch = i & 8 ? 1000 : 3, size = rg_exp(rg_random_between(&random, -13.8, 13.8));
        double other = size * rg_exp(rg_random_between(&random, -1, 1));
        bool alike = !(i & 16) || i & 32;
        if (!alike)
            other = rg_exp(rg_random_between(&random, -13.8, 13.8));
        rg_shape *p = random_shape(&random, a, size, stretch);
        rg_shape *q = random_shape(&random, b, other, stretch);
        double slack = slack_of(p, q, 5e-14);
        for (int k = 0; k < 8; k++) {
            rg_quat qp = random_turn(&random, planar), qq = random_turn(&random, planar);
            rg_vec3 u = random_ray(&random, planar);
            rg_growth unit = grow(p, qp, q, qq, u);
            /* touching exactly, or anything from 1e-3 to 1e3 times that */
            double t = k & 1 ? 1 : rg_exp(rg_random_between(&random, -7, 7));
            check_pair(&random, p, q, qp, qq, rg_scale(t / unit.ratio, u), slack, &s);
        }
        rg_shape_release(p);
        rg_shape_release(q);
    }
    report("storm", a, b, &s);
}

/* Everything aligned: parallel axes, shared sizes, rays along axes and diagonals, zero offsets. */
static void degenerate_of(int a, int b, long count) {
    rg_random random = rg_random_make(5000 + 100 * (uint64_t)a + (uint64_t)b);
    bool planar = a >= SPATIAL_KINDS;
    static const double sizes[] = {0.5, 1, 1, 2, 1000};
    storm s = {0};
    for (long i = 0; i < count; i++) {
        double x[3];
        for (int k = 0; k < 3; k++)
            x[k] = sizes[rg_random_below(&random, 5)];
        rg_shape *shape[2];
        for (int k = 0; k < 2; k++) {
            rg_vec3 corner[8];
            for (int c = 0; c < 8; c++)
                corner[c] =
                    rg_vec3_make(c & 1 ? x[0] : -x[0], c & 2 ? x[1] : -x[1], c & 4 ? x[2] : -x[2]);
            rg_vec3 flat[4] = {
                {-x[0], 0, -x[1]}, {x[0], 0, -x[1]}, {x[0], 0, x[1]}, {-x[0], 0, x[1]}};
            rg_shape_def def[ALL_KINDS] = {rg_shape_def_sphere(x[0]),
                                           rg_shape_def_capsule(x[0], x[1]),
                                           rg_shape_def_cylinder(x[0], x[1]),
                                           rg_shape_def_cone(x[0], x[1]),
                                           rg_shape_def_ellipsoid(x[0], x[1], x[2]),
                                           rg_shape_def_box(x[0], x[1], x[2]),
                                           rg_shape_def_hull(corner, 8),
                                           rg_shape_def_disc(x[0]),
                                           rg_shape_def_polygon(flat, 4)};
            shape[k] = make_shape(def[k ? b : a]);
        }
        rg_vec3 u = {(double)rg_random_below(&random, 3) - 1,
                     planar ? 0 : (double)rg_random_below(&random, 3) - 1,
                     (double)rg_random_below(&random, 3) - 1};
        /* now and then all but aligned */
        if (rg_random_below(&random, 4) == 0)
            u.x += rg_random_between(&random, -1, 1) * 1e-9;
        if (rg_largest_entry(u) == 0)
            u.z = 1;
        rg_quat qa = special_turn(&random, planar), qb = special_turn(&random, planar);
        if (rg_random_below(&random, 4) == 0 && !planar)
            qb = rg_quat_multiply(
                rg_quat_of_rotation_vector(rg_scale(1e-9, rg_random_direction(&random))), qa);
        rg_growth unit = grow(shape[0], qa, shape[1], qb, u);
        double t = i & 1 ? 1 / unit.ratio : 1;
        check_pair(&random, shape[0], shape[1], qa, qb, rg_scale(t, u),
                   slack_of(shape[0], shape[1], 5e-14), &s);
        rg_shape_release(shape[0]);
        rg_shape_release(shape[1]);
    }
    report("aligned", a, b, &s);
}

static void test_storm(void **state) {
    (void)state;
    for (int a = 0; a < ALL_KINDS; a++)
        for (int b = a; b < ALL_KINDS; b++)
            if (is_pair_here(a, b))
                storm_of(a, b, test_count(10000));
}

static void test_degenerate(void **state) {
    (void)state;
    for (int a = 0; a < ALL_KINDS; a++)
        for (int b = a; b < ALL_KINDS; b++)
            if (is_pair_here(a, b))
                degenerate_of(a, b, test_count(1000));
}

/* ------------------------------------------------------------------ further properties */

/* Scaling by powers of two changes nothing, to the last bit. */
static void test_scale(void **state) {
    (void)state;
    rg_random random = rg_random_make(77);
    static const double powers[] = {0x1p-60, 0x1p-20, 0x1p30, 0x1p100};
    for (int i = 0; i < 200; i++)
        for (int k = 0; k < 4; k++) {
            double r = rg_random_between(&random, 0.5, 2), l = rg_random_between(&random, 0.5, 2),
                   s = powers[k];
            rg_shape *a[2] = {make_shape(rg_shape_def_cone(r, l)),
                              make_shape(rg_shape_def_cone(s * r, s * l))};
            rg_shape *b[2] = {make_shape(rg_shape_def_cylinder(l, r)),
                              make_shape(rg_shape_def_cylinder(s * l, s * r))};
            rg_quat qa = rg_random_rotation(&random), qb = rg_random_rotation(&random);
            rg_vec3 d = rg_scale(3, rg_random_direction(&random));
            rg_growth one = grow(a[0], qa, b[0], qb, d),
                      two = grow(a[1], qa, b[1], qb, rg_scale(s, d));
            assert_true(one.ratio == two.ratio && one.normal.x == two.normal.x);
            for (int j = 0; j < 2; j++) {
                rg_shape_release(a[j]);
                rg_shape_release(b[j]);
            }
        }
}

/* A hull of 4 to 6 points, which has at most 12 edges; flat or long at times. */
static rg_shape *random_small_hull(rg_random *random) {
    rg_vec3 points[6];
    uint32_t count = 4 + rg_random_below(random, 3);
    rg_vec3 size = {rg_exp(rg_random_between(random, -4, 0)),
                    rg_exp(rg_random_between(random, -4, 0)), 1};
    for (uint32_t i = 0; i < count; i++) {
        rg_vec3 p = rg_random_direction(random);
        points[i] = (rg_vec3){size.x * p.x, size.y * p.y, size.z * p.z};
    }
    return make_shape(rg_shape_def_hull(points, count));
}

/* The closed forms against the iterative solver. */
static void test_closed_is_iterated(void **state) {
    (void)state;
    enum { SMALL_HULL = -1 };
    static const int kinds[][2] = {
        {BALL, BALL}, {BALL, CAPSULE}, {CAPSULE, CAPSULE}, {BALL, BOX}, {BALL, SMALL_HULL}};
    rg_random random = rg_random_make(88);
    int by_formula = 0;
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < 2000; i++) {
            rg_shape *a = random_shape(&random, kinds[k][0], 1, 30);
            rg_shape *b = kinds[k][1] == SMALL_HULL ? random_small_hull(&random)
                                                    : random_shape(&random, kinds[k][1], 1, 30);
            if (i % 2 && kinds[k][1] == SMALL_HULL) {
                rg_shape *swap = a;
                a = b;
                b = swap;
            }
            rg_pair pair = {
                {side_of(a, rg_random_rotation(&random)), side_of(b, rg_random_rotation(&random))},
                rg_random_direction(&random)};
            rg_growth closed, iterated = {0};
            assert_int_equal(rg_growth_curved(&pair, NULL, &closed), RG_OK);
            rg_shot shot;
            rg_shot_prepare(&shot, &pair);
            by_formula += k == 4 && rg_shot_closed(&shot);
            rg_shot_prepare(&shot, &pair);
            assert_int_equal(rg_growth_iterated(&shot, &pair, NULL, &iterated), RG_OK);
            assert_true(worst_of(&iterated) <= CERTIFIED);
            assert_near(closed.ratio / iterated.ratio, 1, 1e-13);
            rg_shape_release(a);
            rg_shape_release(b);
        }
    print_message("small hulls and balls: %d of 2000 by formula\n", by_formula);
    assert_true(by_formula > 1900);
}

/* Hulls of points on an ellipsoid are smaller than it: t falls to that of the ellipsoid as the mesh
 * gets finer, four times nearer for twice as many slices. */
static void test_facets_converge(void **state) {
    (void)state;
    rg_random random = rg_random_make(99);
    rg_vec3 axes = {1, 0.6, 0.4};
    rg_shape *egg = make_shape(rg_shape_def_ellipsoid(axes.x, axes.y, axes.z));
    rg_shape *cone = make_shape(rg_shape_def_cone(0.5, 1));
    rg_shape *hull[3];
    for (int k = 0; k < 3; k++) {
        rg_mesh mesh = ellipsoid_mesh(axes, 16u << k, 8u << k);
        hull[k] = make_shape(rg_shape_def_hull(mesh.vertices, mesh.vertex_count));
        free_test_mesh(&mesh);
    }
    double error[3] = {0};
    for (int i = 0; i < 300; i++) {
        rg_quat qa = rg_random_rotation(&random), qb = rg_random_rotation(&random);
        rg_vec3 d = rg_random_direction(&random);
        double smooth = grow(egg, qa, cone, qb, d).ratio;
        for (int k = 0; k < 3; k++) {
            double t = grow(hull[k], qa, cone, qb, d).ratio;
            assert_true(t >= smooth * (1 - 1e-12));
            error[k] += t / smooth - 1;
        }
    }
    for (int k = 0; k < 2; k++) {
        double fall = error[k] / error[k + 1];
        assert_true(fall > 3.3 && fall < 4.8);
    }
    for (int k = 0; k < 3; k++)
        rg_shape_release(hull[k]);
    rg_shape_release(egg);
    rg_shape_release(cone);
}

/* Warm along a path: same answers, fewer iterations in total; and a cache that belongs to another
 * pair does no harm. */
static void warm_of(int a, int b, rg_growth_cache *odd, unsigned long sum[2]) {
    rg_random random = rg_random_make(40 + (uint64_t)a);
    rg_shape *p = random_shape(&random, a, 1, 2), *q = random_shape(&random, b, 1, 2);
    rg_growth_cache cache = *odd;
    for (int i = 0; i < 300; i++) {
        double s = 5e-3 * i;
        rg_quat qa = rg_quat_of_rotation_vector(rg_vec3_make(s, 0.3 * s, -s));
        rg_quat qb = rg_quat_of_rotation_vector(rg_vec3_make(-0.2 * s, s, 0.1));
        if (a >= SPATIAL_KINDS) {
            qa = rg_quat_of_planar_angle(s);
            qb = rg_quat_of_planar_angle(-2 * s);
        }
        rg_pair pair = {{side_of(p, qa), side_of(q, qb)},
                        rg_vec3_make(0.5 + 0.2 * s, a >= SPATIAL_KINDS ? 0 : 1 - 0.5 * s, 0.3)};
        rg_growth cold, warm;
        assert_int_equal(rg_growth_curved(&pair, NULL, &cold), RG_OK);
        assert_int_equal(rg_growth_curved(&pair, &cache, &warm), RG_OK);
        assert_near(warm.ratio / cold.ratio, 1, CERTIFIED);
        check_growth(p, qa, q, qb, pair.d, &warm, 1e-11);
        sum[0] += cold.iterations;
        sum[1] += warm.iterations;
    }
    *odd = cache;
    rg_shape_release(p);
    rg_shape_release(q);
}

static void test_warm(void **state) {
    (void)state;
    rg_growth_cache cache = {0};
    unsigned long sum[2] = {0};
    for (int a = 0; a < ALL_KINDS; a++)
        for (int b = a; b < ALL_KINDS; b++)
            if (is_pair_here(a, b))
                warm_of(a, b, &cache, sum);
    print_message("%lu iterations, warm %lu\n", sum[0], sum[1]);
    assert_true(sum[1] < 0.42 * sum[0]);
}

/* ------------------------------------------------------------------ twice the precision */

/* A triangle 1e-13 above the origin that is 1e-10 thin: the foot, known by its making, is found to
 * more digits than doubles have for it. */
static void test_long_simplex(void **state) {
    (void)state;
    rg_random random = rg_random_make(124);
    for (int i = 0; i < 1000; i++) {
        const double weight[3] = {0.25, 0.5, 0.25};
        double height = 1e-13 * rg_random_between(&random, 1, 2);
        rg_vec3 flat[3] = {{rg_random_between(&random, 0.5, 1), 1e-10, 0},
                           {rg_random_between(&random, -0.5, 0.5), -1e-10, 0},
                           {0, 0, 0}};
        /* the third corner so that the weights make the origin's foot: (0, 0, height) */
        flat[2] = rg_add_scaled(rg_scale(-1, flat[0]), -2, flat[1]);
        rg_long_simplex s = {.count = 3};
        for (int k = 0; k < 3; k++) {
            s.corner[k].at = rg_long3_of(flat[k]);
            s.corner[k].at.z = rg_long_of(height);
            s.corner[k].label[0] = (uint32_t)k;
        }
        rg_long3 z = rg_long_simplex_reduce(&s);
        assert_int_equal(s.count, 3);
        for (int k = 0; k < 3; k++)
            assert_near(rg_long_round(s.weight[k]), weight[k], 1e-6);
        assert_near(rg_long_round(rg_long3_length(z)) / height, 1, 1e-12);
        /* a corner below the plane: nearest is another face */
        s.corner[3].at = rg_long3_of(rg_vec3_make(0, 0, 0.5 * height));
        s.corner[3].label[0] = 3;
        s.count = 4;
        z = rg_long_simplex_reduce(&s);
        assert_true(s.count < 4);
        assert_true(rg_long_round(rg_long3_length(z)) <= 0.5 * height);
    }
}

static void test_not_finite(void **state) {
    (void)state;
    rg_shape *ball = make_shape(rg_shape_def_sphere(1));
    rg_pair pair = {{side_of(ball, no_turn), side_of(ball, no_turn)}, {NAN, 0, 0}};
    rg_growth growth;
    assert_int_equal(rg_growth_curved(&pair, NULL, &growth), RG_NOT_FINITE);
    rg_shape_release(ball);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spheres_and_discs),
        cmocka_unit_test(test_capsules),
        cmocka_unit_test(test_sphere_and_box),
        cmocka_unit_test(test_flat_contacts),
        cmocka_unit_test(test_ellipsoid_on_table),
        cmocka_unit_test(test_coincident_centres),
        cmocka_unit_test(test_storm),
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_closed_is_iterated),
        cmocka_unit_test(test_facets_converge),
        cmocka_unit_test(test_warm),
        cmocka_unit_test(test_long_simplex),
        cmocka_unit_test(test_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
