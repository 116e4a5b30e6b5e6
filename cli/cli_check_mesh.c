/* `rigor check MESH`: names bad triangles of a mesh file and says what would be right; mends what
 * can be mended. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

bool cli_is_mesh(const char *path) {
    static const char *const endings[] = {".obj", ".stl", ".ply",  ".OBJ",
                                          ".STL", ".PLY", ".gltf", ".glb"};
    size_t size = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t end = strlen(endings[i]);
        if (size > end && strcmp(path + size - end, endings[i]) == 0)
            return true;
    }
    return false;
}

/* What would be right, by kind. */
static const char *const remedies[RG_MESH_FLAW_COUNT] = {
    "leave it out",
    "keep one of the two",
    "a closed surface has two triangles to each edge",
    "part the surfaces that meet here",
    "turn one of the two round",
    "join the two solids into one surface"};

static void print_flaws(const char *path, const rg_mesh_flaws *found, const rg_mesh_flaw *flaws) {
    for (int kind = 0; kind < RG_MESH_FLAW_COUNT; kind++) {
        if (found->count[kind] == 0)
            continue;
        bool most = kind == RG_MESH_CROSSING && found->count[kind] >= RG_MESH_MOST_CROSSINGS;
        printf("%s: %zu%s %s%s: %s\n", path, found->count[kind], most ? " or more" : "",
               rg_mesh_flaw_name((rg_mesh_flaw_kind)kind), found->count[kind] == 1 ? "" : "s",
               remedies[kind]);
        size_t shown = 0;
        for (size_t i = 0; i < found->listed; i++) {
            const rg_mesh_flaw *f = &flaws[i];
            if (f->kind != (rg_mesh_flaw_kind)kind)
                continue;
            printf("  triangle %lu", (unsigned long)f->triangle);
            if (f->other != f->triangle)
                printf(" and %lu", (unsigned long)f->other);
            printf(" at (%.6g, %.6g, %.6g)\n", f->place.x, f->place.y, f->place.z);
            shown++;
        }
        if (shown < found->count[kind])
            printf("  and %zu more\n", found->count[kind] - shown);
    }
}

static size_t sum_of(const rg_mesh_flaws *found) {
    size_t sum = 0;
    for (int kind = 0; kind < RG_MESH_FLAW_COUNT; kind++)
        sum += found->count[kind];
    return sum;
}

static int fail_with(rg_status status, const rg_error *error) {
    fflush(stdout); /* messages in their order */
    fprintf(stderr, "%s\n", error->text);
    return cli_exit_code(status);
}

static int mend(const char *path, const char *out, rg_mesh *mesh, bool loud) {
    rg_mesh_repair done;
    rg_mesh_flaws found;
    rg_mesh_flaw flaws[RG_MESH_FLAW_COUNT * RG_MESH_FLAWS_LISTED];
    rg_error error = {0};
    rg_status status = rg_mesh_mend(mesh, &done, &error);
    if (status == RG_OK)
        status =
            rg_mesh_examine(mesh, flaws, RG_MESH_FLAW_COUNT * RG_MESH_FLAWS_LISTED, &found, &error);
    if (status == RG_OK)
        status = rg_mesh_write_obj(mesh, out, &error);
    if (status != RG_OK)
        return fail_with(status, &error);
    if (loud) {
        printf("%s: mended: %zu degenerate and %zu duplicate triangles left out, %zu turned round, "
               "%zu holes closed with %zu triangles; written to %s\n",
               path, done.degenerate, done.duplicate, done.turned, done.holes, done.filled, out);
        print_flaws(out, &found, flaws);
    }
    return sum_of(&found) == 0 ? EXIT_GOOD : EXIT_BAD_INPUT;
}

int cli_check_mesh(const char *path, const char *out, const cli_option *overwrite, bool loud) {
    rg_mesh mesh;
    rg_mesh_report report;
    rg_mesh_flaws found;
    rg_mesh_flaw flaws[RG_MESH_FLAW_COUNT * RG_MESH_FLAWS_LISTED];
    rg_error error = {0};
    if (!cli_may_write("check", out, overwrite))
        return EXIT_UNWRITABLE;
    rg_status status =
        rg_mesh_read_file(path, &(rg_mesh_options){.whole = true}, &mesh, &report, &error);
    if (status != RG_OK)
        return fail_with(status, &error);
    status =
        rg_mesh_examine(&mesh, flaws, RG_MESH_FLAW_COUNT * RG_MESH_FLAWS_LISTED, &found, &error);
    int code = EXIT_GOOD;
    if (status != RG_OK) {
        code = fail_with(status, &error);
    } else {
        if (loud)
            printf("%s: %zu triangles, %zu vertices (%zu joined to others)%s\n", path,
                   mesh.triangle_count, mesh.vertex_count, report.welded_vertices,
                   sum_of(&found) == 0 ? ", closed, nothing wrong" : "");
        print_flaws(path, &found, flaws);
        code = sum_of(&found) == 0 ? EXIT_GOOD : EXIT_BAD_INPUT;
        if (out)
            code = mend(path, out, &mesh, loud);
    }
    rg_mesh_destroy(&mesh);
    return code;
}
