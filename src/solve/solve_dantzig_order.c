/* Reading the matrix of the pivoting solver: which entries there are, and an order of the rows that
 * brings them near the diagonal.
 *
 * Two contacts have an entry only if they share a body, so most matrices are sparse. In the order
 * of Cuthill and McKee (1969), reversed (George 1971), rows of one piece of the contact graph lie
 * together and the envelope of the factor is small; it is taken if it is smaller than that of the
 * order given, which for stacks and walls is often the better one. The factor's cost goes with the
 * square of the envelope's width.
 * Tested by tests/solve/test_dantzig.c. */
#include "solve/solve_dantzig.h"

#include "base/base_math.h"

#include <string.h>

enum { AT_ONCE = 8 };

/* By their bits, all at once: most entries are. */
static bool are_zero(const double row[AT_ONCE]) {
    uint64_t bits[AT_ONCE], any = 0;
    memcpy(bits, row, sizeof bits);
    for (int k = 0; k < AT_ONCE; k++)
        any |= bits[k];
    return any == 0;
}

/* Entries of row i: columns[starts[i] .. starts[i + 1]). False if it is not worth it. */
static bool find_entries(const rg_linear_problem *problem, size_t capacity, size_t *starts,
                         uint32_t *columns, double *values) {
    size_t n = problem->size, next = 0;
    for (size_t i = 0; i < n; i++) {
        const double *row = rg_linear_row(problem, i);
        starts[i] = next;
        if (next + n > capacity)
            return false;
        for (size_t first = 0; first < n; first += AT_ONCE) {
            size_t end = first + AT_ONCE < n ? first + AT_ONCE : n;
            if (end - first == AT_ONCE && are_zero(row + first))
                continue;
            for (size_t j = first; j < end; j++) {
                columns[next] = (uint32_t)j;
                values[next] = row[j];
                next += row[j] != 0;
            }
        }
    }
    starts[n] = next;
    return true;
}

static size_t envelope(const rg_entries *entries, size_t n, const uint32_t *place) {
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = place ? place[i] : i, least = at;
        for (size_t k = entries->starts[i]; k < entries->starts[i + 1]; k++) {
            size_t j = place ? place[entries->columns[k]] : entries->columns[k];
            least = j < least ? j : least;
        }
        sum += at - least;
    }
    return sum;
}

static size_t degree(const rg_entries *entries, size_t i) {
    return entries->starts[i + 1] - entries->starts[i];
}

/* Breadth first, neighbours by ascending degree, from a row of least degree in each piece. */
static void order_by_level(const rg_entries *entries, size_t n, uint32_t *order, uint8_t *seen) {
    size_t count = 0, next = 0;
    for (size_t i = 0; i < n; i++)
        seen[i] = 0;
    while (count < n) {
        size_t root = n;
        for (size_t i = 0; i < n; i++)
            if (!seen[i] && (root == n || degree(entries, i) < degree(entries, root)))
                root = i;
        seen[root] = 1;
        order[count++] = (uint32_t)root;
        for (; next < count; next++) {
            size_t from = count, i = order[next];
            for (size_t k = entries->starts[i]; k < entries->starts[i + 1]; k++) {
                uint32_t j = entries->columns[k];
                if (seen[j])
                    continue;
                seen[j] = 1;
                size_t at = count++; /* insertion: there are few */
                for (; at > from && degree(entries, order[at - 1]) > degree(entries, j); at--)
                    order[at] = order[at - 1];
                order[at] = j;
            }
        }
    }
}

/* Those that are given with the problem, or those of its matrix if they are few. */
static rg_status take_entries(rg_solve_context *context, const rg_linear_problem *problem,
                              rg_entries *entries, rg_error *error) {
    size_t n = problem->size, capacity = n * n / RG_ENTRIES_SHARE + n;
    size_t *starts;
    uint32_t *columns;
    double *values;
    *entries = (rg_entries){0};
    if (n < RG_ENTRIES_ROWS) /* none at all, perhaps */
        return RG_OK;
    if (!problem->matrix) {
        *entries = *context->entries;
        return RG_OK;
    }
    RG_TAKE(starts, context, n + 1, error);
    RG_TAKE(columns, context, capacity + 1, error);
    RG_TAKE(values, context, capacity + 1, error);
    if (find_entries(problem, capacity, starts, columns, values))
        *entries = (rg_entries){starts, columns, values};
    return RG_OK;
}

rg_status rg_dantzig_order(rg_solve_context *context, const rg_linear_problem *problem,
                           uint32_t *order, rg_entries *entries, rg_error *error) {
    size_t n = problem->size;
    uint32_t *trial, *place;
    uint8_t *seen;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    rg_status status = take_entries(context, problem, entries, error);
    if (status || !entries->starts)
        return status;
    RG_TAKE(trial, context, n, error);
    RG_TAKE(place, context, n, error);
    RG_TAKE(seen, context, n, error);
    order_by_level(entries, n, trial, seen);
    for (size_t k = 0; k < n; k++)
        place[trial[k]] = (uint32_t)(n - 1 - k);
    if (envelope(entries, n, place) < envelope(entries, n, NULL))
        for (size_t i = 0; i < n; i++)
            order[place[i]] = (uint32_t)i;
    return RG_OK;
}
