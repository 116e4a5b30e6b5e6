/* Approximate minimum degree on the quotient graph.
 *
 * Problem: eliminate the vertices of a graph, joining the neighbours of each into a clique, with
 * few new edges. Finding the least is NP-complete; taking the vertex of (nearly) smallest degree is
 * the rule that serves.
 * Method: P. R. Amestoy, T. A. Davis, I. S. Duff, "An approximate minimum degree ordering
 * algorithm", SIAM J. Matrix Anal. Appl. 17 (1996): eliminated vertices become elements that stand
 * for their cliques; a vertex keeps a list of elements and of vertices that no element covers yet.
 * The degree is bounded by |A_i| + |L_p \ i| + sum |L_e \ L_p| (their eq. 4), elements inside
 * another are absorbed, vertices with equal lists are joined and eliminated together. Degrees count
 * scalar rows.
 * Cost: about the number of entries of the factor; n^2 for a full graph (one pass joins
 * everything). Ties are broken by order of arrival, so the same graph gives the same order
 * everywhere.
 * Fails: only without memory.
 * Tested by tests/base/test_sparse.c. */
#include "base/base_sparse_order.h"

#include <assert.h>
#include <string.h>

#define NONE UINT32_MAX

typedef struct quotient {
    rg_arena *arena;
    uint32_t count;
    const uint8_t *weights;
    /* Vertex i: lists[starts[i] ..) holds elements[i] elements, then vertices[i] vertices. */
    uint32_t *lists;
    const size_t *starts;
    uint32_t *elements, *vertices;
    uint32_t *weight; /* scalar rows of a live vertex with all that joined it; 0: gone */
    size_t *degree;
    /* Element e (named by its pivot): its live vertices. */
    uint32_t **members;
    uint32_t *member_count;
    size_t *size; /* scalar rows in L_e; 0: absorbed or none */
    /* Vertices by degree, doubly linked; and by hash while equal ones are looked for. */
    uint32_t *head, *next, *previous;
    size_t smallest, total;
    uint32_t *hash_head, *hash_next, *hash;
    /* Stamps: in the list of the pivot, seen as element, and |L_e \ L_p| there. */
    uint32_t *in_pivot, *seen;
    size_t *outside;
    uint32_t stamp;
    /* Joined vertices: chains that are given out behind their representative. */
    uint32_t *chain_next, *chain_last;
    uint32_t *buffer;
} quotient;

static void bucket_insert(quotient *q, uint32_t i) {
    size_t d = q->degree[i];
    q->previous[i] = NONE;
    q->next[i] = q->head[d];
    if (q->head[d] != NONE)
        q->previous[q->head[d]] = i;
    q->head[d] = i;
    if (d < q->smallest)
        q->smallest = d;
}

static void bucket_remove(quotient *q, uint32_t i) {
    if (q->previous[i] != NONE)
        q->next[q->previous[i]] = q->next[i];
    else
        q->head[q->degree[i]] = q->next[i];
    if (q->next[i] != NONE)
        q->previous[q->next[i]] = q->previous[i];
}

static void join(quotient *q, uint32_t into, uint32_t joined) {
    q->chain_next[q->chain_last[into]] = joined;
    q->chain_last[into] = q->chain_last[joined];
    q->weight[joined] = 0;
}

static void pivot_member(quotient *q, uint32_t pivot, uint32_t i, uint32_t *out, uint32_t *count,
                         size_t *size) {
    if (i == pivot || !q->weight[i] || q->in_pivot[i] == q->stamp)
        return;
    q->in_pivot[i] = q->stamp;
    out[(*count)++] = i;
    *size += q->weight[i];
    bucket_remove(q, i);
}

/* L_p: all neighbours of the pivot; its elements are absorbed. */
static bool gather_pivot(quotient *q, uint32_t p) {
    const uint32_t *list = q->lists + q->starts[p];
    size_t room = q->vertices[p];
    for (uint32_t k = 0; k < q->elements[p]; k++)
        room += q->size[list[k]] ? q->member_count[list[k]] : 0;
    uint32_t *out = rg_arena_take(q->arena, room, sizeof *out);
    if (!out)
        return false;
    uint32_t count = 0;
    size_t size = 0;
    q->stamp++;
    for (uint32_t k = 0; k < q->elements[p]; k++) {
        uint32_t e = list[k];
        if (!q->size[e])
            continue;
        for (uint32_t m = 0; m < q->member_count[e]; m++)
            pivot_member(q, p, q->members[e][m], out, &count, &size);
        q->size[e] = 0;
    }
    for (uint32_t k = 0; k < q->vertices[p]; k++)
        pivot_member(q, p, list[q->elements[p] + k], out, &count, &size);
    q->members[p] = out;
    q->member_count[p] = count;
    q->size[p] = size;
    return true;
}

/* outside[e] = |L_e \ L_p| for every element next to L_p. */
static void measure_elements(quotient *q, uint32_t p) {
    for (uint32_t m = 0; m < q->member_count[p]; m++) {
        uint32_t i = q->members[p][m];
        const uint32_t *list = q->lists + q->starts[i];
        for (uint32_t k = 0; k < q->elements[i]; k++) {
            uint32_t e = list[k];
            if (!q->size[e])
                continue;
            if (q->seen[e] != q->stamp) {
                q->seen[e] = q->stamp;
                q->outside[e] = q->size[e];
            }
            q->outside[e] -= q->weight[i];
        }
    }
}

/* Drops from the lists of i what the new element covers; the degree without |L_p \ i|. */
static size_t prune(quotient *q, uint32_t p, uint32_t i, uint32_t *hash) {
    uint32_t *list = q->lists + q->starts[i], kept = 0;
    size_t degree = 0;
    *hash = p;
    for (uint32_t k = 0; k < q->elements[i]; k++) {
        uint32_t e = list[k];
        if (!q->size[e])
            continue;
        if (q->outside[e] == 0) { /* inside L_p */
            q->size[e] = 0;
            continue;
        }
        q->buffer[kept++] = e;
        degree += q->outside[e];
        *hash += e;
    }
    uint32_t elements = kept;
    for (uint32_t k = 0; k < q->vertices[i]; k++) {
        uint32_t v = list[q->elements[i] + k];
        if (v == p || !q->weight[v] || q->in_pivot[v] == q->stamp)
            continue;
        q->buffer[kept++] = v;
        degree += q->weight[v];
        *hash += v;
    }
    /* The pivot was in the lists of i itself or through an element that is gone: there is room. */
    assert(kept < q->elements[i] + q->vertices[i]);
    list[0] = p;
    memcpy(list + 1, q->buffer, kept * sizeof *list);
    q->elements[i] = elements + 1;
    q->vertices[i] = kept - elements;
    return degree;
}

static bool same_lists(quotient *q, uint32_t i, uint32_t j) {
    if (q->elements[i] != q->elements[j] || q->vertices[i] != q->vertices[j])
        return false;
    const uint32_t *a = q->lists + q->starts[i], *b = q->lists + q->starts[j];
    uint32_t count = q->elements[i] + q->vertices[i];
    /* `seen` is free for vertices and elements alike once the pivot's elements are measured; a
     * fresh stamp would spoil in_pivot, so the lists (short) are compared entry by entry. */
    for (uint32_t k = 0; k < count; k++) {
        if (a[k] == b[k])
            continue;
        uint32_t m = 0;
        while (m < count && b[m] != a[k])
            m++;
        if (m == count)
            return false;
    }
    return true;
}

/* Joins members of L_p that have become indistinguishable. */
static void join_equal(quotient *q, uint32_t p) {
    for (uint32_t m = 0; m < q->member_count[p]; m++) {
        uint32_t i = q->members[p][m];
        if (!q->weight[i])
            continue;
        uint32_t slot = q->hash[i] % q->count;
        uint32_t j = q->hash_head[slot];
        while (j != NONE && !(q->hash[j] == q->hash[i] && same_lists(q, j, i)))
            j = q->hash_next[j];
        if (j != NONE) {
            q->weight[j] += q->weight[i];
            join(q, j, i);
        } else {
            q->hash_next[i] = q->hash_head[slot];
            q->hash_head[slot] = i;
        }
    }
    for (uint32_t m = 0; m < q->member_count[p]; m++)
        q->hash_head[q->hash[q->members[p][m]] % q->count] = NONE;
}

static bool eliminate(quotient *q, uint32_t p) {
    if (!gather_pivot(q, p))
        return false;
    size_t pivot_weight = q->weight[p];
    q->weight[p] = 0;
    q->total -= pivot_weight;
    measure_elements(q, p);
    for (uint32_t m = 0; m < q->member_count[p]; m++) {
        uint32_t i = q->members[p][m];
        size_t inner = prune(q, p, i, &q->hash[i]), old = q->degree[i];
        if (inner == 0) { /* covered by L_p alone: eliminated with the pivot, no new fill */
            q->size[p] -= q->weight[i];
            q->total -= q->weight[i];
            join(q, p, i);
        } else {
            /* The old bound plus L_p is a bound too; |L_p \ i| is added below, when it is final. */
            q->degree[i] = old < inner ? old : inner;
        }
    }
    join_equal(q, p);
    uint32_t kept = 0;
    for (uint32_t m = 0; m < q->member_count[p]; m++) {
        uint32_t i = q->members[p][m];
        if (!q->weight[i])
            continue;
        q->members[p][kept++] = i;
        size_t bound = q->total - q->weight[i];
        size_t degree = q->degree[i] + (q->size[p] - q->weight[i]);
        q->degree[i] = degree < bound ? degree : bound;
        bucket_insert(q, i);
    }
    q->member_count[p] = kept;
    return true;
}

static bool take_all(quotient *q, const size_t *starts, size_t edges) {
    size_t n = q->count;
    q->starts = starts;
#define TAKE(field, count) ((q->field = rg_arena_take(q->arena, (count), sizeof *q->field)) != NULL)
    return TAKE(lists, edges) && TAKE(elements, n) && TAKE(vertices, n) && TAKE(weight, n) &&
           TAKE(degree, n) && TAKE(members, n) && TAKE(member_count, n) && TAKE(size, n) &&
           TAKE(head, q->total + 1) && TAKE(next, n) && TAKE(previous, n) && TAKE(hash_head, n) &&
           TAKE(hash_next, n) && TAKE(hash, n) && TAKE(in_pivot, n) && TAKE(seen, n) &&
           TAKE(outside, n) && TAKE(chain_next, n) && TAKE(chain_last, n) && TAKE(buffer, n);
#undef TAKE
}

static void begin(quotient *q, const size_t *starts, const uint32_t *neighbours) {
    for (size_t d = 0; d <= q->total; d++)
        q->head[d] = NONE;
    memcpy(q->lists, neighbours, starts[q->count] * sizeof *q->lists);
    q->smallest = q->total;
    for (uint32_t i = 0; i < q->count; i++) {
        q->elements[i] = 0;
        q->vertices[i] = (uint32_t)(starts[i + 1] - starts[i]);
        q->weight[i] = q->weights[i];
        q->size[i] = 0;
        q->hash_head[i] = NONE;
        q->in_pivot[i] = q->seen[i] = 0;
        q->chain_next[i] = NONE;
        q->chain_last[i] = i;
    }
    for (uint32_t i = q->count; i-- > 0;) { /* so that the first comes first among equals */
        q->degree[i] = 0;
        for (size_t k = starts[i]; k < starts[i + 1]; k++)
            q->degree[i] += q->weights[neighbours[k]];
        bucket_insert(q, i);
    }
}

static rg_status order_by_degree(quotient *q, uint32_t *order) {
    size_t given = 0;
    while (given < q->count) {
        while (q->head[q->smallest] == NONE)
            q->smallest++;
        uint32_t p = q->head[q->smallest];
        bucket_remove(q, p);
        if (!eliminate(q, p))
            return RG_OUT_OF_MEMORY;
        for (uint32_t i = p; i != NONE; i = q->chain_next[i])
            order[given++] = i;
    }
    return RG_OK;
}

rg_status rg_sparse_order(rg_arena *arena, size_t count, const size_t *starts,
                          const uint32_t *neighbours, const uint8_t *weights, uint32_t *order) {
    if (count == 0)
        return RG_OK;
    assert(count < NONE);
    rg_arena_mark mark = rg_arena_get_mark(arena);
    quotient q = {.arena = arena, .count = (uint32_t)count, .weights = weights};
    for (size_t i = 0; i < count; i++)
        q.total += weights[i];
    rg_status status = RG_OUT_OF_MEMORY;
    if (take_all(&q, starts, starts[count])) {
        begin(&q, starts, neighbours);
        status = order_by_degree(&q, order);
    }
    rg_arena_return(arena, mark);
    return status;
}
