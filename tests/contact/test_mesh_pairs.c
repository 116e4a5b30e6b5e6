/* Random pairs of solids that are not convex, as compounds of the parts that they were cut into,
 * against a brute force over all features of their triangles: distance, overlap, contact points,
 * first time of contact. */
#include "base/base_memory.h"
#include "base/base_trig.h"
#include "contact_helpers.h"
#include "rigor/decompose.h"
#include "rigor/proximity.h"
#include "shape/shape_mesh_tree.h"

#include <math.h>

enum { SOLIDS = 10, MOST = 64, ROOM = 4096 };

typedef struct solid {
    rg_vec3 vertices[MOST];
    uint32_t triangles[6 * MOST];
    rg_mesh mesh;
    rg_decomposition parts;
    rg_shape *shape;
} solid;

static void put(solid *s, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t *t = s->triangles + 3 * s->mesh.triangle_count++;
    t[0] = a, t[1] = b, t[2] = c;
}

/* A tapering prism over a star. */
static void make_star(solid *s, rg_random *random) {
    uint32_t n = 5 + (uint32_t)rg_random_below(random, 4);
    double taper = rg_random_between(random, 0.6, 1);
    double height = rg_random_between(random, 0.2, 1);
    for (uint32_t i = 0; i < n; i++) {
        double r = rg_random_between(random, 0.25, 1), u = 2 * RG_PI * i / n;
        s->vertices[i] = (rg_vec3){r * rg_cos(u), r * rg_sin(u), -height / 2};
        s->vertices[n + i] = (rg_vec3){taper * r * rg_cos(u), taper * r * rg_sin(u), height / 2};
    }
    s->vertices[2 * n] = (rg_vec3){0, 0, -height / 2};
    s->vertices[2 * n + 1] = (rg_vec3){0, 0, height / 2};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = (i + 1) % n;
        put(s, i, k, n + k);
        put(s, i, n + k, n + i);
        put(s, k, i, 2 * n);
        put(s, n + i, n + k, 2 * n + 1);
    }
    s->mesh.vertex_count = 2 * n + 2;
}

static void make_ring(solid *s) {
    enum { AROUND = 6, SIDES = 4 };
    for (uint32_t i = 0; i < AROUND * SIDES; i++) {
        double u = 2 * RG_PI * (i / SIDES) / AROUND, v = 2 * RG_PI * (i % SIDES + 0.5) / SIDES;
        double r = 0.7 + 0.25 * rg_cos(v);
        s->vertices[i] = (rg_vec3){r * rg_cos(u), r * rg_sin(u), 0.25 * rg_sin(v)};
        uint32_t a = i / SIDES, b = i % SIDES, c = (a + 1) % AROUND, d = (b + 1) % SIDES;
        put(s, i, c * SIDES + b, c * SIDES + d);
        put(s, i, c * SIDES + d, a * SIDES + d);
    }
    s->mesh.vertex_count = AROUND * SIDES;
}

static solid *make_solids(void) {
    static solid solids[SOLIDS];
    rg_error error = {0};
    for (int i = 0; i < SOLIDS; i++) {
        solid *s = &solids[i];
        rg_random random = rg_random_make((uint64_t)i);
        s->mesh = (rg_mesh){s->vertices, 0, s->triangles, 0, rg_allocator_default()};
        if (i % 5 == 4)
            make_ring(s);
        else
            make_star(s, &random);
        if (rg_mesh_decompose(&s->mesh, NULL, &s->parts, &error) ||
            rg_decomposition_shape(&s->mesh, &s->parts, &s->shape, &error))
            fail_msg("%s", error.text);
        assert_true(s->parts.error < 1e-9);
    }
    return solids;
}

static void end_solids(solid *solids) {
    for (int i = 0; i < SOLIDS; i++) {
        rg_shape_release(solids[i].shape);
        rg_decomposition_destroy(&solids[i].parts);
    }
}

/* ---- brute force ---- */

static double clamp(double x) {
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* Of two segments: the nearest of the inner solution and those with an end. */
static double segment_gap(rg_vec3 a, rg_vec3 b, rg_vec3 c, rg_vec3 d) {
    rg_vec3 u = rg_sub(b, a), v = rg_sub(d, c), w = rg_sub(a, c);
    double uu = rg_dot(u, u), vv = rg_dot(v, v), uv = rg_dot(u, v);
    double wu = rg_dot(w, u), wv = rg_dot(w, v), den = uu * vv - uv * uv, least = INFINITY;
    double tries[5][2] = {{den > 0 ? (uv * wv - vv * wu) / den : 0, 0},
                          {0, clamp(wv / vv)},
                          {1, clamp((wv + uv) / vv)},
                          {clamp(-wu / uu), 0},
                          {clamp((uv - wu) / uu), 1}};
    tries[0][0] = clamp(tries[0][0]);
    tries[0][1] = clamp((wv + tries[0][0] * uv) / vv);
    for (int i = 0; i < 5; i++)
        least = fmin(least,
                     rg_length(rg_add_scaled(rg_add_scaled(w, tries[i][0], u), -tries[i][1], v)));
    return least;
}

static bool pierces(rg_vec3 p, rg_vec3 q, const rg_vec3 t[3]) {
    rg_vec3 n = rg_cross(rg_sub(t[1], t[0]), rg_sub(t[2], t[0]));
    double dp = rg_dot(n, rg_sub(p, t[0])), dq = rg_dot(n, rg_sub(q, t[0]));
    if (dp * dq >= 0)
        return false;
    rg_vec3 x = rg_add_scaled(p, dp / (dp - dq), rg_sub(q, p));
    for (int i = 0; i < 3; i++)
        if (rg_dot(rg_cross(n, rg_sub(t[(i + 1) % 3], t[i])), rg_sub(x, t[i])) < 0)
            return false;
    return true;
}

/* All vertices with all triangles, all edges with all edges. Minus 1 if the solids overlap. */
static double brute_distance(const rg_mesh *a, const rg_mesh *b) {
    double least = INFINITY;
    for (uint32_t t = 0; t < b->triangle_count; t++)
        for (size_t v = 0; v < a->vertex_count; v++)
            least = fmin(least, rg_mesh_triangle_distance(b, t, a->vertices[v]));
    for (uint32_t t = 0; t < a->triangle_count; t++)
        for (size_t v = 0; v < b->vertex_count; v++)
            least = fmin(least, rg_mesh_triangle_distance(a, t, b->vertices[v]));
    for (size_t i = 0; i < 3 * a->triangle_count; i++) {
        rg_vec3 p = a->vertices[a->triangles[i]];
        rg_vec3 q = a->vertices[a->triangles[i % 3 == 2 ? i - 2 : i + 1]];
        for (size_t k = 0; k < 3 * b->triangle_count; k++) {
            rg_vec3 r = b->vertices[b->triangles[k]];
            rg_vec3 s = b->vertices[b->triangles[k % 3 == 2 ? k - 2 : k + 1]];
            rg_vec3 t[3], o[3];
            least = fmin(least, segment_gap(p, q, r, s));
            for (size_t c = 0; c < 3; c++) {
                t[c] = b->vertices[b->triangles[k / 3 * 3 + c]];
                o[c] = a->vertices[a->triangles[i / 3 * 3 + c]];
            }
            if ((k % 3 == 0 && pierces(p, q, t)) || (i % 3 == 0 && pierces(r, s, o)))
                return -1;
        }
    }
    if (rg_mesh_winding(b, a->vertices[0]) > 0.5 || rg_mesh_winding(a, b->vertices[0]) > 0.5)
        return -1;
    return least;
}

/* The second solid with its vertices moved. */
static rg_mesh moved(const rg_mesh *mesh, rg_pose pose, rg_vec3 room[MOST]) {
    rg_mesh copy = *mesh;
    copy.vertices = room;
    for (size_t i = 0; i < mesh->vertex_count; i++)
        room[i] = rg_pose_apply(pose, mesh->vertices[i]);
    return copy;
}

/* ---- pairs ---- */

/* m: the nearest of any two parts; minus 1 if some overlap. */
static double parts_distance(const solid *a, const solid *b, rg_pose pose) {
    double least = INFINITY;
    for (size_t i = 0; i < a->parts.part_count; i++)
        for (size_t k = 0; k < b->parts.part_count; k++) {
            rg_distance distance;
            assert_int_equal(rg_distance_between(a->parts.parts[i], rg_pose_identity(),
                                                 b->parts.parts[k], pose, NULL, &distance),
                             RG_OK);
            least = fmin(least, distance.distance);
        }
    return least > 0 ? least : -1;
}

static void check_contacts(const solid *a, const solid *b, rg_pose pose, double apart,
                           rg_arena *arena) {
    static rg_manifold manifolds[ROOM];
    static rg_contact_point points[ROOM];
    static rg_contact_cache caches[ROOM];
    const double near = 0.2;
    rg_contact_settings settings = {.near = near};
    rg_contact_list list = {.manifolds = manifolds,
                            .manifold_capacity = ROOM,
                            .points = points,
                            .point_capacity = ROOM,
                            .caches = caches,
                            .cache_capacity = ROOM};
    rg_contact_query query = {.one = {a->shape, rg_pose_identity()},
                              .two = {b->shape, pose},
                              .settings = &settings,
                              .arena = arena};
    assert_int_equal(rg_contact_parts(&query, NULL, (rg_cache_list){0}, &list), RG_OK);
    double least = INFINITY;
    for (uint32_t i = 0; i < list.manifold_count; i++)
        least = fmin(least, manifolds[i].gap);
    /* Never more room than there is, and room where there is some. */
    if (apart < near && !(list.point_count > 0 && least <= fmax(apart, 0) + 1e-9))
        fail_msg("apart by %.9g, %u points with a gap of %.9g", apart, list.point_count, least);
    if (apart > 0)
        assert_true(list.point_count == 0 || least > 0);
    /* Points are of the solids. */
    for (uint32_t i = 0; i < list.point_count; i++) {
        rg_vec3 p = points[i].on_b, q = rg_pose_apply_inverse(pose, points[i].on_a);
        double on = INFINITY, other = INFINITY;
        for (uint32_t t = 0; t < a->mesh.triangle_count; t++)
            on = fmin(on, rg_mesh_triangle_distance(&a->mesh, t, p));
        for (uint32_t t = 0; t < b->mesh.triangle_count; t++)
            other = fmin(other, rg_mesh_triangle_distance(&b->mesh, t, q));
        assert_true(on < 1e-9 || rg_mesh_winding(&a->mesh, p) > 0.5);
        assert_true(other < 1e-9 || rg_mesh_winding(&b->mesh, q) > 0.5);
    }
}

static void pairs_agree_with_all_features(void **state) {
    (void)state;
    solid *solids = make_solids();
    rg_random random = rg_random_make(18);
    rg_arena arena = rg_arena_make(NULL);
    int cases = test_cases(10000, 100000), overlaps = 0, near = 0;
    for (int i = 0; i < cases; i++) {
        const solid *a = &solids[rg_random_below(&random, SOLIDS)];
        const solid *b = &solids[rg_random_below(&random, SOLIDS)];
        rg_vec3 d = rg_random_direction(&random), room[MOST];
        double far = rg_random_between(&random, 0.1, 2.2);
        rg_pose pose = {rg_scale(far, d), rg_random_rotation(&random)};
        rg_mesh other = moved(&b->mesh, pose, room);
        double brute = brute_distance(&a->mesh, &other), parts = parts_distance(a, b, pose);
        if (brute > 1e-9 || brute < 0)
            assert_int_equal(brute > 0, parts > 0);
        if (brute > 0)
            assert_near(parts, brute, 1e-9);
        overlaps += brute < 0;
        near += brute > 0 && brute < 0.2;
        check_contacts(a, b, pose, brute, &arena);
    }
    print_message("%d pairs: %d overlap, %d near\n", cases, overlaps, near);
    assert_true(overlaps > cases / 5 && near > cases / 20);
    rg_arena_free(&arena);
    end_solids(solids);
}

/* ---- approaches ---- */

static double first_time(const solid *a, const solid *b, const rg_linear_motion *motion,
                         double tolerance) {
    static const rg_linear_motion still = {.start = {{0, 0, 0}, {0, 0, 0, 1}}};
    rg_path one = rg_path_linear(&still), two = rg_path_linear(motion);
    rg_first_contact_settings settings = rg_first_contact_settings_default(tolerance);
    double first = INFINITY;
    for (size_t i = 0; i < a->parts.part_count; i++)
        for (size_t k = 0; k < b->parts.part_count; k++) {
            rg_first_contact found;
            assert_int_equal(rg_first_contact_between((rg_moving_shape){a->parts.parts[i], &one},
                                                      (rg_moving_shape){b->parts.parts[k], &two}, 0,
                                                      fmin(1, first), &settings, &found),
                             RG_OK);
            assert_int_not_equal(found.result, RG_FIRST_CONTACT_LIMIT);
            if (found.result != RG_FIRST_CONTACT_NONE)
                first = fmin(first, found.time);
        }
    return first;
}

static void contact_is_never_late(void **state) {
    (void)state;
    solid *solids = make_solids();
    rg_random random = rg_random_make(81);
    const double tolerance = 1e-6;
    int cases = test_cases(1000, 10000), hits = 0;
    for (int i = 0; i < cases; i++) {
        const solid *a = &solids[rg_random_below(&random, SOLIDS)];
        const solid *b = &solids[rg_random_below(&random, SOLIDS)];
        rg_vec3 d = rg_random_direction(&random), aim = rg_random_direction(&random), room[MOST];
        rg_quat turned = rg_random_rotation(&random);
        rg_vec3 spin = rg_random_direction(&random);
        rg_linear_motion motion = {.start = {rg_scale(2.4, d), turned},
                                   .velocity = rg_add(rg_scale(-3, d), aim),
                                   .angular_velocity = rg_scale(4, spin)};
        double first = first_time(a, b, &motion, tolerance);
        rg_path path = rg_path_linear(&motion);
        hits += first < INFINITY;
        for (int k = 0; k <= 6; k++) {
            double time = fmin(1, first) * k / 6;
            rg_pose pose;
            path.pose(path.user, time, &pose);
            rg_mesh other = moved(&b->mesh, pose, room);
            double apart = brute_distance(&a->mesh, &other);
            if (!(apart > 0))
                fail_msg("case %d: overlap at %.17g, contact said at %.17g", i, time, first);
            if (k == 6 && first < INFINITY && first > 0)
                assert_true(apart <= tolerance + 1e-9);
        }
    }
    print_message("%d approaches: %d hit\n", cases, hits);
    assert_true(hits > cases / 3);
    end_solids(solids);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_agree_with_all_features),
                                       cmocka_unit_test(contact_is_never_late)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
