/* A tree of boxes over the triangles of a mesh, cut at the middle of the longest side of the box of
 * their centres, or evenly where that parts nothing.
 * Tested by tests/shape/test_decompose.c. */
#include "shape/shape_mesh_tree.h"

#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_trig.h"

enum {
    LEAF = 4,    /* triangles */
    DEEPEST = 96 /* levels; below half of it cuts are even, and 2^48 triangles are too many */
};

rg_bounds rg_mesh_triangle_bounds(const rg_mesh *mesh, uint32_t triangle) {
    const uint32_t *k = mesh->triangles + 3 * (size_t)triangle;
    const rg_vec3 *v = mesh->vertices;
    return (rg_bounds){rg_min(rg_min(v[k[0]], v[k[1]]), v[k[2]]),
                       rg_max(rg_max(v[k[0]], v[k[1]]), v[k[2]])};
}

static double coordinate(rg_vec3 v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static rg_vec3 centre_of(const rg_mesh *mesh, uint32_t triangle) {
    rg_bounds b = rg_mesh_triangle_bounds(mesh, triangle);
    return rg_scale(0.5, rg_add(b.lower, b.upper));
}

static size_t cut(const rg_mesh *mesh, uint32_t *order, size_t count, bool even) {
    rg_bounds b = {centre_of(mesh, order[0]), centre_of(mesh, order[0])};
    for (size_t i = 1; i < count; i++) {
        rg_vec3 c = centre_of(mesh, order[i]);
        b = (rg_bounds){rg_min(b.lower, c), rg_max(b.upper, c)};
    }
    rg_vec3 size = rg_sub(b.upper, b.lower);
    int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    double at = 0.5 * (coordinate(b.lower, axis) + coordinate(b.upper, axis));
    size_t left = 0;
    for (size_t i = 0; i < count && !even; i++)
        if (coordinate(centre_of(mesh, order[i]), axis) < at) {
            uint32_t swap = order[left];
            order[left++] = order[i];
            order[i] = swap;
        }
    return left == 0 || left == count ? count / 2 : left;
}

static rg_bounds join(rg_bounds a, rg_bounds b) {
    return (rg_bounds){rg_min(a.lower, b.lower), rg_max(a.upper, b.upper)};
}

static rg_bounds build(rg_mesh_tree *t, size_t first, size_t count, int depth) {
    rg_mesh_node *node = &t->nodes[t->node_count++];
    node->bounds = rg_mesh_triangle_bounds(t->mesh, t->order[first]);
    if (count <= LEAF) {
        for (size_t i = 1; i < count; i++)
            node->bounds =
                join(node->bounds, rg_mesh_triangle_bounds(t->mesh, t->order[first + i]));
        node->first = (uint32_t)first;
        node->count = (uint32_t)count;
        return node->bounds;
    }
    size_t left = cut(t->mesh, t->order + first, count, depth > DEEPEST / 2);
    rg_bounds one = build(t, first, left, depth + 1);
    node->first = (uint32_t)t->node_count;
    node->count = 0;
    node->bounds = join(one, build(t, first + left, count - left, depth + 1));
    return node->bounds;
}

rg_status rg_mesh_tree_build(rg_mesh_tree *tree, const rg_mesh *mesh, const rg_allocator *memory) {
    *tree = (rg_mesh_tree){.mesh = mesh};
    size_t count = mesh->triangle_count;
    tree->nodes = rg_allocate(memory, 2 * count, sizeof *tree->nodes);
    tree->order = rg_allocate(memory, count, sizeof *tree->order);
    if (!tree->nodes || !tree->order) {
        rg_mesh_tree_free(tree, memory);
        return RG_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++)
        tree->order[i] = i;
    if (count > 0)
        build(tree, 0, count, 0);
    return RG_OK;
}

void rg_mesh_tree_free(rg_mesh_tree *tree, const rg_allocator *memory) {
    rg_release(memory, tree->nodes);
    rg_release(memory, tree->order);
    *tree = (rg_mesh_tree){0};
}

void rg_mesh_tree_visit(const rg_mesh_tree *tree, const rg_bounds *bounds, rg_mesh_visitor *visitor,
                        void *user) {
    uint32_t waiting[DEEPEST], at = 0;
    size_t count = 0;
    while (tree->node_count > 0) {
        const rg_mesh_node *node = &tree->nodes[at];
        bool meets = rg_bounds_overlap(&node->bounds, bounds);
        if (meets && node->count == 0) {
            waiting[count++] = node->first;
            at++;
            continue;
        }
        for (uint32_t i = 0; meets && i < node->count; i++) {
            uint32_t triangle = tree->order[node->first + i];
            rg_bounds own = rg_mesh_triangle_bounds(tree->mesh, triangle);
            if (rg_bounds_overlap(&own, bounds) && !visitor(user, triangle))
                return;
        }
        if (count == 0)
            return;
        at = waiting[--count];
    }
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
    uint32_t waiting[DEEPEST], at = 0;
    size_t count = 0;
    double least = INFINITY;
    while (tree->node_count > 0) {
        const rg_mesh_node *node = &tree->nodes[at];
        bool near = box_distance(&node->bounds, p) < least;
        if (near && node->count == 0) {
            uint32_t one = at + 1, other = node->first;
            bool swap = box_distance(&tree->nodes[other].bounds, p) <
                        box_distance(&tree->nodes[one].bounds, p);
            waiting[count++] = swap ? one : other;
            at = swap ? other : one;
            continue;
        }
        for (uint32_t i = 0; near && i < node->count; i++) {
            uint32_t here = tree->order[node->first + i];
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
    rg_mesh_tree_visit(tree, &column, cross_triangle, &r);
    return r.unclear ? rg_mesh_winding(tree->mesh, p) > 0.5 : r.crossings > 0;
}
