/* The journal of a sweep: a header, then a line per finished run with a checksum, appended with one
 * write each. Whatever is killed, all but the last line is whole, and that one is noticed. */
#include "cli_sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* FNV-1a, 32 bits: against lines that were cut short, not against malice. */
static uint32_t checksum(const char *bytes, size_t size) {
    uint32_t sum = UINT32_C(2166136261);
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ (unsigned char)bytes[i]) * UINT32_C(16777619);
    return sum;
}

static int complain_errno(const cli_journal *journal) {
    cli_complain("sweep: %s: %s", journal->path, strerror(errno));
    return EXIT_UNWRITABLE;
}

static bool write_all(int file, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t part = write(file, bytes, size);
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return false;
        bytes += part, size -= (size_t)part;
    }
    return true;
}

static size_t print_header(const cli_journal *journal, char header[256]) {
    return (size_t)snprintf(
        header, 256, "rigor-sweep 1 %016" PRIx64 " %" PRIu64 " %" PRIu64 "/%" PRIu64 " %s\n",
        journal->hash, journal->runs, journal->shard, journal->shards, rg_version_text());
}

/* The header against the study: the shard is that of the file when it is only read. */
static int check_header(cli_journal *journal, const char *line, bool any_shard) {
    cli_journal said = *journal;
    char version[32] = "";
    if (sscanf(line, "rigor-sweep 1 %16" SCNx64 " %" SCNu64 " %" SCNu64 "/%" SCNu64 " %31s",
               &said.hash, &said.runs, &said.shard, &said.shards, version) != 5) {
        cli_complain("sweep: %s is not the journal of a sweep", journal->path);
        return EXIT_BAD_INPUT;
    }
    if (said.hash != journal->hash || said.runs != journal->runs) {
        cli_complain("sweep: %s is of another study, or the study, its table or its scene has "
                     "changed; --overwrite begins anew",
                     journal->path);
        return EXIT_BAD_INPUT;
    }
    if (strcmp(version, rg_version_text()) != 0) {
        cli_complain("sweep: %s was begun by rigor %s, this is %s; --overwrite begins anew",
                     journal->path, version, rg_version_text());
        return EXIT_BAD_INPUT;
    }
    if (!any_shard && (said.shard != journal->shard || said.shards != journal->shards)) {
        cli_complain("sweep: %s is of shard %" PRIu64 "/%" PRIu64, journal->path, said.shard,
                     said.shards);
        return EXIT_BAD_INPUT;
    }
    journal->shard = said.shard, journal->shards = said.shards;
    return EXIT_GOOD;
}

/* Whether a line is whole; *run gets whose it is. */
static bool check_line(const cli_journal *journal, char *line, size_t length, uint64_t *run) {
    char *last = length > 9 ? line + length - 9 : NULL;
    uint32_t sum;
    return last && *last == '\t' && sscanf(last + 1, "%8" SCNx32, &sum) == 1 &&
           sum == checksum(line, length - 9) && sscanf(line, "%" SCNu64, run) == 1 &&
           *run < journal->runs;
}

static int scan(cli_journal *journal, bool any_shard) {
    FILE *stream = fdopen(dup(journal->file), "r");
    char *line = malloc(CLI_SWEEP_LINE);
    int code = stream && line ? EXIT_GOOD : complain_errno(journal);
    off_t at = 0;
    bool first = true;
    if (stream)
        rewind(stream);
    while (code == EXIT_GOOD && fgets(line, CLI_SWEEP_LINE, stream)) {
        size_t length = strlen(line);
        if (length == 0 || line[length - 1] != '\n')
            break; /* cut short */
        line[length - 1] = '\0';
        uint64_t run;
        if (first)
            code = check_header(journal, line, any_shard);
        else if (!check_line(journal, line, length - 1, &run))
            break;
        else if (journal->offsets[run] < 0)
            journal->offsets[run] = at, journal->done++;
        first = false;
        at += (off_t)length;
    }
    journal->end = at;
    free(line);
    if (stream)
        fclose(stream);
    if (code == EXIT_GOOD && first) {
        cli_complain("sweep: %s is empty", journal->path);
        code = EXIT_BAD_INPUT;
    }
    return code;
}

static int prepare(cli_journal *journal, cli_journal_use use) {
    if (use != CLI_JOURNAL_READ && flock(journal->file, LOCK_EX | LOCK_NB) != 0) {
        cli_complain("sweep: %s: another sweep is writing it", journal->path);
        return EXIT_UNWRITABLE;
    }
    struct stat status;
    if (fstat(journal->file, &status) != 0)
        return complain_errno(journal);
    if (use == CLI_JOURNAL_BEGIN && ftruncate(journal->file, 0) != 0)
        return complain_errno(journal);
    if (use == CLI_JOURNAL_BEGIN || (use == CLI_JOURNAL_GO_ON && status.st_size == 0)) {
        char header[256];
        size_t length = print_header(journal, header);
        journal->end = (off_t)length;
        return write_all(journal->file, header, length) ? EXIT_GOOD : complain_errno(journal);
    }
    int code = scan(journal, use == CLI_JOURNAL_READ);
    if (code == EXIT_GOOD && use == CLI_JOURNAL_GO_ON &&
        (ftruncate(journal->file, journal->end) != 0 ||
         lseek(journal->file, journal->end, SEEK_SET) < 0))
        code = complain_errno(journal);
    return code;
}

int cli_journal_open(cli_journal *journal, const char *path, cli_journal_use use) {
    snprintf(journal->path, sizeof journal->path, "%s", path);
    journal->offsets = malloc((size_t)journal->runs * sizeof *journal->offsets);
    journal->done = 0;
    if (!journal->offsets) {
        journal->file = -1;
        cli_complain("sweep: no memory for %" PRIu64 " runs", journal->runs);
        return EXIT_FAILED;
    }
    for (uint64_t i = 0; i < journal->runs; i++)
        journal->offsets[i] = -1;
    journal->file =
        open(path, (use == CLI_JOURNAL_READ ? O_RDONLY : O_RDWR | O_CREAT) | O_CLOEXEC, 0666);
    if (journal->file < 0) {
        cli_complain("sweep: %s: %s", path, strerror(errno));
        return use == CLI_JOURNAL_READ ? EXIT_BAD_INPUT : EXIT_UNWRITABLE;
    }
    return prepare(journal, use);
}

void cli_journal_close(cli_journal *journal) {
    if (journal->file >= 0)
        close(journal->file);
    free(journal->offsets);
    *journal = (cli_journal){.file = -1};
}

uint64_t cli_journal_size(const cli_journal *journal) {
    return (journal->runs + journal->shards - 1 - journal->shard) / journal->shards;
}

bool cli_journal_is_written(const cli_journal *journal) {
    bool held = flock(journal->file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!held)
        flock(journal->file, LOCK_UN);
    return held;
}

int cli_journal_append(cli_journal *journal, uint64_t run, const char *line, size_t length) {
    char whole[CLI_SWEEP_LINE + 16];
    memcpy(whole, line, length);
    int tail = snprintf(whole + length, 16, "\t%08" PRIx32 "\n", checksum(line, length));
    if (!write_all(journal->file, whole, length + (size_t)tail)) {
        int code = complain_errno(journal);
        /* Nothing half-written stays, if it can be helped; a reader would notice it. */
        if (ftruncate(journal->file, journal->end) == 0)
            lseek(journal->file, journal->end, SEEK_SET);
        return code;
    }
    journal->offsets[run] = journal->end;
    journal->end += (off_t)(length + (size_t)tail);
    journal->done++;
    return EXIT_GOOD;
}

bool cli_journal_line(const cli_journal *journal, uint64_t run, char line[CLI_SWEEP_LINE]) {
    ssize_t got = pread(journal->file, line, CLI_SWEEP_LINE - 1, journal->offsets[run]);
    if (got <= 0)
        return false;
    line[got] = '\0';
    char *newline = strchr(line, '\n');
    if (!newline || newline - line < 9)
        return false;
    newline[-9] = '\0'; /* without the checksum */
    return true;
}
