/* `rigor explain`: what happened in a recording, in words: how it ended, who moved, what happened
 * when, which step was worst and where the energy went; or, of one moment, who touches whom with
 * which force. Everything is read from the recording; nothing is simulated again. */
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char cli_explain_help[] =
    "Usage: rigor explain RECORDING [--at T] [--body NAME]\n"
    "\n"
    "Says in words what happened in a recording, finished or not: which bodies moved and how\n"
    "far, what happened when (impacts, joints, sensors; with the method analytic, contacts),\n"
    "where the energy went, which part of the run was the least exact, and how it ended.\n"
    "With --at: who touches whom at that time, with which force, whether they stick or slip.\n"
    "\n"
    "Options:\n"
    "      --at T        one moment, s: of the frame nearest to it\n"
    "      --body NAME   only what concerns this body\n"
    "      --most N      at most so many bodies, events and contacts are listed (10)\n"
    "  -h, --help        this text\n"
    "\n"
    "Exit codes: 0 done, 2 usage, 3 the recording cannot be used or has no such body.\n"
    "\n"
    "Examples:\n"
    "  rigor run dominoes --out dominoes.h5 && rigor explain dominoes.h5\n"
    "  rigor explain dominoes.h5 --at 1.5 --body stone3\n";

/* A body counts as at rest below this speed of its centre (m/s) and of its rotation (rad/s), and as
 * unmoved below this distance (m): what a reader would not see. */
#define REST_SPEED  1e-6
#define UNMOVED     1e-6
#define ROUNDING    1e-9 /* a component below this share of its vector is printed as 0 */
#define EVERY_BODY  SIZE_MAX
#define DEGREES_PER 57.29577951308232

typedef struct travel {
    double farthest, path, turned; /* m from the start, m along the way, rad against the start */
    double start;                  /* s: when it was first seen away from its start; NaN: never */
} travel;

typedef struct reader {
    rg_recording *recording;
    rg_recording_info info;
    rg_frame frame;
    rg_vec3 *first, *last;
    rg_quat *first_turn;
    travel *travels;
    size_t *order;
    size_t body; /* EVERY_BODY, or the only one that is asked for */
    size_t most;
    rg_error error;
} reader;

static double distance(rg_vec3 a, rg_vec3 b) {
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

static double length(rg_vec3 a) {
    return distance(a, (rg_vec3){0, 0, 0});
}

/* The angle of the rotation from one orientation to another, rad. */
static double angle_between(rg_quat a, rg_quat b) {
    double cosine = fabs(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
    return cosine >= 1 ? 0 : 2 * acos(cosine);
}

static const char *name_of(const reader *r, uint32_t body) {
    return body == RG_RECORDED_NONE ? "world" : rg_recording_body_name(r->recording, body);
}

static bool concerns(const reader *r, uint32_t a, uint32_t b) {
    return r->body == EVERY_BODY || a == r->body || b == r->body;
}

static bool make_room(reader *r) {
    size_t n = r->info.body_count + 1;
    r->frame = (rg_frame){.position = malloc(n * sizeof(rg_vec3)),
                          .orientation = malloc(n * sizeof(rg_quat)),
                          .velocity = malloc(n * sizeof(rg_vec3)),
                          .angular_velocity = malloc(n * sizeof(rg_vec3))};
    r->first = malloc(n * sizeof *r->first), r->last = malloc(n * sizeof *r->last);
    r->first_turn = malloc(n * sizeof *r->first_turn);
    r->travels = malloc(n * sizeof *r->travels), r->order = malloc(n * sizeof *r->order);
    return r->frame.position && r->frame.orientation && r->frame.velocity &&
           r->frame.angular_velocity && r->first && r->last && r->first_turn && r->travels &&
           r->order;
}

static void free_room(reader *r) {
    free(r->frame.position), free(r->frame.orientation);
    free(r->frame.velocity), free(r->frame.angular_velocity);
    free(r->first), free(r->last), free(r->first_turn), free(r->travels), free(r->order);
    rg_recording_close(r->recording);
}

/* ---- who moved ---- */

static rg_status follow(reader *r) {
    for (size_t i = 0; i < r->info.frame_count; i++) {
        rg_status status = rg_recording_read(r->recording, i, &r->frame, &r->error);
        if (status)
            return status;
        for (size_t k = 0; k < r->info.body_count; k++) {
            travel *t = &r->travels[k];
            if (i == 0) {
                *t = (travel){.start = NAN};
                r->first[k] = r->last[k] = r->frame.position[k];
                r->first_turn[k] = r->frame.orientation[k];
            }
            double away = distance(r->frame.position[k], r->first[k]);
            double turned = angle_between(r->frame.orientation[k], r->first_turn[k]);
            t->farthest = fmax(t->farthest, away), t->turned = fmax(t->turned, turned);
            t->path += distance(r->frame.position[k], r->last[k]);
            if (isnan(t->start) && (away > UNMOVED || turned > UNMOVED))
                t->start = r->frame.time;
            r->last[k] = r->frame.position[k];
        }
    }
    return RG_OK;
}

/* Indices of the bodies, the farthest travelled first; ties in the order of the recording. */
static void sort_by_path(reader *r) {
    for (size_t i = 0; i < r->info.body_count; i++)
        r->order[i] = i;
    for (size_t gap = r->info.body_count / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < r->info.body_count; i++) {
            size_t moved = r->order[i], k = i;
            for (; k >= gap; k -= gap) {
                size_t other = r->order[k - gap];
                double a = r->travels[moved].path, b = r->travels[other].path;
                if (a < b || (a == b && other < moved))
                    break;
                r->order[k] = other;
            }
            r->order[k] = moved;
        }
}

/* A component of a vector of that length: 0 where it is rounding. */
static double component(double value, double of) {
    return fabs(value) < ROUNDING * of ? 0 : value;
}

static void print_travel(const reader *r, size_t body) {
    const travel *t = &r->travels[body];
    rg_vec3 p = r->frame.position[body];
    printf("  %s: ", rg_recording_body_name(r->recording, body));
    if (isnan(t->start)) {
        puts("did not move");
        return;
    }
    printf("moves from %.4g s on, %.4g m along its way", t->start, t->path);
    printf(", up to %.4g m from its start", t->farthest);
    if (t->turned > UNMOVED)
        printf(", turned by up to %.3g degrees", t->turned * DEGREES_PER);
    double speed = length(r->frame.velocity[body]), spin = length(r->frame.angular_velocity[body]);
    double size = length(p);
    printf("; ends at (%.4g, %.4g, %.4g) m, ", component(p.x, size), component(p.y, size),
           component(p.z, size));
    if (speed < REST_SPEED && spin < REST_SPEED)
        puts("at rest");
    else
        printf("at %.3g m/s and %.3g rad/s\n", speed, spin);
}

static void print_movers(reader *r) {
    puts("\nWho moved");
    if (r->body != EVERY_BODY) {
        print_travel(r, r->body);
        return;
    }
    sort_by_path(r);
    size_t moved = 0, resting = 0;
    for (size_t i = 0; i < r->info.body_count; i++) {
        bool moves = !isnan(r->travels[i].start);
        moved += moves;
        resting += moves && length(r->frame.velocity[i]) < REST_SPEED &&
                   length(r->frame.angular_velocity[i]) < REST_SPEED;
    }
    printf("  %zu of %zu bodies moved; %zu of these are at rest at the end\n", moved,
           r->info.body_count, resting);
    for (size_t i = 0; i < moved && i < r->most; i++)
        print_travel(r, r->order[i]);
    if (moved > r->most)
        printf("  and %zu more, which went less far (--most %zu lists them)\n", moved - r->most,
               moved);
}

/* ---- what happened when ---- */

static rg_status print_events(reader *r) {
    size_t listed = 0, more = 0, of_kind[RG_STEP_EVENT_KIND_COUNT] = {0};
    if (!r->info.has_events)
        return RG_OK;
    puts("\nWhat happened");
    for (size_t i = 0; i < r->info.frame_count; i++) {
        const rg_recorded_event *events;
        size_t count;
        rg_status status = rg_recording_read_events(r->recording, i, &events, &count, &r->error);
        if (status)
            return status;
        for (size_t k = 0; k < count; k++) {
            const rg_recorded_event *e = &events[k];
            if (!concerns(r, e->body_a, e->body_b))
                continue;
            if (e->kind < RG_STEP_EVENT_KIND_COUNT)
                of_kind[e->kind]++;
            if (listed == r->most) {
                more++;
                continue;
            }
            rg_step_event event = {.time = e->time,
                                   .kind = e->kind,
                                   .contacts = e->contacts,
                                   .value = e->value,
                                   .friction = e->friction,
                                   .restitution = e->restitution,
                                   .other = NAN};
            char text[CLI_EVENT_SIZE];
            rg_step_event_words(&event, name_of(r, e->body_a), name_of(r, e->body_b), text,
                                sizeof text);
            printf("  %s\n", text);
            listed++;
        }
    }
    if (listed == 0)
        puts("  no impact with restitution, and nothing else that is kept as an event; bodies may\n"
             "  have met without bouncing (`rigor export --contacts-csv` has every contact)");
    if (more == 0)
        return RG_OK;
    printf("  and %zu more; in all", more);
    const char *before = "";
    for (int k = 0; k < RG_STEP_EVENT_KIND_COUNT; k++)
        if (of_kind[k]) {
            printf("%s %zu %s", before, of_kind[k], rg_step_event_name((rg_step_event_kind)k));
            before = ",";
        }
    putchar('\n');
    return RG_OK;
}

/* ---- how exact it was, and where the energy went ---- */

typedef struct worst {
    const char *what, *unit;
    size_t place; /* of the figure in rg_step_info */
    double sign;  /* 1: the largest is the worst, -1: the smallest */
    double value, time;
} worst;

static rg_status print_certificate(reader *r) {
    if (!r->info.has_certificate)
        return RG_OK;
    worst figures[] = {
        {"smallest gap", " m", offsetof(rg_step_info, certificate.min_gap), -1, NAN, NAN},
        {"deepest penetration", " m", offsetof(rg_step_info, certificate.max_penetration), 1, NAN,
         NAN},
        {"complementarity", "", offsetof(rg_step_info, certificate.complementarity), 1, NAN, NAN},
        {"joint error", " m", offsetof(rg_step_info, certificate.joint_error), 1, NAN, NAN},
        {"closure of the ledger", "", offsetof(rg_step_info, energy.closure_rel), 1, NAN, NAN}};
    enum { FIGURES = sizeof figures / sizeof figures[0] };
    rg_step_info sum = rg_step_info_nothing();
    for (size_t i = 1; i < r->info.frame_count; i++) {
        rg_step_info info;
        rg_status status = rg_recording_read_certificate(r->recording, i, &info, &r->error);
        if (status)
            return status;
        rg_step_info_add(&sum, &info);
        for (int k = 0; k < FIGURES; k++) {
            double value;
            memcpy(&value, (const char *)&info + figures[k].place, sizeof value);
            if (!(figures[k].sign * value <= figures[k].sign * figures[k].value) && !isnan(value))
                figures[k].value = value, figures[k].time = info.time;
        }
    }
    puts("\nHow exact it was (the worst, and the end of the frame's interval that has it)");
    for (int k = 0; k < FIGURES; k++)
        if (!isnan(figures[k].value))
            printf("  %-22s %10.3g%s at %.4g s\n", figures[k].what, figures[k].value,
                   figures[k].unit, figures[k].time);
    printf("  %" PRIu64 " contact problems solved, %" PRIu64
           " of them not to the tolerance; %" PRIu64 " pairs passed through each other\n",
           sum.solves, sum.solver_failures, sum.passed_through);
    const rg_energy_ledger *e = &sum.energy;
    puts("\nWhere the energy went");
    printf("  %.6g J at the start, %.6g J at the end:", e->initial, e->final);
    printf(" friction %+.4g, impacts %+.4g, other forces %+.4g, moved bodies %+.4g,",
           e->friction_work, -e->impact_loss, e->external_work, e->prescribed_work);
    printf(" stabilisation %+.4g, integration %+.4g J\n", e->stabilisation, e->integration);
    return RG_OK;
}

/* ---- one moment ---- */

static rg_status find_frame(reader *r, double time, size_t *index) {
    double nearest = INFINITY;
    *index = 0;
    for (size_t i = 0; i < r->info.frame_count; i++) {
        rg_frame frame = {0};
        rg_status status = rg_recording_read(r->recording, i, &frame, &r->error);
        if (status)
            return status;
        if (fabs(frame.time - time) < nearest)
            nearest = fabs(frame.time - time), *index = i;
    }
    return rg_recording_read(r->recording, *index, &r->frame, &r->error);
}

/* One line for the contacts of a pair of bodies, which begin at `contacts`; how many they are. */
static size_t print_pair(const reader *r, const rg_recorded_contact *contacts, size_t count) {
    size_t points = 0, of_mode[RG_MODE_COUNT] = {0};
    if (contacts->mode == RG_MODE_SENSOR) {
        printf("  %s touches the sensor %s\n", name_of(r, contacts->body_a),
               name_of(r, contacts->body_b));
        return 1;
    }
    rg_vec3 force = {0, 0, 0};
    double slip = 0;
    const rg_recorded_contact *c = contacts;
    for (; points < count && c->body_a == contacts->body_a && c->body_b == contacts->body_b &&
           c->mode != RG_MODE_SENSOR;
         c++, points++) {
        force.x += c->force.x, force.y += c->force.y, force.z += c->force.z;
        slip = fmax(slip, c->slip_speed);
        of_mode[c->mode < RG_MODE_COUNT ? c->mode : 0]++;
    }
    printf("  %s on %s: ", name_of(r, contacts->body_a), name_of(r, contacts->body_b));
    double size = length(force);
    if (size == 0) {
        printf("near, at %zu point%s, without force\n", points, points > 1 ? "s" : "");
        return points;
    }
    printf("pushed with %.4g N (%.4g, %.4g, %.4g) at %zu point%s", size, component(force.x, size),
           component(force.y, size), component(force.z, size), points, points > 1 ? "s" : "");
    for (int k = RG_MODE_STICK; k <= RG_MODE_ROLL; k++)
        if (of_mode[k])
            printf(", %zu %s", of_mode[k], rg_contact_mode_name((rg_contact_mode)k));
    if (of_mode[RG_MODE_SLIP])
        printf(" at up to %.3g m/s", slip);
    putchar('\n');
    return points;
}

static rg_status print_moment(reader *r, double time) {
    size_t index, listed = 0, more = 0;
    rg_status status = find_frame(r, time, &index);
    if (status)
        return status;
    printf("\nAt %.6g s (step %" PRIu64 ")\n", r->frame.time, r->frame.step);
    for (size_t i = 0; i < r->info.body_count; i++) {
        double speed = length(r->frame.velocity[i]), spin = length(r->frame.angular_velocity[i]);
        if (r->body != EVERY_BODY ? i != r->body : speed < REST_SPEED && spin < REST_SPEED)
            continue;
        if (listed++ >= r->most) {
            more++;
            continue;
        }
        rg_vec3 v = r->frame.velocity[i];
        printf("  %s moves at %.4g m/s (%.4g, %.4g, %.4g), turns at %.4g rad/s\n",
               rg_recording_body_name(r->recording, i), speed, component(v.x, speed),
               component(v.y, speed), component(v.z, speed), spin);
    }
    if (more)
        printf("  and %zu more that move\n", more);
    if (listed == 0)
        puts("  nothing moves");
    if (!r->info.has_contacts)
        return RG_OK;
    const rg_recorded_contact *contacts;
    size_t count;
    status = rg_recording_read_contacts(r->recording, index, &contacts, &count, &r->error);
    if (status)
        return status;
    listed = more = 0;
    puts("\nContacts (the force is on the first of the two, x, y, z)");
    for (size_t i = 0, points; i < count; i += points) {
        points = 1;
        if (concerns(r, contacts[i].body_a, contacts[i].body_b) && listed++ < r->most)
            points = print_pair(r, &contacts[i], count - i);
        else
            while (i + points < count && contacts[i + points].body_a == contacts[i].body_a &&
                   contacts[i + points].body_b == contacts[i].body_b)
                points++;
    }
    if (listed > r->most)
        printf("  and %zu more pairs\n", listed - r->most);
    if (listed == 0)
        puts("  none");
    return RG_OK;
}

static void print_head(const reader *r) {
    const rg_recording_info *info = &r->info;
    double end = r->frame.time;
    printf("%s: %zu bodies, %s, %zu frames, %.6g of %.6g s, %s\n", info->scene_name,
           info->body_count, info->planar ? "in the plane" : "in space", info->frame_count, end,
           info->duration, info->finished ? "finished" : "not finished: `rigor run --resume`");
}

static rg_status tell(reader *r, const cli_option *at, double time) {
    rg_status status = follow(r);
    if (status)
        return status;
    print_head(r);
    if (at->value)
        return print_moment(r, time);
    print_movers(r);
    status = print_events(r);
    return status ? status : print_certificate(r);
}

/* Finds the body of --body. */
static bool choose_body(reader *r, const char *name) {
    r->body = EVERY_BODY;
    if (!name)
        return true;
    const char **names = malloc((r->info.body_count + 1) * sizeof *names);
    for (size_t i = 0; names && i < r->info.body_count; i++) {
        names[i] = rg_recording_body_name(r->recording, i);
        if (strcmp(names[i], name) == 0)
            r->body = i;
    }
    const char *nearest =
        names && r->body == EVERY_BODY ? cli_nearest(name, names, r->info.body_count) : NULL;
    free(names);
    if (r->body != EVERY_BODY)
        return true;
    if (nearest)
        cli_complain("explain: there is no body '%s'; did you mean %s?", name, nearest);
    else
        cli_complain("explain: there is no body '%s'; the bodies are in the scene file, or see "
                     "`rigor export --csv -`",
                     name);
    return false;
}

int cli_explain(int count, const char **arguments) {
    enum { AT, BODY, MOST, HELP, OPTIONS };
    cli_option options[OPTIONS] = {[AT] = {"at", 0, true, NULL},
                                   [BODY] = {"body", 0, true, NULL},
                                   [MOST] = {"most", 0, true, NULL},
                                   [HELP] = {"help", 'h', false, NULL}};
    if (!cli_parse_options("explain", options, OPTIONS, arguments, &count))
        return EXIT_USAGE;
    if (options[HELP].value) {
        fputs(cli_explain_help, stdout);
        return cli_flush();
    }
    double time = 0, most;
    if (!cli_positive_option("explain", &options[MOST], 10, &most))
        return EXIT_USAGE;
    if (options[AT].value && !cli_parse_number(options[AT].value, &time)) {
        cli_complain("explain: --at: '%s' is not a time in seconds, such as 1.5",
                     options[AT].value);
        return EXIT_USAGE;
    }
    if (count != 1) {
        cli_complain("explain: needs one RECORDING; see `rigor explain --help`");
        return EXIT_USAGE;
    }
    reader r = {.most = most < 1e9 ? (size_t)most : (size_t)1e9};
    rg_status status = cli_open_recording(arguments[0], &r.recording, &r.error);
    if (status) {
        cli_complain("%s", r.error.text);
        return cli_exit_code(status);
    }
    r.info = rg_recording_get_info(r.recording);
    int code = EXIT_GOOD;
    if (!make_room(&r)) {
        cli_complain("explain: out of memory");
        code = EXIT_FAILED;
    } else if (!choose_body(&r, options[BODY].value)) {
        code = EXIT_BAD_INPUT;
    } else if ((status = tell(&r, &options[AT], time)) != RG_OK) {
        cli_complain("%s", r.error.text);
        code = cli_exit_code(status);
    }
    free_room(&r);
    return code == EXIT_GOOD ? cli_flush() : code;
}
