/* rigidfc3d: one time step of a scene, its bodies and contacts, as text.
 *
 *     rigidfc3d 1
 *     # scene NAME step N
 *     h g mu nb nc
 *     nb lines:  m  I1 I2 I3  x y z  qw qx qy qz  vx vy vz  wx wy wz  fx fy fz
 *     nc lines:  a b id  px py pz  nx ny nz  gap
 *     RES open stick slide
 *     nc lines:  Rx Ry Rz
 *
 * The problem is one of impulses: blocks (v, w in body axes) with M = diag(m, m, m, I1, I2, I3),
 * v_free = (v + h f / m, R' w), the contact's velocity that of b relative to a along (n, t1, t2),
 * and q = (max(gap / h, -1 m/s), 0, 0): a gap may close, a penetration is pushed out at 1 m/s at
 * most. Residuals are relative to g h, as RES is. The normal points from a to b and R is the
 * impulse on b. How it fails: see record_problem.c. Text behind the last line is refused.
 * Tested by tests/record/test_problem.c. */
#include "record/record_problem.h"

#include "base/base_math.h"
#include "base/base_text.h"

#include <stdio.h>
#include <string.h>

enum { FREEDOM = 6, DIMENSION = 3, BODY_NUMBERS = 20, CONTACT_NUMBERS = 7 };
/* Speed at which penetration is pushed out, m/s. */
#define PUSH_OUT 1.0
/* What the length of a normal or quaternion may differ from 1. */
#define UNIT_ERROR 1e-6

static const char mark[] = "rigidfc3d";

bool rg_problem_is_sequence(const char *data, size_t size) {
    size_t at = 0;
    while (at < size && (data[at] == ' ' || data[at] == '\n' || data[at] == '\r'))
        at++;
    return size - at >= strlen(mark) && memcmp(data + at, mark, strlen(mark)) == 0;
}

/* A body as far as contacts need it. */
typedef struct body {
    rg_vec3 centre;
    rg_quat orientation;
} body;

typedef struct sequence {
    double h, g, mu;
    size_t bodies, contacts;
    body *body;
    rg_vec3 *frame; /* contacts x 3: normal and tangents */
    double *mass, *velocity, *jacobian, *q, *coefficients, *reference;
    uint32_t *pairs;
} sequence;

/* ------------------------------------------------------------------ head */

/* `rigidfc3d 1`, then comment lines, of which the first is the title. */
static rg_status read_title(rg_problem_reader *reader) {
    size_t version;
    char quote[RG_PROBLEM_QUOTE_SIZE];
    rg_status status = rg_problem_take(reader, mark);
    if (status == RG_OK && (reader->word_size != strlen(mark) ||
                            memcmp(reader->data + reader->word, mark, strlen(mark)) != 0))
        status = rg_problem_fail(reader, RG_SYNTAX, "'%s'; here should be %s",
                                 rg_problem_quote(reader, quote), mark);
    if (status == RG_OK)
        status = rg_problem_take_count(reader, "the version of rigidfc3d", 1, 1, &version);
    for (;;) {
        rg_problem_reader ahead = *reader;
        if (status != RG_OK || !rg_problem_next(&ahead) || ahead.data[ahead.word] != '#')
            return status;
        size_t from = ahead.word + 1, to = from;
        while (to < ahead.size && ahead.data[to] != '\n' && ahead.data[to] != '\r')
            to++;
        reader->at = to;
        while (from < to && (ahead.data[from] == ' ' || ahead.data[from] == '\t'))
            from++;
        char *title = RG_PROBLEM_TAKE(reader->file, char, to - from + 1);
        if (!title)
            return rg_problem_no_memory(reader);
        for (size_t i = from; i < to; i++)
            title[i - from] = ahead.data[i] ? ahead.data[i] : '?';
        title[to - from] = '\0';
        if (reader->file->info.title[0] == '\0')
            reader->file->info.title = title;
    }
}

static rg_status take_not_negative(rg_problem_reader *reader, const char *what, bool zero,
                                   double *value) {
    char quote[RG_PROBLEM_QUOTE_SIZE];
    rg_status status = rg_problem_take_number(reader, what, value);
    if (status == RG_OK && (*value < 0 || (*value == 0 && !zero)))
        status = rg_problem_fail(reader, RG_INVALID_ARGUMENT, "%s is %s; it must %s", what,
                                 rg_problem_quote(reader, quote),
                                 zero ? "not be negative" : "be positive");
    return status;
}

static rg_status read_head(rg_problem_reader *reader, sequence *s) {
    rg_status status = read_title(reader);
    if (status == RG_OK)
        status = take_not_negative(reader, "the time step h", false, &s->h);
    if (status == RG_OK)
        status = take_not_negative(reader, "the gravity g", false, &s->g);
    if (status == RG_OK)
        status = take_not_negative(reader, "the friction coefficient", true, &s->mu);
    if (status == RG_OK)
        status = rg_problem_take_count(reader, "the number of bodies", 0, RG_PROBLEM_MOST_ROWS / 6,
                                       &s->bodies);
    if (status == RG_OK)
        status = rg_problem_take_count(reader, "the number of contacts", 0,
                                       RG_PROBLEM_MOST_ROWS / 3, &s->contacts);
    if (status == RG_OK)
        status = rg_problem_need_words(reader, "bodies", BODY_NUMBERS * s->bodies);
    if (status == RG_OK)
        status = rg_problem_need_words(reader, "contacts", (3 + CONTACT_NUMBERS) * s->contacts);
    return status;
}

static bool make_arrays(rg_problem_file *file, sequence *s) {
    size_t rows = DIMENSION * s->contacts;
    s->body = RG_PROBLEM_TAKE(file, body, s->bodies);
    s->frame = RG_PROBLEM_TAKE(file, rg_vec3, rows);
    s->mass = rg_problem_take_zeroed(file, s->bodies, FREEDOM * FREEDOM * sizeof(double));
    s->velocity = rg_problem_take_zeroed(file, s->bodies, FREEDOM * sizeof(double));
    s->jacobian = rg_problem_take_zeroed(file, rows, 2 * FREEDOM * sizeof(double));
    s->q = rg_problem_take_zeroed(file, rows, sizeof(double));
    s->coefficients = RG_PROBLEM_TAKE(file, double, s->contacts);
    s->reference = RG_PROBLEM_TAKE(file, double, rows);
    s->pairs = RG_PROBLEM_TAKE(file, uint32_t, 2 * s->contacts);
    return s->body && s->frame && s->mass && s->velocity && s->jacobian && s->q &&
           s->coefficients && s->reference && s->pairs;
}

/* ------------------------------------------------------------------ bodies */

static rg_status take_vector(rg_problem_reader *reader, const char *what, rg_vec3 *v) {
    rg_status status = rg_problem_take_number(reader, what, &v->x);
    if (status == RG_OK)
        status = rg_problem_take_number(reader, what, &v->y);
    if (status == RG_OK)
        status = rg_problem_take_number(reader, what, &v->z);
    return status;
}

static rg_status read_orientation(rg_problem_reader *reader, rg_quat *q) {
    rg_vec3 imaginary;
    rg_status status = rg_problem_take_number(reader, "an orientation", &q->w);
    if (status == RG_OK)
        status = take_vector(reader, "an orientation", &imaginary);
    if (status != RG_OK)
        return status;
    *q = (rg_quat){imaginary.x, imaginary.y, imaginary.z, q->w};
    if (!(fabs(rg_quat_norm_squared(*q) - 1) <= 2 * UNIT_ERROR))
        return rg_problem_fail(reader, RG_INVALID_ARGUMENT,
                               "an orientation that is not a unit quaternion");
    return RG_OK;
}

static rg_status read_body(rg_problem_reader *reader, sequence *s, size_t i) {
    double *mass = s->mass + i * FREEDOM * FREEDOM, *v = s->velocity + i * FREEDOM;
    double m, inertia[3];
    rg_vec3 velocity, spin, force;
    rg_status status = take_not_negative(reader, "a mass", false, &m);
    for (int k = 0; k < 3 && status == RG_OK; k++)
        status = take_not_negative(reader, "a principal inertia", false, &inertia[k]);
    if (status == RG_OK)
        status = take_vector(reader, "a centre of mass", &s->body[i].centre);
    if (status == RG_OK)
        status = read_orientation(reader, &s->body[i].orientation);
    if (status == RG_OK)
        status = take_vector(reader, "a velocity", &velocity);
    if (status == RG_OK)
        status = take_vector(reader, "an angular velocity", &spin);
    if (status == RG_OK)
        status = take_vector(reader, "a force", &force);
    if (status != RG_OK)
        return status;
    rg_vec3 linear = rg_add_scaled(velocity, s->h / m, force);
    rg_vec3 angular = rg_rotate_back(s->body[i].orientation, spin);
    memcpy(v, &linear, sizeof linear);
    memcpy(v + 3, &angular, sizeof angular);
    for (int k = 0; k < 3; k++) {
        mass[k * (FREEDOM + 1)] = m;
        mass[(k + 3) * (FREEDOM + 1)] = inertia[k];
    }
    return RG_OK;
}

/* ------------------------------------------------------------------ contacts */

/* -1 is a fixed body. */
static rg_status read_block(rg_problem_reader *reader, size_t bodies, uint32_t *block) {
    rg_problem_reader ahead = *reader;
    size_t value;
    if (rg_problem_next(&ahead) && ahead.word_size == 2 &&
        memcmp(ahead.data + ahead.word, "-1", 2) == 0) {
        *reader = ahead;
        *block = RG_NO_BLOCK;
        return RG_OK;
    }
    if (bodies == 0)
        return rg_problem_fail(&ahead, RG_INVALID_ARGUMENT,
                               "the body of a contact where there are no bodies; it must be -1");
    rg_status status =
        rg_problem_take_count(reader, "the body of a contact", 0, bodies - 1, &value);
    *block = (uint32_t)value;
    return status;
}

/* Normal and two tangents: the first along the axis that the normal has least of. */
static void make_frame(rg_vec3 normal, rg_vec3 frame[3]) {
    double x = fabs(normal.x), y = fabs(normal.y), z = fabs(normal.z);
    rg_vec3 axis = x <= y && x <= z ? (rg_vec3){1, 0, 0}
                   : y <= z         ? (rg_vec3){0, 1, 0}
                                    : (rg_vec3){0, 0, 1};
    frame[0] = normal;
    frame[1] = rg_normalised(rg_cross(normal, axis));
    frame[2] = rg_cross(normal, frame[1]);
}

/* The rows of one side: velocity of its body's point along the frame. */
static void fill_side(const body *b, rg_vec3 point, const rg_vec3 frame[3], double sign,
                      double *rows) {
    rg_vec3 arm = rg_sub(point, b->centre);
    for (int k = 0; k < DIMENSION; k++) {
        rg_vec3 linear = rg_scale(sign, frame[k]);
        rg_vec3 angular = rg_rotate_back(b->orientation, rg_cross(arm, linear));
        memcpy(rows + FREEDOM * k, &linear, sizeof linear);
        memcpy(rows + FREEDOM * k + 3, &angular, sizeof angular);
    }
}

static rg_status read_contact(rg_problem_reader *reader, sequence *s, size_t i) {
    uint32_t *pair = s->pairs + 2 * i;
    double *rows = s->jacobian + i * 2 * DIMENSION * FREEDOM;
    rg_vec3 point, normal, *frame = s->frame + DIMENSION * i;
    double gap;
    size_t id;
    rg_status status = read_block(reader, s->bodies, &pair[0]);
    if (status == RG_OK)
        status = read_block(reader, s->bodies, &pair[1]);
    if (status == RG_OK && pair[0] == pair[1])
        status = rg_problem_fail(reader, RG_INVALID_ARGUMENT,
                                 "a contact of a body with itself, or of two fixed ones");
    if (status == RG_OK)
        status = rg_problem_take_count(reader, "the number of a contact", 0, SIZE_MAX, &id);
    if (status == RG_OK)
        status = take_vector(reader, "a point of contact", &point);
    if (status == RG_OK)
        status = take_vector(reader, "a normal", &normal);
    if (status == RG_OK && !(fabs(rg_length(normal) - 1) <= UNIT_ERROR))
        status = rg_problem_fail(reader, RG_INVALID_ARGUMENT, "a normal that is not a unit vector");
    if (status == RG_OK)
        status = rg_problem_take_number(reader, "a gap", &gap);
    if (status != RG_OK)
        return status;
    make_frame(normal, frame);
    if (pair[0] != RG_NO_BLOCK)
        fill_side(&s->body[pair[0]], point, frame, -1, rows);
    if (pair[1] != RG_NO_BLOCK)
        fill_side(&s->body[pair[1]], point, frame, 1, rows + DIMENSION * FREEDOM);
    s->q[DIMENSION * i] = fmax(gap / s->h, -PUSH_OUT);
    s->coefficients[i] = s->mu;
    return RG_OK;
}

/* ------------------------------------------------------------------ the best known solution */

static rg_status read_reference(rg_problem_reader *reader, sequence *s, double *residual) {
    size_t count;
    rg_vec3 impulse;
    rg_status status = take_not_negative(reader, "the residual RES", true, residual);
    for (int k = 0; k < 3 && status == RG_OK; k++)
        status = rg_problem_take_count(reader, "the number of open, sticking, sliding contacts", 0,
                                       s->contacts, &count);
    for (size_t i = 0; i < s->contacts && status == RG_OK; i++) {
        status = take_vector(reader, "an impulse", &impulse);
        for (size_t k = 0; k < DIMENSION && status == RG_OK; k++)
            s->reference[DIMENSION * i + k] = rg_dot(impulse, s->frame[DIMENSION * i + k]);
    }
    return status;
}

static void fill_problem(rg_problem_file *file, const sequence *s, double residual) {
    file->info.freedom = FREEDOM * s->bodies;
    file->info.reference = s->reference;
    file->info.reference_residual = residual;
    file->problem.kind = RG_PROBLEM_CONTACT;
    file->problem.scale = s->g * s->h;
    file->problem.contact = (rg_contact_problem){.dimension = DIMENSION,
                                                 .contacts = s->contacts,
                                                 .mu = s->coefficients,
                                                 .form = RG_FORM_GLOBAL,
                                                 .q = s->q};
    file->problem.contact.global = (rg_global_form){.blocks = s->bodies,
                                                    .freedom = FREEDOM,
                                                    .mass = s->mass,
                                                    .free_velocity = s->velocity,
                                                    .contact_blocks = s->pairs,
                                                    .contact_jacobian = s->jacobian};
}

rg_status rg_problem_read_sequence(rg_problem_reader *reader) {
    sequence s = {0};
    double residual;
    char quote[RG_PROBLEM_QUOTE_SIZE];
    rg_status status = read_head(reader, &s);
    if (status != RG_OK)
        return status;
    if (!make_arrays(reader->file, &s))
        return rg_problem_no_memory(reader);
    for (size_t i = 0; i < s.bodies && status == RG_OK; i++)
        status = read_body(reader, &s, i);
    for (size_t i = 0; i < s.contacts && status == RG_OK; i++)
        status = read_contact(reader, &s, i);
    if (status == RG_OK)
        status = read_reference(reader, &s, &residual);
    if (status != RG_OK)
        return status;
    if (rg_problem_next(reader))
        return rg_problem_fail(reader, RG_SYNTAX,
                               "'%s' behind the last impulse; the text should end here",
                               rg_problem_quote(reader, quote));
    fill_problem(reader->file, &s, residual);
    return RG_OK;
}
