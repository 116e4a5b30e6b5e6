/* The nearest point of a segment, triangle or tetrahedron to the origin by signed volumes, after
 * the idea of Montanari, Petrinic & Barbieri, "Improving the GJK algorithm for faster and more
 * reliable distance queries between convex objects", ACM Trans. Graph. 36 (2017): barycentric
 * coordinates are ratios of volumes, each of which decides by its sign which lower simplex to look
 * at next; areas are taken in the coordinate plane where the triangle is largest. Flat tetrahedra
 * and triangles fall back to all their faces or edges.
 * Tested by tests/narrow/test_distance.c. */
#include "narrow/narrow_simplex.h"

/* Error of a triple product in units of the product of the lengths. */
#define ROUNDING 4e-15

typedef struct nearest {
    double weight[4], square; /* of the distance */
    bool inside;
} nearest;

static rg_vec3 combine(const rg_vec3 *p, const double *weight) {
    rg_vec3 sum = {0, 0, 0};
    for (int k = 0; k < 4; k++)
        if (weight[k] > 0)
            sum = rg_add_scaled(sum, weight[k], p[k]);
    return sum;
}

static void offer(nearest *best, const rg_vec3 *p, const double *weight) {
    double square = rg_length_squared(combine(p, weight));
    if (!(square < best->square))
        return;
    best->square = square;
    for (int k = 0; k < 4; k++)
        best->weight[k] = weight[k];
}

static void try_segment(nearest *best, const rg_vec3 *p, int a, int b) {
    rg_vec3 along = rg_sub(p[b], p[a]);
    double square = rg_length_squared(along), t = square > 0 ? -rg_dot(p[a], along) / square : 0;
    double weight[4] = {0, 0, 0, 0};
    weight[b] = fmin(1, fmax(0, t));
    weight[a] = 1 - weight[b];
    offer(best, p, weight);
}

static double area(double ux, double uy, double vx, double vy) {
    return ux * vy - uy * vx;
}

/* Twice the signed areas that p, seen along the axis where n is largest, makes with the edges of
 * the triangle: of (p, b, c), (p, c, a), (p, a, b). */
static void areas_of(rg_vec3 n, rg_vec3 p, const rg_vec3 *corner, double out[3]) {
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z), u[3], v[3];
    for (int k = 0; k < 3; k++) {
        rg_vec3 e = rg_sub(corner[k], p);
        if (x >= y && x >= z)
            u[k] = e.y, v[k] = e.z;
        else if (y >= z)
            u[k] = e.z, v[k] = e.x;
        else
            u[k] = e.x, v[k] = e.y;
    }
    double sign = x >= y && x >= z ? n.x : y >= z ? n.y : n.z;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = sign < 0 ? -area(u[i], v[i], u[j], v[j]) : area(u[i], v[i], u[j], v[j]);
    }
}

/* Weights of the foot of the origin inside a triangle. Ratios of areas lose digits in a thin
 * triangle; least squares along its edges, orthogonalised against the longest one, do not. */
static void weigh(const rg_vec3 *corner, const double *part, const int *index, double *weight) {
    double length[3];
    for (int k = 0; k < 3; k++)
        length[k] = rg_length_squared(rg_sub(corner[(k + 1) % 3], corner[k]));
    int a = length[0] >= length[1] && length[0] >= length[2] ? 0 : length[1] >= length[2] ? 1 : 2;
    int b = (a + 1) % 3, c = (a + 2) % 3;
    rg_vec3 u = rg_sub(corner[b], corner[a]), v = rg_sub(corner[c], corner[a]);
    double uu = length[a], along = rg_dot(u, v) / uu;
    rg_vec3 across = rg_add_scaled(v, -along, u);
    rg_vec3 at = rg_add_scaled(corner[a], -rg_dot(u, corner[a]) / uu, u);
    double square = rg_length_squared(across), total = part[0] + part[1] + part[2];
    double t = square > 0 ? -rg_dot(at, across) / square : part[c] / total;
    t = fmin(1, fmax(0, t));
    double s = -(rg_dot(u, corner[a]) / uu + t * along);
    s = fmin(1 - t, fmax(0, s));
    weight[index[a]] = 1 - s - t;
    weight[index[b]] = s;
    weight[index[c]] = t;
}

static void try_triangle(nearest *best, const rg_vec3 *p, const int index[3]) {
    rg_vec3 corner[3] = {p[index[0]], p[index[1]], p[index[2]]};
    rg_vec3 n = rg_cross(rg_sub(corner[1], corner[0]), rg_sub(corner[2], corner[0]));
    double square = rg_length_squared(n), part[3] = {-1, -1, -1};
    if (square > 0) {
        rg_vec3 foot = rg_scale(rg_dot(n, corner[0]) / square, n);
        areas_of(n, foot, corner, part);
        if (part[0] > 0 && part[1] > 0 && part[2] > 0) {
            double weight[4] = {0, 0, 0, 0};
            weigh(corner, part, index, weight);
            offer(best, p, weight);
            return;
        }
    }
    for (int k = 0; k < 3; k++)
        if (!(part[k] > 0))
            try_segment(best, p, index[(k + 1) % 3], index[(k + 2) % 3]);
}

static double volume(rg_vec3 a, rg_vec3 b, rg_vec3 c) {
    return rg_dot(a, rg_cross(b, c));
}

static void try_tetrahedron(nearest *best, const rg_vec3 *p) {
    static const int face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    double part[4], noise[4], total = 0, all = 0, length[4];
    for (int k = 0; k < 4; k++)
        length[k] = rg_length(p[k]);
    for (int k = 0; k < 4; k++) {
        const int *f = face[k];
        part[k] = volume(p[f[0]], p[f[1]], p[f[2]]);
        noise[k] = ROUNDING * length[f[0]] * length[f[1]] * length[f[2]];
        total += part[k];
        all += noise[k];
    }
    /* flat but for rounding: the signs say nothing; and inside means inside beyond doubt */
    bool flat = !(fabs(total) > all), inside = !flat;
    for (int k = 0; k < 4; k++)
        inside = inside && (total > 0 ? part[k] : -part[k]) > noise[k];
    if (inside) {
        best->inside = true;
        best->square = 0;
        for (int k = 0; k < 4; k++)
            best->weight[k] = part[k] / total;
        return;
    }
    for (int k = 0; k < 4; k++)
        if (flat || !((total > 0 ? part[k] : -part[k]) > noise[k]))
            try_triangle(best, p, face[k]);
}

rg_vec3 rg_simplex_reduce(rg_simplex *s) {
    static const int all[3] = {0, 1, 2};
    rg_vec3 p[4];
    nearest best = {.weight = {1, 0, 0, 0}, .square = INFINITY};
    for (int k = 0; k < 4; k++)
        p[k] = s->corner[k < s->count ? k : 0].at;
    if (s->count == 2)
        try_segment(&best, p, 0, 1);
    else if (s->count == 3)
        try_triangle(&best, p, all);
    else if (s->count == 4)
        try_tetrahedron(&best, p);
    rg_vec3 z = best.inside ? rg_vec3_make(0, 0, 0) : combine(p, best.weight);
    int kept = 0;
    for (int k = 0; k < s->count; k++)
        if (best.weight[k] > 0) {
            s->corner[kept] = s->corner[k];
            s->weight[kept++] = best.weight[k];
        }
    s->count = kept;
    return z;
}
