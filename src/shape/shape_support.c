/* Support functions of the convex kinds: the point farthest along a direction.
 *
 * On a convex polyhedron a vertex that no neighbour beats is the best of all, so the search climbs
 * along edges from a good start: the last answer (`hint`) or a table over directions. Rounding and
 * facets that are plane only to a tolerance make plateaus with false summits; there the climb looks
 * across whole facets and around. A move must raise (value, -index) in lexicographic order, so the
 * climb ends, and of exactly equal vertices the one with the lowest index is returned, whatever the
 * start. */
#include "shape/shape.h"

#include "base/base_math.h"

/* Neighbours this near to the best value (in circumradii) may be on a plateau. */
#define PLATEAU 1e-9
/* Most vertices of a plateau of several facets that are looked at. */
#define PLATEAU_VERTICES 64

static void tell(uint32_t *hint, uint32_t vertex) {
    if (hint)
        *hint = vertex;
}

rg_vec3 rg_box_support(const rg_shape *shape, rg_vec3 d, uint32_t *hint) {
    uint32_t vertex = (d.x < 0 ? 0u : 4u) + (d.y < 0 ? 0u : 2u) + (d.z < 0 ? 0u : 1u);
    tell(hint, vertex);
    return shape->solid.view.vertices[vertex];
}

rg_vec3 rg_sphere_support(const rg_shape *shape, rg_vec3 d, uint32_t *hint) {
    tell(hint, 0);
    return rg_scale(shape->def.radius, rg_normalised(d));
}

rg_vec3 rg_capsule_support(const rg_shape *shape, rg_vec3 d, uint32_t *hint) {
    rg_vec3 point = rg_sphere_support(shape, d, hint);
    point.z += d.z < 0 ? -shape->def.length / 2 : shape->def.length / 2;
    return point;
}

rg_vec3 rg_cylinder_support(const rg_shape *shape, rg_vec3 d, uint32_t *hint) {
    tell(hint, 0);
    rg_vec3 point = rg_scale(shape->def.radius, rg_normalised(rg_vec3_make(d.x, d.y, 0)));
    point.z = d.z < 0 ? -shape->def.length / 2 : shape->def.length / 2;
    return point;
}

rg_vec3 rg_cone_support(const rg_shape *shape, rg_vec3 d, uint32_t *hint) {
    tell(hint, 0);
    d = rg_normalised(d);
    rg_vec3 apex = {0, 0, 0.75 * shape->def.length};
    rg_vec3 base = rg_scale(shape->def.radius, rg_normalised(rg_vec3_make(d.x, d.y, 0)));
    base.z = -0.25 * shape->def.length;
    return rg_dot(d, rg_sub(apex, base)) >= 0 ? apex : base;
}

rg_vec3 rg_ellipsoid_support(const rg_shape *shape, rg_vec3 d, uint32_t *hint) {
    tell(hint, 0);
    /* The ellipsoid is the unit ball stretched by S = diag(size): its support is S times the ball's
     * in the direction S d. The direction is scaled first so that S d stays in range. */
    return rg_times(shape->def.size, rg_normalised(rg_times(shape->def.size, rg_normalised(d))));
}

rg_vec3 rg_disc_support(const rg_shape *shape, rg_vec3 d, uint32_t *hint) {
    tell(hint, 0);
    return rg_scale(shape->def.radius, rg_normalised(rg_vec3_make(d.x, 0, d.z)));
}

/* ------------------------------------------------------------------ vertices */

typedef double two __attribute__((vector_size(16), aligned(8), may_alias));
typedef long long two_numbers __attribute__((vector_size(16)));

static two along(rg_vec3 d, const rg_vertex_pair *p) {
    return d.x * *(const two *)p->x + d.y * *(const two *)p->y + d.z * *(const two *)p->z;
}

/* Each lane keeps the first of its best, so of equal vertices the lowest is found. */
static uint32_t scan(const rg_solid *solid, rg_vec3 d) {
    two best = along(d, &solid->pairs[0]);
    two_numbers vertex = {0, 1}, at = vertex;
    uint32_t count = (solid->view.vertex_count + 1) / 2;
    for (uint32_t i = 1; i < count; i++) {
        two value = along(d, &solid->pairs[i]);
        two_numbers higher = value > best;
        vertex += 2;
        best = (two)((higher & (two_numbers)value) | (~higher & (two_numbers)best));
        at = (higher & vertex) | (~higher & at);
    }
    bool second = best[1] > best[0] || (best[1] == best[0] && at[1] < at[0]);
    long long found = second ? at[1] : at[0];
    return found < solid->view.vertex_count ? (uint32_t)found : 0; /* what fills up is vertex 0 */
}

void rg_solid_fill_pairs(rg_solid *solid) {
    uint32_t count = solid->view.vertex_count;
    for (uint32_t v = 0; solid->pairs && v < count + count % 2; v++) {
        rg_vec3 c = solid->centred[v < count ? v : 0];
        rg_vertex_pair *p = &solid->pairs[v / 2];
        p->x[v % 2] = c.x, p->y[v % 2] = c.y, p->z[v % 2] = c.z;
    }
}

void rg_solid_extent(const rg_solid *solid, const rg_vec3 axis[3], double low[3], double high[3]) {
    uint32_t count = (solid->view.vertex_count + 1) / 2;
    for (int k = 0; k < 3; k++) {
        two least = along(axis[k], &solid->pairs[0]), most = least;
        for (uint32_t i = 1; i < count; i++) {
            two value = along(axis[k], &solid->pairs[i]);
            two_numbers higher = value > most, lower = value < least;
            most = (two)((higher & (two_numbers)value) | (~higher & (two_numbers)most));
            least = (two)((lower & (two_numbers)value) | (~lower & (two_numbers)least));
        }
        low[k] = least[0] < least[1] ? least[0] : least[1];
        high[k] = most[0] > most[1] ? most[0] : most[1];
    }
}

/* Vertex `from` beats its neighbours, with *value. The two searches below look for one that beats
 * it in turn, return it and set *value, or return `from`. */

/* All corners of those facets around it that are level with it: however large they are. */
static uint32_t look_across_facets(const rg_solid *solid, rg_vec3 d, uint32_t from, double *value,
                                   double level) {
    const rg_polyhedron *p = &solid->view;
    uint32_t first = p->vertex_start[from], end = p->vertex_start[from + 1], best = from;
    for (uint32_t k = first; k < end; k++) {
        uint32_t facet = solid->vertex_facets[k];
        uint32_t after = p->vertex_neighbours[k + 1 < end ? k + 1 : first];
        if (p->facet_start[facet + 1] - p->facet_start[facet] <= 3 ||
            rg_dot(d, solid->centred[p->vertex_neighbours[k]]) < level ||
            rg_dot(d, solid->centred[after]) < level)
            continue;
        for (uint32_t i = p->facet_start[facet]; i < p->facet_start[facet + 1]; i++) {
            uint32_t u = p->facet_vertices[i];
            double here = rg_dot(d, solid->centred[u]);
            if (here > *value || (here == *value && u < best)) {
                *value = here;
                best = u;
            }
        }
    }
    return best;
}

static bool contains(const uint32_t *list, uint32_t count, uint32_t vertex) {
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == vertex)
            return true;
    return false;
}

/* Vertices that are level with it and connected to it through such vertices, nearest first, up to a
 * number: several small facets together may be level, too. Away from plateaus there are none. */
static uint32_t look_around(const rg_solid *solid, rg_vec3 d, uint32_t from, double *value,
                            double level) {
    const rg_polyhedron *p = &solid->view;
    uint32_t seen[PLATEAU_VERTICES] = {from}, count = 1;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = p->vertex_start[seen[i]]; k < p->vertex_start[seen[i] + 1]; k++) {
            uint32_t u = p->vertex_neighbours[k];
            double here = rg_dot(d, solid->centred[u]);
            if (here > *value || (here == *value && u < from)) {
                *value = here;
                return u;
            }
            if (here >= level && count < PLATEAU_VERTICES && !contains(seen, count, u))
                seen[count++] = u;
        }
    return from;
}

static uint32_t climb(const rg_solid *solid, rg_vec3 d, uint32_t vertex) {
    const rg_polyhedron *p = &solid->view;
    double value = rg_dot(d, solid->centred[vertex]);
    double slack = PLATEAU * solid->circumradius * rg_length(d);
    for (;;) {
        uint32_t best = vertex;
        for (uint32_t k = p->vertex_start[vertex]; k < p->vertex_start[vertex + 1]; k++) {
            uint32_t u = p->vertex_neighbours[k];
            double here = rg_dot(d, solid->centred[u]);
            if (here > value || (here == value && u < best)) {
                value = here;
                best = u;
            }
        }
        if (best == vertex && solid->vertex_facets)
            best = look_across_facets(solid, d, vertex, &value, value - slack);
        if (best == vertex)
            best = look_around(solid, d, vertex, &value, value - slack);
        if (best == vertex)
            return vertex;
        vertex = best;
    }
}

/* The cell of a cube of RG_START_CELLS x RG_START_CELLS cells a face that a direction points to. */
static uint32_t start_cell(rg_vec3 d) {
    double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z), largest, u, v;
    uint32_t face;
    if (x >= y && x >= z) {
        face = d.x < 0 ? 0 : 1;
        largest = x, u = d.y, v = d.z;
    } else if (y >= z) {
        face = d.y < 0 ? 2 : 3;
        largest = y, u = d.z, v = d.x;
    } else {
        face = d.z < 0 ? 4 : 5;
        largest = z, u = d.x, v = d.y;
    }
    double half = 0.5 * RG_START_CELLS;
    uint32_t i = (uint32_t)(half * (u / largest) + half),
             j = (uint32_t)(half * (v / largest) + half);
    i = i < RG_START_CELLS ? i : RG_START_CELLS - 1;
    j = j < RG_START_CELLS ? j : RG_START_CELLS - 1;
    return (face * RG_START_CELLS + i) * RG_START_CELLS + j;
}

void rg_solid_fill_starts(rg_solid *solid) {
    uint32_t vertex = 0;
    for (uint32_t face = 0; face < 6; face++)
        for (uint32_t i = 0; i < RG_START_CELLS; i++)
            for (uint32_t j = 0; j < RG_START_CELLS; j++) {
                double u = (2.0 * i + 1) / RG_START_CELLS - 1,
                       v = (2.0 * j + 1) / RG_START_CELLS - 1;
                double w = face & 1 ? 1 : -1;
                rg_vec3 d = face < 2   ? rg_vec3_make(w, u, v)
                            : face < 4 ? rg_vec3_make(v, w, u)
                                       : rg_vec3_make(u, v, w);
                vertex = climb(solid, d, vertex);
                solid->starts[start_cell(d)] = vertex;
            }
}

uint32_t rg_solid_support(const rg_solid *solid, rg_vec3 direction, const uint32_t *hint) {
    /* The values compared must stay in range, whatever the length of the direction. */
    double m = rg_largest_entry(direction);
    if (!(m > 1e-100 && m < 1e100))
        direction = rg_vec3_make(direction.x / m, direction.y / m, direction.z / m);
    if (solid->pairs)
        return scan(solid, direction);
    uint32_t start = solid->starts[start_cell(direction)];
    if (hint && *hint < solid->view.vertex_count &&
        rg_dot(direction, solid->centred[*hint]) > rg_dot(direction, solid->centred[start]))
        start = *hint;
    return climb(solid, direction, start);
}

rg_vec3 rg_vertex_support(const rg_shape *shape, rg_vec3 direction, uint32_t *hint) {
    uint32_t vertex = rg_solid_support(&shape->solid, direction, hint);
    tell(hint, vertex);
    return shape->solid.view.vertices[vertex];
}
