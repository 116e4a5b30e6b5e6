/* `rigor bench scale`: what a step costs against bodies, contacts, islands and mass ratio, and the
 * slopes of straight lines through the logarithms, by least squares. */
#include "cli_bench_engines.h"

#include "rigor/math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char scale_help[] =
    "Usage: rigor bench scale [OPTION ...]\n"
    "\n"
    "Measures what a step costs as scenes grow: many separate pyramids, one pyramid at rest and\n"
    "one whose boxes are pushed (1e-9 N each, another way in each step), a tower, dominoes that\n"
    "stand while the first one falls, a pile that falls, a chain that swings, and a stack whose\n"
    "top is heavier. Prints milliseconds of processor time a step, certificate included, the\n"
    "memory that the scene holds, in all and per contact, how often the heap was called in the\n"
    "last steps that were timed, and the slopes of log cost against log bodies, contacts, islands\n"
    "and mass ratio. Of the pile all steps count; of the others the first steps are left out and\n"
    "the least of five times 12 steps is taken. There is a slope where the largest is at least\n"
    "four times the smallest.\n"
    "\n"
    "Options:\n"
    "      --quick         small sizes: seconds\n"
    "      --threads N     threads (1)\n"
    "      --limit S       seconds of processor time of one size (60); what takes longer is\n"
    "                      stopped and left out of the slopes\n"
    "      --record FILE   keeps the time in each stage of a step\n"
    "      --against FILE  shows it beside what --record kept before\n"
    "  -f, --overwrite     replace the FILE of --record if it exists\n"
    "  -h, --help          this text\n"
    "\n"
    "Exit codes: 0 done, 1 no memory or a step failed, 2 usage, 3 FILE cannot be used, 4 output\n"
    "cannot be written.\n"
    "\n"
    "Examples:\n"
    "  rigor bench scale --quick\n"
    "  rigor bench scale --record before.csv\n";

enum { SIZES = 4, WARM_UP = 12, BLOCKS = 5, TIMED = 12 };

typedef struct family {
    const char *title, *scene;
    int full[SIZES], quick[SIZES]; /* of the number in the scene; 0: none */
    bool copies;                   /* the number is that of copies of the scene, side by side */
    bool pushed;
    bool ratio;      /* the number is a power of ten: the mass ratio */
    double duration; /* s, from the beginning; 0: at rest, a number of steps */
} family;

static const family families[] = {
    {.title = "separate pyramids",
     .scene = "pyramid base=5",
     .full = {1, 4, 16, 64},
     .quick = {1, 2, 4},
     .copies = true},
    {.title = "one pyramid",
     .scene = "pyramid base=%d",
     .full = {5, 10, 20, 40},
     .quick = {3, 5, 8}},
    {.title = "one pyramid, pushed",
     .scene = "pyramid base=%d",
     .full = {5, 10, 20, 40},
     .quick = {3, 5, 8},
     .pushed = true},
    {.title = "tower", .scene = "tower count=%d", .full = {10, 30, 100, 300}, .quick = {3, 6, 12}},
    {.title = "dominoes",
     .scene = "dominoes count=%d",
     .full = {60, 250, 1000, 4000},
     .quick = {10, 20, 40}},
    {.title = "pile",
     .scene = "pile count=%d",
     .full = {25, 50, 100, 200},
     .quick = {4, 8, 16},
     .duration = 2},
    {.title = "chain",
     .scene = "chain links=%d",
     .full = {10, 100, 1000, 10000},
     .quick = {3, 6, 12}},
    {.title = "mass ratio",
     .scene = "mass-ratio ratio=1e%d",
     .full = {1, 2, 4, 6},
     .quick = {1, 2, 4},
     .ratio = true},
};
enum { FAMILIES = sizeof families / sizeof families[0] };

typedef struct sample {
    double bodies, contacts, islands, ratio;
    double ms, wall; /* a step: processor time, wall time */
    double bytes;    /* that the scene holds at the end */
    double calls;    /* of the heap, in the last steps that were timed */
    bool stopped;
} sample;

typedef struct scale {
    bool quick;
    int threads;
    double limit;
    cli_engine_record record;
} scale;

/* ---- memory ---- */

/* Counts what a world asks of the heap; islands are solved by several threads. */
typedef struct heap {
    _Atomic size_t bytes, calls;
} heap;

enum { HEAP_HEADER = 16 }; /* bytes before each block, for its size: malloc's alignment */

static void release_counted(void *user, void *pointer) {
    heap *this = user;
    if (!pointer)
        return;
    size_t *block = (size_t *)(void *)((char *)pointer - HEAP_HEADER);
    this->bytes -= *block;
    this->calls++;
    free(block);
}

static void *resize_counted(void *user, void *pointer, size_t size) {
    heap *this = user;
    size_t *old = pointer ? (size_t *)(void *)((char *)pointer - HEAP_HEADER) : NULL;
    size_t before = old ? *old : 0;
    size_t *block = realloc(old, size + HEAP_HEADER);
    this->calls++;
    if (!block)
        return NULL;
    *block = size;
    this->bytes += size - before;
    return (char *)block + HEAP_HEADER;
}

/* ---- one size ---- */

#define COPY_PITCH 3.0 /* m along y: pyramids of unit boxes do not touch */

static rg_status add_copies(rg_world *world, int copies, rg_error *error) {
    size_t count = rg_world_body_count(world);
    rg_status status = RG_OK;
    for (int copy = 1; copy < copies; copy++)
        for (size_t i = 0; i < count && !status; i++) {
            rg_body_id body = rg_world_body_at(world, i);
            if (rg_body_motion(world, body) != RG_MOTION_DYNAMIC)
                continue;
            rg_collider_def collider =
                rg_collider_get_def(world, rg_body_collider_at(world, body, 0));
            rg_body_def def = rg_body_def_default();
            def.pose = rg_body_pose(world, body);
            def.pose.position.y += COPY_PITCH * copy;
            def.colliders = &collider, def.collider_count = 1;
            status = rg_world_add_body(world, &def, &(rg_body_id){0}, error);
        }
    return status;
}

static size_t root_of(size_t *parent, size_t i) {
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Sets of moving bodies that touch, of more than one member or touching what is fixed. */
static double count_islands(const rg_world *world) {
    size_t count = rg_world_body_count(world), islands = 0;
    size_t *parent = calloc(2 * count + 1, sizeof *parent), *used = parent + count;
    rg_collision_view view = rg_collision_get(rg_world_collision(world));
    for (size_t i = 0; parent && i < count; i++)
        parent[i] = i;
    for (size_t i = 0; parent && i < view.touch_count; i++) {
        const rg_touch *touch = &view.touches[i];
        size_t a = rg_body_index(world, touch->body_a), b = rg_body_index(world, touch->body_b);
        bool moves_a = rg_body_motion(world, touch->body_a) == RG_MOTION_DYNAMIC;
        bool moves_b = rg_body_motion(world, touch->body_b) == RG_MOTION_DYNAMIC;
        if (!touch->touching)
            continue;
        if (moves_a && moves_b)
            parent[root_of(parent, a)] = root_of(parent, b);
        used[a] |= moves_a, used[b] |= moves_b;
    }
    /* A set counts once: at its root, if any member is used. */
    for (size_t i = 0; parent && i < count; i++)
        if (used[i] & 1)
            used[root_of(parent, i)] |= 2;
    for (size_t i = 0; parent && i < count; i++)
        islands += used[i] >> 1;
    free(parent);
    return (double)islands;
}

/* Some steps of a run: s of processor time and of wall time, and where the time went. */
typedef struct block {
    size_t steps;
    double cpu, wall;
    rg_profile profile;
} block;

typedef struct run {
    heap *heap;
    const scale *scale;
    const family *family;
    rg_world *world;
    double step, begin; /* s: of a step; processor time at the beginning of the run */
    rg_random random;
    bool stopped;
} run;

static rg_status make_block(run *this, size_t steps, block *block_, rg_error *error) {
    rg_profile before = rg_world_profile(this->world);
    double cpu = cli_processor_clock(), wall = cli_clock();
    rg_status status = RG_OK;
    *block_ = (block){0};
    this->heap->calls = 0;
    while (block_->steps < steps && !status && !this->stopped) {
        if (this->family->pushed)
            cli_engine_push(this->world, &this->random);
        status = rg_world_step(this->world, this->step, NULL, error);
        block_->steps++;
        this->stopped =
            block_->steps % 8 == 0 && cli_processor_clock() - this->begin > this->scale->limit;
    }
    block_->cpu = cli_processor_clock() - cpu, block_->wall = cli_clock() - wall;
    /* At rest the least of several blocks is taken, which other processes have not touched. */
    bool shared = this->family->duration > 0 && this->scale->threads == 1;
    cli_engine_add_profile(&block_->profile, &before, this->world,
                           shared ? fmin(1, block_->cpu / block_->wall) : 1);
    return status;
}

/* The least of each figure: at rest all blocks do the same, and other processes only add. */
static void keep_least(block *least, const block *other) {
    least->cpu = fmin(least->cpu, other->cpu), least->wall = fmin(least->wall, other->wall);
    least->profile.step = fmin(least->profile.step, other->profile.step);
    for (int i = 0; i < RG_STAGE_COUNT; i++)
        least->profile.stage[i] = fmin(least->profile.stage[i], other->profile.stage[i]);
}

static rg_status time_steps(run *this, block *result, rg_error *error) {
    double seconds = this->family->duration * (this->scale->quick ? 0.5 : 1);
    if (seconds > 0)
        return make_block(this, (size_t)(seconds / this->step), result, error);
    rg_status status = make_block(this, WARM_UP, result, error);
    for (int i = 0; i < BLOCKS && !status && !this->stopped; i++) {
        block next;
        status = make_block(this, TIMED, &next, error);
        if (i == 0)
            *result = next;
        else if (!this->stopped)
            keep_least(result, &next);
    }
    return status;
}

static void fill_sample(sample *sample_, const run *run_, const block *result) {
    const rg_world *world = run_->world;
    sample_->ms = 1e3 * result->cpu / (double)result->steps;
    sample_->wall = 1e3 * result->wall / (double)result->steps;
    sample_->stopped = run_->stopped;
    sample_->bytes = (double)run_->heap->bytes;
    sample_->calls = (double)run_->heap->calls;
    sample_->contacts = (double)rg_world_summary(world).contacts_max;
    sample_->islands = count_islands(world);
    for (size_t i = 0; i < rg_world_body_count(world); i++)
        sample_->bodies += rg_body_motion(world, rg_world_body_at(world, i)) == RG_MOTION_DYNAMIC;
}

static rg_status measure(scale *this, const family *family_, int size, sample *sample_,
                         rg_profile *profile) {
    char text[CLI_ENGINE_TEXT];
    rg_error error = {0};
    rg_scene *scene = NULL;
    heap heap_ = {0};
    rg_allocator counted = {resize_counted, release_counted, &heap_};
    *sample_ = (sample){.ratio = family_->ratio ? pow(10, size) : 1};
    snprintf(text, sizeof text, "%s", family_->scene);
    char *number = strstr(text, "%d");
    if (number)
        snprintf(number, sizeof text - (size_t)(number - text), "%d", size);
    rg_status status = cli_engine_open_in(text, &counted, &scene, &error);
    if (!status && family_->copies)
        status = add_copies(rg_scene_world(scene), size, &error);
    if (!status)
        status = rg_world_set_threads(rg_scene_world(scene), this->threads);
    if (!status) {
        block result = {0};
        run run_ = {.heap = &heap_,
                    .scale = this,
                    .family = family_,
                    .world = rg_scene_world(scene),
                    .step = rg_scene_step_size(scene),
                    .begin = cli_processor_clock(),
                    .random = rg_random_make(1)};
        status = time_steps(&run_, &result, &error);
        fill_sample(sample_, &run_, &result);
        *profile = result.profile;
    }
    if (status)
        cli_complain("bench: %s: %s", text, error.text);
    rg_scene_destroy(scene);
    return status;
}

/* ---- slopes ---- */

#define LEAST_SPREAD 4 /* times the smallest: below that a slope says nothing */

/* Of log ms against log x, by least squares; NaN where x hardly changes. */
static double slope(const sample *samples, size_t count, double (*x)(const sample *)) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, least = INFINITY, most = 0;
    for (size_t i = 0; i < count; i++) {
        if (samples[i].stopped || !(x(&samples[i]) > 0) || !(samples[i].ms > 0))
            continue;
        double a = log(x(&samples[i])), b = log(samples[i].ms);
        n++, sx += a, sy += b, sxx += a * a, sxy += a * b;
        least = fmin(least, x(&samples[i])), most = fmax(most, x(&samples[i]));
    }
    return most >= LEAST_SPREAD * least ? (n * sxy - sx * sy) / (n * sxx - sx * sx) : NAN;
}

static double bodies_of(const sample *s) {
    return s->bodies;
}

static double contacts_of(const sample *s) {
    return s->contacts;
}

static double islands_of(const sample *s) {
    return s->islands;
}

static double ratio_of(const sample *s) {
    return s->ratio;
}

static void print_slopes(const sample *samples, size_t count) {
    static const struct {
        const char *name;
        double (*x)(const sample *);
    } against[] = {{"bodies", bodies_of},
                   {"contacts", contacts_of},
                   {"islands", islands_of},
                   {"mass ratio", ratio_of}};
    const char *separator = "  slope against";
    for (size_t i = 0; i < sizeof against / sizeof against[0]; i++) {
        double value = slope(samples, count, against[i].x);
        if (isnan(value))
            continue;
        printf("%s %s %.2f", separator, against[i].name, value);
        separator = ",";
    }
    puts(*separator == ',' ? "\n" : "  no slope: nothing to fit\n");
}

/* ---- the command ---- */

static int run_family(scale *this, const family *family_) {
    const int *sizes = this->quick ? family_->quick : family_->full;
    sample samples[SIZES];
    size_t count = 0;
    printf("%s\n  %10s %10s %10s %10s %12s %12s %10s %10s %10s\n", family_->title, "bodies",
           "contacts", "islands", "mass ratio", "ms a step", "wall ms", "kB", "B/contact",
           "heap calls");
    for (; count < SIZES && sizes[count]; count++) {
        sample *s = &samples[count];
        rg_profile profile;
        char name[CLI_ENGINE_TEXT];
        if (measure(this, family_, sizes[count], s, &profile))
            return EXIT_FAILED;
        printf("  %10.0f %10.0f %10.0f %10.0e %12.4g %12.4g %10.0f %10.0f %10.0f%s\n", s->bodies,
               s->contacts, s->islands, s->ratio, s->ms, s->wall, 1e-3 * s->bytes,
               s->bytes / s->contacts, s->calls, s->stopped ? "  stopped: over the limit" : "");
        snprintf(name, sizeof name, "%s %d", family_->title, sizes[count]);
        cli_engine_record_add(&this->record, name, &profile, NAN);
        fflush(stdout);
    }
    print_slopes(samples, count);
    return EXIT_GOOD;
}

int cli_bench_scale(int count, const char **arguments) {
    enum { QUICK, THREADS, LIMIT, RECORD, AGAINST, OVERWRITE, HELP, OPTIONS, MOST_THREADS = 1024 };
    cli_option options[OPTIONS] = {{"quick", 0, false, NULL},  {"threads", 0, true, NULL},
                                   {"limit", 0, true, NULL},   {"record", 0, true, NULL},
                                   {"against", 0, true, NULL}, {"overwrite", 'f', false, NULL},
                                   {"help", 'h', false, NULL}};
    if (!cli_parse_options("bench", options, OPTIONS, arguments, &count))
        return EXIT_USAGE;
    if (options[HELP].value) {
        fputs(scale_help, stdout);
        return cli_flush();
    }
    scale this = {.quick = options[QUICK].value,
                  .record = {options[RECORD].value, options[AGAINST].value, NULL, NULL}};
    double threads;
    if (count > 0) {
        cli_complain("bench: scale takes no '%s'; see `rigor bench scale --help`", arguments[0]);
        return EXIT_USAGE;
    }
    if (!cli_whole_option("bench", &options[THREADS], MOST_THREADS, 1, &threads) ||
        !cli_positive_option("bench", &options[LIMIT], 60, &this.limit))
        return EXIT_USAGE;
    if (!cli_may_write("bench", options[RECORD].value, &options[OVERWRITE]))
        return EXIT_UNWRITABLE;
    this.threads = (int)threads;
    int code = cli_engine_record_begin(&this.record, "bench");
    for (size_t i = 0; i < FAMILIES && code == EXIT_GOOD; i++)
        code = run_family(&this, &families[i]);
    int kept = cli_engine_record_end(&this.record, "bench");
    code = code == EXIT_GOOD ? kept : code;
    return code == EXIT_GOOD ? cli_flush() : code;
}
