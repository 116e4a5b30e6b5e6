/* Fewer contact points, nearly the same support.
 *
 * What a set of contact points can carry depends on the hull of those that touch, seen along the
 * normal; what a motion brings down next, on the hulls of those that are near. Corners of a hull
 * are chosen one by one: the deepest point, the corner farthest from it, and then always the one
 * that adds most to the area, until there are as many as asked for and the area is within the
 * allowed share of the whole (Giang 2003 reduces to about four points; here four is a goal and the
 * area decides). This is done for the points that touch, then for those up to some heights of the
 * gap, each FINER times the one before, and at last for all: the gap is convex over the plane
 * (contact_manifold.c), and so its lowest part, its rounded foot, keeps its shape at all scales.
 * With the hull of all alone a body rocks on its deepest point from step to step and never rests.
 * Points inside all hulls are left out, but for the deepest.
 *
 * Greedy, so not always the largest hull for its number of corners; the bound on the area holds all
 * the same. Cost: points times points kept, only if there are too many. Fails: only for want of
 * memory. */
#include "contact/contact.h"

#include "base/base_sort.h"

/* Heights below the largest gap, each so many times as low as the next: halves of the width of a
 * round foot. Eight bunnies that fall into a bin then sink in by 0.1 mm instead of 0.5 mm, and more
 * heights do not help. */
enum { HEIGHTS = 3, FINER = 4 };

static double turn(const rg_ring_corner *a, const rg_ring_corner *b, const rg_ring_corner *c) {
    return (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x);
}

static bool before(const rg_ring_corner *a, const rg_ring_corner *b) {
    if (a->x != b->x)
        return a->x < b->x;
    return a->y != b->y ? a->y < b->y : a->point < b->point;
}

RG_DEFINE_HEAP_SORT(sort_corners, rg_ring_corner, before)

static uint32_t half_hull(const rg_ring_corner *sorted, uint32_t count, bool backward,
                          rg_ring_corner *hull) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        const rg_ring_corner *c = &sorted[backward ? count - 1 - i : i];
        while (used >= 2 && turn(&hull[used - 2], &hull[used - 1], c) <= 0)
            used--;
        hull[used++] = *c;
    }
    return used;
}

rg_status rg_clip_ring(const rg_clip *clip, double most, rg_arena *arena, rg_ring *r) {
    size_t count = clip->count;
    uint32_t used = 0;
    rg_ring_corner *sorted = rg_arena_take(arena, count, sizeof *sorted);
    r->corner = rg_arena_take(arena, 2 * count, sizeof *r->corner);
    if (!sorted || !r->corner)
        return RG_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < clip->count; i++) {
        const rg_clip_point *e = &clip->points[i];
        if (e->gap <= most)
            sorted[used++] =
                (rg_ring_corner){0.5 * (e->x[0] + e->x[1]), 0.5 * (e->y[0] + e->y[1]), i};
    }
    sort_corners(sorted, used);
    r->count = half_hull(sorted, used, false, r->corner);
    if (r->count >= 2) {
        rg_ring_corner *upper = r->corner + r->count - 1;
        r->count += half_hull(sorted, used, true, upper) - 2;
    }
    return RG_OK;
}

static double ring_area(const rg_ring *r) {
    double area = 0;
    for (uint32_t i = 2; i < r->count; i++)
        area += 0.5 * turn(&r->corner[0], &r->corner[i - 1], &r->corner[i]);
    return area;
}

static uint32_t deepest_point(const rg_clip *clip) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < clip->count; i++)
        if (clip->points[i].gap < clip->points[best].gap)
            best = i;
    return best;
}

static double largest_gap(const rg_clip *clip) {
    double largest = 0;
    for (uint32_t i = 0; i < clip->count; i++)
        largest = fmax(largest, clip->points[i].gap);
    return largest;
}

/* Corners in the hull's order, those that were chosen marked; `area` is what they enclose. */
typedef struct choice {
    const rg_ring *hull;
    bool *chosen;
    uint32_t count;
    double area;
} choice;

static void choose(choice *c, uint32_t corner, double gain) {
    c->chosen[corner] = true;
    c->count++;
    c->area += gain;
}

/* The corner farthest from a place that is not chosen yet; the first of equal ones. */
static uint32_t farthest(const choice *c, double x, double y) {
    uint32_t best = 0;
    double most = -1;
    for (uint32_t i = 0; i < c->hull->count; i++) {
        double dx = c->hull->corner[i].x - x, dy = c->hull->corner[i].y - y, d = dx * dx + dy * dy;
        if (!c->chosen[i] && d > most) {
            most = d;
            best = i;
        }
    }
    return best;
}

/* The corner that adds most to the area, going once around from chosen corner to chosen corner. */
static uint32_t best_corner(const choice *c, double *gain) {
    const rg_ring *h = c->hull;
    uint32_t start = 0, best = UINT32_MAX;
    while (!c->chosen[start])
        start++;
    *gain = -1;
    uint32_t from = start;
    do {
        uint32_t to = from;
        do
            to = to + 1 < h->count ? to + 1 : 0;
        while (!c->chosen[to]);
        for (uint32_t i = from + 1 < h->count ? from + 1 : 0; i != to;
             i = i + 1 < h->count ? i + 1 : 0) {
            double area = 0.5 * turn(&h->corner[from], &h->corner[i], &h->corner[to]);
            if (area > *gain) {
                *gain = area;
                best = i;
            }
        }
        from = to;
    } while (from != start);
    return best;
}

/* Chooses corners until `goal` are there and enough area, or all, or `room` of them. The second one
 * is the corner farthest from the first, or from the deepest point. */
static void choose_corners(choice *c, const rg_clip_point *deepest, uint32_t goal, uint32_t room,
                           double enough) {
    while (c->count < 2 && c->count < c->hull->count && c->count < room) {
        double x = 0.5 * (deepest->x[0] + deepest->x[1]), y = 0.5 * (deepest->y[0] + deepest->y[1]);
        for (uint32_t i = 0; i < c->hull->count; i++)
            if (c->chosen[i])
                x = c->hull->corner[i].x, y = c->hull->corner[i].y;
        choose(c, farthest(c, x, y), 0);
    }
    while (c->count < room && c->count < c->hull->count && (c->count < goal || c->area < enough)) {
        double gain;
        uint32_t i = best_corner(c, &gain);
        choose(c, i, gain);
    }
}

/* What is kept of the points of a clip. */
typedef struct reduction {
    const rg_clip *clip;
    rg_arena *arena;
    uint32_t goal, capacity, deepest;
    double loss;
    bool *keep;
    uint32_t kept;
    double area, lost; /* of the last hull */
} reduction;

/* Corners that are kept already, with what they enclose. */
static void begin_choice(const reduction *r, choice *c) {
    uint32_t first = UINT32_MAX, last = UINT32_MAX;
    for (uint32_t i = 0; i < c->hull->count; i++) {
        c->chosen[i] = r->keep[c->hull->corner[i].point];
        if (!c->chosen[i])
            continue;
        if (first == UINT32_MAX)
            first = i;
        else
            c->area +=
                0.5 * turn(&c->hull->corner[first], &c->hull->corner[last], &c->hull->corner[i]);
        last = i;
        c->count++;
    }
}

/* Keeps points of the hull of those whose gap is at most `most`. */
static rg_status keep_hull(reduction *r, double most) {
    rg_ring hull = {0};
    rg_status status = rg_clip_ring(r->clip, most, r->arena, &hull);
    choice c = {.hull = &hull, .chosen = rg_arena_take(r->arena, r->clip->count, sizeof *c.chosen)};
    if (status != RG_OK || !c.chosen)
        return RG_OUT_OF_MEMORY;
    begin_choice(r, &c);
    r->area = ring_area(&hull);
    /* Points that are kept inside the hull take places of their own. */
    uint32_t apart = r->kept - c.count;
    choose_corners(&c, &r->clip->points[r->deepest], r->goal > apart ? r->goal - apart : 1,
                   r->capacity - apart, (1 - r->loss) * r->area);
    r->lost = r->area > 0 ? fmax(0, 1 - c.area / r->area) : 0;
    for (uint32_t i = 0; i < hull.count; i++)
        if (c.chosen[i])
            r->keep[hull.corner[i].point] = true;
    r->kept = apart + c.count;
    return RG_OK;
}

rg_status rg_contact_reduce(rg_clip *clip, uint32_t goal, double loss, uint32_t capacity,
                            rg_arena *arena, double *area, double *lost) {
    *area = *lost = 0;
    if (clip->count < 3 && clip->count <= capacity)
        return RG_OK;
    goal = goal == 0 ? UINT32_MAX : goal;
    if (clip->count <= goal && clip->count <= capacity) {
        rg_ring hull = {0};
        rg_status status = rg_clip_ring(clip, INFINITY, arena, &hull);
        *area = status ? 0 : ring_area(&hull);
        return status;
    }
    reduction r = {.clip = clip,
                   .arena = arena,
                   .goal = goal,
                   .capacity = capacity,
                   .deepest = deepest_point(clip),
                   .loss = loss,
                   .keep = rg_arena_take(arena, clip->count, sizeof *r.keep)};
    if (!r.keep)
        return RG_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < clip->count; i++)
        r.keep[i] = i == r.deepest;
    r.kept = 1;
    rg_status status = keep_hull(&r, clip->flat);
    double height = largest_gap(clip);
    for (int i = 0; i < HEIGHTS; i++)
        height /= FINER;
    for (int i = 0; i < HEIGHTS && !status; i++, height *= FINER)
        status = keep_hull(&r, height);
    if (!status)
        status = keep_hull(&r, INFINITY);
    if (status)
        return status;
    *area = r.area;
    *lost = r.lost;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < clip->count; i++)
        if (r.keep[i])
            clip->points[kept++] = clip->points[i];
    clip->count = kept;
    return RG_OK;
}
