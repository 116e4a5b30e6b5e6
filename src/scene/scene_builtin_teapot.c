/* The built-in scene `teapot`: Martin Newell's teapot of 1975 on a table.
 *
 * Its surface is given by control points of Bezier patches (F. C. Crow, "The origins of the
 * teapot", IEEE Computer Graphics and Applications 7(1), 1987). Those patches are no solid: the
 * bottom is open, lid and body do not meet, handle and spout end somewhere inside the body. Here
 * they become a closed mesh:
 * - body, rim, lid and knob are one surface of revolution, from a flat bottom to the top of the
 *   knob, lid and rim joined by a ring;
 * - handle and spout are tubes, from their first section that is outside the body on;
 * - where a tube begins, a rectangle of the body's grid is left out, and triangles go around
 *   between its border and the first section;
 * - the mouth of the spout is closed by a flat fan, which is where its lip ends.
 * The solid is filled; its mass properties are exact integrals over the mesh. Contacts are those of
 * convex parts: hulls of body and rim, of the lid, of the knob, and of neighbouring sections of the
 * tubes. Tested by tests/scene/test_shapes.c. */
#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_text.h"
#include "base/base_trig.h"
#include "rigor/decompose.h"
#include "scene/scene_builtin.h"

enum {
    PIECES = 6,  /* of a Bezier curve */
    AROUND = 40, /* of a circle about the axis */
    CURVES = 5,  /* of the profile */
    ROWS = CURVES * PIECES + 1,
    RINGS = 2 * PIECES + 1, /* of a tube */
    SECTION = 2 * PIECES,   /* points of a ring */
    BELOW_RIM = 2 * PIECES, /* row at which the body ends */
    LID = 3 * PIECES + 1,   /* its first row */
    KNOB = 4 * PIECES + 1,  /* the row of its neck */
    MOST_VERTICES = ROWS * AROUND + 2 * RINGS * SECTION + 3,
    MOST_TRIANGLES = 2 * MOST_VERTICES,
    MOST_BORDER = 2 * (BELOW_RIM + AROUND),
    TUBE_ENDS = 3,
    MOST_PART = ROWS * AROUND,
    MOST_PARTS = 3 + TUBE_ENDS + 2 * RINGS
};

#define UNIT   0.04 /* m: of the control points; the body is then 0.16 m across */
#define TALL   3.0  /* of the control points */
#define MARGIN 0.03 /* that the first section of a tube is outside the body by */

/* Radius and height. */
typedef struct profile_point {
    double radius, height;
} profile_point;

static const profile_point profile[CURVES][4] = {
    {{1.5, 0}, {1.5, 0.075}, {2, 0.3}, {2, 0.75}},
    {{2, 0.75}, {2, 1.2}, {1.75, 1.725}, {1.5, 2.25}},
    {{1.5, 2.25}, {1.4375, 2.38125}, {1.3375, 2.38125}, {1.4, 2.25}},
    {{1.3, 2.25}, {1.3, 2.4}, {0.4, 2.4}, {0.2, 2.55}},
    {{0.2, 2.55}, {0, 2.7}, {0.8, 3}, {0, 3}},
};

/* Tubes are symmetric about y = 0. Of a row along them: x, width and height on the inside of the
 * bend and on its outside; the section goes from one to the other. */
typedef struct tube_row {
    double x[2], width[2], height[2];
} tube_row;

static const tube_row spout[7] = {
    {{1.7, 1.7}, {0.66, 0.66}, {1.275, 0.45}},      {{2.6, 3.1}, {0.66, 0.66}, {1.275, 0.675}},
    {{2.3, 2.4}, {0.25, 0.25}, {1.95, 1.875}},      {{2.7, 3.3}, {0.25, 0.25}, {2.25, 2.25}},
    {{2.8, 3.525}, {0.25, 0.25}, {2.325, 2.34375}}, {{2.9, 3.45}, {0.25, 0.15}, {2.325, 2.3625}},
    {{2.8, 3.2}, {0.15, 0.15}, {2.25, 2.25}},
};

static const tube_row handle[7] = {
    {{-2, -1.9}, {0.3, 0.3}, {0.75, 0.45}},   {{-2.5, -2.65}, {0.3, 0.3}, {0.975, 0.7875}},
    {{-2.7, -3}, {0.3, 0.3}, {1.425, 1.2}},   {{-2.7, -3}, {0.3, 0.3}, {1.65, 1.65}},
    {{-2.7, -3}, {0.3, 0.3}, {1.875, 2.1}},   {{-2.3, -2.5}, {0.3, 0.3}, {1.875, 2.1}},
    {{-1.6, -1.5}, {0.3, 0.3}, {1.875, 2.1}},
};

/* Cells of the body's grid that are left out: rows from `low` to `high`, columns `half` to either
 * side of `base`. */
typedef struct hole {
    size_t low, high, base, half;
} hole;

typedef struct pot {
    rg_vec3 vertices[MOST_VERTICES];
    uint32_t triangles[3 * MOST_TRIANGLES];
    rg_mesh mesh;
    profile_point row[ROWS];
    hole holes[TUBE_ENDS];
    size_t hole_count;
    rg_shape *parts[MOST_PARTS];
    size_t part_count;
    rg_status status; /* of making parts */
    rg_error error;
} pot;

static uint32_t add_vertex(pot *p, double x, double y, double z) {
    p->vertices[p->mesh.vertex_count] = rg_vec3_make(UNIT * x, UNIT * y, UNIT * z);
    return (uint32_t)p->mesh.vertex_count++;
}

static void add_triangle(pot *p, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t *t = p->triangles + 3 * p->mesh.triangle_count++;
    t[0] = a, t[1] = b, t[2] = c;
}

/* The hull of vertices that follow each other, and of some more. */
static void add_part(pot *p, size_t first, size_t count, const uint32_t *more, size_t more_count) {
    rg_vec3 points[MOST_PART];
    for (size_t i = 0; i < count; i++)
        points[i] = p->vertices[first + i];
    for (size_t i = 0; i < more_count; i++)
        points[count + i] = p->vertices[more[i]];
    rg_shape_def def = rg_shape_def_hull(points, count + more_count);
    if (!p->status)
        p->status = rg_shape_create(&def, &p->mesh.allocator, &p->parts[p->part_count], &p->error);
    p->part_count += p->status ? 0 : 1;
}

static void bernstein(double t, double b[4]) {
    double s = 1 - t;
    b[0] = s * s * s, b[1] = 3 * s * s * t, b[2] = 3 * s * t * t, b[3] = t * t * t;
}

/* ---- the body ---- */

static uint32_t grid(size_t row, size_t column) {
    return (uint32_t)(row * AROUND + column % AROUND);
}

/* Rows of the profile: of each curve all points but the first, which is the last of the one before;
 * lid and body have their own. */
static void add_profile(pot *p) {
    size_t n = 0;
    for (size_t c = 0; c < CURVES; c++)
        for (size_t i = c == 0 || c == 3 ? 0 : 1; i <= PIECES && n < ROWS; i++, n++) {
            double b[4];
            bernstein((double)i / PIECES, b);
            p->row[n] = (profile_point){0, 0};
            for (int k = 0; k < 4; k++) {
                p->row[n].radius += b[k] * profile[c][k].radius;
                p->row[n].height += b[k] * profile[c][k].height;
            }
        }
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < AROUND; k++) {
            double angle = 2 * RG_PI * (double)k / AROUND, r = p->row[i].radius;
            add_vertex(p, r * rg_cos(angle), r * rg_sin(angle), p->row[i].height);
        }
}

static bool is_left_out(const pot *p, size_t row, size_t column) {
    for (size_t i = 0; i < p->hole_count; i++) {
        const hole *h = &p->holes[i];
        size_t from_first = (column + AROUND + h->half - h->base) % AROUND;
        if (row >= h->low && row < h->high && from_first < 2 * h->half)
            return true;
    }
    return false;
}

static void add_body_parts(pot *p, uint32_t top) {
    size_t body = LID * AROUND, lid = (KNOB - LID) * AROUND, knob = (ROWS - KNOB) * AROUND;
    add_part(p, 0, body, NULL, 0);
    add_part(p, body, lid + AROUND, NULL, 0);
    add_part(p, body + lid, knob, &top, 1);
}

static void close_body(pot *p) {
    for (size_t i = 0; i + 1 < ROWS; i++)
        for (size_t k = 0; k < AROUND; k++) {
            if (is_left_out(p, i, k))
                continue;
            add_triangle(p, grid(i, k), grid(i, k + 1), grid(i + 1, k + 1));
            add_triangle(p, grid(i, k), grid(i + 1, k + 1), grid(i + 1, k));
        }
    uint32_t bottom = add_vertex(p, 0, 0, 0), top = add_vertex(p, 0, 0, TALL);
    for (size_t k = 0; k < AROUND; k++) {
        add_triangle(p, grid(0, k + 1), grid(0, k), bottom);
        add_triangle(p, grid(ROWS - 1, k), grid(ROWS - 1, k + 1), top);
    }
    add_body_parts(p, top);
}

/* ---- tubes ---- */

typedef struct ring {
    rg_vec3 point[SECTION];
} ring;

static ring ring_of(const tube_row rows[7], size_t index) {
    size_t curve = index > PIECES ? 1 : 0;
    double b[4], x[2] = {0, 0}, width[2] = {0, 0}, height[2] = {0, 0};
    bernstein((double)(index - curve * PIECES) / PIECES, b);
    for (size_t k = 0; k < 4; k++)
        for (int i = 0; i < 2; i++) {
            const tube_row *row = &rows[3 * curve + k];
            x[i] += b[k] * row->x[i];
            width[i] += b[k] * row->width[i];
            height[i] += b[k] * row->height[i];
        }
    ring r;
    for (size_t q = 0; q < SECTION; q++) {
        size_t along = q <= PIECES ? q : SECTION - q;
        bernstein((double)along / PIECES, b);
        double y = b[1] * width[0] + b[2] * width[1];
        r.point[q] = rg_vec3_make((b[0] + b[1]) * x[0] + (b[2] + b[3]) * x[1], q <= PIECES ? y : -y,
                                  (b[0] + b[1]) * height[0] + (b[2] + b[3]) * height[1]);
    }
    return r;
}

static double radius_at(const pot *p, double z) {
    for (size_t i = 0; i < BELOW_RIM; i++) {
        const profile_point *a = &p->row[i], *b = &p->row[i + 1];
        if (z >= a->height && z <= b->height)
            return a->radius + (b->radius - a->radius) * (z - a->height) / (b->height - a->height);
    }
    return 0;
}

static bool is_outside(const pot *p, const ring *r) {
    for (size_t q = 0; q < SECTION; q++) {
        rg_vec3 c = r->point[q];
        if (!(sqrt(c.x * c.x + c.y * c.y) > radius_at(p, c.z) + MARGIN))
            return false;
    }
    return true;
}

/* Cells that cover a ring, seen along x. */
static hole hole_for(const pot *p, const ring *r) {
    double low = INFINITY, high = 0, wide = 0;
    for (size_t q = 0; q < SECTION; q++) {
        low = fmin(low, r->point[q].z);
        high = fmax(high, r->point[q].z);
        wide = fmax(wide, fabs(r->point[q].y));
    }
    hole h = {0, BELOW_RIM, r->point[0].x > 0 ? 0 : AROUND / 2, 1};
    while (p->row[h.low + 1].height <= low)
        h.low++;
    while (p->row[h.high - 1].height >= high)
        h.high--;
    double radius = fmin(p->row[h.low].radius, p->row[h.high].radius);
    while (radius * rg_sin(2 * RG_PI * (double)h.half / AROUND) < wide && h.half < AROUND / 8)
        h.half++;
    return h;
}

/* A closed line of vertices, counter-clockwise seen from outside along x. */
typedef struct loop {
    uint32_t vertex[MOST_BORDER];
    double angle[MOST_BORDER + 1]; /* about its centre; the first is the smallest */
    size_t count;
} loop;

static loop border_of(const hole *h) {
    loop l = {.count = 0};
    size_t left = h->base + AROUND - h->half, right = h->base + AROUND + h->half;
    for (size_t k = left; k < right; k++)
        l.vertex[l.count++] = grid(h->low, k);
    for (size_t i = h->low; i < h->high; i++)
        l.vertex[l.count++] = grid(i, right);
    for (size_t k = right; k > left; k--)
        l.vertex[l.count++] = grid(h->high, k);
    for (size_t i = h->high; i > h->low; i--)
        l.vertex[l.count++] = grid(i, left);
    return l;
}

/* Sections go from the inside of the bend over y > 0: `turned` where that is clockwise. */
static loop ring_loop(uint32_t first, bool turned) {
    loop l = {.count = SECTION};
    for (uint32_t q = 0; q < SECTION; q++)
        l.vertex[q] = first + (turned ? SECTION - 1 - q : q);
    return l;
}

/* Angles about the centre, beginning with the smallest. */
static void measure_loop(const pot *p, double side, loop *l) {
    rg_vec3 centre = {0, 0, 0};
    loop from = *l;
    size_t first = 0;
    for (size_t i = 0; i < l->count; i++)
        centre = rg_add_scaled(centre, 1 / (double)l->count, p->vertices[l->vertex[i]]);
    for (size_t i = 0; i < l->count; i++) {
        rg_vec3 d = rg_sub(p->vertices[l->vertex[i]], centre);
        from.angle[i] = rg_atan2(d.z, side * d.y);
        if (from.angle[i] < from.angle[first])
            first = i;
    }
    for (size_t i = 0; i < l->count; i++) {
        l->vertex[i] = from.vertex[(first + i) % l->count];
        l->angle[i] = from.angle[(first + i) % l->count];
    }
    l->angle[l->count] = l->angle[0] + 2 * RG_PI;
}

/* Triangles all around, from a border of the body to the first ring of a tube. */
static void bridge(pot *p, const hole *h, loop inner) {
    loop outer = border_of(h);
    double side = h->base == 0 ? 1 : -1;
    add_part(p, inner.vertex[0] < inner.vertex[1] ? inner.vertex[0] : inner.vertex[SECTION - 1],
             SECTION, outer.vertex, outer.count);
    measure_loop(p, side, &outer);
    measure_loop(p, side, &inner);
    size_t i = 0, k = 0, n = outer.count, m = inner.count;
    while (i < n || k < m)
        if (k == m || (i < n && outer.angle[i + 1] <= inner.angle[k + 1])) {
            add_triangle(p, outer.vertex[i], outer.vertex[(i + 1) % n], inner.vertex[k % m]);
            i++;
        } else {
            add_triangle(p, outer.vertex[i % n], inner.vertex[(k + 1) % m], inner.vertex[k]);
            k++;
        }
}

/* Rings from one to another with the walls between them, and parts up to one of them; the first
 * vertex of the last one. */
static uint32_t add_rings(pot *p, const tube_row rows[7], size_t from, size_t to,
                          size_t last_part) {
    bool turned = rows[0].x[0] > 0;
    uint32_t first = (uint32_t)p->mesh.vertex_count;
    for (size_t i = from; i <= to; i++) {
        ring r = ring_of(rows, i);
        for (size_t q = 0; q < SECTION; q++)
            add_vertex(p, r.point[q].x, r.point[q].y, r.point[q].z);
        if (i > from)
            first += SECTION;
        for (uint32_t q = 0; i > from && q < SECTION; q++) {
            uint32_t a = first - SECTION + q, b = first - SECTION + (q + 1) % SECTION;
            uint32_t c = b + SECTION, d = a + SECTION;
            add_triangle(p, a, turned ? c : b, turned ? b : c);
            add_triangle(p, a, turned ? d : c, turned ? c : d);
        }
        if (i > from && i <= last_part)
            add_part(p, first - SECTION, 2 * SECTION, NULL, 0);
    }
    return first;
}

static void join(pot *p, const ring *r, uint32_t first, bool turned) {
    hole *h = &p->holes[p->hole_count++];
    *h = hole_for(p, r);
    bridge(p, h, ring_loop(first, turned));
}

static void add_spout(pot *p) {
    size_t from = 0;
    ring r = ring_of(spout, from);
    while (!is_outside(p, &r))
        r = ring_of(spout, ++from);
    uint32_t first = (uint32_t)p->mesh.vertex_count;
    uint32_t last = add_rings(p, spout, from, RINGS - 1, PIECES);
    add_part(p, last - PIECES * SECTION, (PIECES + 1) * SECTION, NULL, 0);
    join(p, &r, first, true);
    ring mouth = ring_of(spout, RINGS - 1);
    double x = 0.5 * (mouth.point[0].x + mouth.point[PIECES].x);
    uint32_t centre = add_vertex(p, x, 0, mouth.point[0].z);
    for (uint32_t q = 0; q < SECTION; q++)
        add_triangle(p, last + (q + 1) % SECTION, last + q, centre);
}

static void add_handle(pot *p) {
    size_t from = 0, to = RINGS - 1;
    ring low = ring_of(handle, from), high = ring_of(handle, to);
    while (!is_outside(p, &low))
        low = ring_of(handle, ++from);
    while (!is_outside(p, &high))
        high = ring_of(handle, --to);
    uint32_t first = (uint32_t)p->mesh.vertex_count;
    uint32_t last = add_rings(p, handle, from, to, to);
    join(p, &low, first, false);
    join(p, &high, last, true);
}

/* ---- the scene ---- */

/* m: of the table, and its density in kg/m^3. */
#define LENGTH 0.9
#define WIDTH  0.6
#define THICK  0.03
#define LEG    0.05
#define HEIGHT 0.72
#define WOOD   600

static rg_status make_pot(pot *p, rg_shape **shape, rg_error *error) {
    p->mesh.vertices = p->vertices, p->mesh.triangles = p->triangles;
    add_profile(p);
    add_spout(p);
    add_handle(p);
    close_body(p);
    rg_decomposition parts = {
        .parts = p->parts, .part_count = p->part_count, .allocator = p->mesh.allocator};
    if (p->status)
        rg_fail(error, p->status, "teapot: %s", p->error.text);
    else
        p->status = rg_decomposition_shape(&p->mesh, &parts, shape, error);
    for (size_t i = 0; i < p->part_count; i++)
        rg_shape_release(p->parts[i]);
    return p->status;
}

/* The teapot over the table by `drop` metres, in the orientation of `def`. */
static rg_status add_pot(rg_scene *scene, double drop, rg_body_def *def, rg_error *error) {
    pot *p = rg_allocate_zeroed(&scene->allocator, 1, sizeof *p);
    if (!p)
        return rg_builtin_fail_memory(scene, error);
    p->mesh.allocator = scene->allocator;
    rg_collider_def collider = rg_collider_def_default();
    rg_status status = make_pot(p, &collider.shape, error);
    double lowest = INFINITY;
    for (size_t i = 0; i < p->mesh.vertex_count; i++)
        lowest = fmin(lowest, rg_rotate(def->pose.orientation, p->vertices[i]).z);
    rg_release(&scene->allocator, p);
    if (status)
        return status;
    rg_body_id body;
    def->pose.position = rg_vec3_make(0, 0, HEIGHT + drop - lowest);
    def->colliders = &collider;
    def->collider_count = 1;
    status = rg_world_add_body(scene->world, def, &body, error);
    rg_shape_release(collider.shape);
    return status;
}

enum { TABLE_PARTS = 5 };

static rg_status add_table(rg_scene *scene, rg_error *error) {
    rg_collider_def colliders[TABLE_PARTS];
    rg_status status = RG_OK;
    size_t made = 0;
    for (; made < TABLE_PARTS && !status; made++) {
        bool top = made == 0;
        double x = (made & 1 ? 0.5 : -0.5) * (LENGTH - LEG);
        double y = (made <= 2 ? 0.5 : -0.5) * (WIDTH - LEG), tall = HEIGHT - THICK;
        rg_shape_def box =
            top ? rg_shape_def_box(LENGTH, WIDTH, THICK) : rg_shape_def_box(LEG, LEG, tall);
        colliders[made] = rg_collider_def_default();
        colliders[made].density = WOOD;
        colliders[made].pose.position =
            top ? rg_vec3_make(0, 0, HEIGHT - THICK / 2) : rg_vec3_make(x, y, tall / 2);
        status = rg_shape_create(&box, &scene->allocator, &colliders[made].shape, error);
    }
    made -= status ? 1 : 0;
    rg_body_def def = rg_body_def_default();
    rg_body_id body;
    def.name = "table";
    def.colliders = colliders;
    def.collider_count = TABLE_PARTS;
    if (!status)
        status = rg_world_add_body(scene->world, &def, &body, error);
    for (size_t i = 0; i < made; i++)
        rg_shape_release(colliders[i].shape);
    return status;
}

#define STANDS 20 /* degrees up to which it rights itself */

enum { TEA_DROP, TEA_TILT, TEA_MU };
static const rg_builtin_parameter teapot_parameters[] = {
    {"drop", "0.01", "m that it falls", 0, 10, false, NULL},
    {"tilt", "5", "degrees, spout down", -180, 180, false, NULL},
    {"mu", "0.4", "coefficient of friction", 0, 100, false, NULL},
};

static rg_status build_teapot(rg_scene *scene, const double *values, rg_error *error) {
    rg_status status = rg_builtin_lay_floor(scene, values[TEA_MU], 0, error);
    if (!status)
        status = add_table(scene, error);
    rg_body_def def = rg_body_def_default();
    def.name = "teapot";
    *(bool *)scene->measuring = fabs(values[TEA_TILT]) <= STANDS;
    double tilt = values[TEA_TILT] * RG_PI / 180;
    def.pose.orientation = rg_quat_of_rotation_vector(rg_vec3_make(0, tilt, 0));
    return status ? status : add_pot(scene, values[TEA_DROP], &def, error);
}

/* At rest its bottom is on the table, unless it was dropped on its side: the origin of its frame is
 * the middle of the bottom. */
static size_t measure_teapot(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const bool *upright = scene->measuring;
    rg_body_id body = rg_world_body_at(scene->world, 2);
    rg_pose pose = rg_body_pose(scene->world, body);
    rg_vec3 axis = rg_rotate(pose.orientation, rg_vec3_make(0, 0, 1));
    measures[0] = rg_measure_of("above_table_m", pose.position.z - HEIGHT);
    measures[1] =
        rg_measure_of("tilt_rad", rg_atan2(sqrt(axis.x * axis.x + axis.y * axis.y), axis.z));
    for (int i = 0; i < 2 && *upright; i++)
        measures[i] = rg_measure_beside(measures[i].name, measures[i].value, 0);
    measures[2] = rg_measure_of("mass_kg", rg_body_mass(scene->world, body).mass);
    return 3;
}

const rg_builtin rg_builtin_teapot[] = {
    {"teapot", "a teapot set down on a table", RG_PARAMETERS(teapot_parameters), 0, 2, sizeof(bool),
     build_teapot, NULL, measure_teapot},
    {0},
};
