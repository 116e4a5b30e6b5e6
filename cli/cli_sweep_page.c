/* Looking at a study: recordings of chosen runs, and a page with its table, parallel coordinates
 * and a replay of those runs (viewer/study/study.html). */
#include "cli_sweep.h"

#include "page.h"

#include "rigor/recording.h"
#include "rigor/view.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The page without its data, taken in by the assembler (see viewer/server/page_embedded.c). */
__asm__(".pushsection .rodata.rigor_study, \"a\", %progbits\n"
        ".hidden rigor_study_begin\n"
        ".hidden rigor_study_end\n"
        ".globl rigor_study_begin\n"
        ".globl rigor_study_end\n"
        "rigor_study_begin:\n"
        ".incbin \"" RIGOR_STUDY_FILE "\"\n"
        "rigor_study_end:\n"
        ".byte 0\n"
        ".popsection\n");
extern const char rigor_study_begin[], rigor_study_end[];
static const char data_mark[] = "<!--rigor-study-->";

enum { COLUMNS = 1024, LINE = 1 << 20, PATH_SIZE = 4400 };

/* STEM.runs next to the table STEM.csv. */
static void folder_of(const char *table, char folder[PATH_SIZE]) {
    size_t length = strlen(table);
    bool csv = length > 4 && strcmp(table + length - 4, ".csv") == 0;
    snprintf(folder, PATH_SIZE, "%.*s.runs", (int)(csv ? length - 4 : length), table);
}

static int fail_file(const char *path, int code) {
    cli_complain("sweep: %s: %s", path, strerror(errno));
    return code;
}

/* ---- recordings ---- */

/* The state hash of a run in the table; false if there is no table, or no hash in it. */
static bool hash_in_table(const char *table, uint64_t run, uint64_t *hash) {
    static char line[LINE];
    char *cells[COLUMNS];
    FILE *file = fopen(table, "r");
    size_t column = COLUMNS;
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = '\0';
        size_t count = cli_csv_cut(line, cells, COLUMNS);
        if (column == COLUMNS) {
            for (column = 0; column < count && strcmp(cells[column], "state_hash") != 0;)
                column++;
            if (column >= count)
                break;
        } else if (strtoull(cells[0], NULL, 10) == run) {
            found = column < count && sscanf(cells[column], "%" SCNx64, hash) == 1;
            break;
        }
    }
    if (file)
        fclose(file);
    return found;
}

/* The viewer with the recording inside, if this command has the viewer's page. */
static rg_status export_page(const char *recording, const char *name, const char *path,
                             rg_error *error) {
    rg_html_options options = {0};
    rg_recording *opened;
    options.page = rg_view_page(&options.page_size);
    if (!options.page)
        return RG_OK;
    rg_status status = rg_recording_open(recording, &opened, error);
    if (status != RG_OK)
        return status;
    status = rg_view_export_html(&opened, &name, 1, &options, path, error);
    rg_recording_close(opened);
    return status;
}

static int record_one(rg_study *study, uint64_t run, const char *table, const char *folder) {
    char recording[PATH_SIZE + 32], page[PATH_SIZE + 32], name[64];
    uint64_t hash = 0, wanted = 0;
    rg_error error = {0};
    snprintf(recording, sizeof recording, "%s/%" PRIu64 ".h5", folder, run);
    snprintf(page, sizeof page, "%s/%" PRIu64 ".html", folder, run);
    snprintf(name, sizeof name, "run %" PRIu64, run);
    rg_status status = cli_sweep_record_run(study, run, recording, &hash, &error);
    if (status == RG_OK && hash_in_table(table, run, &wanted) && hash != wanted) {
        cli_complain("sweep: run %" PRIu64 " ends with the state hash %016" PRIx64
                     ", in %s it is %016" PRIx64 ": the table is of another version",
                     run, hash, table, wanted);
        return EXIT_FAILED;
    }
    if (status == RG_OK)
        status = export_page(recording, name, page, &error);
    if (status != RG_OK)
        cli_complain("sweep: run %" PRIu64 ": %s", run, error.text);
    return status == RG_OK ? EXIT_GOOD : cli_exit_code(status);
}

/* One of "3,17,20-25" or "all": from *first to *last; what is left of the list, or null. */
static const char *next_range(const char *list, uint64_t runs, uint64_t *first, uint64_t *last) {
    int length = 0;
    if (strcmp(list, "all") == 0) {
        *first = 0, *last = runs - 1;
        return list + 3;
    }
    if (*list < '0' || *list > '9' || sscanf(list, "%" SCNu64 "%n", first, &length) != 1)
        return NULL;
    list += length;
    *last = *first;
    if (*list == '-' && list[1] >= '0' && list[1] <= '9' &&
        sscanf(list + 1, "%" SCNu64 "%n", last, &length) == 1)
        list += 1 + length;
    if ((*list && *list != ',') || *last >= runs || *first > *last)
        return NULL;
    return *list ? list + 1 : list;
}

int cli_sweep_check_record(rg_study *study, const char *list, const char *table,
                           const cli_option *overwrite) {
    uint64_t runs = rg_study_get_info(study).runs, first, last;
    char folder[PATH_SIZE], recording[PATH_SIZE + 32];
    for (const char *at = list; *at || at == list;)
        if (!(at = next_range(at, runs, &first, &last))) {
            cli_complain("sweep: --record: '%s' is not a list of runs from 0 to %" PRIu64
                         ", such as 3,17,20-25, or all",
                         list, runs - 1);
            return EXIT_USAGE;
        }
    folder_of(table, folder);
    for (const char *at = list; *at;) {
        at = next_range(at, runs, &first, &last);
        for (uint64_t run = first; run <= last; run++) {
            snprintf(recording, sizeof recording, "%s/%" PRIu64 ".h5", folder, run);
            if (!cli_may_write("sweep", recording, overwrite))
                return EXIT_UNWRITABLE;
        }
    }
    return EXIT_GOOD;
}

int cli_sweep_record(rg_study *study, const char *list, const char *table, bool quiet) {
    uint64_t runs = rg_study_get_info(study).runs, first, last, made = 0;
    char folder[PATH_SIZE];
    folder_of(table, folder);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return fail_file(folder, EXIT_UNWRITABLE);
    int code = EXIT_GOOD;
    for (const char *at = list; *at && code == EXIT_GOOD;) {
        at = next_range(at, runs, &first, &last);
        for (uint64_t run = first; run <= last && code == EXIT_GOOD; run++, made++)
            code = record_one(study, run, table, folder);
    }
    if (code == EXIT_GOOD && !quiet)
        printf("%s: %" PRIu64 " recordings\n", folder, made);
    return code;
}

/* ---- the page ---- */

/* In JSON inside HTML: nothing can end the script element. */
static void put_text(FILE *out, const char *text) {
    fputc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 32 || c == '<')
            fprintf(out, "\\u%04x", (unsigned)c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void put_cell(FILE *out, const char *text) {
    double number;
    if (!*text)
        fputs("null", out);
    else if (cli_parse_number(text, &number) && strspn(text, "-0123456789.e+") == strlen(text))
        fprintf(out, "%.17g", number);
    else
        put_text(out, text);
}

/* Runs with a page in the folder. */
static void put_recorded(FILE *out, const char *folder) {
    DIR *directory = opendir(folder);
    bool any = false;
    fputs("\"recorded\":[", out);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        uint64_t run;
        int end = 0;
        if (sscanf(entry->d_name, "%" SCNu64 ".html%n", &run, &end) != 1 || end == 0 ||
            entry->d_name[end])
            continue;
        fprintf(out, "%s%" PRIu64, any ? "," : "", run);
        any = true;
    }
    fputs("]", out);
    if (directory)
        closedir(directory);
}

/* All rows but the first as arrays; the hash stays a text, whatever it looks like. */
static bool put_rows(FILE *out, FILE *table) {
    static char line[LINE];
    char *cells[COLUMNS];
    size_t hash = COLUMNS;
    for (uint64_t row = 0; fgets(line, sizeof line, table); row++) {
        line[strcspn(line, "\r\n")] = '\0';
        size_t count = cli_csv_cut(line, cells, COLUMNS);
        fputs(row == 0 ? "\"columns\":" : row == 1 ? "\"rows\":[\n" : ",\n", out);
        for (size_t i = 0; i < count; i++) {
            fputc(i ? ',' : '[', out);
            if (row == 0 && strcmp(cells[i], "state_hash") == 0)
                hash = i;
            if (row == 0 || i == hash)
                put_text(out, cells[i]);
            else
                put_cell(out, cells[i]);
        }
        fputs(row == 0 ? "],\n" : "]", out);
    }
    fputs("]", out);
    return !ferror(table);
}

/* The folder as the page sees it: next to it, or by its whole path. */
static void put_folder(FILE *out, const char *folder, const char *page) {
    const char *last = strrchr(folder, '/'), *slash = strrchr(page, '/');
    size_t length = last ? (size_t)(last - folder) : 0, other = slash ? (size_t)(slash - page) : 0;
    char whole[PATH_SIZE];
    if (length == other && strncmp(folder, page, length) == 0) {
        put_text(out, last ? last + 1 : folder);
    } else if (folder[0] == '/' || !getcwd(whole, 4000)) {
        put_text(out, folder);
    } else {
        size_t used = strlen(whole);
        snprintf(whole + used, sizeof whole - used, "/%.300s", folder);
        put_text(out, whole);
    }
}

static bool write_page(FILE *out, FILE *table, rg_study *study, const cli_sweep_names *names) {
    rg_study_info info = rg_study_get_info(study);
    const char *mark = strstr(rigor_study_begin, data_mark);
    char folder[PATH_SIZE], words[3 * PATH_SIZE];
    folder_of(names->table, folder);
    snprintf(words, sizeof words, "rigor sweep %.4000s --out %.4000s", names->study, names->table);
    fwrite(rigor_study_begin, 1, (size_t)(mark - rigor_study_begin), out);
    fputs("<script type=\"application/json\" id=\"rigor-study\">{\"name\":", out);
    put_text(out, names->study);
    fputs(",\"scene\":", out), put_text(out, info.scene);
    fputs(",\"command\":", out), put_text(out, words);
    fputs(",\"page\":", out), put_text(out, names->page);
    fputs(",\"folder\":", out), put_folder(out, folder, names->page);
    fputs(",\"parameters\":[", out);
    for (size_t i = 0; i < info.parameter_count; i++)
        fputs(i ? "," : "", out), put_text(out, info.names[i]);
    fputs("],", out), put_recorded(out, folder);
    fputs(",\n", out);
    bool good = put_rows(out, table);
    fputs("}</script>", out);
    mark += strlen(data_mark);
    fwrite(mark, 1, (size_t)(rigor_study_end - mark), out);
    return good && fflush(out) == 0 && !ferror(out);
}

int cli_sweep_page(rg_study *study, const cli_sweep_names *names, bool quiet) {
    char part[PATH_SIZE];
    FILE *table = fopen(names->table, "r");
    if (!table)
        return fail_file(names->table, EXIT_BAD_INPUT);
    snprintf(part, sizeof part, "%.4300s.part", names->page);
    FILE *out = fopen(part, "w");
    bool good = out && write_page(out, table, study, names);
    fclose(table);
    if (out)
        good &= fclose(out) == 0;
    if (!good || rename(part, names->page) != 0) {
        int code = fail_file(names->page, EXIT_UNWRITABLE);
        remove(part);
        return code;
    }
    if (!quiet)
        printf("%s\n", names->page);
    return EXIT_GOOD;
}
