/* Candidate pairs by sorted end points.
 *
 * On each axis the lower and upper ends of all boxes stand in order. Boxes move little from one
 * update to the next, so insertion sort restores the order with n + s work, s the number of swaps,
 * and every change of overlap on an axis is a swap of a lower with an upper end (Baraff 1990;
 * Cohen, Lin, Manocha, Ponamgi 1995):
 *
 *   lower moves below upper: the two overlap now on this axis. If they do on the other two, the
 *     pair begins.
 *   upper moves below lower: they are apart now. The pair ends, if it was one.
 *
 * Both are decided with the new bounds of all axes, so the order of axes and swaps does not matter:
 * a pair that begins is found on each axis on which it was apart, a pair that ends on each on which
 * it comes apart; doubles go when the events are sorted. The events, few against the swaps, are
 * merged into the sorted list of pairs.
 *
 * Order: value, then lower before upper (touching is overlapping), then id. -0 and 0 are equal.
 *
 * Most swaps are between boxes that are far from each other on another axis. To see this without
 * comparing all ends, a box has signatures, one per axis: the cells, of 128, that its box covers on
 * the two other axes before and after the motion. Four 7-bit fields, lower cells l and complements
 * h' = 127 - h of upper cells: [l_a <= h_b] is [l_a + h'_b <= 127], no carry into the eighth bit,
 * so one addition of words, one of them turned by half, compares all four. Cells are between
 * quantiles of the end points, so that one box far away does not spoil them; beyond, the last cell
 * counts. Signatures are made when a swap first asks for them: most boxes move without any.
 *
 * Boxes that are new (or whose filter has changed) are sorted by themselves, merged into the lists,
 * and find their pairs in a sweep along the axis with the fewest candidates. When the swaps of an
 * update exceed what sorting everything anew would cost (teleports), all boxes are taken as new.
 *
 * Cost: n + s coherent; n log n + candidates of one axis for the first fill. Fails: no memory; then
 * everything is sorted anew the next time. */
#include "broad/broad_kind.h"

#include <math.h>
#include <string.h>

#define UPPER          UINT32_C(0x80000000) /* bit of a key; the rest is the id */
#define SIGNATURE_BITS UINT32_C(0x80808080)
#define MOST_CELL      127

typedef struct end_point {
    double value;
    uint32_t key; /* id, and UPPER or not: decides ties */
} end_point;

typedef enum box_place { OUTSIDE, LISTED, ENTERING } box_place;

/* What every update reads first: a cache line. */
typedef struct box {
    double ends[6]; /* lower x y z, upper x y z, as of this update */
    uint32_t signature[3];
    uint32_t place;
    uint64_t signed_in; /* the update that the signatures are of */
    double before[6];   /* ends of the last update */
} box;

typedef struct active_box {
    uint32_t id, signature;
} active_box;

typedef struct active_list {
    active_box *boxes;
    size_t count, capacity;
} active_list;

typedef struct sorted_lists {
    box *boxes; /* by id */
    size_t box_count, box_capacity;
    end_point *ends[3];
    size_t end_count, end_capacity[3];
    end_point *scratch;
    size_t scratch_capacity;
    double origin[3], scale[3]; /* cell = (value - origin) scale */
    rg_pair_list begun, ended, pair_scratch;
    active_list active[2]; /* of boxes listed before, and entering */
    uint32_t *position;    /* by id, in its active list */
    size_t position_capacity;
    uint64_t sweep_cost; /* tests of the last sweep over all boxes */
    uint64_t updates;
    bool quantised; /* in this update */
} sorted_lists;

static rg_status create(rg_broad *broad) {
    broad->state = rg_allocate_zeroed(&broad->allocator, 1, sizeof(sorted_lists));
    return broad->state ? RG_OK : RG_OUT_OF_MEMORY;
}

static void destroy(rg_broad *broad) {
    sorted_lists *s = broad->state;
    const rg_allocator *memory = &broad->allocator;
    rg_release_all(memory, s->boxes, s->ends[0], s->ends[1], s->ends[2], s->scratch, s->begun.pairs,
                   s->ended.pairs, s->pair_scratch.pairs, s->active[0].boxes, s->active[1].boxes,
                   s->position, s);
}

static void forget(rg_broad *broad) {
    sorted_lists *s = broad->state;
    for (size_t i = 0; i < s->box_count; i++)
        s->boxes[i].place = OUTSIDE;
    s->end_count = 0;
}

static rg_status make_room(rg_broad *broad, sorted_lists *s) {
    const rg_allocator *memory = &broad->allocator;
    rg_status status = rg_array_grow(memory, &s->boxes, &s->box_capacity, broad->limit);
    size_t most_ends = 2 * broad->count > s->end_count ? 2 * broad->count : s->end_count;
    for (int k = 0; k < 3 && !status; k++)
        status = rg_array_grow(memory, &s->ends[k], &s->end_capacity[k], most_ends);
    if (status)
        return status;
    for (; s->box_count < broad->limit; s->box_count++)
        s->boxes[s->box_count] = (box){.place = OUTSIDE};
    return RG_OK;
}

/* --- signatures ----------------------------------------------------------------------------------
 */

/* Of this many end points on either side of an axis the last cell is the home. */
#define TAIL_PART 64

static void quantise(sorted_lists *s) {
    for (int k = 0; k < 3; k++) {
        s->origin[k] = s->scale[k] = 0;
        if (s->end_count < 2)
            continue;
        size_t tail = s->end_count / TAIL_PART;
        double low = s->ends[k][tail].value, high = s->ends[k][s->end_count - 1 - tail].value;
        double span = high - low;
        if (!(span > 0 && span < INFINITY && low > -INFINITY))
            continue; /* all in cell 0: nothing is told apart */
        s->origin[k] = low - span / (TAIL_PART / 2);
        s->scale[k] = (MOST_CELL + 1) / (span * (1 + 4.0 / TAIL_PART));
        if (!(s->scale[k] < INFINITY))
            s->scale[k] = 0;
    }
}

/* Not decreasing in the value, which is all that matters. A NaN (infinity times 0) gives cell 0. */
static inline uint32_t cell_of(const sorted_lists *s, int axis, double value) {
    double cell = (value - s->origin[axis]) * s->scale[axis];
    return cell > 0 ? (uint32_t)(cell < MOST_CELL ? cell : MOST_CELL) : 0;
}

/* Signatures of a box over its old ends and the new ones. */
static void sign(sorted_lists *s, box *b) {
    uint32_t fields[3];
    if (!s->quantised)
        quantise(s);
    s->quantised = true;
    for (int k = 0; k < 3; k++) {
        double lower = b->ends[k] < b->before[k] ? b->ends[k] : b->before[k];
        double upper = b->ends[3 + k] > b->before[3 + k] ? b->ends[3 + k] : b->before[3 + k];
        fields[k] = cell_of(s, k, lower) | (MOST_CELL - cell_of(s, k, upper)) << 16;
    }
    b->signature[0] = fields[1] | fields[2] << 8;
    b->signature[1] = fields[2] | fields[0] << 8;
    b->signature[2] = fields[0] | fields[1] << 8;
    b->signed_in = s->updates;
}

static inline uint32_t signature_of(sorted_lists *s, uint32_t id, int axis) {
    box *b = &s->boxes[id];
    if (b->signed_in != s->updates)
        sign(s, b);
    return b->signature[axis];
}

static inline uint32_t turned_by_half(uint32_t signature) {
    return signature << 16 | signature >> 16;
}

static inline bool may_overlap(uint32_t turned, uint32_t signature) {
    return !((turned + signature) & SIGNATURE_BITS);
}

/* Takes the new bounds in and says how many boxes enter. */
static size_t read_boxes(rg_broad *broad, sorted_lists *s) {
    size_t entering = 0;
    for (size_t id = 0; id < broad->limit; id++) {
        box *b = &s->boxes[id];
        uint8_t state = broad->states[id];
        const rg_bounds *bounds = &broad->bounds[id];
        if (state == RG_PROXY_ALIVE && b->place == LISTED) {
            memcpy(b->before, b->ends, sizeof b->before);
            memcpy(b->ends, bounds, sizeof b->ends);
        } else if (state) {
            memcpy(b->before, bounds, sizeof b->before);
            memcpy(b->ends, bounds, sizeof b->ends);
            b->place = ENTERING;
            entering++;
        } else
            b->place = OUTSIDE;
    }
    return entering;
}

_Static_assert(sizeof(rg_bounds) == 6 * sizeof(double), "bounds are six numbers");

/* --- coherent motion -----------------------------------------------------------------------------
 */

static inline bool end_before(end_point x, end_point y) {
    return x.value < y.value || (x.value == y.value && x.key < y.key);
}

static inline bool boxes_overlap(const box *a, const box *b) {
    for (int k = 0; k < 3; k++)
        if (a->ends[k] > b->ends[3 + k] || b->ends[k] > a->ends[3 + k])
            return false;
    return true;
}

static rg_status begin_if_overlapping(rg_broad *broad, sorted_lists *s, uint32_t x, uint32_t y) {
    broad->info.overlap_tests++;
    rg_broad_pair pair = rg_pair_of(x, y);
    if (!boxes_overlap(&s->boxes[x], &s->boxes[y]) || !rg_pair_wanted(broad, pair))
        return RG_OK;
    return rg_pair_push(broad, &s->begun, pair);
}

/* x has moved below y. */
static rg_status swap_event(rg_broad *broad, sorted_lists *s, uint32_t x, uint32_t y) {
    if (y & UPPER)
        return begin_if_overlapping(broad, s, x, y & ~UPPER);
    return rg_pair_push(broad, &s->ended, rg_pair_of(x & ~UPPER, y));
}

/* x goes below those before it, from place `i` on; the place where it comes to be. */
static rg_status sink(rg_broad *broad, sorted_lists *s, int axis, end_point x, size_t *i) {
    end_point *ends = s->ends[axis];
    uint32_t turned = turned_by_half(signature_of(s, x.key & ~UPPER, axis));
    size_t j = *i;
    do {
        end_point y = ends[j - 1];
        ends[j] = y;
        j--;
        /* Another kind of end, and near on the other axes. */
        if (((x.key ^ y.key) & UPPER) &&
            may_overlap(turned, signature_of(s, y.key & ~UPPER, axis))) {
            rg_status status = swap_event(broad, s, x.key, y.key);
            if (status)
                return status;
        }
    } while (j > 0 && end_before(x, ends[j - 1]));
    *i = j;
    return RG_OK;
}

/* End points of more boxes than a cache near the processor holds (some 100 kB) are asked for ahead:
 * 100,000 boxes take a third less time. */
enum { FETCHED_LEAST = 2048, AHEAD = 16 };

/* Insertion sort of one axis, with events: new values of the end points, in the old order; those of
 * boxes not listed go. Stops early, in an order that nothing can be built on, when the swaps of
 * this update exceed `most_swaps`. */
static rg_status sort_axis(rg_broad *broad, sorted_lists *s, int axis, uint64_t most_swaps,
                           size_t *count) {
    uint64_t swaps = broad->info.swaps;
    end_point *ends = s->ends[axis];
    const box *boxes = s->boxes; /* which nothing below moves */
    size_t kept = 0, count_before = s->end_count, final = count_before - 1;
    double last = -INFINITY;
    bool many = count_before > FETCHED_LEAST;
    for (size_t i = 0; i < count_before; i++) {
        if (many)
            RG_PREFETCH(&boxes[ends[i + AHEAD < final ? i + AHEAD : final].key & ~UPPER]);
        uint32_t key = ends[i].key;
        const box *b = &boxes[key & ~UPPER];
        double value = b->ends[3 * (key >> 31) + (uint32_t)axis];
        if (b->place != LISTED)
            continue;
        end_point x = {value, key};
        size_t place = kept++;
        if (value > last || place == 0 || !end_before(x, ends[place - 1])) {
            last = value;
            ends[place] = x;
            continue;
        }
        rg_status status = sink(broad, s, axis, x, &place);
        if (status)
            return status;
        ends[place] = x;
        swaps += kept - 1 - place;
        if (swaps > most_swaps)
            break;
    }
    broad->info.swaps = swaps;
    *count = kept;
    return RG_OK;
}

/* What sorting everything anew and sweeping would cost, in swaps. */
static uint64_t most_swaps(const rg_broad *broad, const sorted_lists *s) {
    int exponent;
    frexp((double)broad->count + 1, &exponent);
    return s->sweep_cost + 32 * (uint64_t)broad->count * (uint64_t)exponent;
}

/* Sorts the axes; *entering becomes all if that is too much. */
static rg_status sort_coherent(rg_broad *broad, sorted_lists *s, size_t *entering) {
    uint64_t most = most_swaps(broad, s);
    size_t kept = 0;
    for (int k = 0; k < 3; k++) {
        rg_status status = sort_axis(broad, s, k, most, &kept);
        if (status)
            return status;
        if (broad->info.swaps > most) {
            for (size_t id = 0; id < broad->limit; id++)
                if (broad->states[id])
                    s->boxes[id].place = ENTERING;
            s->begun.count = s->ended.count = 0;
            kept = 0;
            *entering = broad->count;
            break;
        }
    }
    s->end_count = kept;
    return RG_OK;
}

/* --- boxes that enter ----------------------------------------------------------------------------
 */

RG_DEFINE_MERGE_SORT(sort_ends, end_point, end_before)

/* Ends of entering boxes, sorted, merged from behind into the list of an axis. */
static void merge_axis(const rg_broad *broad, const sorted_lists *s, int axis, size_t entering) {
    end_point *fresh = s->scratch, *ends = s->ends[axis];
    size_t m = 0, i = s->end_count;
    for (uint32_t id = 0; id < broad->limit; id++) {
        const box *b = &s->boxes[id];
        if (b->place != ENTERING)
            continue;
        fresh[m++] = (end_point){b->ends[axis], id};
        fresh[m++] = (end_point){b->ends[3 + axis], id | UPPER};
    }
    sort_ends(fresh, m, s->scratch + 2 * entering);
    for (size_t k = i + m; m > 0; k--)
        ends[k - 1] = i > 0 && end_before(fresh[m - 1], ends[i - 1]) ? ends[--i] : fresh[--m];
}

/* How many candidates a sweep along this axis would meet. */
static uint64_t count_candidates(const sorted_lists *s, int axis) {
    uint64_t candidates = 0, active[2] = {0, 0};
    for (size_t i = 0; i < s->end_count; i++) {
        uint32_t key = s->ends[axis][i].key;
        int enters = s->boxes[key & ~UPPER].place == ENTERING;
        if (key & UPPER) {
            active[enters]--;
            continue;
        }
        candidates += active[1] + (enters ? active[0] : 0);
        active[enters]++;
    }
    return candidates;
}

static rg_status test_active(rg_broad *broad, sorted_lists *s, const active_list *list, uint32_t id,
                             uint32_t signature) {
    uint32_t turned = turned_by_half(signature);
    for (size_t i = 0; i < list->count; i++)
        if (may_overlap(turned, list->boxes[i].signature)) {
            rg_status status = begin_if_overlapping(broad, s, id, list->boxes[i].id);
            if (status)
                return status;
        }
    broad->info.sweep_tests += list->count;
    return RG_OK;
}

/* All pairs of entering boxes, with each other and with those listed before. */
static rg_status sweep(rg_broad *broad, sorted_lists *s, int axis) {
    active_list *lists = s->active;
    lists[0].count = lists[1].count = 0;
    for (size_t i = 0; i < s->end_count; i++) {
        uint32_t key = s->ends[axis][i].key, id = key & ~UPPER;
        const box *b = &s->boxes[id];
        int enters = b->place == ENTERING;
        active_list *own = &lists[enters];
        if (key & UPPER) {
            active_box last = own->boxes[--own->count];
            own->boxes[s->position[id]] = last;
            s->position[last.id] = s->position[id];
            continue;
        }
        uint32_t signature = signature_of(s, id, axis);
        rg_status status = test_active(broad, s, &lists[1], id, signature);
        if (!status && enters)
            status = test_active(broad, s, &lists[0], id, signature);
        if (!status && own->count == own->capacity)
            status = rg_array_grow(&broad->allocator, &own->boxes, &own->capacity, own->count + 1);
        if (status)
            return status;
        s->position[id] = (uint32_t)own->count;
        own->boxes[own->count++] = (active_box){id, signature};
    }
    return RG_OK;
}

static rg_status take_in(rg_broad *broad, sorted_lists *s, size_t entering) {
    const rg_allocator *memory = &broad->allocator;
    rg_status status = rg_array_grow(memory, &s->scratch, &s->scratch_capacity, 4 * entering);
    if (!status)
        status = rg_array_grow(memory, &s->position, &s->position_capacity, broad->limit);
    if (status)
        return status;
    for (int k = 0; k < 3; k++)
        merge_axis(broad, s, k, entering);
    s->end_count += 2 * entering;
    bool all = entering == broad->count;
    if (all) { /* no signature means anything yet */
        broad->info.rebuilds++;
        s->updates++;
        s->quantised = false;
        for (size_t id = 0; id < broad->limit; id++)
            memcpy(s->boxes[id].before, s->boxes[id].ends, sizeof s->boxes[id].before);
    }
    int best = 0;
    uint64_t fewest = UINT64_MAX;
    for (int k = 0; k < 3; k++) {
        uint64_t candidates = count_candidates(s, k);
        if (candidates < fewest) {
            fewest = candidates;
            best = k;
        }
    }
    status = sweep(broad, s, best);
    if (all)
        s->sweep_cost = fewest;
    return status;
}

/* --- pairs ---------------------------------------------------------------------------------------
 */

/* next = pairs - those of boxes not listed all the time - ended + begun, all sorted. */
static rg_status merge_pairs(rg_broad *broad, sorted_lists *s) {
    rg_status status = rg_pairs_sort(broad, &s->begun, &s->pair_scratch);
    if (!status)
        status = rg_pairs_sort(broad, &s->ended, &s->pair_scratch);
    if (!status)
        status = rg_array_grow(&broad->allocator, &broad->next.pairs, &broad->next.capacity,
                               broad->pairs.count + s->begun.count);
    if (status)
        return status;
    rg_broad_pair *next = broad->next.pairs;
    size_t count = 0, b = 0, e = 0;
    for (size_t i = 0; i < broad->pairs.count; i++) {
        rg_broad_pair pair = broad->pairs.pairs[i];
        uint64_t key = rg_pair_key(pair);
        while (e < s->ended.count && rg_pair_key(s->ended.pairs[e]) < key)
            e++;
        if (e < s->ended.count && rg_pair_key(s->ended.pairs[e]) == key)
            continue;
        if (s->boxes[pair.a].place != LISTED || s->boxes[pair.b].place != LISTED)
            continue;
        while (b < s->begun.count && rg_pair_key(s->begun.pairs[b]) < key)
            next[count++] = s->begun.pairs[b++];
        next[count++] = pair;
    }
    while (b < s->begun.count)
        next[count++] = s->begun.pairs[b++];
    broad->next.count = count;
    return RG_OK;
}

static rg_status update(rg_broad *broad, bool *same) {
    sorted_lists *s = broad->state;
    rg_status status = make_room(broad, s);
    if (status)
        return status;
    s->updates++;
    s->quantised = false;
    size_t entering = read_boxes(broad, s);
    s->begun.count = s->ended.count = 0;
    status = sort_coherent(broad, s, &entering);
    if (!status && entering > 0)
        status = take_in(broad, s, entering);
    *same = !broad->changed && entering == 0 && s->begun.count == 0 && s->ended.count == 0;
    if (!status && !*same)
        status = merge_pairs(broad, s);
    if (status || entering == 0)
        return status;
    for (size_t id = 0; id < broad->limit; id++)
        if (s->boxes[id].place == ENTERING)
            s->boxes[id].place = LISTED;
    return RG_OK;
}

const rg_broad_kind rg_broad_sorted = {"sorted", create, destroy, update, forget};
