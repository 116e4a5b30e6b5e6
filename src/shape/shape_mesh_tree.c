/* The triangles of a mesh in a tree of boxes: distance, inside, winding.
 * Tested by tests/shape/test_decompose.c. */
#include "shape/shape_mesh_tree.h"

#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_trig.h"

rg_bounds rg_mesh_triangle_bounds(const rg_mesh *mesh, uint32_t triangle) {
    const uint32_t *k = mesh->triangles + 3 * (size_t)triangle;
    const rg_vec3 *v = mesh->vertices;
    return (rg_bounds){rg_min(rg_min(v[k[0]], v[k[1]]), v[k[2]]),
                       rg_max(rg_max(v[k[0]], v[k[1]]), v[k[2]])};
}

static rg_bounds bounds_of(const void *owner, uint32_t triangle) {
    return rg_mesh_triangle_bounds(owner, triangle);
}

rg_status rg_mesh_tree_build(rg_mesh_tree *tree, const rg_mesh *mesh, const rg_allocator *memory) {
    tree->mesh = mesh;
    return rg_tree_build(&tree->boxes, mesh->triangle_count, bounds_of, mesh, memory);
}

void rg_mesh_tree_free(rg_mesh_tree *tree, const rg_allocator *memory) {
    rg_tree_free(&tree->boxes, memory);
}

/* --- distance --------------------------------------------------------------------------------- */

static double box_distance(const rg_bounds *b, rg_vec3 p) {
    rg_vec3 out = rg_max(rg_sub(b->lower, p), rg_sub(p, b->upper));
    return rg_length(rg_max(out, (rg_vec3){0, 0, 0}));
}

static double segment_distance(rg_vec3 a, rg_vec3 b, rg_vec3 p) {
    rg_vec3 along = rg_sub(b, a);
    double length = rg_length_squared(along);
    double t = length > 0 ? rg_dot(along, rg_sub(p, a)) / length : 0;
    return rg_length(rg_sub(p, rg_add_scaled(a, fmin(1, fmax(0, t)), along)));
}

double rg_mesh_triangle_distance(const rg_mesh *mesh, uint32_t triangle, rg_vec3 p) {
    const uint32_t *k = mesh->triangles + 3 * (size_t)triangle;
    rg_vec3 v[3] = {mesh->vertices[k[0]], mesh->vertices[k[1]], mesh->vertices[k[2]]};
    rg_vec3 normal = rg_cross(rg_sub(v[1], v[0]), rg_sub(v[2], v[0]));
    bool above = rg_length_squared(normal) > 0;
    double least = INFINITY;
    for (int i = 0; i < 3; i++) {
        rg_vec3 from = v[i], to = v[(i + 1) % 3];
        above &= rg_dot(rg_cross(normal, rg_sub(to, from)), rg_sub(p, from)) >= 0;
        least = fmin(least, segment_distance(from, to, p));
    }
    return above ? fabs(rg_dot(normal, rg_sub(p, v[0]))) / rg_length(normal) : least;
}

double rg_mesh_tree_distance(const rg_mesh_tree *tree, rg_vec3 p, uint32_t *triangle) {
    uint32_t waiting[RG_TREE_DEEPEST], at = 0;
    const rg_box_tree *boxes = &tree->boxes;
    size_t count = 0;
    double least = INFINITY;
    while (boxes->node_count > 0) {
        const rg_tree_node *node = &boxes->nodes[at];
        bool near = box_distance(&node->bounds, p) < least;
        if (near && node->count == 0) {
            uint32_t one = at + 1, other = node->first;
            bool swap = box_distance(&boxes->nodes[other].bounds, p) <
                        box_distance(&boxes->nodes[one].bounds, p);
            waiting[count++] = swap ? one : other;
            at = swap ? other : one;
            continue;
        }
        for (uint32_t i = 0; near && i < node->count; i++) {
            uint32_t here = boxes->order[node->first + i];
            double d = rg_mesh_triangle_distance(tree->mesh, here, p);
            if (d < least) {
                least = d;
                *triangle = here;
            }
        }
        if (count == 0)
            break;
        at = waiting[--count];
    }
    return least;
}

/* --- inside ----------------------------------------------------------------------------------- */

double rg_mesh_winding(const rg_mesh *mesh, rg_vec3 p) {
    double sum = 0;
    for (size_t i = 0; i < 3 * mesh->triangle_count; i += 3) {
        rg_vec3 a = rg_sub(mesh->vertices[mesh->triangles[i]], p);
        rg_vec3 b = rg_sub(mesh->vertices[mesh->triangles[i + 1]], p);
        rg_vec3 c = rg_sub(mesh->vertices[mesh->triangles[i + 2]], p);
        double la = rg_length(a), lb = rg_length(b), lc = rg_length(c);
        double across = rg_dot(a, rg_cross(b, c));
        double along = la * lb * lc + rg_dot(a, b) * lc + rg_dot(b, c) * la + rg_dot(c, a) * lb;
        if (across != 0 || along != 0)
            sum += rg_atan2(across, along);
    }
    return sum / (2 * RG_PI);
}

typedef struct ray {
    const rg_mesh *mesh;
    rg_vec3 from;
    int crossings; /* upwards through the surface, less downwards */
    bool unclear;
} ray;

/* A ray this near to an edge, or to its triangle at its beginning, is not decided by it; of the
 * triangle's extent. */
#define UNCLEAR 1e-9

static bool cross_triangle(void *user, uint32_t triangle) {
    ray *r = user;
    const uint32_t *k = r->mesh->triangles + 3 * (size_t)triangle;
    rg_vec3 v[3];
    double side[3], size = 0;
    for (int i = 0; i < 3; i++) {
        v[i] = rg_sub(r->mesh->vertices[k[i]], r->from);
        size = fmax(size, rg_largest_entry(v[i]));
    }
    double unclear = UNCLEAR * size * size;
    int left = 0, right = 0;
    for (int i = 0; i < 3; i++) {
        int next = (i + 1) % 3;
        side[i] = v[i].x * v[next].y - v[i].y * v[next].x;
        left += side[i] > unclear;
        right += side[i] < -unclear;
    }
    if (left > 0 && right > 0)
        return true; /* beside it */
    r->unclear = left + right < 3;
    if (r->unclear)
        return false;
    double above =
        (side[1] * v[0].z + side[2] * v[1].z + side[0] * v[2].z) / (side[0] + side[1] + side[2]);
    r->unclear = fabs(above) <= UNCLEAR * size;
    if (above > 0)
        r->crossings += left > 0 ? 1 : -1;
    return !r->unclear;
}

bool rg_mesh_tree_inside(const rg_mesh_tree *tree, rg_vec3 p) {
    ray r = {.mesh = tree->mesh, .from = p};
    rg_bounds column = {p, {p.x, p.y, INFINITY}};
    rg_tree_visit(&tree->boxes, &column, 0, cross_triangle, &r);
    return r.unclear ? rg_mesh_winding(tree->mesh, p) > 0.5 : r.crossings > 0;
}
