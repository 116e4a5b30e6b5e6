/* `rigor decompose`: a closed mesh cut into convex parts, with what that costs in shape. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char cli_decompose_help[] =
    "Usage: rigor decompose FILE [OPTION ...]\n"
    "\n"
    "Cuts a closed mesh (OBJ, STL, PLY, glTF) into convex parts, which together move as one\n"
    "body. Planes go through notches, the edges at which the surface is bent inwards. Without\n"
    "--parts and --error cuts go on until all parts are convex: exact, and right for\n"
    "polyhedra with few notches. A scanned animal has thousands of them; say how many parts\n"
    "are enough, or how much larger they may be. The largest error is cut first.\n"
    "\n"
    "Printed are volume, notches, parts, by how much the parts are larger than the solid (of\n"
    "its volume) and how far they reach beyond it (the Hausdorff distance, between two\n"
    "bounds).\n"
    "\n"
    "Options:\n"
    "      --parts N       cut no further with N parts\n"
    "      --error E       cut no further when the parts are larger by E of the volume\n"
    "      --scale S       one unit of the file is S metres\n"
    "      --out OUT       the parts as a scene (OUT.yaml: the body on a floor, with the mass\n"
    "                      of the mesh at 1000 kg/m^3) or as OBJ (OUT.obj: a group each)\n"
    "      --resolution R  m between the bounds of the distance; 1e-3 of the size\n"
    "  -f, --overwrite     replace OUT if it exists\n"
    "      --json          figures as JSON\n"
    "  -h, --help          this text\n"
    "\n"
    "Exit codes: 0 done, 2 usage, 3 FILE cannot be used, 4 OUT exists or cannot be written.\n"
    "\n"
    "Examples:\n"
    "  rigor decompose bracket.obj\n"
    "  rigor decompose bunny.obj --parts 32 --out bunny.yaml\n";

static const double density = 1000; /* kg/m^3, of the body in the scene */

typedef struct request {
    const char *file, *out;
    double parts, error, scale, resolution;
    const cli_option *overwrite; /* -f */
    bool json;
} request;

static double size_of(const rg_mesh *mesh, rg_vec3 *lower) {
    rg_vec3 low = mesh->vertices[0], high = low;
    for (size_t i = 1; i < mesh->vertex_count; i++) {
        rg_vec3 p = mesh->vertices[i];
        low = (rg_vec3){fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z)};
        high = (rg_vec3){fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z)};
    }
    *lower = low;
    return fmax(high.x - low.x, fmax(high.y - low.y, high.z - low.z));
}

static void write_vector(FILE *file, rg_vec3 v) {
    char x[CLI_NUMBER_SIZE], y[CLI_NUMBER_SIZE], z[CLI_NUMBER_SIZE];
    fprintf(file, "[%s, %s, %s]", cli_exact(v.x, x), cli_exact(v.y, y), cli_exact(v.z, z));
}

static void write_scene(FILE *file, const request *r, const rg_decomposition *d,
                        const rg_mass_properties *mass, double lowest) {
    char number[CLI_NUMBER_SIZE];
    fprintf(file, "# %s as %zu convex parts, made by `rigor decompose`.\n", r->file, d->part_count);
    fprintf(file, "rigor: 1\nshapes:\n  body:\n    compound:\n");
    for (size_t i = 0; i < d->part_count; i++) {
        const rg_polyhedron *p = rg_shape_polyhedron(d->parts[i]);
        fprintf(file, "      - shape:\n          hull:\n");
        for (uint32_t k = 0; k < p->vertex_count; k++) {
            fprintf(file, "            - ");
            write_vector(file, p->vertices[k]);
            fputc('\n', file);
        }
    }
    fprintf(file, "bodies:\n  - {name: floor, motion: fixed, shape: {halfspace: {}}}\n");
    fprintf(file, "  - name: body\n    shape: body\n    mass: %s\n    centre_of_mass: ",
            cli_exact(mass->mass, number));
    write_vector(file, mass->centre);
    fprintf(file, "\n    inertia: [");
    for (int i = 0; i < 3; i++) {
        const double *row = mass->inertia.m[i];
        write_vector(file, (rg_vec3){row[0], row[1], row[2]});
        fprintf(file, i < 2 ? ", " : "]\n");
    }
    fprintf(file, "    position: [0, 0, %s]\n", cli_exact(-lowest, number));
}

static void write_obj(FILE *file, const request *r, const rg_decomposition *d) {
    unsigned long first = 1;
    fprintf(file, "# %s as %zu convex parts, made by `rigor decompose`.\n", r->file, d->part_count);
    for (size_t i = 0; i < d->part_count; i++) {
        const rg_polyhedron *p = rg_shape_polyhedron(d->parts[i]);
        fprintf(file, "g part%zu\n", i);
        for (uint32_t k = 0; k < p->vertex_count; k++) {
            char x[CLI_NUMBER_SIZE], y[CLI_NUMBER_SIZE], z[CLI_NUMBER_SIZE];
            fprintf(file, "v %s %s %s\n", cli_exact(p->vertices[k].x, x),
                    cli_exact(p->vertices[k].y, y), cli_exact(p->vertices[k].z, z));
        }
        for (uint32_t f = 0; f < p->facet_count; f++) {
            fputc('f', file);
            for (uint32_t k = p->facet_start[f]; k < p->facet_start[f + 1]; k++)
                fprintf(file, " %lu", first + p->facet_vertices[k]);
            fputc('\n', file);
        }
        first += p->vertex_count;
    }
}

static int write_out(const request *r, const rg_mesh *mesh, const rg_decomposition *d,
                     double lowest) {
    rg_mass_properties mass;
    rg_error error = {0};
    rg_status status = rg_mesh_mass(mesh, density, &mass, &error);
    if (status != RG_OK) {
        cli_complain("%s", error.text);
        return cli_exit_code(status);
    }
    FILE *file = fopen(r->out, "w");
    if (!file) {
        cli_complain("decompose: %s cannot be written", r->out);
        return EXIT_UNWRITABLE;
    }
    if (cli_ends_with(r->out, ".obj"))
        write_obj(file, r, d);
    else
        write_scene(file, r, d, &mass, lowest);
    bool failed = ferror(file) != 0;
    failed |= fclose(file) != 0;
    if (failed) {
        cli_complain("decompose: %s cannot be written", r->out);
        return EXIT_UNWRITABLE;
    }
    return EXIT_GOOD;
}

static void print(const request *r, const rg_mesh *mesh, const rg_decomposition *d,
                  const rg_decomposition_distance *far, double size) {
    double differ = d->parts_volume / d->volume - 1;
    if (r->json) {
        printf("{\"file\": ");
        cli_print_json_text(r->file);
        printf(", \"triangles\": %zu, \"size\": ", mesh->triangle_count);
        cli_print_json_number(size);
        printf(", \"volume\": ");
        cli_print_json_number(d->volume);
        printf(", \"notches\": %zu, \"cuts\": %zu, \"parts\": %zu, \"error\": ", d->notches,
               d->cuts, d->part_count);
        cli_print_json_number(d->error);
        printf(", \"volume_difference\": ");
        cli_print_json_number(differ);
        printf(", \"distance_least\": ");
        cli_print_json_number(far->least);
        printf(", \"distance_most\": ");
        cli_print_json_number(far->most);
        printf("}\n");
        return;
    }
    printf("%s: %zu triangles, %.6g m, volume %.9g m^3, %zu notches\n", r->file,
           mesh->triangle_count, size, d->volume, d->notches);
    printf("parts               %zu (%zu cuts)\n", d->part_count, d->cuts);
    printf("error               %.3g of the volume (sum over the parts)\n", d->error);
    printf("volume              %+.3g of it\n", differ);
    printf("Hausdorff distance  %.4g to %.4g m (%.3g to %.3g of the size)\n", far->least, far->most,
           far->least / size, far->most / size);
}

static int decompose(const request *r) {
    rg_mesh mesh;
    rg_mesh_report report;
    rg_decomposition d = {0};
    rg_decomposition_distance far;
    rg_error error = {0};
    rg_status status = rg_mesh_read_file(r->file, NULL, &mesh, &report, &error);
    if (status != RG_OK) {
        cli_complain("%s", error.text);
        return cli_exit_code(status);
    }
    for (size_t i = 0; i < mesh.vertex_count; i++) {
        rg_vec3 *p = &mesh.vertices[i];
        *p = (rg_vec3){r->scale * p->x, r->scale * p->y, r->scale * p->z};
    }
    rg_vec3 lower;
    double size = size_of(&mesh, &lower);
    rg_decomposition_options options = {.parts = (size_t)r->parts, .error = r->error};
    status = rg_mesh_decompose(&mesh, &options, &d, &error);
    if (status == RG_OK)
        status = rg_decomposition_measure(
            &mesh, &d, r->resolution > 0 ? r->resolution : 1e-3 * size, &far, &error);
    int code = EXIT_GOOD;
    if (status != RG_OK) {
        cli_complain("%s: %s", r->file, error.text);
        code = cli_exit_code(status);
    } else {
        print(r, &mesh, &d, &far, size);
        if (r->out)
            code = write_out(r, &mesh, &d, lower.z);
    }
    rg_decomposition_destroy(&d);
    rg_mesh_destroy(&mesh);
    int flushed = cli_flush();
    return code != EXIT_GOOD ? code : flushed;
}

static bool out_is_good(const request *r) {
    if (!r->out)
        return true;
    if (!cli_ends_with(r->out, ".obj") && !cli_ends_with(r->out, ".yaml")) {
        cli_complain("decompose: --out: '%s' must end in .yaml or .obj", r->out);
        return false;
    }
    return cli_may_write("decompose", r->out, r->overwrite);
}

int cli_decompose(int count, const char **arguments) {
    enum { PARTS, ERROR, SCALE, OUT, RESOLUTION, OVERWRITE, JSON, HELP, OPTIONS };
    cli_option options[OPTIONS] = {{"parts", 0, true, NULL},      {"error", 0, true, NULL},
                                   {"scale", 0, true, NULL},      {"out", 0, true, NULL},
                                   {"resolution", 0, true, NULL}, {"overwrite", 'f', false, NULL},
                                   {"json", 0, false, NULL},      {"help", 'h', false, NULL}};
    if (!cli_parse_options("decompose", options, OPTIONS, arguments, &count))
        return EXIT_USAGE;
    if (options[HELP].value) {
        fputs(cli_decompose_help, stdout);
        return cli_flush();
    }
    if (count != 1) {
        cli_complain("decompose: which FILE? see `rigor decompose --help`");
        return EXIT_USAGE;
    }
    request r = {.file = arguments[0],
                 .out = options[OUT].value,
                 .overwrite = &options[OVERWRITE],
                 .json = options[JSON].value != NULL};
    if (!cli_whole_option("decompose", &options[PARTS], 1e6, 0, &r.parts) ||
        !cli_positive_option("decompose", &options[ERROR], 0, &r.error) ||
        !cli_positive_option("decompose", &options[SCALE], 1, &r.scale) ||
        !cli_positive_option("decompose", &options[RESOLUTION], 0, &r.resolution))
        return EXIT_USAGE;
    if (!out_is_good(&r))
        return r.out && (cli_ends_with(r.out, ".obj") || cli_ends_with(r.out, ".yaml"))
                   ? EXIT_UNWRITABLE
                   : EXIT_USAGE;
    return decompose(&r);
}
