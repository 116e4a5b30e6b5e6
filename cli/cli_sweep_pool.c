/* The workers of a sweep: processes, so that a run which crashes, never ends or takes all memory is
 * a line with its cause and not the end of the study. Each is given one run at a time; who is done
 * gets the next. Runs come from a source and their lines go there: the journal, or another rank. */
#include "cli_sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* A run is given up when it has crashed twice. A worker that was killed says nothing of its run: an
 * operator or a scheduler did it, and the run is made again; only what is killed again and again
 * (by the kernel, when memory runs out) is given up. */
enum { WORKERS_MOST = 256, NO_RUN = -1, CRASHES_MOST = 2, KILLS_MOST = 20 };

typedef struct worker {
    pid_t process; /* 0: none */
    int channel;
    int64_t run;  /* that it makes, or NO_RUN */
    int crashes;  /* workers that this run has ended */
    int kills;    /* workers that were killed during this run */
    double start; /* s, of that run */
    size_t length;
    char line[CLI_SWEEP_LINE]; /* what has come of its answer */
} worker;

typedef struct pool {
    rg_study *study;
    rg_study_info info;
    const cli_sweep_source *source;
    worker *workers;
    int count;
} pool;

static volatile sig_atomic_t stopped_by;

static void note_signal(int number) {
    stopped_by = number;
}

/* ---- in the worker ---- */

static bool transfer(int channel, void *bytes, size_t size, bool out) {
    for (char *at = bytes; size > 0;) {
        ssize_t part = out ? write(channel, at, size) : read(channel, at, size);
        if (part < 0 && errno == EINTR)
            continue;
        if (part <= 0)
            return false;
        at += part, size -= (size_t)part;
    }
    return true;
}

/* A worker whose parent was killed is of no use, and its run may never end. */
static void end_with(pid_t parent) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent)
        _exit(0);
}

static void work(rg_study *study, int channel) {
    rg_study_info info = rg_study_get_info(study);
    static char line[CLI_SWEEP_LINE];
    uint64_t run;
    signal(SIGINT, SIG_IGN); /* of a terminal: the parent decides */
    signal(SIGTERM, SIG_DFL);
    if (info.run_megabytes > 0) {
        rlim_t bytes = (rlim_t)(info.run_megabytes * 1048576);
        setrlimit(RLIMIT_DATA, &(struct rlimit){bytes, bytes});
    }
    while (transfer(channel, &run, sizeof run, false)) {
        size_t length = cli_sweep_run(study, run, line);
        line[length] = '\n';
        if (!transfer(channel, line, length + 1, true))
            break;
    }
    _exit(0);
}

/* ---- in the parent ---- */

static bool start_worker(pool *p, worker *w) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return false;
    fflush(NULL);
    pid_t parent = getpid(), process = fork();
    if (process == 0) {
        end_with(parent);
        close(ends[0]);
        for (int i = 0; i < p->count; i++) /* so that each sees the parent's end */
            if (p->workers[i].process > 0)
                close(p->workers[i].channel);
        work(p->study, ends[1]);
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return false;
    }
    w->process = process, w->channel = ends[0], w->run = NO_RUN, w->length = 0;
    return true;
}

/* How a worker ended that should not have; whether it was killed from outside. */
static bool end_worker(worker *w, char cause[96]) {
    int status = 0;
    close(w->channel);
    while (waitpid(w->process, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFSIGNALED(status))
        snprintf(cause, 96, "ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(cause, 96, "ended with exit code %d", WEXITSTATUS(status));
    w->process = 0;
    return WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM);
}

static int give(pool *p, worker *w, int64_t run) {
    if (w->process == 0 && !start_worker(p, w)) {
        cli_complain("sweep: cannot start a process for a run: %s", strerror(errno));
        return EXIT_FAILED;
    }
    w->run = run, w->start = cli_clock(), w->length = 0;
    uint64_t number = (uint64_t)run;
    (void)transfer(w->channel, &number, sizeof number, true); /* if it is gone, poll will say so */
    return EXIT_GOOD;
}

/* A worker ended, or was ended, within its run: the line says why. */
static int note_lost(pool *p, worker *w, const char *status, const char *cause) {
    char line[CLI_SWEEP_LINE];
    size_t length = cli_sweep_lost((uint64_t)w->run, status, cause, cli_clock() - w->start, line);
    int code = p->source->done(p->source->user, (uint64_t)w->run, line, length);
    w->run = NO_RUN;
    return code;
}

/* Runs for all who have none, as long as there are any. */
static int give_all(pool *p) {
    int code = EXIT_GOOD;
    uint64_t run;
    for (int i = 0; i < p->count && code == EXIT_GOOD; i++) {
        worker *w = &p->workers[i];
        if (w->run != NO_RUN || !p->source->next(p->source->user, &run))
            continue;
        w->crashes = w->kills = 0;
        code = give(p, w, (int64_t)run);
    }
    return code;
}

/* A worker that is no longer there. */
static int replace(pool *p, worker *w) {
    char cause[96];
    int64_t run = w->run;
    bool killed = end_worker(w, cause);
    if (stopped_by)
        return EXIT_GOOD;
    if (run != NO_RUN && (killed ? ++w->kills < KILLS_MOST : ++w->crashes < CRASHES_MOST))
        return give(p, w, run);
    return run == NO_RUN ? EXIT_GOOD : note_lost(p, w, killed ? "killed" : "crashed", cause);
}

static int hear(pool *p, worker *w) {
    ssize_t got = read(w->channel, w->line + w->length, sizeof w->line - w->length);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return EXIT_GOOD;
    if (got <= 0)
        return replace(p, w);
    w->length += (size_t)got;
    if (w->line[w->length - 1] != '\n')
        return EXIT_GOOD;
    int code = p->source->done(p->source->user, (uint64_t)w->run, w->line, w->length - 1);
    w->run = NO_RUN;
    return code;
}

/* Ends runs that take longer than they may; ms until the next one could. */
static int end_late(pool *p, int *code) {
    double limit = p->info.run_seconds, soonest = INFINITY, now = cli_clock();
    for (int i = 0; limit > 0 && i < p->count && *code == EXIT_GOOD; i++) {
        worker *w = &p->workers[i];
        if (w->process == 0 || w->run == NO_RUN)
            continue;
        double left = w->start + limit - now;
        if (left > 0) {
            soonest = fmin(soonest, left);
            continue;
        }
        char cause[96], text[64];
        kill(w->process, SIGKILL);
        (void)end_worker(w, cause);
        snprintf(text, sizeof text, "took longer than %g s", limit);
        *code = note_lost(p, w, "timed-out", text);
        soonest = 0;
    }
    return isinf(soonest) ? 1000 : (int)fmin(1000, ceil(1e3 * soonest));
}

/* Who is at work; how many they are. */
static int list_busy(const pool *p, struct pollfd polled[WORKERS_MOST]) {
    int busy = 0;
    for (int i = 0; i < p->count; i++) {
        bool runs = p->workers[i].process > 0 && p->workers[i].run != NO_RUN;
        polled[i] = (struct pollfd){runs ? p->workers[i].channel : -1, POLLIN, 0};
        busy += runs;
    }
    return busy;
}

static int serve(pool *p, const cli_journal *journal, cli_progress *progress) {
    const cli_sweep_source *source = p->source;
    struct pollfd polled[WORKERS_MOST];
    int code = EXIT_GOOD;
    while (code == EXIT_GOOD && !stopped_by) {
        bool more = false;
        int wait = end_late(p, &code);
        if (code == EXIT_GOOD && source->turn)
            code = source->turn(source->user, &more);
        if (code == EXIT_GOOD)
            code = give_all(p);
        if (source->turn && wait > CLI_SWEEP_TURN_MS)
            wait = CLI_SWEEP_TURN_MS;
        if (code != EXIT_GOOD || (list_busy(p, polled) == 0 && !more) || stopped_by)
            break;
        if (poll(polled, (nfds_t)p->count, wait) < 0 && errno != EINTR) {
            cli_complain("sweep: %s", strerror(errno));
            return EXIT_FAILED;
        }
        for (int i = 0; i < p->count && code == EXIT_GOOD; i++)
            if (polled[i].fd >= 0 && polled[i].revents)
                code = hear(p, &p->workers[i]);
        if (journal)
            cli_progress_update(progress, journal->done);
    }
    return code;
}

static void end_all(pool *p) {
    for (int i = 0; i < p->count; i++) {
        char cause[96];
        if (p->workers[i].process == 0)
            continue;
        if (p->workers[i].run != NO_RUN)
            kill(p->workers[i].process, SIGKILL);
        shutdown(p->workers[i].channel, SHUT_RDWR);
        (void)end_worker(&p->workers[i], cause);
    }
}

int cli_sweep_pool(rg_study *study, const cli_sweep_source *source, int workers,
                   const cli_journal *journal, bool quiet) {
    pool p = {.study = study, .info = rg_study_get_info(study), .source = source};
    p.count = workers < WORKERS_MOST ? workers : WORKERS_MOST;
    p.workers = calloc((size_t)p.count, sizeof *p.workers);
    if (!p.workers) {
        cli_complain("sweep: no memory for %d workers", p.count);
        return EXIT_FAILED;
    }
    struct sigaction action = {.sa_handler = note_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    cli_progress progress = cli_progress_begin(
        journal ? journal->done : 0, journal ? cli_journal_size(journal) : 0, quiet || !journal);
    progress.unit = "runs";
    for (int i = 0; i < p.count; i++)
        p.workers[i].run = NO_RUN;
    int code = serve(&p, journal, &progress);
    end_all(&p);
    cli_progress_clear(&progress);
    free(p.workers);
    return code == EXIT_GOOD && stopped_by ? 128 + stopped_by : code;
}

/* ---- runs of a journal ---- */

static bool next_of_journal(void *user, uint64_t *run) {
    cli_sweep_queue *queue = user;
    const cli_journal *journal = queue->journal;
    while (queue->next < journal->runs &&
           (queue->next % journal->shards != journal->shard || journal->offsets[queue->next] >= 0))
        queue->next++;
    *run = queue->next;
    return queue->next < journal->runs ? queue->next++, true : false;
}

static int done_of_journal(void *user, uint64_t run, const char *line, size_t length) {
    cli_sweep_queue *queue = user;
    return cli_journal_append(queue->journal, run, line, length);
}

cli_sweep_queue cli_sweep_queue_of(cli_journal *journal) {
    return (cli_sweep_queue){journal, 0};
}

cli_sweep_source cli_sweep_journal_source(cli_sweep_queue *queue) {
    return (cli_sweep_source){queue, next_of_journal, done_of_journal, NULL};
}
