/* A box that stands on four points and leans against a wall with an edge, pushed into the
 * corner by a heavy ball: more contacts than it needs, whose gaps disagree in the last digits.
 * Whichever of them opens or slips does so at 1e-9 m/s, and the methods that go downhill end
 * with all of them closed and a residual of that size. Here the answers are held against the
 * law itself, contact by contact, with velocities that are summed up anew. */
#include "test_support.h"

#include "rigor/solver.h"

#include <math.h>
#include <string.h>

enum { FREEDOM = 6, CONTACTS = 7, ROWS = 3 * CONTACTS, BOX = 0, BALL = 1 };

#define SCALE     0.040875 /* m/s: |g| h */
#define TOLERANCE 1e-10

typedef struct corner {
    double mass[2 * FREEDOM * FREEDOM], free[2 * FREEDOM];
    double jacobian[CONTACTS * 2 * 3 * FREEDOM], mu[CONTACTS], q[ROWS];
    uint32_t blocks[2 * CONTACTS];
} corner;

static void cross(const double a[3], const double b[3], double c[3]) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Rows of contact i: axes (normal, two tangents) times `sign`, arm from the body's centre. */
static void set_side(corner *c, size_t i, size_t side, uint32_t block, double sign,
                     const double axes[3][3], const double arm[3]) {
    c->blocks[2 * i + side] = block;
    for (size_t k = 0; k < 3 && block != RG_NO_BLOCK; k++) {
        double *row = c->jacobian + ((2 * i + side) * 3 + k) * FREEDOM, turn[3];
        cross(arm, axes[k], turn);
        for (size_t m = 0; m < 3; m++)
            row[m] = sign * axes[k][m], row[m + 3] = sign * turn[m];
    }
}

/* `gap` (m/s): what the four points of the floor disagree by; `push`: how fast the ball comes. */
static corner make_corner(double gap, double push) {
    static const double floor_axes[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
    static const double wall_axes[3][3] = {{-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    static const double foot[4][3] = {{0.212594, -0.125809, -0.169545},
                                      {-0.215721, -0.120368, -0.169545},
                                      {0.215721, 0.120368, -0.169545},
                                      {-0.212594, 0.125809, -0.169545}};
    static const double gaps[4] = {1.00870, -1, 1, -1.00870};
    const double nx = 0.980162, ny = sqrt(1 - nx * nx);
    const double push_axes[3][3] = {{nx, ny, 0}, {ny, -nx, 0}, {0, 0, -1}};
    static const double push_arm[3] = {-0.21591, -0.120436, 0.0988382};
    const double ball_arm[3] = {0.263079, 0.053221, -3.1e-5};
    corner c;
    memset(&c, 0, sizeof c);
    static const double box_inertia[3] = {0.00080238, 0.0013636, 0.00111528};
    for (size_t k = 0; k < 3; k++) {
        c.mass[k * FREEDOM + k] = 0.054828;
        c.mass[(k + 3) * FREEDOM + k + 3] = box_inertia[k];
        c.mass[36 + k * FREEDOM + k] = 4.0363;
        c.mass[36 + (k + 3) * FREEDOM + k + 3] = 0.116177;
    }
    const double velocity[2 * FREEDOM] = {1.1309,     0.168655, -0.040875,      0,
                                          0,          1.36263,  1.06544 * push, 0.582144,
                                          -0.0011927, -1.90939, 3.83252,        -2.32351};
    memcpy(c.free, velocity, sizeof velocity);
    for (size_t i = 0; i < 4; i++) {
        set_side(&c, i, 0, BOX, 1, floor_axes, foot[i]);
        set_side(&c, i, 1, RG_NO_BLOCK, 0, NULL, NULL);
        c.mu[i] = 0.65457, c.q[3 * i] = gap * gaps[i];
    }
    set_side(&c, 4, 0, BOX, 1, push_axes, push_arm);
    set_side(&c, 4, 1, BALL, -1, push_axes, ball_arm);
    c.mu[4] = 0.496305, c.q[12] = 0.0857445;
    for (size_t i = 5; i < 7; i++) {
        double arm[3] = {foot[2][0], foot[2][1], i == 5 ? foot[2][2] : -foot[2][2]};
        set_side(&c, i, 0, RG_NO_BLOCK, 0, NULL, NULL);
        set_side(&c, i, 1, BOX, 1, wall_axes, arm);
        c.mu[i] = 0.65457, c.q[3 * i] = 0.474113 + (i == 5 ? 0.8 : -0.8) * gap;
    }
    return c;
}

static rg_problem problem_of(const corner *c) {
    rg_problem p = {.kind = RG_PROBLEM_CONTACT, .scale = SCALE};
    p.contact = (rg_contact_problem){.dimension = 3,
                                     .contacts = CONTACTS,
                                     .mu = c->mu,
                                     .form = RG_FORM_GLOBAL,
                                     .q = c->q,
                                     .global = {.blocks = 2,
                                                .freedom = FREEDOM,
                                                .mass = c->mass,
                                                .free_velocity = c->free,
                                                .contact_blocks = c->blocks,
                                                .contact_jacobian = c->jacobian}};
    return p;
}

/* u = J (v_free + M^-1 J' r) + q; all masses are diagonal here. */
static void velocities(const corner *c, const double *r, double *u) {
    double v[2 * FREEDOM] = {0};
    for (size_t row = 0; row < ROWS; row++)
        for (size_t side = 0; side < 2; side++) {
            uint32_t b = c->blocks[2 * (row / 3) + side];
            for (size_t k = 0; k < FREEDOM && b != RG_NO_BLOCK; k++)
                v[b * FREEDOM + k] +=
                    c->jacobian[((row / 3 * 2 + side) * 3 + row % 3) * FREEDOM + k] * r[row];
        }
    for (size_t k = 0; k < 2 * FREEDOM; k++)
        v[k] = c->free[k] + v[k] / c->mass[k / FREEDOM * 36 + k % FREEDOM * (FREEDOM + 1)];
    for (size_t row = 0; row < ROWS; row++) {
        u[row] = c->q[row];
        for (size_t side = 0; side < 2; side++) {
            uint32_t b = c->blocks[2 * (row / 3) + side];
            for (size_t k = 0; k < FREEDOM && b != RG_NO_BLOCK; k++)
                u[row] += c->jacobian[((row / 3 * 2 + side) * 3 + row % 3) * FREEDOM + k] *
                          v[b * FREEDOM + k];
        }
    }
}

/* What contradicts Coulomb's law, m/s: approach; speed of a contact that carries while it leaves;
 * friction that is neither at rest nor against the slip. */
static double wrong_with(const corner *c, const double *r) {
    double u[ROWS], worst = 0, largest = 0;
    velocities(c, r, u);
    for (size_t i = 0; i < ROWS; i++)
        largest = fmax(largest, fabs(r[i]));
    for (size_t i = 0; i < CONTACTS; i++) {
        const double *ri = r + 3 * i, *ui = u + 3 * i;
        double grip = hypot(ri[1], ri[2]), slip = hypot(ui[1], ui[2]);
        bool carries = ri[0] > 1e-9 * largest;
        worst = fmax(worst, carries ? fabs(ui[0]) : fmax(0, -ui[0]));
        assert_true(ri[0] >= -1e-9 * largest);
        assert_true(grip <= c->mu[i] * ri[0] + 1e-9 * largest);
        if (!carries || slip <= TOLERANCE * SCALE)
            continue;
        /* the part of the slip that is not straight against the friction */
        bool full = grip > (1 - 1e-7) * c->mu[i] * ri[0];
        double along = (ri[1] * ui[1] + ri[2] * ui[2]) / grip;
        worst = fmax(worst, full && along < 0 ? fabs(ri[1] * ui[2] - ri[2] * ui[1]) / grip : slip);
    }
    return worst;
}

static void corners_with_disagreeing_gaps(void **state) {
    (void)state;
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = TOLERANCE;
    int widened = 0;
    for (int k = 0; k < 30; k++) {
        corner c = make_corner(1e-6 * pow(0.1, k % 4), 0.8 + 0.1 * (k / 4));
        rg_problem problem = problem_of(&c);
        double r[ROWS] = {0};
        rg_solution solution = {.force = r};
        rg_solve_info info;
        assert_int_equal(
            rg_solve(context, rg_solver_find("auto"), &problem, &settings, &solution, &info, NULL),
            RG_OK);
        widened += strcmp(info.solver->name, "widen") == 0;
        assert_int_equal(info.outcome, RG_SOLVED);
        assert_true(wrong_with(&c, r) <= 10 * TOLERANCE * SCALE);
    }
    assert_true(widened > 0); /* otherwise this tests something else */
    rg_solve_context_destroy(context);
}

/* The same on belts: the floor moves along y, the wall beside it stands or moves likewise, so that
 * points slide at metres per second whose normals disagree in the last digits. */
static void corners_on_belts(void **state) {
    (void)state;
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = TOLERANCE;
    int widened = 0;
    for (int speed = -4; speed <= 4; speed++)
        for (int k = 0; k < 16; k++) {
            corner c = make_corner(k % 2 ? 1e-9 : 1e-7, 0.8 + 0.4 * (k / 4));
            for (size_t i = 0; i < CONTACTS; i++)
                if (i < 4)
                    c.q[3 * i + 2] += 1.2 * speed;
                else if (i > 4 && k / 2 % 2)
                    c.q[3 * i + 1] -= 1.2 * speed;
            rg_problem problem = problem_of(&c);
            double r[ROWS] = {0};
            rg_solution solution = {.force = r};
            rg_solve_info info;
            assert_int_equal(rg_solve(context, rg_solver_find("auto"), &problem, &settings,
                                      &solution, &info, NULL),
                             RG_OK);
            widened += strcmp(info.solver->name, "widen") == 0;
            assert_int_equal(info.outcome, RG_SOLVED);
            assert_true(wrong_with(&c, r) <= 10 * TOLERANCE * SCALE);
        }
    assert_true(widened > 0);
    rg_solve_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(corners_with_disagreeing_gaps),
                                       cmocka_unit_test(corners_on_belts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
