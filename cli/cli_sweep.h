/* `rigor sweep`: what its files share.
 *
 * STUDY ─► runs, numbered ─► workers (processes, one run at a time) ─► journal: a line per finished
 * run, on disk at once ─► table: all lines in the order of the runs, the same bytes whoever made
 * them in whatever order. */
#ifndef RIGOR_CLI_SWEEP_H
#define RIGOR_CLI_SWEEP_H

#include "cli.h"
#include "cli_mpi.h"
#include "rigor/study.h"
#include "rigor/table.h"

#include <sys/types.h>

enum { CLI_SWEEP_LINE = 65536 }; /* the longest line of a journal */

/* ---- cli_sweep_run.c: one run ---- */

/* Makes a run and writes its line, without the checksum: status, cause, and name=value of all that
 * is kept, separated by tabs. Returns its length. */
size_t cli_sweep_run(rg_study *study, uint64_t run, char line[CLI_SWEEP_LINE]);
/* Makes a run again, recorded; the state hash of its end. */
rg_status cli_sweep_record_run(rg_study *study, uint64_t run, const char *path, uint64_t *hash,
                               rg_error *error);
/* The line of a run that ended its worker. */
size_t cli_sweep_lost(uint64_t run, const char *status, const char *cause, double seconds,
                      char line[CLI_SWEEP_LINE]);

/* ---- cli_sweep_journal.c: what is done ---- */

typedef struct cli_journal {
    char path[4096];
    int file;
    uint64_t hash, runs; /* of the study */
    uint64_t shard, shards;
    off_t *offsets; /* of the line of each run; -1: not done */
    uint64_t done;
    off_t end;
} cli_journal;

/* Opens the journal of a sweep, or one that is only read, and looks through it. A line that was cut
 * short by a kill is cut off. Exit codes. */
typedef enum cli_journal_use {
    CLI_JOURNAL_BEGIN,
    CLI_JOURNAL_GO_ON,
    CLI_JOURNAL_READ
} cli_journal_use;
int cli_journal_open(cli_journal *journal, const char *path, cli_journal_use use);
void cli_journal_close(cli_journal *journal);
uint64_t cli_journal_size(const cli_journal *journal); /* runs of its shard */
/* Whether another process holds a journal that is open to be read. */
bool cli_journal_is_written(const cli_journal *journal);
/* Appends a line of cli_sweep_run. */
int cli_journal_append(cli_journal *journal, uint64_t run, const char *line, size_t length);
/* The line of a run that is done, ending with a zero byte; false if it cannot be read. */
bool cli_journal_line(const cli_journal *journal, uint64_t run, char line[CLI_SWEEP_LINE]);

/* ---- cli_sweep_table.c ---- */

void cli_sweep_hdf5_path(const char *path, char hdf5[4200]); /* .h5 instead of .csv */
/* Writes the table of all runs, CSV and HDF5, from journals that together have them all, and the
 * times next to it. Exit codes. */
int cli_sweep_table(rg_study *study, const cli_journal *journals, size_t count, const char *path);

/* ---- cli_sweep_pool.c ---- */

/* Where a pool gets its runs, and where the lines of those that are done go: the journal, or the
 * rank that has it. */
typedef struct cli_sweep_source {
    void *user;
    bool (*next)(void *user, uint64_t *run); /* false: none at the moment */
    int (*done)(void *user, uint64_t run, const char *line, size_t length);
    /* Looks after other ranks, if there are any (else null), every CLI_SWEEP_TURN_MS at least;
     * *more: runs may still come. */
    int (*turn)(void *user, bool *more);
} cli_sweep_source;

/* A message between ranks waits so long at most; each process has a run ahead in the meantime. */
enum { CLI_SWEEP_TURN_MS = 1 };

/* The runs of a journal's shard that are not done, in their order. */
typedef struct cli_sweep_queue {
    cli_journal *journal;
    uint64_t next;
} cli_sweep_queue;
cli_sweep_queue cli_sweep_queue_of(cli_journal *journal);
cli_sweep_source cli_sweep_journal_source(cli_sweep_queue *queue);

/* Makes all runs of a source, by so many processes. EXIT_GOOD also if runs fail: their lines say
 * so. 128 + N if a signal stopped it. `journal` is for the progress bar, or null. */
int cli_sweep_pool(rg_study *study, const cli_sweep_source *source, int workers,
                   const cli_journal *journal, bool quiet);

/* ---- cli_sweep_mpi.c ---- */

bool cli_sweep_under_mpi(void);           /* whether mpirun has started this process */
const cli_mpi *cli_sweep_start_mpi(void); /* complains and returns null if it cannot be */
/* In rank 0, as cli_sweep_pool: the runs of a journal, by all ranks. */
int cli_sweep_lead(const cli_mpi *mpi, rg_study *study, cli_journal *journal, int workers,
                   bool quiet);
/* In another rank: whether rank 0 begins, and then the runs that it gives. */
bool cli_sweep_wait_for_begin(const cli_mpi *mpi);
int cli_sweep_follow(const cli_mpi *mpi, rg_study *study, int workers);
void cli_sweep_end_mpi(const cli_mpi *mpi); /* rank 0 ends the others */

/* ---- cli_sweep_page.c ---- */

typedef struct cli_sweep_names {
    const char *study, *table, *page;
} cli_sweep_names;
/* Whether --record makes sense and its files may be written; complains. Exit codes. */
int cli_sweep_check_record(rg_study *study, const char *list, const char *table,
                           const cli_option *overwrite);
/* Records the runs of a list such as "3,17,20-25" or "all" in a folder next to the table, each with
 * a page of the viewer; the end of each must be that of the table. Exit codes. */
int cli_sweep_record(rg_study *study, const char *list, const char *table, bool quiet);
/* One page with the table, and replays of the runs that are recorded. Exit codes. */
int cli_sweep_page(rg_study *study, const cli_sweep_names *names, bool quiet);

/* ---- cli_sweep.c ---- */

int cli_sweep(int count, const char **arguments);
extern const char cli_sweep_help[];

#endif
