/* A line on the terminal that says how far the run is and how long it will take. It shows up after
 * half a second, ten times a second at most, and takes itself away. */
#include "cli.h"

#include <stdio.h>
#include <unistd.h>

static const double shortest_interval = 0.1; /* s */
static const double patience = 0.5;          /* s */
enum { BAR_WIDTH = 30 };

cli_progress cli_progress_begin(uint64_t first, uint64_t total, bool quiet) {
    double now = cli_clock();
    return (cli_progress){.shown = !quiet && isatty(STDERR_FILENO) == 1,
                          .start = now,
                          .last = now + patience - shortest_interval,
                          .first = first,
                          .total = total,
                          .unit = "steps"};
}

static void print_duration(double seconds) {
    if (seconds < 60)
        fprintf(stderr, "%.0f s", seconds);
    else if (seconds < 3600)
        fprintf(stderr, "%d min %02d s", (int)(seconds / 60), (int)seconds % 60);
    else if (seconds < 360000)
        fprintf(stderr, "%d h %02d min", (int)(seconds / 3600), (int)(seconds / 60) % 60);
    else
        fprintf(stderr, "%.0f days", seconds / 86400);
}

void cli_progress_update(cli_progress *progress, uint64_t done) {
    if (!progress->shown)
        return;
    double now = cli_clock();
    if (now - progress->last < shortest_interval)
        return;
    progress->last = now;
    double share = (double)done / (double)progress->total;
    int filled = (int)(share * BAR_WIDTH);
    (fputs)("\r[", stderr);
    for (int i = 0; i < BAR_WIDTH; i++)
        fputc(i < filled ? '#' : '.', stderr);
    fprintf(stderr, "] %3.0f %%  %llu of %llu %s", 100 * share, (unsigned long long)done,
            (unsigned long long)progress->total, progress->unit);
    double made = (double)(done - progress->first), spent = now - progress->start;
    if (made > 0) { /* before that there is no telling */
        fprintf(stderr, ", %.3g a second, ", made / spent);
        print_duration(spent * (double)(progress->total - done) / made);
        fputs(" left", stderr);
    }
    (fputs)("\033[K", stderr);
    fflush(stderr);
}

void cli_progress_clear(cli_progress *progress) {
    if (progress->shown) {
        (fputs)("\r\033[K", stderr);
        fflush(stderr);
    }
    progress->shown = false;
}
