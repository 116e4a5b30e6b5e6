/* Convex decomposition: the piece with the largest error is cut again and again.
 *
 * A piece is a closed chain of faces (shape_chain.h), its part the hull of its corners. The error
 * of a piece is the volume of its hull less its own.
 *
 * Planes that are tried: of a notch those of its two faces and the one that halves the angle
 * between them; where there are more notches than FEW, or none (a piece in two parts), also planes
 * across the axes. The one that leaves the smallest hulls is taken. A cut that leaves several
 * connected surfaces, each with volume of its own, parts them.
 *
 * Cost: planes tried times the edges of the piece, per cut.
 * Tested by tests/shape/test_decompose.c. */
#include "rigor/decompose.h"

#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_sort.h"
#include "base/base_text.h"
#include "shape/shape.h"
#include "shape/shape_chain.h"
#include "shape/shape_hull.h"

#include <string.h>

enum {
    FEW = 16,   /* notches whose planes are tried at each cut */
    ACROSS = 7, /* planes across each axis */
    MOST_PARTS = 10000,
    PLANES = 3 * FEW + 3 * ACROSS
};
/* Default of the error that is none. */
#define EXACT 1e-9
/* A corner this near to a plane is on it, and a notch less deep is none; of the mesh's size. */
#define NEAR 1e-9
/* Pieces of a smaller share of the volume are left out: slivers that rounding makes. */
#define SLIVER 1e-12
/* Two planes are one if their normals and offsets (of the size) differ by less. */
#define SAME_PLANE 1e-7

typedef struct piece {
    rg_chain chain;
    double volume, hull; /* m^3 */
    bool last;           /* no plane cuts it */
} piece;

typedef struct notch {
    rg_cut_plane face[2];
    rg_vec3 corner;
    double weight; /* m^2: length times depth */
} notch;

typedef struct job {
    const rg_mesh *mesh;
    rg_allocator memory;
    double size, total; /* m, m^3 */
    piece *pieces;
    size_t count, capacity, cuts;
} job;

/* --- hulls ------------------------------------------------------------------------------------ */

typedef struct point_list {
    rg_vec3 *points;
    size_t count;
} point_list;

static void make_unique(point_list *list) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || rg_point_compare(&list->points[kept - 1], &list->points[i], NULL) != 0)
            list->points[kept++] = list->points[i];
    list->count = kept;
}

/* The corners of a chain, sorted, each once: the points that a part is the hull of. */
static rg_status hull_points(const job *j, const rg_chain *chain, point_list *list) {
    *list = (point_list){rg_allocate(&j->memory, chain->edge_count, sizeof *list->points), 0};
    if (!list->points)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < chain->edge_count; i++)
        list->points[list->count++] = chain->edges[i].from;
    rg_status status = rg_sort(list->points, list->count, sizeof *list->points, rg_point_compare,
                               NULL, &j->memory);
    if (status == RG_OK)
        make_unique(list);
    return status;
}

/* m^3; 0 where points have no volume. */
static rg_status hull_volume(const job *j, const rg_chain *chain, double *volume) {
    point_list list = {NULL, 0};
    rg_solid solid;
    rg_mass_properties mass;
    rg_status status = hull_points(j, chain, &list);
    *volume = 0;
    if (status == RG_OK && list.count >= 4) {
        status = rg_hull_build(list.points, list.count, &j->memory, &solid, &mass, NULL);
        if (status == RG_OK) {
            *volume = mass.mass;
            rg_solid_free(&solid, &j->memory);
        } else if (status != RG_OUT_OF_MEMORY) {
            status = RG_OK;
        }
    }
    rg_release(&j->memory, list.points);
    return status;
}

/* --- notches ---------------------------------------------------------------------------------- */

/* m: how far a face reaches above a plane. */
static double height_above(const rg_chain *chain, const rg_chain_face *face, rg_cut_plane plane) {
    double most = -INFINITY;
    for (size_t i = face->first; i < face->first + face->count; i++)
        most = fmax(most, rg_dot(plane.normal, chain->edges[i].from) - plane.offset);
    return most;
}

/* Whether the surface is bent inwards at an edge, given its two sides. */
static bool is_notch(const rg_chain *chain, const rg_chain_side side[2], double near, notch *n) {
    const rg_chain_face *f[2] = {&chain->faces[side[0].face], &chain->faces[side[1].face]};
    if (!f[0]->surface || !f[1]->surface || side[0].turned == side[1].turned)
        return false;
    n->face[0] = f[0]->plane;
    n->face[1] = f[1]->plane;
    double depth =
        fmin(height_above(chain, f[1], f[0]->plane), height_above(chain, f[0], f[1]->plane));
    n->corner = side[0].low;
    n->weight = depth * rg_length(rg_sub(side[0].high, side[0].low));
    return depth > near;
}

/* The FEW heaviest notches of a chain, heaviest first; *count of them all. */
static rg_status find_notches(const job *j, const rg_chain *chain, notch few[FEW], size_t *count) {
    rg_chain_side *sides = rg_chain_sides(chain, &j->memory);
    if (!sides)
        return RG_OUT_OF_MEMORY;
    *count = 0;
    for (size_t i = 0; i + 1 < chain->edge_count; i++) {
        notch n;
        if (!rg_chain_same_edge(&sides[i], &sides[i + 1]) ||
            !is_notch(chain, &sides[i], NEAR * j->size, &n))
            continue;
        size_t held = *count < FEW ? *count : FEW, at = held;
        ++*count;
        while (at > 0 && few[at - 1].weight < n.weight)
            at--;
        if (at == FEW)
            continue;
        size_t moved = (held < FEW ? held : FEW - 1) - at;
        memmove(&few[at + 1], &few[at], moved * sizeof *few);
        few[at] = n;
    }
    rg_release(&j->memory, sides);
    return RG_OK;
}

/* --- planes to try ---------------------------------------------------------------------------- */

static void add_plane(rg_cut_plane *planes, size_t *count, rg_cut_plane plane, double size) {
    for (size_t i = 0; i < *count; i++) {
        double sign = rg_dot(planes[i].normal, plane.normal) < 0 ? -1 : 1;
        rg_vec3 differ = rg_add_scaled(plane.normal, -sign, planes[i].normal);
        if (rg_length(differ) < SAME_PLANE &&
            fabs(plane.offset - sign * planes[i].offset) < SAME_PLANE * size)
            return;
    }
    planes[(*count)++] = plane;
}

static void add_planes_of(const notch *n, rg_cut_plane *planes, size_t *count, double size) {
    /* Halving the angle: the plane through the edge that holds the sum of the normals. */
    rg_vec3 between = rg_sub(n->face[0].normal, n->face[1].normal);
    if (rg_length(between) > SAME_PLANE) {
        rg_cut_plane half = {.normal = rg_normalised(between)};
        half.offset = rg_dot(half.normal, n->corner);
        add_plane(planes, count, half, size);
    }
    add_plane(planes, count, n->face[0], size);
    add_plane(planes, count, n->face[1], size);
}

static void add_planes_across(const rg_chain *chain, rg_cut_plane *planes, size_t *count) {
    rg_bounds b = {chain->edges[0].from, chain->edges[0].from};
    for (size_t i = 0; i < chain->edge_count; i++) {
        rg_vec3 p = chain->edges[i].from;
        b = (rg_bounds){rg_min(b.lower, p), rg_max(b.upper, p)};
    }
    double lower[3] = {b.lower.x, b.lower.y, b.lower.z};
    double upper[3] = {b.upper.x, b.upper.y, b.upper.z};
    for (int axis = 0; axis < 3; axis++)
        for (int i = 1; i <= ACROSS; i++)
            planes[(*count)++] =
                (rg_cut_plane){{axis == 0, axis == 1, axis == 2},
                               lower[axis] + i * (upper[axis] - lower[axis]) / (ACROSS + 1)};
}

static rg_status list_planes(const job *j, const rg_chain *chain, rg_cut_plane planes[PLANES],
                             size_t *count) {
    notch few[FEW];
    size_t notches;
    rg_status status = find_notches(j, chain, few, &notches);
    *count = 0;
    if (status)
        return status;
    for (size_t i = 0; i < notches && i < FEW; i++)
        add_planes_of(&few[i], planes, count, j->size);
    if (notches == 0 || notches > FEW)
        add_planes_across(chain, planes, count);
    return RG_OK;
}

/* --- cutting ---------------------------------------------------------------------------------- */

static rg_status add_piece(job *j, rg_chain *chain) {
    piece p = {.chain = *chain, .volume = rg_chain_volume(chain)};
    *chain = (rg_chain){0};
    if (!(p.volume > SLIVER * j->total)) {
        rg_chain_free(&p.chain, &j->memory);
        return RG_OK;
    }
    rg_status status = hull_volume(j, &p.chain, &p.hull);
    if (!status)
        status = rg_array_grow(&j->memory, &j->pieces, &j->capacity, j->count + 1);
    if (status)
        rg_chain_free(&p.chain, &j->memory);
    else
        j->pieces[j->count++] = p;
    return status;
}

/* Connected surfaces as pieces of their own, unless one of them is the inside of a hollow. */
static rg_status add_pieces(job *j, rg_chain *chain) {
    size_t count = 0;
    rg_chain *parts = NULL;
    bool hollow = false;
    rg_status status = rg_chain_split(chain, &parts, &count, &j->memory);
    for (size_t i = 0; i < count; i++)
        hollow |= rg_chain_volume(&parts[i]) < -SLIVER * j->total;
    if (!status && hollow)
        status = add_piece(j, chain);
    for (size_t i = 0; i < count; i++) {
        if (!status && !hollow)
            status = add_piece(j, &parts[i]);
        rg_chain_free(&parts[i], &j->memory);
    }
    rg_chain_free(chain, &j->memory);
    rg_release(&j->memory, parts);
    return status;
}

/* The sum of the volumes of both hulls; infinite where the plane cuts nothing off. */
static rg_status try_plane(const job *j, const piece *p, const rg_cut_plane *plane, double *score) {
    rg_chain half[2];
    double hull[2] = {0, 0};
    *score = INFINITY;
    rg_status status = rg_chain_cut(&p->chain, plane, NEAR * j->size, half, &j->memory);
    if (status)
        return status;
    double below = rg_chain_volume(&half[0]);
    bool cuts = below > SLIVER * j->total && p->volume - below > SLIVER * j->total;
    for (int k = 0; k < 2 && cuts && !status; k++)
        status = hull_volume(j, &half[k], &hull[k]);
    if (cuts && !status)
        *score = hull[0] + hull[1];
    rg_chain_free(&half[0], &j->memory);
    rg_chain_free(&half[1], &j->memory);
    return status;
}

/* Cuts piece `at` by the best plane, if any cuts it. */
static rg_status cut_piece(job *j, size_t at) {
    rg_cut_plane planes[PLANES];
    size_t count, best = 0;
    double least = INFINITY;
    rg_status status = list_planes(j, &j->pieces[at].chain, planes, &count);
    for (size_t i = 0; i < count && !status; i++) {
        double score;
        status = try_plane(j, &j->pieces[at], &planes[i], &score);
        if (!status && score < least) {
            least = score;
            best = i;
        }
    }
    if (status)
        return status;
    if (!(least < INFINITY)) {
        j->pieces[at].last = true;
        return RG_OK;
    }
    rg_chain half[2], whole = j->pieces[at].chain;
    status = rg_chain_cut(&whole, &planes[best], NEAR * j->size, half, &j->memory);
    if (status)
        return status;
    j->cuts++;
    j->pieces[at] = j->pieces[--j->count];
    rg_chain_free(&whole, &j->memory);
    for (int k = 0; k < 2; k++)
        if (!status)
            status = add_pieces(j, &half[k]);
        else
            rg_chain_free(&half[k], &j->memory);
    return status;
}

static double error_of(const piece *p) {
    return fabs(p->hull - p->volume);
}

static rg_status cut_all(job *j, size_t parts, double error) {
    rg_status status = RG_OK;
    while (!status && j->count < parts) {
        double sum = 0;
        size_t worst = j->count;
        for (size_t i = 0; i < j->count; i++) {
            sum += error_of(&j->pieces[i]);
            if (!j->pieces[i].last &&
                (worst == j->count || error_of(&j->pieces[i]) > error_of(&j->pieces[worst])))
                worst = i;
        }
        if (sum <= error * j->total || worst == j->count)
            break;
        status = cut_piece(j, worst);
    }
    return status;
}

/* --- beginning and end ------------------------------------------------------------------------ */

static rg_status begin(job *j, rg_decomposition *d, rg_error *error) {
    rg_mass_properties mass;
    rg_status status = rg_mesh_mass(j->mesh, 1, &mass, error);
    if (status)
        return status;
    rg_bounds b = {j->mesh->vertices[0], j->mesh->vertices[0]};
    rg_chain chain = {0};
    for (size_t i = 0; i < j->mesh->vertex_count; i++)
        b = (rg_bounds){rg_min(b.lower, j->mesh->vertices[i]),
                        rg_max(b.upper, j->mesh->vertices[i])};
    j->size = rg_largest_entry(rg_sub(b.upper, b.lower));
    j->total = d->volume = mass.mass;
    for (size_t i = 0; i < 3 * j->mesh->triangle_count && !status; i += 3) {
        const uint32_t *k = j->mesh->triangles + i;
        rg_vec3 corner[3] = {j->mesh->vertices[k[0]], j->mesh->vertices[k[1]],
                             j->mesh->vertices[k[2]]};
        status = rg_chain_add_triangle(&chain, corner, &j->memory);
    }
    notch few[FEW];
    if (!status)
        status = find_notches(j, &chain, few, &d->notches);
    if (!status)
        return add_pieces(j, &chain);
    rg_chain_free(&chain, &j->memory);
    return status;
}

static rg_status make_parts(job *j, rg_decomposition *d, rg_error *error) {
    rg_status status = RG_OK;
    double lost = j->total;
    d->parts = rg_allocate_zeroed(&j->memory, j->count, sizeof(rg_shape *));
    if (!d->parts)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < j->count && !status; i++) {
        const piece *p = &j->pieces[i];
        point_list list = {NULL, 0};
        if (!(p->hull > 0))
            continue; /* flat: what it holds counts as lost */
        status = hull_points(j, &p->chain, &list);
        rg_shape_def def = rg_shape_def_hull(list.points, list.count);
        if (!status)
            status = rg_shape_create(&def, &j->memory, &d->parts[d->part_count], error);
        rg_release(&j->memory, list.points);
        if (status)
            break;
        d->parts_volume += rg_shape_volume(d->parts[d->part_count++]);
        d->error += error_of(p) / j->total;
        lost -= p->volume;
    }
    d->error += fabs(lost) / j->total;
    return status;
}

/* Where a surface crosses itself, what is inside is counted twice, or not at all. */
static rg_status check_crossings(const rg_mesh *mesh, rg_error *error) {
    rg_mesh_flaw flaws[RG_MESH_FLAW_COUNT * RG_MESH_FLAWS_LISTED];
    rg_mesh_flaws found;
    size_t first = 0;
    rg_status status = rg_mesh_examine(mesh, flaws, sizeof flaws / sizeof *flaws, &found, error);
    if (status || found.count[RG_MESH_CROSSING] == 0)
        return status;
    while (flaws[first].kind != RG_MESH_CROSSING)
        first++;
    rg_vec3 p = flaws[first].place;
    return rg_fail(error, RG_NOT_WATERTIGHT,
                   "the surface crosses itself (%zu crossing%s, the first at (%g, %g, %g)); join "
                   "the solids into one surface: `rigor check FILE` names the triangles",
                   found.count[RG_MESH_CROSSING], found.count[RG_MESH_CROSSING] == 1 ? "" : "s",
                   p.x, p.y, p.z);
}

rg_status rg_mesh_decompose(const rg_mesh *mesh, const rg_decomposition_options *options,
                            rg_decomposition *d, rg_error *error) {
    rg_decomposition_options chosen = options ? *options : (rg_decomposition_options){0};
    job j = {.mesh = mesh, .memory = rg_allocator_or_default(chosen.allocator)};
    *d = (rg_decomposition){.allocator = j.memory};
    if (!(chosen.error >= 0))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "the error of a decomposition must be a share of the volume, 0 or more");
    rg_status status = check_crossings(mesh, error);
    if (!status)
        status = begin(&j, d, error);
    if (!status)
        status = cut_all(&j, chosen.parts ? chosen.parts : MOST_PARTS,
                         chosen.error > 0 ? chosen.error : EXACT);
    if (!status)
        status = make_parts(&j, d, error);
    d->cuts = j.cuts;
    for (size_t i = 0; i < j.count; i++)
        rg_chain_free(&j.pieces[i].chain, &j.memory);
    rg_release(&j.memory, j.pieces);
    if (status == RG_OUT_OF_MEMORY)
        rg_fail(error, status, "no memory for the decomposition");
    if (status)
        rg_decomposition_destroy(d);
    return status;
}

void rg_decomposition_destroy(rg_decomposition *d) {
    if (!d || !d->allocator.release)
        return;
    for (size_t i = 0; i < d->part_count; i++)
        rg_shape_release(d->parts[i]);
    rg_release(&d->allocator, d->parts);
    *d = (rg_decomposition){.allocator = d->allocator};
}

rg_status rg_decomposition_shape(const rg_mesh *mesh, const rg_decomposition *d, rg_shape **shape,
                                 rg_error *error) {
    *shape = NULL;
    rg_mass_properties mass;
    rg_status status = rg_mesh_mass(mesh, 1, &mass, error);
    if (status)
        return status;
    /* One part that is the solid itself, and not its hull. */
    if (d->part_count == 1 && d->error <= EXACT) {
        *shape = rg_shape_retain(d->parts[0]);
        return RG_OK;
    }
    rg_compound_part *parts = rg_allocate(&d->allocator, d->part_count, sizeof *parts);
    if (!parts)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for the compound");
    for (size_t i = 0; i < d->part_count; i++)
        parts[i] = (rg_compound_part){d->parts[i], rg_pose_identity(), 1};
    rg_shape_def def = rg_shape_def_compound(parts, d->part_count);
    status = rg_shape_create(&def, &d->allocator, shape, error);
    rg_release(&d->allocator, parts);
    if (status == RG_OK)
        rg_compound_set_mass(*shape, mass);
    return status;
}
