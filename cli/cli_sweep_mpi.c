/* `mpirun -n N rigor sweep`: rank 0 hands out runs and alone writes the journal; every rank, 0 too,
 * makes runs in processes of its own (cli_sweep_pool.c), which know nothing of MPI. */
#include "cli_sweep.h"

#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Messages. From rank 0: begin; make this run; there are no more. To rank 0: I am here, with that
 * study and so many processes; the line of a run that is done. */
enum { BEGIN, RUN, END, HELLO, LINE };

typedef struct hello {
    uint64_t hash;
    int32_t workers;
} hello;

/* ---- the module ---- */

bool cli_sweep_under_mpi(void) {
    /* Open MPI; MPICH, Intel MPI and others with Hydra; PMIx, as under srun --mpi=pmix. */
    static const char *const signs[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (getenv(signs[i]))
            return true;
    return false;
}

static void *load(char path[4096]) {
    static const char *const places[] = {"/rigor-mpi.so", "/../" RIGOR_MODULES "/rigor-mpi.so"};
    ssize_t length = readlink("/proc/self/exe", path, 4000);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    for (size_t i = 0; slash && i < sizeof places / sizeof places[0]; i++) {
        snprintf(slash, 90, "%s", places[i]);
        if (access(path, R_OK) == 0)
            /* Global: parts of MPI that it loads itself look for its symbols. */
            return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    }
    path[0] = '\0';
    return NULL;
}

const cli_mpi *cli_sweep_start_mpi(void) {
    char path[4096];
    void *module = load(path), *symbol = module ? dlsym(module, CLI_MPI_START) : NULL;
    cli_mpi_start_function *start = NULL;
    memcpy(&start, &symbol, sizeof start); /* ISO C has no cast from data to function */
    if (!path[0])
        cli_complain("sweep: started by mpirun, but this rigor is built without MPI (Debian: "
                     "libopenmpi-dev); without mpirun it makes runs on this machine");
    else if (!start)
        cli_complain("sweep: %s: %s", path, module ? "no module of rigor" : dlerror());
    const cli_mpi *mpi = start ? start() : NULL;
    if (start && !mpi)
        cli_complain("sweep: MPI cannot be started");
    return mpi;
}

/* ---- rank 0 ---- */

typedef struct cli_ranks {
    const cli_mpi *mpi;
    cli_sweep_source runs; /* of the journal */
    uint64_t hash;
    int *workers, *given; /* of each rank: its processes; runs that it has and is not done with */
    int all_workers, waiting; /* ranks that have not said hello */
    uint64_t left;            /* runs that were not given to anybody, at most */
} cli_ranks;

/* Each process has one run ahead, so that it need not wait for rank 0, until few are left: then who
 * is done gets the next. */
static void give(cli_ranks *r, int rank) {
    uint64_t run;
    bool ahead = r->left > 4 * (uint64_t)r->all_workers;
    while (r->given[rank] < (ahead ? 2 : 1) * r->workers[rank] &&
           r->runs.next(r->runs.user, &run)) {
        r->mpi->send(rank, RUN, &run, sizeof run);
        r->given[rank]++;
        r->left -= r->left > 0;
    }
}

static int hear(cli_ranks *r, int rank, int kind, const char *bytes, size_t size) {
    if (kind == HELLO) {
        hello said;
        memcpy(&said, bytes, sizeof said);
        if (said.hash != r->hash) {
            cli_complain("sweep: rank %d sees another study than rank 0", rank);
            return EXIT_BAD_INPUT;
        }
        r->workers[rank] = said.workers, r->all_workers += said.workers, r->waiting--;
    } else {
        uint64_t run = strtoull(bytes, NULL, 10);
        int code = r->runs.done(r->runs.user, run, bytes, size);
        if (code != EXIT_GOOD)
            return code;
        r->given[rank]--;
    }
    give(r, rank);
    return EXIT_GOOD;
}

static bool next_of_zero(void *user, uint64_t *run) {
    cli_ranks *r = user;
    r->left -= r->left > 0;
    return r->runs.next(r->runs.user, run);
}

static int done_of_zero(void *user, uint64_t run, const char *line, size_t length) {
    const cli_ranks *r = user;
    return r->runs.done(r->runs.user, run, line, length);
}

static int turn_of_zero(void *user, bool *more) {
    static char bytes[CLI_SWEEP_LINE];
    cli_ranks *r = user;
    int code = EXIT_GOOD, from, kind;
    size_t size;
    while (code == EXIT_GOOD && r->mpi->receive(&from, &kind, bytes, sizeof bytes - 1, &size)) {
        bytes[size] = '\0';
        code = hear(r, from, kind, bytes, size);
    }
    *more = r->waiting > 0;
    for (int i = 1; i < r->mpi->size; i++)
        *more |= r->given[i] > 0;
    return code;
}

int cli_sweep_lead(const cli_mpi *mpi, rg_study *study, cli_journal *journal, int workers,
                   bool quiet) {
    cli_ranks r = {.mpi = mpi,
                   .hash = rg_study_get_info(study).hash,
                   .workers = calloc((size_t)mpi->size, sizeof *r.workers),
                   .given = calloc((size_t)mpi->size, sizeof *r.given),
                   .all_workers = workers,
                   .waiting = mpi->size - 1};
    cli_sweep_queue queue = cli_sweep_queue_of(journal);
    r.runs = cli_sweep_journal_source(&queue);
    r.left = cli_journal_size(journal) - journal->done;
    int code = EXIT_FAILED;
    if (r.workers && r.given) {
        for (int i = 1; i < mpi->size; i++)
            mpi->send(i, BEGIN, NULL, 0);
        cli_sweep_source source = {&r, next_of_zero, done_of_zero, turn_of_zero};
        code = cli_sweep_pool(study, &source, workers, journal, quiet);
    } else {
        cli_complain("sweep: no memory for %d ranks", mpi->size);
    }
    free(r.workers), free(r.given);
    return code;
}

void cli_sweep_end_mpi(const cli_mpi *mpi) {
    for (int i = 1; mpi->rank == 0 && i < mpi->size; i++)
        mpi->send(i, END, NULL, 0);
    mpi->finish();
}

/* ---- the other ranks ---- */

enum { QUEUE = 1024 };

typedef struct follower {
    const cli_mpi *mpi;
    uint64_t runs[QUEUE]; /* that were given and not begun, in a ring */
    size_t first, count;
    bool ended;
} follower;

static bool next_of_follower(void *user, uint64_t *run) {
    follower *f = user;
    if (f->count == 0)
        return false;
    *run = f->runs[f->first];
    f->first = (f->first + 1) % QUEUE, f->count--;
    return true;
}

static int done_of_follower(void *user, uint64_t run, const char *line, size_t length) {
    const follower *f = user;
    (void)run; /* the line begins with it */
    f->mpi->send(0, LINE, line, length);
    return EXIT_GOOD;
}

static int turn_of_follower(void *user, bool *more) {
    follower *f = user;
    uint64_t run = 0;
    int from, kind;
    size_t size;
    while (f->count < QUEUE && f->mpi->receive(&from, &kind, &run, sizeof run, &size)) {
        if (kind == RUN)
            f->runs[(f->first + f->count++) % QUEUE] = run;
        f->ended |= kind == END;
    }
    *more = !f->ended;
    return EXIT_GOOD;
}

bool cli_sweep_wait_for_begin(const cli_mpi *mpi) {
    char bytes[64];
    int from, kind;
    size_t size;
    while (!mpi->receive(&from, &kind, bytes, sizeof bytes, &size))
        poll(NULL, 0, CLI_SWEEP_TURN_MS);
    return kind == BEGIN;
}

int cli_sweep_follow(const cli_mpi *mpi, rg_study *study, int workers) {
    follower f = {.mpi = mpi};
    hello said = {.hash = rg_study_get_info(study).hash, .workers = workers};
    mpi->send(0, HELLO, &said, sizeof said);
    cli_sweep_source source = {&f, next_of_follower, done_of_follower, turn_of_follower};
    return cli_sweep_pool(study, &source, workers, NULL, true);
}
