/* `rigor distance`: two shapes close up. */
#include "cli.h"

#include "rigor/collision.h"
#include "rigor/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char cli_distance_help[] =
    "Usage: rigor distance A B [--pose POSE] [OPTION ...]\n"
    "\n"
    "How far apart two convex shapes are, or how deep in each other: the smallest translation\n"
    "that separates them where they overlap, the ratio metric with its certificate, the\n"
    "Euclidean distance with the closest points, the points of contact.\n"
    "\n"
    "A and B are OBJ or STL files (their convex hulls are taken), or box:X,Y,Z sphere:R\n"
    "capsule:R,LENGTH cylinder:R,HEIGHT cone:R,HEIGHT ellipsoid:A,B,C.\n"
    "\n"
    "Options:\n"
    "      --pose POSE     of B, where A stands at the origin: X,Y,Z in metres, or\n"
    "                      X,Y,Z,AX,AY,AZ,DEGREES with a turn about the axis AX,AY,AZ\n"
    "      --metric NAME   what gap, normal and event mean where shapes overlap: `depth`, the\n"
    "                      smallest translation that separates them (default), or `ratio`,\n"
    "                      those of the ratio metric\n"
    "      --repeat N      queries that the time is the mean of (1000)\n"
    "      --json          one line of JSON\n"
    "  -h, --help          this text\n"
    "\n"
    "Exit codes: 0 done, 2 usage, 3 a shape cannot be used.\n"
    "\n"
    "Examples:\n"
    "  rigor distance box:1,1,1 box:1,1,1 --pose 1.3,0.2,0\n"
    "  rigor distance part.obj hole.stl --pose 0,0,1,1,0,0,45\n";

enum { POINTS_SHOWN = 64 };

/* Comma-separated numbers; -1 if it is not that, or more than `most`. */
static int parse_numbers(const char *text, double *numbers, int most) {
    int count = 0;
    for (const char *at = text;;) {
        char word[64];
        size_t length = strcspn(at, ",");
        if (count == most || length >= sizeof word)
            return -1;
        memcpy(word, at, length);
        word[length] = '\0';
        if (!cli_parse_number(word, &numbers[count++]))
            return -1;
        if (at[length] == '\0')
            return count;
        at += length + 1;
    }
}

static bool parse_pose(const char *text, rg_pose *pose) {
    double n[7];
    *pose = (rg_pose){{0, 0, 0}, {0, 0, 0, 1}};
    int count = text ? parse_numbers(text, n, 7) : 0;
    if (text && count != 3 && count != 7) {
        cli_complain("distance: --pose %s: give X,Y,Z or X,Y,Z,AX,AY,AZ,DEGREES", text);
        return false;
    }
    if (count >= 3)
        pose->position = (rg_vec3){n[0], n[1], n[2]};
    if (count == 7) {
        double length = sqrt(n[3] * n[3] + n[4] * n[4] + n[5] * n[5]);
        if (!(length > 0)) {
            cli_complain("distance: --pose %s: the axis has no length", text);
            return false;
        }
        double half = n[6] * 3.14159265358979323846 / 360, s = sin(half) / length;
        pose->orientation = (rg_quat){s * n[3], s * n[4], s * n[5], cos(half)};
    }
    return true;
}

/* box:X,Y,Z and the like: 1 if it is one, 0 if it is not, -1 if it is a bad one. */
static int parse_primitive(const char *text, rg_shape_def *def) {
    static const struct {
        const char *name;
        int numbers;
    } kinds[] = {{"box", 3},      {"sphere", 1}, {"capsule", 2},
                 {"cylinder", 2}, {"cone", 2},   {"ellipsoid", 3}};
    double n[3] = {0, 0, 0};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t length = strlen(kinds[i].name);
        if (strncmp(text, kinds[i].name, length) != 0 || text[length] != ':')
            continue;
        if (parse_numbers(text + length + 1, n, 3) != kinds[i].numbers) {
            cli_complain("distance: %s: %s takes %d number%s, in metres", text, kinds[i].name,
                         kinds[i].numbers, kinds[i].numbers == 1 ? "" : "s");
            return -1;
        }
        const rg_shape_def defs[] = {
            rg_shape_def_box(n[0], n[1], n[2]), rg_shape_def_sphere(n[0]),
            rg_shape_def_capsule(n[0], n[1]),   rg_shape_def_cylinder(n[0], n[1]),
            rg_shape_def_cone(n[0], n[1]),      rg_shape_def_ellipsoid(n[0], n[1], n[2])};
        *def = defs[i];
        return 1;
    }
    return 0;
}

static int open_shape(const char *text, rg_shape **shape) {
    rg_error error = {0};
    rg_shape_def def;
    rg_mesh mesh = {0};
    int primitive = parse_primitive(text, &def);
    if (primitive < 0)
        return EXIT_USAGE;
    rg_status status = RG_OK;
    if (!primitive) {
        rg_mesh_report report;
        status = rg_mesh_read_file(text, NULL, &mesh, &report, &error);
        if (status == RG_OK && !report.convex)
            fprintf(stderr, "rigor: note: %s is not convex; its convex hull is taken\n", text);
        def = rg_shape_def_hull(mesh.vertices, mesh.vertex_count);
    }
    if (status == RG_OK) {
        status = rg_shape_create(&def, NULL, shape, &error);
        if (status != RG_OK)
            cli_complain("%s: %s", text, error.text);
        if (!primitive)
            rg_mesh_destroy(&mesh);
    } else {
        cli_complain("%s", error.text);
    }
    return cli_exit_code(status);
}

/* What there is to tell. */
typedef struct answer {
    rg_growth growth;
    bool overlap; /* and the depth is asked for */
    rg_depth depth;
    rg_distance distance;
    rg_contact_point points[POINTS_SHOWN];
    size_t point_count;
    double growth_us, depth_us, distance_us; /* per query */
} answer;

static rg_status measure(const rg_shape *a, const rg_shape *b, rg_pose pose, long repeat,
                         answer *out) {
    rg_pose origin = {{0, 0, 0}, {0, 0, 0, 1}};
    rg_status status = RG_OK;
    double start = cli_clock();
    for (long i = 0; i < repeat && status == RG_OK; i++)
        status = rg_growth_between(a, origin, b, pose, NULL, &out->growth);
    double middle = cli_clock();
    for (long i = 0; i < repeat && status == RG_OK; i++)
        status = rg_distance_between(a, origin, b, pose, NULL, &out->distance);
    double end = cli_clock();
    out->overlap = out->overlap && out->growth.gap < 0;
    for (long i = 0; i < repeat && status == RG_OK && out->overlap; i++)
        status = rg_depth_between(a, origin, b, pose, &out->depth);
    out->growth_us = 1e6 * (middle - start) / (double)repeat;
    out->distance_us = 1e6 * (end - middle) / (double)repeat;
    out->depth_us = 1e6 * (cli_clock() - end) / (double)repeat;
    return status;
}

static rg_status add_body(rg_world *world, rg_shape *shape, rg_pose pose) {
    rg_collider_def collider = rg_collider_def_default();
    collider.shape = shape;
    rg_body_def body = rg_body_def_default();
    body.pose = pose;
    body.colliders = &collider;
    body.collider_count = 1;
    rg_body_id id;
    return rg_world_add_body(world, &body, &id, NULL);
}

/* All near-active feature pairs, by a world of two bodies with a range that reaches across the
 * gap. */
static rg_status find_points(rg_shape *a, rg_shape *b, rg_pose pose, answer *out) {
    rg_world_def world_def = rg_world_def_default();
    rg_collision_def def = rg_collision_def_default();
    double size = fmin(rg_shape_circumradius(a), rg_shape_circumradius(b));
    def.contacts.near = fmax(2 * out->growth.gap, 0) + RG_CONTACT_NEAR * size;
    rg_world *world = NULL;
    rg_collision *collision = NULL;
    rg_status status = rg_world_create(&world_def, &world, NULL);
    if (status == RG_OK)
        status = rg_collision_create(&def, NULL, &collision, NULL);
    if (status == RG_OK)
        status = add_body(world, a, (rg_pose){{0, 0, 0}, {0, 0, 0, 1}});
    if (status == RG_OK)
        status = add_body(world, b, pose);
    if (status == RG_OK)
        status = rg_collision_update(collision, world, 0, NULL);
    if (status == RG_OK) {
        rg_collision_view view = rg_collision_get(collision);
        out->point_count = view.point_count;
        for (size_t i = 0; i < view.point_count && i < POINTS_SHOWN; i++)
            out->points[i] = view.points[i];
    }
    rg_collision_destroy(collision);
    rg_world_destroy(world);
    return status;
}

static const char *kind_name(rg_feature_kind kind) {
    static const char *const names[] = {"none",   "face-vertex",   "vertex-face", "edge-edge",
                                        "smooth", "vertex-vertex", "edge-vertex", "vertex-edge"};
    return (size_t)kind < sizeof names / sizeof names[0] ? names[kind] : "unknown";
}

static void print_vector(const char *label, rg_vec3 v) {
    printf("  %-22s %.12g %.12g %.12g\n", label, v.x, v.y, v.z);
}

static void print_event(rg_feature_pair features) {
    printf("  %-22s %s, %u of A, %u of B\n", "event", kind_name(features.kind), features.index1,
           features.index2);
}

static void print_depth(const answer *s) {
    printf("overlap: the smallest translation that separates\n");
    printf("  %-22s %.15g m, certified at least %.15g\n", "depth", s->depth.depth,
           s->depth.at_least);
    print_vector("normal, from A to B", s->depth.normal);
    print_event(s->depth.features);
    printf("  %-22s %.3f us\n", "time", s->depth_us);
}

static void print_human(const answer *s) {
    const rg_growth *g = &s->growth;
    if (s->overlap)
        print_depth(s);
    printf("ratio metric\n");
    printf("  %-22s %.15g\n  %-22s %.15g\n", "r", g->ratio, "rho", g->rho);
    printf("  %-22s %.15g m\n", "gap", g->gap);
    print_vector("normal, from A to B", g->normal);
    print_event(g->features);
    printf("  %-22s primal %.2g, dual %.2g, duality gap %.2g, relative\n", "certificate",
           g->primal_error, g->dual_error, g->duality_gap);
    printf("  %-22s %.3f us%s\n", "time", s->growth_us, g->fallback ? ", by the fallback" : "");
    printf("Euclidean distance\n");
    printf("  %-22s %.15g m, certified at least %.15g\n", "distance", s->distance.distance,
           s->distance.lower_bound);
    print_vector("closest on A", s->distance.on1);
    print_vector("closest on B", s->distance.on2);
    printf("  %-22s %.3f us\n", "time", s->distance_us);
    printf("contact points: %zu\n", s->point_count);
    for (size_t i = 0; i < s->point_count && i < POINTS_SHOWN; i++) {
        const rg_contact_point *p = &s->points[i];
        printf("  %-13s %6u %6u   at %.9g %.9g %.9g, gap %.3g m\n", kind_name(p->feature.kind),
               p->feature.index1, p->feature.index2, p->position.x, p->position.y, p->position.z,
               p->gap);
    }
    if (s->point_count > POINTS_SHOWN)
        printf("  and %zu more\n", s->point_count - POINTS_SHOWN);
}

static void json_number(const char *key, double value) {
    printf("\"%s\": ", key);
    cli_print_json_number(value);
}

static void json_vector(const char *key, rg_vec3 v) {
    const double numbers[3] = {v.x, v.y, v.z};
    printf(", \"%s\": [", key);
    for (int i = 0; i < 3; i++) {
        if (i)
            printf(", ");
        cli_print_json_number(numbers[i]);
    }
    printf("]");
}

static void print_json(const answer *s) {
    const rg_growth *g = &s->growth;
    printf("{");
    json_number("r", g->ratio);
    printf(", ");
    json_number("rho", g->rho);
    printf(", ");
    rg_feature_pair event = s->overlap ? s->depth.features : g->features;
    json_number("gap_m", s->overlap ? -s->depth.depth : g->gap);
    json_vector("normal", s->overlap ? s->depth.normal : g->normal);
    printf(", \"event\": {\"kind\": \"%s\", \"a\": %u, \"b\": %u}", kind_name(event.kind),
           event.index1, event.index2);
    printf(", \"certificate\": {");
    json_number("primal", g->primal_error);
    printf(", ");
    json_number("dual", g->dual_error);
    printf(", ");
    json_number("duality_gap", g->duality_gap);
    printf("}, ");
    json_number("distance_m", s->distance.distance);
    printf(", ");
    json_number("distance_at_least_m", s->distance.lower_bound);
    json_vector("closest_a", s->distance.on1);
    json_vector("closest_b", s->distance.on2);
    printf(", \"points\": [");
    for (size_t i = 0; i < s->point_count && i < POINTS_SHOWN; i++) {
        const rg_contact_point *p = &s->points[i];
        printf("%s{\"kind\": \"%s\", \"a\": %u, \"b\": %u, ", i ? ", " : "",
               kind_name(p->feature.kind), p->feature.index1, p->feature.index2);
        json_number("gap_m", p->gap);
        json_vector("at", p->position);
        printf("}");
    }
    printf("], ");
    json_number("ratio_us", s->growth_us);
    printf(", ");
    json_number("distance_us", s->distance_us);
    printf("}\n");
}

static bool parse_metric(const char *text, bool *depth) {
    *depth = !text || strcmp(text, "depth") == 0;
    if (*depth || strcmp(text, "ratio") == 0)
        return true;
    cli_complain("distance: --metric: '%s' is neither depth nor ratio", text);
    return false;
}

int cli_distance(int count, const char **arguments) {
    cli_option options[] = {{"pose", 0, true, NULL},
                            {"repeat", 0, true, NULL},
                            {"json", 0, false, NULL},
                            {"help", 'h', false, NULL},
                            {"metric", 0, true, NULL}};
    double repeat;
    rg_pose pose;
    bool depth;
    if (!cli_parse_options("distance", options, 5, arguments, &count))
        return EXIT_USAGE;
    if (options[3].value) {
        fputs(cli_distance_help, stdout);
        return cli_flush();
    }
    if (!cli_positive_option("distance", &options[1], 1000, &repeat) ||
        !parse_pose(options[0].value, &pose) || !parse_metric(options[4].value, &depth))
        return EXIT_USAGE;
    if (count != 2) {
        cli_complain("distance: needs two shapes, such as box:1,1,1 sphere:0.5; see `rigor "
                     "distance --help`");
        return EXIT_USAGE;
    }
    rg_shape *a = NULL, *b = NULL;
    answer *out = calloc(1, sizeof *out);
    int code = out ? open_shape(arguments[0], &a) : EXIT_FAILED;
    if (code == EXIT_GOOD)
        code = open_shape(arguments[1], &b);
    if (code == EXIT_GOOD) {
        long times = repeat < 1 ? 1 : repeat > 1e9 ? 1000000000 : (long)repeat;
        out->overlap = depth;
        rg_status status = measure(a, b, pose, times, out);
        if (status == RG_OK)
            status = find_points(a, b, pose, out);
        if (status != RG_OK)
            cli_complain("distance: %s", rg_status_text(status));
        code = cli_exit_code(status);
    }
    if (code == EXIT_GOOD) {
        options[2].value ? print_json(out) : print_human(out);
        code = cli_flush();
    }
    rg_shape_release(a);
    rg_shape_release(b);
    free(out);
    return code;
}
