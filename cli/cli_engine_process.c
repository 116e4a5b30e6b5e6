/* An engine in a process of its own: what crashes, exits or never returns takes nothing with it,
 * and processor time is that of the engine alone. The process makes steps when it is told to, so
 * that engines take turns; it sends the time and all poses of each. Figures go as bytes through
 * pipes: both ends are the same program. */
#include "cli_engine.h"

#include "rigor/math.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MEMORY_LIMIT ((rlim_t)8 << 30) /* bytes, of other engines */

static bool write_all(int file, const void *data, size_t size) {
    for (const char *at = data; size > 0;) {
        ssize_t done = write(file, at, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done, size -= (size_t)done;
    }
    return true;
}

static bool read_all(int file, void *data, size_t size) {
    for (char *at = data; size > 0;) {
        ssize_t done = read(file, at, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done, size -= (size_t)done;
    }
    return true;
}

/* ---- the process ---- */

/* Of this thread: under a limit of processor time that of the process moves with the ticks of the
 * kernel only. */
static double processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Either of them. */
typedef struct runner {
    const cli_engine *which;
    rg_scene *scene; /* rigor's, or what the others' model is made of */
    rg_world *world;
    double step;
    rg_random random;
    cli_engine_model model;
    void *peer;
    size_t bodies;
    double times[CLI_ENGINE_BLOCK]; /* s */
    engine_state *states;           /* as many times */
    rg_profile profile;             /* rigor's, without the time of other processes */
    char message[CLI_ENGINE_TEXT];  /* empty: all is well */
} runner;

static void begin(runner *this, const char *text) {
    rg_error error = {0};
    if (cli_engine_open(text, &this->scene, &error) != RG_OK) {
        snprintf(this->message, sizeof this->message, "%.150s", error.text);
        return;
    }
    this->world = rg_scene_world(this->scene);
    this->step = rg_scene_step_size(this->scene);
    this->random = rg_random_make(1);
    if (this->which->is_rigor)
        rg_world_set_threads(this->world, 1);
    else if (cli_engine_model_make(&this->model, this->world, this->step, this->message)) {
        this->peer =
            this->which->peer->create(&this->model.model, this->message, sizeof this->message);
        if (this->peer)
            this->message[0] = '\0';
        else if (!this->message[0])
            snprintf(this->message, sizeof this->message, "it made no world");
    }
}

/* Its wall time. Pushes are not part of the step. */
static double make_step(runner *this) {
    rg_error error = {0};
    if (this->which->pushed)
        cli_engine_push(this->world, &this->random);
    double start = cli_clock();
    if (this->peer && !this->which->peer->step(this->peer))
        snprintf(this->message, sizeof this->message, "it could not make a step");
    else if (!this->peer && rg_world_step(this->world, this->step, NULL, &error) != RG_OK)
        snprintf(this->message, sizeof this->message, "%.150s", error.text);
    return cli_clock() - start;
}

static void read_states(runner *this, engine_state *states) {
    if (this->peer) {
        this->which->peer->read(this->peer, states);
        return;
    }
    for (size_t i = 0; i < rg_world_body_count(this->world); i++) {
        rg_body_id body = rg_world_body_at(this->world, i);
        states[i] = (engine_state){rg_body_centre_pose(this->world, body),
                                   rg_body_velocity(this->world, body),
                                   rg_body_angular_velocity(this->world, body)};
    }
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Other processes have had `stolen` seconds of the wall time of these steps: few steps, and a long
 * time each. It is taken from the longest, down to the median. */
static void give_back(double *times, size_t count, double stolen) {
    double sorted[CLI_ENGINE_BLOCK];
    memcpy(sorted, times, count * sizeof *times);
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    while (stolen > 0) {
        size_t longest = 0;
        for (size_t i = 1; i < count; i++)
            if (times[i] > times[longest])
                longest = i;
        double excess = fmin(stolen, times[longest] - sorted[count / 2]);
        if (!(excess > 0))
            return;
        times[longest] -= excess, stolen -= excess;
    }
}

#define PART_SECONDS                                                                               \
    0.25 /* what takes longer is sent in parts, lest all be lost with the process */

/* Makes up to `count` steps; returns how many. Reading the clock of processor time takes half a
 * microsecond, as much as a small step: it is read once for all of them. */
static size_t make_steps(runner *this, size_t count) {
    rg_profile before = rg_world_profile(this->world);
    double wall = cli_clock(), cpu = processor_time();
    size_t made = 0;
    while (made < count && !this->message[0] && cli_clock() - wall < PART_SECONDS) {
        this->times[made] = make_step(this);
        if (!this->message[0])
            read_states(this, this->states + this->bodies * made), made++;
    }
    wall = cli_clock() - wall, cpu = processor_time() - cpu;
    if (made)
        give_back(this->times, made, wall - cpu);
    cli_engine_add_profile(&this->profile, &before, this->world, fmin(1, cpu / wall));
    return made;
}

/* Each step: no message, its time, its states. */
static bool send_steps(const runner *this, size_t count, int out) {
    static const char no_message[CLI_ENGINE_TEXT];
    bool good = true;
    for (size_t i = 0; i < count && good; i++)
        good = write_all(out, no_message, sizeof no_message) &&
               write_all(out, &this->times[i], sizeof(double)) &&
               write_all(out, this->states + this->bodies * i, this->bodies * sizeof *this->states);
    return good;
}

/* Answers each number of steps with as many of them, or fewer and a message; then with the extra.
 * 0 is the end: that the pipe is closed would not be seen, as processes started later hold it,
 * too. */
static void serve(runner *this, int in, int out) {
    this->bodies = this->world ? rg_world_body_count(this->world) : 0;
    this->states = calloc((this->bodies + 1) * CLI_ENGINE_BLOCK, sizeof *this->states);
    uint32_t count;
    bool good = this->states && write_all(out, this->message, sizeof this->message);
    while (good && !this->message[0] && read_all(in, &count, sizeof count) && count) {
        for (size_t sent = 0; sent < count && good && !this->message[0];) {
            size_t made = make_steps(this, count - sent);
            good = send_steps(this, made, out);
            sent += made;
        }
        if (this->message[0])
            good = good && write_all(out, this->message, sizeof this->message);
        cli_engine_extra extra = {0};
        if (this->which->is_rigor)
            extra.profile = this->profile, extra.summary = rg_world_summary(this->world);
        good = good && write_all(out, &extra, sizeof extra);
    }
}

static void live(const cli_engine *which, const char *text, double limit, int in, int out) {
    struct rlimit cpu = {(rlim_t)ceil(limit) + 1, (rlim_t)ceil(limit) + 2};
    struct rlimit memory = {MEMORY_LIMIT, MEMORY_LIMIT};
    setrlimit(RLIMIT_CPU, &cpu);
    if (!which->is_rigor) { /* what they print of their troubles is not for the table */
        setrlimit(RLIMIT_AS, &memory);
        int nothing = open("/dev/null", O_WRONLY);
        dup2(nothing, STDOUT_FILENO), dup2(nothing, STDERR_FILENO);
    }
    runner this = {.which = which};
    begin(&this, text);
    serve(&this, in, out);
    _exit(0); /* memory goes with the process */
}

/* ---- its keeper ---- */

static void note_end(cli_engine_process *process) {
    int state = 0;
    close(process->to), close(process->from);
    process->to = process->from = -1;
    while (waitpid(process->pid, &state, 0) < 0 && errno == EINTR)
        continue;
    if (process->end[0])
        return;
    if (WIFSIGNALED(state) && WTERMSIG(state) == SIGXCPU)
        snprintf(process->end, sizeof process->end, "stopped: over the limit of processor time");
    else if (WIFSIGNALED(state))
        snprintf(process->end, sizeof process->end, "crashed: %s", strsignal(WTERMSIG(state)));
    else
        snprintf(process->end, sizeof process->end, "ended by itself");
}

bool cli_engine_start(cli_engine_process *process, const cli_engine *which, const char *scene,
                      double limit) {
    *process = (cli_engine_process){.to = -1, .from = -1};
    int in[2], out[2];
    if (pipe(in) != 0)
        return false;
    if (pipe(out) != 0) {
        close(in[0]), close(in[1]);
        return false;
    }
    fflush(NULL);
    process->pid = fork();
    if (process->pid == 0) {
        close(in[1]), close(out[0]);
        live(which, scene, limit, in[0], out[1]);
    }
    close(in[0]), close(out[1]);
    process->to = in[1], process->from = out[0];
    if (process->pid < 0) {
        close(process->to), close(process->from);
        process->to = process->from = -1;
        return false;
    }
    if (!read_all(process->from, process->end, sizeof process->end) || process->end[0])
        note_end(process);
    return true;
}

void cli_engine_run(cli_engine_process *process, size_t count, cli_engine_steps *steps) {
    uint32_t wanted = (uint32_t)(count < CLI_ENGINE_BLOCK ? count : CLI_ENGINE_BLOCK);
    steps->count = 0;
    if (process->to < 0)
        return;
    bool good = write_all(process->to, &wanted, sizeof wanted);
    for (uint32_t i = 0; i < wanted && good; i++) {
        good = read_all(process->from, process->end, sizeof process->end) && !process->end[0] &&
               read_all(process->from, &steps->cpu[i], sizeof(double)) &&
               read_all(process->from, steps->states + i * process->body_count,
                        process->body_count * sizeof *steps->states);
        steps->count += good;
    }
    good = (good || process->end[0]) &&
           read_all(process->from, &process->extra, sizeof process->extra) && good;
    if (!good)
        note_end(process);
}

void cli_engine_stop(cli_engine_process *process) {
    if (process->to < 0)
        return;
    static const uint32_t no_more = 0;
    snprintf(process->end, sizeof process->end, "told to");
    write_all(process->to, &no_more, sizeof no_more);
    note_end(process);
    process->end[0] = '\0';
}
