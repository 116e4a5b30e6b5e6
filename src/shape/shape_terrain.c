/* Terrain: a surface of triangles that does not move, against convex shapes.
 *
 * A triangle has no inside, and everything here needs one. So each triangle is the top of a convex
 * prism: what is below it, down to a thickness. If all triangles face one way (they are the graph
 * of a function over some plane, as a height field is), all prisms go down along that way, and two
 * neighbours share a side exactly: nothing is between them, and nothing overlaps. Otherwise each
 * goes down along its own normal; below ridges there are wedges between prisms, which the surface
 * closes. Sides between neighbours are inner faces like those of flush tiles, and are not felt for
 * the same reason (contact_plane.c).
 *
 * A prism is made when it is asked for, in memory of whoever asks: what is kept is 12 bytes per
 * triangle, its corners, and a binary tree of boxes (shape_tree.h). A question costs the depth of
 * the tree and what it finds.
 *
 * Tested by tests/shape/test_terrain.c. */
#include "shape/shape_terrain.h"

#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_sort.h"
#include "base/base_text.h"

#include <string.h>

/* Cosine between a triangle's normal and the common way up: flatter prisms than this would have no
 * inside to speak of. */
#define STEEPEST 0.05

/* Of a radius: what rounding may have added to a distance. */
#define ROUNDED 1e-9

/* Of a radius: by how much a corner may be above a plane that it is in, from rounding. */
#define IN_PLANE 1e-12

/* Triangles of a node of the tree that has a disc: larger ones are too thick to be left out. */
enum { MOST_IN_DISC = 64 };

/* A flat cylinder about the prisms of a node, along their mean normal. Boxes of slopes reach far
 * above the ground. */
typedef struct terrain_disc {
    rg_vec3 middle, normal; /* unit */
    double radius;          /* m; infinite: none */
    double high, low;       /* m: along the normal, from the middle */
} terrain_disc;

struct rg_terrain {
    const rg_vec3 *vertices; /* the shape's points */
    uint32_t *triangles;     /* as they were given */
    size_t count;
    double thickness;
    double largest;      /* m: across the box of a prism */
    rg_vec3 up;          /* unit: that of all prisms; zero: each its own normal */
    rg_box_tree tree;    /* of the prisms */
    terrain_disc *discs; /* of its nodes */
    rg_solid prism;      /* the adjacency of all of them */
};

static const uint32_t prism_start[RG_PRISM_FACETS + 1] = {0, 3, 6, 10, 14, 18};
static const uint32_t prism_corners[18] = {0, 1, 2, 3, 5, 4, 1, 0, 3, 4, 2, 1, 4, 5, 0, 2, 5, 3};

/* --- prisms ----------------------------------------------------------------------------------- */

static rg_vec3 area_of(const rg_terrain *t, uint32_t triangle) {
    return rg_loop_area(t->vertices, t->triangles + 3 * (size_t)triangle, 3);
}

static void corners_of(const rg_terrain *t, uint32_t triangle, rg_vec3 p[RG_PRISM_VERTICES]) {
    bool common = rg_length_squared(t->up) > 0;
    rg_vec3 up = common ? t->up : rg_normalised(area_of(t, triangle));
    for (int i = 0; i < 3; i++) {
        p[i] = t->vertices[t->triangles[3 * (size_t)triangle + (size_t)i]];
        p[i + 3] = rg_add_scaled(p[i], -t->thickness, up);
    }
}

static rg_bounds around(const rg_vec3 *points, int count) {
    rg_bounds b = {points[0], points[0]};
    for (int i = 1; i < count; i++)
        b = (rg_bounds){rg_min(b.lower, points[i]), rg_max(b.upper, points[i])};
    return b;
}

static rg_bounds bounds_of(const void *owner, uint32_t triangle) {
    rg_vec3 p[RG_PRISM_VERTICES];
    corners_of(owner, triangle, p);
    return around(p, RG_PRISM_VERTICES);
}

const rg_shape *rg_terrain_part(const rg_shape *terrain, uint32_t triangle, rg_terrain_room *room) {
    const rg_terrain *t = terrain->terrain;
    rg_shape *s = &room->shape;
    rg_vec3 centre = {0, 0, 0};
    memset(s, 0, sizeof *s);
    corners_of(t, triangle, room->vertices);
    for (int i = 0; i < RG_PRISM_VERTICES; i++)
        centre = rg_add_scaled(centre, 1.0 / RG_PRISM_VERTICES, room->vertices[i]);
    s->kind = RG_SHAPE_HULL;
    s->def = rg_shape_def_hull(room->vertices, RG_PRISM_VERTICES);
    s->centre = centre;
    s->solid = t->prism;
    s->solid.view.centre = centre;
    s->solid.view.vertices = room->vertices;
    s->solid.view.normals = room->normals;
    s->solid.view.offsets = room->offsets;
    s->solid.centred = room->centred;
    s->solid.pairs = room->pairs;
    s->inradius = INFINITY;
    for (int i = 0; i < RG_PRISM_VERTICES; i++) {
        room->centred[i] = rg_sub(room->vertices[i], centre);
        s->circumradius = fmax(s->circumradius, rg_length(room->centred[i]));
    }
    rg_solid_fill_pairs(&s->solid);
    for (int f = 0; f < RG_PRISM_FACETS; f++) {
        uint32_t start = prism_start[f], count = prism_start[f + 1] - start;
        rg_vec3 n = f == 1
                        ? rg_neg(room->normals[0])
                        : rg_normalised(rg_loop_area(room->vertices, prism_corners + start, count));
        double farthest = -INFINITY;
        for (int i = 0; i < RG_PRISM_VERTICES; i++)
            farthest = fmax(farthest, rg_dot(n, room->centred[i]));
        room->normals[f] = n;
        room->offsets[f] = farthest;
        s->inradius = fmin(s->inradius, farthest);
    }
    s->solid.inradius = s->inradius;
    s->solid.circumradius = s->circumradius;
    return s;
}

const rg_shape *rg_terrain_plane(const rg_shape *terrain, uint32_t triangle,
                                 rg_terrain_room *room) {
    const rg_terrain *t = terrain->terrain;
    const uint32_t *corner = t->triangles + 3 * (size_t)triangle;
    rg_shape *s = &room->shape;
    rg_vec3 n = rg_normalised(area_of(t, triangle)), middle = {0, 0, 0};
    for (int i = 0; i < 3; i++)
        middle = rg_add_scaled(middle, 1.0 / 3, t->vertices[corner[i]]);
    memset(s, 0, sizeof *s);
    s->kind = RG_SHAPE_HALFSPACE;
    rg_shape_def def = rg_shape_def_halfspace(n, rg_dot(n, middle));
    rg_halfspace_make(s, &def, NULL);
    return s;
}

uint32_t rg_terrain_count(const rg_shape *terrain) {
    return (uint32_t)terrain->terrain->count;
}

rg_vec3 rg_terrain_middle(const rg_shape *terrain, uint32_t triangle) {
    rg_vec3 p[RG_PRISM_VERTICES], sum = {0, 0, 0};
    corners_of(terrain->terrain, triangle, p);
    for (int i = 0; i < RG_PRISM_VERTICES; i++)
        sum = rg_add_scaled(sum, 1.0 / RG_PRISM_VERTICES, p[i]);
    return sum;
}

double rg_terrain_reach(const rg_shape *terrain, uint32_t triangle, rg_vec3 n) {
    rg_vec3 p[RG_PRISM_VERTICES];
    double most = -INFINITY;
    corners_of(terrain->terrain, triangle, p);
    for (int i = 0; i < RG_PRISM_VERTICES; i++)
        most = fmax(most, rg_dot(n, p[i]));
    return most;
}

double rg_terrain_largest(const rg_shape *terrain) {
    return terrain->terrain->largest;
}

void rg_terrain_visit(const rg_shape *terrain, const rg_bounds *bounds, rg_tree_visitor *visitor,
                      void *user) {
    rg_tree_visit(&terrain->terrain->tree, bounds, 0, visitor, user);
}

/* --- lists ------------------------------------------------------------------------------------ */

typedef struct collection {
    rg_arena *arena;
    uint32_t *list;
    size_t count, capacity;
    bool failed;
} collection;

static bool collect(void *user, uint32_t triangle) {
    collection *c = user;
    c->failed = !rg_arena_grow(c->arena, &c->list, c->count, &c->capacity, sizeof *c->list);
    if (!c->failed)
        c->list[c->count++] = triangle;
    return !c->failed;
}

static bool is_before(const uint32_t *a, const uint32_t *b) {
    return *a < *b;
}

RG_DEFINE_HEAP_SORT(sort_triangles, uint32_t, is_before)

bool rg_terrain_find(const rg_shape *terrain, const rg_bounds *bounds, rg_arena *arena,
                     uint32_t **triangles, size_t *count) {
    collection c = {.arena = arena};
    rg_terrain_visit(terrain, bounds, collect, &c);
    sort_triangles(c.list, c.count);
    *triangles = c.list;
    *count = c.count;
    return !c.failed;
}

/* --- what a ball may touch -------------------------------------------------------------------- */

/* The point of a triangle nearest to p. */
static rg_vec3 nearest_point(const rg_vec3 corner[3], rg_vec3 p) {
    rg_vec3 normal = rg_cross(rg_sub(corner[1], corner[0]), rg_sub(corner[2], corner[0]));
    rg_vec3 nearest = corner[0];
    double least = INFINITY;
    bool above = true;
    for (int i = 0; i < 3; i++) {
        rg_vec3 from = corner[i], along = rg_sub(corner[(i + 1) % 3], from);
        rg_vec3 way = rg_sub(p, from);
        if (rg_dot(rg_cross(normal, along), way) >= 0)
            continue;
        above = false;
        double t = fmin(1, fmax(0, rg_dot(along, way) / rg_length_squared(along)));
        rg_vec3 foot = rg_add_scaled(from, t, along);
        double distance = rg_length_squared(rg_sub(p, foot));
        if (distance < least) {
            least = distance;
            nearest = foot;
        }
    }
    double height = rg_dot(normal, rg_sub(p, corner[0])) / rg_length_squared(normal);
    return above ? rg_add_scaled(p, -height, normal) : nearest;
}

/* Whether the plane through `foot` across the way to the middle of the path shows it. The centre
 * is c + d, c now, d = p + u with p in the hull of the path and |u| <= slack, and m . d >= -height.
 * For any n and any l >= 0
 *
 *     n . d >= min over p of (n - l m) . p - |n - l m| slack - l height;
 *
 * l = 1 is good where n is nearly m: what lies under the plane on which the ball rolls, or beside
 * it, is not touched however much the ball is pressed down. */
static bool separates(const rg_vec3 p[RG_PRISM_VERTICES], rg_vec3 foot, rg_vec3 middle,
                      const rg_terrain_path *path) {
    rg_vec3 n = rg_sub(middle, foot), c = path->points[0];
    double length = rg_length(n), high = -INFINITY;
    if (!(length > 0))
        return false;
    n = rg_scale(1 / length, n);
    for (int i = 0; i < RG_PRISM_VERTICES; i++) {
        double height = rg_dot(n, rg_sub(p[i], foot));
        high = height > high ? height : high;
    }
    double above = rg_dot(n, rg_sub(c, foot)) - high - path->radius;
    for (int l = 0; l <= (rg_length_squared(path->normal) > 0); l++) {
        rg_vec3 way = rg_add_scaled(n, -l, path->normal);
        double least = 0; /* at c itself */
        for (int i = 1; i < path->count; i++)
            least = fmin(least, rg_dot(way, rg_sub(path->points[i], c)));
        if (above + least - (l ? rg_length(way) : 1) * path->slack - l * path->height > 0)
            return true;
    }
    return false;
}

/* Whether a prism is not above the plane that the lowest point of the ball stays above. What is in
 * that plane, such as other triangles of flat ground, asks for no more than it. */
static bool is_below(const rg_vec3 p[RG_PRISM_VERTICES], const rg_terrain_path *path) {
    double high = -INFINITY;
    if (rg_length_squared(path->normal) == 0)
        return false;
    for (int i = 0; i < RG_PRISM_VERTICES; i++)
        high = fmax(high, rg_dot(path->normal, rg_sub(p[i], path->points[0])));
    return -high - path->radius - path->height >= -IN_PLANE * path->radius;
}

static rg_vec3 middle_of(const rg_terrain_path *path) {
    rg_vec3 middle = {0, 0, 0};
    for (int i = 0; i < path->count; i++)
        middle = rg_add_scaled(middle, 1.0 / path->count, path->points[i]);
    return middle;
}

/* A plane through the middle of the triangle is found at once; the one through the point nearest to
 * the path is the best. Of a ball that rolls on a plane that is nearest to one of its ends. */
static bool are_beyond(const rg_vec3 p[RG_PRISM_VERTICES], rg_vec3 middle,
                       const rg_terrain_path *path) {
    if (is_below(p, path))
        return true;
    rg_vec3 centre = rg_scale(1.0 / 3, rg_add(p[0], rg_add(p[1], p[2])));
    bool beyond =
        separates(p, centre, middle, path) || separates(p, nearest_point(p, middle), middle, path);
    bool rolls = path->count > 1 && rg_length_squared(path->normal) > 0;
    for (int i = 0; i < path->count && rolls && !beyond; i++)
        beyond = separates(p, nearest_point(p, path->points[i]), path->points[i], path);
    return beyond;
}

bool rg_prism_is_beyond(const rg_shape *prism, const rg_terrain_path *path) {
    return are_beyond(prism->solid.view.vertices, middle_of(path), path);
}

bool rg_terrain_is_beyond(const rg_shape *terrain, uint32_t triangle, const rg_terrain_path *path) {
    rg_vec3 p[RG_PRISM_VERTICES];
    corners_of(terrain->terrain, triangle, p);
    return are_beyond(p, middle_of(path), path);
}

double rg_terrain_distance(const rg_shape *terrain, uint32_t triangle, rg_vec3 p) {
    rg_vec3 corners[RG_PRISM_VERTICES];
    corners_of(terrain->terrain, triangle, corners);
    return rg_length(rg_sub(p, nearest_point(corners, p)));
}

/* Whether a plane across the way from the disc to the middle of the path shows that it is not
 * touched. */
static bool is_disc_beyond(const terrain_disc *disc, rg_vec3 middle, const rg_terrain_path *path) {
    rg_vec3 way = rg_sub(middle, disc->middle);
    double up = rg_dot(way, disc->normal), least = INFINITY;
    rg_vec3 aside = rg_add_scaled(way, -up, disc->normal);
    double far = rg_length(aside), share = far > disc->radius ? 1 - disc->radius / far : 0;
    rg_vec3 n = rg_add_scaled(rg_scale(share, aside), up, disc->normal);
    double length = rg_length(n);
    if (!(length > 0))
        return false;
    n = rg_scale(1 / length, n);
    for (int i = 0; i < path->count; i++)
        least = fmin(least, rg_dot(n, rg_sub(path->points[i], disc->middle)));
    double along = rg_dot(n, disc->normal), across = sqrt(fmax(0, 1 - along * along));
    double reach = across * disc->radius + along * (along > 0 ? disc->high : disc->low);
    return least - reach > path->radius + path->slack;
}

/* Whether all prisms of a node are out of reach. */
static bool is_node_beyond(const rg_terrain *t, size_t node, const rg_terrain_path *path,
                           rg_vec3 middle, const rg_bounds *box) {
    double reach = path->radius + path->slack;
    const rg_bounds *b = &t->tree.nodes[node].bounds;
    rg_vec3 out = rg_max(rg_sub(b->lower, box->upper), rg_sub(box->lower, b->upper));
    if (rg_length_squared(rg_max(out, (rg_vec3){0, 0, 0})) > reach * reach)
        return true;
    return isfinite(t->discs[node].radius) && is_disc_beyond(&t->discs[node], middle, path);
}

static void collect_along(const rg_shape *terrain, const rg_terrain_path *path, collection *c) {
    const rg_terrain *t = terrain->terrain;
    rg_bounds box = around(path->points, path->count);
    rg_vec3 middle = middle_of(path), p[RG_PRISM_VERTICES];
    uint32_t waiting[RG_TREE_DEEPEST];
    size_t count = 0;
    c->count = 0;
    for (uint32_t at = 0;; at = waiting[--count]) {
        while (!is_node_beyond(t, at, path, middle, &box)) {
            const rg_tree_node *node = &t->tree.nodes[at];
            if (node->count == 0) {
                waiting[count++] = node->first;
                at++;
                continue;
            }
            for (uint32_t i = 0; i < node->count && !c->failed; i++) {
                uint32_t triangle = t->tree.order[node->first + i];
                corners_of(t, triangle, p);
                if (!are_beyond(p, middle, path))
                    collect(c, triangle);
            }
            break;
        }
        if (count == 0)
            return;
    }
}

/* m: no prism of a node is nearer to a point. */
static double node_distance(const rg_terrain *t, uint32_t node, rg_vec3 p) {
    const terrain_disc *disc = &t->discs[node];
    if (!isfinite(disc->radius)) {
        const rg_bounds *b = &t->tree.nodes[node].bounds;
        rg_vec3 out = rg_max(rg_sub(b->lower, p), rg_sub(p, b->upper));
        return rg_length(rg_max(out, (rg_vec3){0, 0, 0}));
    }
    rg_vec3 way = rg_sub(p, disc->middle);
    double up = rg_dot(way, disc->normal);
    double aside = rg_length(rg_add_scaled(way, -up, disc->normal)) - disc->radius;
    double above = fmax(up - disc->high, disc->low - up);
    return sqrt(fmax(aside, 0) * fmax(aside, 0) + fmax(above, 0) * fmax(above, 0));
}

/* m: from a point to the nearest triangle, if that is nearer than `least`. */
static double find_nearest(const rg_shape *terrain, rg_vec3 p, double least, uint32_t *nearest) {
    const rg_terrain *t = terrain->terrain;
    const rg_tree_node *nodes = t->tree.nodes;
    uint32_t waiting[RG_TREE_DEEPEST];
    size_t count = 0;
    for (uint32_t at = 0;; at = waiting[--count]) {
        while (node_distance(t, at, p) < least) {
            if (nodes[at].count == 0) {
                uint32_t one = at + 1, other = nodes[at].first;
                bool swap = node_distance(t, other, p) < node_distance(t, one, p);
                waiting[count++] = swap ? one : other;
                at = swap ? other : one;
                continue;
            }
            for (uint32_t i = 0; i < nodes[at].count; i++) {
                uint32_t triangle = t->tree.order[nodes[at].first + i];
                double distance = rg_terrain_distance(terrain, triangle, p);
                if (distance < least) {
                    least = distance;
                    *nearest = triangle;
                }
            }
            break;
        }
        if (count == 0)
            return least;
    }
}

bool rg_terrain_nearest(const rg_shape *terrain, rg_vec3 p, double within, uint32_t *triangle) {
    *triangle = UINT32_MAX;
    find_nearest(terrain, p, within, triangle);
    return *triangle != UINT32_MAX;
}

bool rg_terrain_find_along(const rg_shape *terrain, const rg_terrain_path *path, bool only,
                           rg_arena *arena, uint32_t **triangles, size_t *count) {
    collection c = {.arena = arena};
    rg_terrain_path narrow = *path;
    if (only) {
        rg_vec3 last = path->points[path->count - 1];
        uint32_t nearest;
        double gap =
            find_nearest(terrain, last, path->radius + path->slack, &nearest) - path->radius;
        narrow.slack = fmin(path->slack, fmax(gap, 0) + ROUNDED * path->radius);
    }
    collect_along(terrain, &narrow, &c);
    sort_triangles(c.list, c.count);
    *triangles = c.list;
    *count = c.count;
    return !c.failed;
}

/* --- flush triangles -------------------------------------------------------------------------- */

static double height_over(const rg_shape *plane, rg_vec3 p) {
    return rg_dot(plane->def.normal, p) - plane->def.offset;
}

bool rg_terrain_is_flush(const rg_shape *terrain, uint32_t triangle, const rg_shape *plane,
                         double slack) {
    rg_vec3 p[RG_PRISM_VERTICES];
    corners_of(terrain->terrain, triangle, p);
    for (int i = 0; i < 3; i++)
        if (!(fabs(height_over(plane, p[i])) <= slack))
            return false;
    return true;
}

/* Whether no corner of a prism is above a plane. */
static bool is_under(const rg_terrain *t, uint32_t triangle, const rg_shape *plane, double slack) {
    rg_vec3 p[RG_PRISM_VERTICES];
    corners_of(t, triangle, p);
    for (int i = 0; i < RG_PRISM_VERTICES; i++)
        if (!(height_over(plane, p[i]) <= slack))
            return false;
    return true;
}

/* A point that is looked for among triangles. */
typedef struct place_over {
    const rg_terrain *terrain;
    const rg_shape *plane;
    rg_vec3 point;
    double slack, lateral;
    bool covered;
    uint32_t triangle;
} place_over;

static bool look_under(void *user, uint32_t triangle) {
    place_over *q = user;
    rg_vec3 p[RG_PRISM_VERTICES], n = q->plane->def.normal;
    corners_of(q->terrain, triangle, p);
    bool under = rg_dot(n, area_of(q->terrain, triangle)) > 0;
    for (int i = 0; i < 3 && under; i++) {
        rg_vec3 along = rg_sub(p[(i + 1) % 3], p[i]);
        double inside = rg_dot(rg_cross(n, along), rg_sub(q->point, p[i]));
        under = fabs(height_over(q->plane, p[i])) <= q->slack &&
                inside >= -q->lateral * rg_length(along);
    }
    q->covered = under;
    q->triangle = triangle;
    return !under;
}

bool rg_terrain_covers(const rg_shape *terrain, const rg_shape *plane, rg_vec3 p, double slack,
                       double lateral, uint32_t *triangle) {
    place_over q = {terrain->terrain, plane, p, slack, lateral, false, 0};
    rg_vec3 n = plane->def.normal, grow = {lateral, lateral, lateral};
    q.point = p = rg_add_scaled(p, -height_over(plane, p), n);
    rg_bounds at = {rg_sub(p, grow), rg_add(p, grow)};
    rg_terrain_visit(terrain, &at, look_under, &q);
    *triangle = q.triangle;
    return q.covered;
}

/* Whether all prisms of a node are under a plane. */
static bool is_node_under(const terrain_disc *disc, const rg_shape *plane, double slack) {
    rg_vec3 n = plane->def.normal;
    if (!isfinite(disc->radius))
        return false;
    double along = rg_dot(n, disc->normal);
    double across = rg_length(rg_add_scaled(n, -along, disc->normal));
    double high = across * disc->radius + along * (along > 0 ? disc->high : disc->low);
    return height_over(plane, disc->middle) + high <= slack;
}

static bool overlap(const rg_bounds *x, const rg_bounds *y) {
    return x->lower.x <= y->upper.x && y->lower.x <= x->upper.x && x->lower.y <= y->upper.y &&
           y->lower.y <= x->upper.y && x->lower.z <= y->upper.z && y->lower.z <= x->upper.z;
}

bool rg_terrain_find_above(const rg_shape *terrain, const rg_bounds *bounds,
                           const rg_terrain_floor *floor, rg_arena *arena, uint32_t **triangles,
                           size_t *count) {
    const rg_terrain *t = terrain->terrain;
    collection c = {.arena = arena};
    uint32_t waiting[RG_TREE_DEEPEST], at = 0;
    size_t left = 0;
    for (;;) {
        const rg_tree_node *node = &t->tree.nodes[at];
        bool enter = !c.failed && overlap(&node->bounds, bounds) &&
                     !is_node_under(&t->discs[at], floor->plane, floor->slack);
        if (enter && node->count == 0) {
            waiting[left++] = node->first;
            at++;
            continue;
        }
        for (uint32_t i = 0; enter && i < node->count && !c.failed; i++) {
            uint32_t triangle = t->tree.order[node->first + i];
            rg_bounds box = bounds_of(t, triangle);
            if (overlap(&box, bounds) && !is_under(t, triangle, floor->plane, floor->slack))
                collect(&c, triangle);
        }
        if (left == 0)
            break;
        at = waiting[--left];
    }
    if (floor->kept != UINT32_MAX && !c.failed)
        collect(&c, floor->kept);
    sort_triangles(c.list, c.count);
    *triangles = c.list;
    *count = c.count;
    return !c.failed;
}

rg_bounds rg_bounds_into(const rg_bounds *b, rg_pose pose) {
    rg_bounds all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    if (!rg_is_finite(b->lower) || !rg_is_finite(b->upper))
        return (rg_bounds){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    for (int i = 0; i < 8; i++) {
        rg_vec3 p = {i & 1 ? b->upper.x : b->lower.x, i & 2 ? b->upper.y : b->lower.y,
                     i & 4 ? b->upper.z : b->lower.z};
        p = rg_pose_apply_inverse(pose, p);
        all = (rg_bounds){rg_min(all.lower, p), rg_max(all.upper, p)};
    }
    return all;
}

/* --- making ----------------------------------------------------------------------------------- */

static rg_status check(const rg_shape_def *def, rg_error *error) {
    char text[RG_NUMBER_SIZE];
    if (def->point_count == 0 || def->triangle_count == 0)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "terrain: no triangles; must have at least one, and its corners");
    if (def->triangle_count > RG_SHAPE_MOST_POINTS)
        return rg_fail(error, RG_LIMIT_EXCEEDED, "terrain: %zu triangles; must be at most %d",
                       def->triangle_count, RG_SHAPE_MOST_POINTS);
    for (size_t i = 0; i < 3 * def->triangle_count; i++)
        if (def->triangles[i] >= def->point_count)
            return rg_fail(error, RG_INVALID_ARGUMENT,
                           "terrain: triangle %zu has the corner %u; there are %zu points, from 0",
                           i / 3, def->triangles[i], def->point_count);
    if (!(def->thickness >= 0 && isfinite(def->thickness)))
        return rg_fail(error, RG_INVALID_SIZE,
                       "terrain: a thickness of %s m; must be positive, or 0 for the mean length "
                       "of an edge",
                       rg_format_double(def->thickness, text));
    if (!rg_is_finite(def->normal))
        return rg_fail(error, RG_NOT_FINITE, "terrain: the way up is not finite");
    return RG_OK;
}

static rg_status check_areas(const rg_terrain *t, rg_error *error) {
    for (uint32_t i = 0; i < t->count; i++)
        if (!(rg_length(area_of(t, i)) > 0))
            return rg_fail(error, RG_DEGENERATE_GEOMETRY,
                           "terrain: triangle %u has no area; leave it out", i);
    return RG_OK;
}

static double mean_edge(const rg_terrain *t) {
    double sum = 0;
    for (size_t i = 0; i < t->count; i++)
        for (size_t k = 0; k < 3; k++)
            sum += rg_length(rg_sub(t->vertices[t->triangles[3 * i + k]],
                                    t->vertices[t->triangles[3 * i + (k + 1) % 3]]));
    return sum / (3 * (double)t->count);
}

/* The way up that all triangles face, if there is one. */
static rg_vec3 common_way(const rg_terrain *t, rg_vec3 given) {
    rg_vec3 sum = {0, 0, 0}, none = {0, 0, 0};
    bool own = rg_length_squared(given) > 0;
    for (uint32_t i = 0; i < t->count && !own; i++)
        sum = rg_add(sum, area_of(t, i));
    if (own)
        sum = given;
    if (!(rg_length(sum) > 0))
        return none;
    rg_vec3 up = rg_normalised(sum);
    for (uint32_t i = 0; i < t->count; i++) {
        rg_vec3 area = area_of(t, i);
        if (!(rg_dot(area, up) >= STEEPEST * rg_length(area)))
            return none;
    }
    return up;
}

/* The disc about `count` triangles, in the order of the tree. */
static terrain_disc disc_about(const rg_terrain *t, const uint32_t *triangles, size_t count) {
    rg_vec3 sum = {0, 0, 0}, middle = {0, 0, 0}, p[RG_PRISM_VERTICES];
    for (size_t i = 0; i < count; i++) {
        corners_of(t, triangles[i], p);
        sum = rg_add(sum, area_of(t, triangles[i]));
        for (int k = 0; k < 3; k++)
            middle = rg_add_scaled(middle, 1 / (3 * (double)count), p[k]);
    }
    if (!(rg_length(sum) > 0))
        return (terrain_disc){.radius = INFINITY};
    terrain_disc disc = {.middle = middle, .normal = rg_normalised(sum)};
    for (size_t i = 0; i < count; i++) {
        corners_of(t, triangles[i], p);
        for (int k = 0; k < RG_PRISM_VERTICES; k++) {
            rg_vec3 way = rg_sub(p[k], middle);
            double up = rg_dot(way, disc.normal);
            disc.high = fmax(disc.high, up);
            disc.low = fmin(disc.low, up);
            disc.radius = fmax(disc.radius, rg_length(rg_add_scaled(way, -up, disc.normal)));
        }
    }
    return disc;
}

/* Fills the discs of a node and of those below it; returns how many triangles it has, the first at
 * *first of the order. */
static size_t make_discs(rg_terrain *t, size_t node, size_t *first) {
    const rg_tree_node *n = &t->tree.nodes[node];
    size_t count = n->count, other;
    *first = n->first;
    if (n->count == 0) {
        count = make_discs(t, node + 1, first);
        count += make_discs(t, n->first, &other);
    }
    t->discs[node] = count <= MOST_IN_DISC ? disc_about(t, t->tree.order + *first, count)
                                           : (terrain_disc){.radius = INFINITY};
    return count;
}

static void measure(rg_shape *shape) {
    rg_terrain *t = shape->terrain;
    rg_bounds b = t->tree.nodes[0].bounds;
    shape->centre = rg_scale(0.5, rg_add(b.lower, b.upper));
    for (uint32_t i = 0; i < t->count; i++) {
        rg_vec3 p[RG_PRISM_VERTICES];
        corners_of(t, i, p);
        rg_bounds box = around(p, RG_PRISM_VERTICES);
        t->largest = fmax(t->largest, rg_length(rg_sub(box.upper, box.lower)));
        for (int k = 0; k < RG_PRISM_VERTICES; k++)
            shape->circumradius = fmax(shape->circumradius, rg_length(rg_sub(p[k], shape->centre)));
        shape->volume += 0.5 * t->thickness *
                         (rg_length_squared(t->up) > 0 ? rg_dot(area_of(t, i), t->up)
                                                       : rg_length(area_of(t, i)));
    }
}

rg_status rg_terrain_make(rg_shape *shape, const rg_shape_def *def, rg_error *error) {
    const rg_allocator *memory = &shape->allocator;
    size_t count = def->triangle_count;
    rg_status status = check(def, error);
    if (!status)
        status = rg_shape_take_points(shape, def, "point", error);
    if (status)
        return status;
    rg_terrain *t = shape->terrain = rg_allocate_zeroed(memory, 1, sizeof *t);
    if (!t)
        return RG_OUT_OF_MEMORY;
    t->vertices = shape->points;
    t->count = count;
    t->triangles = rg_allocate(memory, 3 * count, sizeof *t->triangles);
    if (!t->triangles)
        return RG_OUT_OF_MEMORY;
    memcpy(t->triangles, def->triangles, 3 * count * sizeof *t->triangles);
    status = check_areas(t, error);
    if (status)
        return status;
    t->thickness = def->thickness > 0 ? def->thickness : mean_edge(t);
    t->up = common_way(t, def->normal);
    static const rg_vec3 sample[RG_PRISM_VERTICES] = {{0, 0, 1}, {1, 0, 1}, {0, 1, 1},
                                                      {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    rg_loops loops = {RG_PRISM_VERTICES, RG_PRISM_FACETS, sample, prism_start, prism_corners};
    status = rg_solid_build(&t->prism, &loops, memory);
    if (status)
        return status;
    status = rg_tree_build(&t->tree, count, bounds_of, t, memory);
    if (status)
        return status;
    size_t first;
    t->discs = rg_allocate(memory, t->tree.node_count, sizeof *t->discs);
    if (!t->discs)
        return RG_OUT_OF_MEMORY;
    make_discs(t, 0, &first);
    shape->def = (rg_shape_def){.kind = RG_SHAPE_TERRAIN,
                                .normal = t->up,
                                .points = shape->points,
                                .point_count = def->point_count,
                                .triangles = t->triangles,
                                .triangle_count = count,
                                .thickness = t->thickness};
    measure(shape);
    return RG_OK;
}

void rg_terrain_free(rg_terrain *t, const rg_allocator *memory) {
    if (!t)
        return;
    rg_solid_free(&t->prism, memory);
    rg_release(memory, t->triangles);
    rg_tree_free(&t->tree, memory);
    rg_release(memory, t->discs);
    rg_release(memory, t);
}

rg_bounds rg_terrain_bounds(const rg_shape *shape, rg_pose pose) {
    rg_bounds b = shape->terrain->tree.nodes[0].bounds;
    return rg_bounds_into(&b, rg_pose_inverse(pose));
}

/* --- height fields ---------------------------------------------------------------------------- */

rg_status rg_shape_create_heights(const rg_heights *h, const rg_allocator *allocator,
                                  rg_shape **shape, rg_error *error) {
    rg_allocator memory = rg_allocator_or_default(allocator);
    *shape = NULL;
    if (h->columns < 2 || h->rows < 2 || h->columns > RG_SHAPE_MOST_POINTS / h->rows)
        return rg_fail(error, RG_INVALID_SIZE,
                       "heights: %zu columns and %zu rows; must be at least 2 each, and together "
                       "at most %d points",
                       h->columns, h->rows, RG_SHAPE_MOST_POINTS);
    if (!(h->dx > 0 && h->dy > 0 && isfinite(h->dx) && isfinite(h->dy)))
        return rg_fail(error, RG_INVALID_SIZE, "heights: a spacing of %g by %g m; must be positive",
                       h->dx, h->dy);
    size_t points = h->columns * h->rows, cells = (h->columns - 1) * (h->rows - 1);
    rg_vec3 *vertices = rg_allocate(&memory, points, sizeof *vertices);
    uint32_t *triangles = rg_allocate(&memory, 6 * cells, sizeof *triangles);
    rg_status status = RG_OUT_OF_MEMORY;
    if (vertices && triangles) {
        double left = -0.5 * (double)(h->columns - 1), front = -0.5 * (double)(h->rows - 1);
        for (size_t i = 0; i < points; i++)
            vertices[i] = (rg_vec3){(left + (double)(i % h->columns)) * h->dx,
                                    (front + (double)(i / h->columns)) * h->dy, h->heights[i]};
        for (size_t i = 0; i < cells; i++) {
            uint32_t a = (uint32_t)(i / (h->columns - 1) * h->columns + i % (h->columns - 1));
            uint32_t b = a + 1, c = a + (uint32_t)h->columns, d = c + 1;
            memcpy(triangles + 6 * i, (uint32_t[]){a, b, d, a, d, c}, 6 * sizeof *triangles);
        }
        rg_shape_def def = rg_shape_def_terrain(vertices, points, triangles, 2 * cells);
        def.normal = (rg_vec3){0, 0, 1};
        def.thickness = h->thickness;
        status = rg_shape_create(&def, allocator, shape, error);
    } else {
        rg_fail(error, status, "heights: no memory");
    }
    rg_release(&memory, vertices);
    rg_release(&memory, triangles);
    return status;
}
