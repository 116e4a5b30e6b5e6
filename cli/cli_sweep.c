/* `rigor sweep`: one scene, many runs with different parameters, one table. */
#include "cli_sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char cli_sweep_help[] =
    "Usage: rigor sweep STUDY [OPTION ...]\n"
    "       mpirun -n N rigor sweep STUDY [OPTION ...]\n"
    "       rigor sweep STUDY --merge JOURNAL ... [--out FILE]\n"
    "\n"
    "Runs a scene many times with different parameters, as STUDY (YAML or JSON) says:\n"
    "lists, ranges, random draws or a table. One row per run in one table (CSV and HDF5): its\n"
    "parameters, how it ended and why, the scene's measures, the certificate, last poses\n"
    "of chosen bodies, the state hash. docs/sweep.md describes studies.\n"
    "\n"
    "Every finished run is in a journal next to the table at once: a sweep that was\n"
    "stopped or killed is continued with --resume. A run that crashes, takes too long\n"
    "or too much memory gets a row with the cause. The table has the same bytes for any\n"
    "number of processes, ranks and shards.\n"
    "\n"
    "Options:\n"
    "  -o, --out FILE     the table (default: STUDY with .csv instead of its suffix); in HDF5\n"
    "                     next to it, with .h5 instead of .csv\n"
    "  -f, --overwrite    replace the table, begin a journal anew; of a table that is there,\n"
    "                     replace the files of --record and --page\n"
    "      --resume       continue an unfinished sweep\n"
    "      --jobs N       runs at a time, each in a process of its own (default: one per\n"
    "                     processor; with mpirun: one per rank)\n"
    "      --shard K/N    make only the runs k with k mod N = K, K from 0 to N - 1: for\n"
    "                     arrays of jobs on a cluster\n"
    "      --merge        write the table from the journals of all shards\n"
    "      --status       say how far the sweep has got\n"
    "      --record RUNS  record these runs (3,17,20-25 or all) in a folder next to the table;\n"
    "                     if the table is not there yet, the sweep is made first\n"
    "      --page FILE    write a page with the table, filters, parallel coordinates, and\n"
    "                     replays of the runs that are recorded; likewise\n"
    "  -q, --quiet        no progress bar, no report\n"
    "  -h, --help         this text\n"
    "\n"
    "Exit codes: 0 done (failed runs are in the table), 1 runs are missing or no process\n"
    "can be started, 2 usage, 3 the study or a journal cannot be used, 4 output exists or\n"
    "cannot be written, 130 and 143 stopped by SIGINT and SIGTERM (--resume goes on).\n"
    "\n"
    "Examples:\n"
    "  rigor sweep studies/tip-or-slide.yaml --out tip.csv\n"
    "  rigor sweep study.yaml --shard 0/2 & rigor sweep study.yaml --shard 1/2; wait\n"
    "  rigor sweep studies/tip-or-slide.yaml --out tip.csv --record 0,170,341 --page tip.html\n"
    "  rigor sweep study.yaml --merge study.csv.0-of-2.journal study.csv.1-of-2.journal\n";

enum { OUT, OVERWRITE, RESUME, JOBS, SHARD, MERGE, STATUS, RECORD, PAGE, QUIET, HELP, OPTIONS };
enum { PATH_SIZE = 4000, PARAMETERS_MOST = 256, SHARDS_MOST = 1000000, JOBS_MOST = 256 };

typedef struct sweep {
    const cli_option *options;
    rg_study *study;
    rg_study_info info;
    char out[PATH_SIZE], journal[PATH_SIZE + 96];
    uint64_t shard, shards;
    int jobs;
    bool quiet;
    const cli_mpi *mpi; /* or null */
} sweep;

/* ---- the command line ---- */

static bool parse_shard(const char *text, uint64_t *shard, uint64_t *shards) {
    char rest;
    return sscanf(text, "%" SCNu64 "/%" SCNu64 "%c", shard, shards, &rest) == 2 && *shards > 0 &&
           *shards <= SHARDS_MOST && *shard < *shards && text[0] != '-';
}

static int parse(sweep *s, const char *study) {
    const cli_option *options = s->options;
    double jobs;
    s->shards = 1;
    s->quiet = options[QUIET].value != NULL;
    if (options[SHARD].value && !parse_shard(options[SHARD].value, &s->shard, &s->shards)) {
        cli_complain("sweep: --shard: '%s' is not K/N with K from 0 to N - 1",
                     options[SHARD].value);
        return EXIT_USAGE;
    }
    long processors = s->mpi ? 1 : sysconf(_SC_NPROCESSORS_ONLN);
    if (!cli_whole_option("sweep", &options[JOBS], JOBS_MOST,
                          fmin(JOBS_MOST, processors > 0 ? (double)processors : 1), &jobs))
        return EXIT_USAGE;
    s->jobs = (int)jobs;
    const char *suffix = strrchr(study, '.'), *slash = strrchr(study, '/');
    size_t stem = suffix && (!slash || suffix > slash) ? (size_t)(suffix - study) : strlen(study);
    int length = options[OUT].value ? snprintf(s->out, PATH_SIZE, "%s", options[OUT].value)
                                    : snprintf(s->out, PATH_SIZE, "%.*s.csv", (int)stem, study);
    if (length >= PATH_SIZE) {
        cli_complain("sweep: the name of the table is too long; give a shorter --out FILE");
        return EXIT_USAGE;
    }
    if (s->shards > 1)
        snprintf(s->journal, sizeof s->journal, "%s.%" PRIu64 "-of-%" PRIu64 ".journal", s->out,
                 s->shard, s->shards);
    else
        snprintf(s->journal, sizeof s->journal, "%s.journal", s->out);
    return EXIT_GOOD;
}

/* ---- what it does ---- */

/* Names in conditions, times and columns must be known in the first run. */
static int check_expressions(sweep *s, rg_scene *scene) {
    enum { MEASURES = 64 };
    rg_measure measures[MEASURES], *figures = calloc(s->info.figure_count + 1, sizeof *figures);
    size_t count = rg_scene_measures(scene, measures, MEASURES);
    rg_study_watch *watch = NULL;
    rg_error error = {0};
    rg_status status =
        figures ? rg_study_watch_create(s->study, 0, rg_scene_world(scene), &watch, &error)
                : RG_OUT_OF_MEMORY;
    if (status == RG_OK)
        status = rg_study_watch_figures(watch, measures, count < MEASURES ? count : MEASURES,
                                        figures, &error);
    rg_study_watch_destroy(watch);
    free(figures);
    if (status != RG_OK)
        cli_complain("sweep: %s", error.text);
    return status == RG_OK ? EXIT_GOOD : EXIT_BAD_INPUT;
}

/* The scene with the parameters of the first run: a misspelt one is found before any run. */
static int check_scene(sweep *s) {
    rg_scene_parameter parameters[PARAMETERS_MOST];
    rg_error error = {0};
    rg_scene *scene;
    rg_study_parameters(s->study, 0, parameters);
    rg_scene_options options = {.parameters = parameters,
                                .parameter_count = s->info.parameter_count,
                                .method = s->info.method,
                                .solver = s->info.solver,
                                .impact = s->info.impact,
                                .step = s->info.step};
    rg_status status = rg_scene_create(s->info.scene, &options, &scene, &error);
    if (status != RG_OK) {
        cli_complain("sweep: the first run: %s", error.text);
        return EXIT_BAD_INPUT;
    }
    int code = EXIT_GOOD;
    for (size_t i = 0; i < s->info.body_count && code == EXIT_GOOD; i++) {
        rg_body_id body;
        if (rg_world_find_body(rg_scene_world(scene), s->info.bodies[i], &body) != RG_OK) {
            cli_complain("sweep: bodies: the scene has no body '%s'", s->info.bodies[i]);
            code = EXIT_BAD_INPUT;
        }
    }
    if (code == EXIT_GOOD)
        code = check_expressions(s, scene);
    rg_scene_destroy(scene);
    return code;
}

static cli_journal journal_of(const sweep *s) {
    return (cli_journal){.file = -1,
                         .hash = s->info.hash,
                         .runs = s->info.runs,
                         .shard = s->shard,
                         .shards = s->shards};
}

/* How runs ended: "done 9, failed 1". */
static double print_counts(const cli_journal *journals, size_t count, uint64_t runs) {
    static char line[CLI_SWEEP_LINE];
    enum { KINDS = 16 };
    char words[KINDS][32];
    uint64_t of_kind[KINDS] = {0};
    size_t kinds = 0;
    double spent[3] = {0};
    for (size_t j = 0; j < count; j++)
        for (uint64_t run = 0; run < runs; run++) {
            char word[32] = "";
            if (journals[j].offsets[run] < 0 || !cli_journal_line(&journals[j], run, line))
                continue;
            sscanf(line, "%*u\t%31[^\t]", word);
            char *tab = strchr(line, '\t');
            for (int i = 0; tab && i < 2; i++)
                tab = strchr(tab + 1, '\t');
            for (int i = 0; tab && (*tab == '\t' || *tab == ',') && i < 3; i++)
                spent[i] += strtod(tab + 1, &tab);
            size_t k = 0;
            while (k < kinds && strcmp(words[k], word) != 0)
                k++;
            if (k == kinds && kinds < KINDS)
                snprintf(words[kinds++], sizeof words[0], "%s", word);
            if (k < KINDS)
                of_kind[k]++;
        }
    for (size_t k = 0; k < kinds; k++)
        printf("%s%" PRIu64 " %s", k ? ", " : "  ", of_kind[k], words[k]);
    printf("%s%.1f s of runs, %.1f s of processor time, %.1f s of it steps\n", kinds ? "; " : "  ",
           spent[0], spent[1], spent[2]);
    return spent[0];
}

static int print_status(sweep *s) {
    cli_journal journal = journal_of(s);
    if (access(s->journal, F_OK) != 0) {
        printf("%s: %s, %" PRIu64 " runs\n", s->out,
               access(s->out, F_OK) == 0 ? "the table is written" : "not begun", s->info.runs);
        return cli_flush();
    }
    int code = cli_journal_open(&journal, s->journal, CLI_JOURNAL_READ);
    if (code == EXIT_GOOD) {
        uint64_t wanted = cli_journal_size(&journal);
        printf("%s: %" PRIu64 " of %" PRIu64 " runs, %s\n", s->journal, journal.done, wanted,
               cli_journal_is_written(&journal) ? "being made" : "nobody is making them");
        double seconds = print_counts(&journal, 1, s->info.runs);
        if (journal.done > 0 && journal.done < wanted)
            printf("  %" PRIu64 " are left, %.3g s each so far: %.3g s by one process\n",
                   wanted - journal.done, seconds / (double)journal.done,
                   seconds / (double)journal.done * (double)(wanted - journal.done));
    }
    cli_journal_close(&journal);
    return code == EXIT_GOOD ? cli_flush() : code;
}

static int write_table(sweep *s, const cli_journal *journals, size_t count) {
    uint64_t missing = 0, first = 0;
    for (uint64_t run = s->info.runs; run-- > 0;) {
        bool found = false;
        for (size_t i = 0; i < count; i++)
            found |= journals[i].offsets[run] >= 0;
        if (!found)
            missing++, first = run;
    }
    if (missing) {
        cli_complain("sweep: %" PRIu64 " of %" PRIu64 " runs are missing, run %" PRIu64
                     " is the first",
                     missing, s->info.runs, first);
        return EXIT_FAILED;
    }
    int code = cli_sweep_table(s->study, journals, count, s->out);
    if (code != EXIT_GOOD || s->quiet)
        return code;
    printf("%s: %" PRIu64 " runs\n", s->out, s->info.runs);
    print_counts(journals, count, s->info.runs);
    return cli_flush();
}

/* Neither of the two tables is replaced unasked. */
static int refuse_tables(const sweep *s) {
    char hdf5[4200];
    cli_sweep_hdf5_path(s->out, hdf5);
    const cli_option *overwrite = &s->options[OVERWRITE];
    /* A sweep that was killed between the two has left the second; its journal is still there. */
    return cli_may_write("sweep", s->out, overwrite) &&
                   (s->options[RESUME].value || cli_may_write("sweep", hdf5, overwrite))
               ? EXIT_GOOD
               : EXIT_UNWRITABLE;
}

static int merge(sweep *s, int count, const char **paths) {
    cli_journal *journals = calloc((size_t)count + 1, sizeof *journals);
    int code = refuse_tables(s), opened = 0;
    if (count == 0 || !journals) {
        cli_complain("sweep: --merge: which JOURNAL ...? name those of all shards");
        code = EXIT_USAGE;
    }
    for (; opened < count && code == EXIT_GOOD; opened++) {
        journals[opened] = journal_of(s);
        code = cli_journal_open(&journals[opened], paths[opened], CLI_JOURNAL_READ);
    }
    if (code == EXIT_GOOD)
        code = write_table(s, journals, (size_t)count);
    for (int i = 0; i < opened; i++)
        cli_journal_close(&journals[i]);
    free(journals);
    return code;
}

static int make_runs(sweep *s, cli_journal *journal) {
    if (s->mpi)
        return cli_sweep_lead(s->mpi, s->study, journal, s->jobs, s->quiet);
    cli_sweep_queue queue = cli_sweep_queue_of(journal);
    cli_sweep_source source = cli_sweep_journal_source(&queue);
    return cli_sweep_pool(s->study, &source, s->jobs, journal, s->quiet);
}

static int run_all(sweep *s) {
    bool begun = access(s->journal, F_OK) == 0, go_on = s->options[RESUME].value != NULL;
    int code = refuse_tables(s);
    if (code == EXIT_GOOD && begun && !go_on && !s->options[OVERWRITE].value) {
        cli_complain("sweep: %s exists; add --resume to go on with that sweep, or -f (--overwrite) "
                     "to begin anew",
                     s->journal);
        code = EXIT_UNWRITABLE;
    }
    if (code == EXIT_GOOD && go_on && !begun) {
        cli_complain("sweep: %s: there is nothing to resume; leave out --resume", s->journal);
        code = EXIT_BAD_INPUT;
    }
    if (code == EXIT_GOOD)
        code = check_scene(s);
    if (code != EXIT_GOOD)
        return code;
    cli_journal journal = journal_of(s);
    code = cli_journal_open(&journal, s->journal, go_on ? CLI_JOURNAL_GO_ON : CLI_JOURNAL_BEGIN);
    if (code == EXIT_GOOD)
        code = make_runs(s, &journal);
    if (code >= 128)
        cli_complain("stopped after %" PRIu64 " of %" PRIu64 " runs; --resume goes on",
                     journal.done, s->info.runs);
    if (code == EXIT_GOOD && s->shards == 1) {
        code = write_table(s, &journal, 1);
        if (code == EXIT_GOOD)
            remove(s->journal);
    } else if (code == EXIT_GOOD && !s->quiet) {
        printf("%s: %" PRIu64 " runs; `rigor sweep STUDY --merge` makes the table of all shards\n",
               s->journal, journal.done);
    }
    cli_journal_close(&journal);
    return code;
}

/* Recordings and pages are of a table: one that is not there yet is made first. */
static int make_missing_table(sweep *s) {
    const cli_option *options = s->options;
    if ((!options[RECORD].value && !options[PAGE].value) || access(s->out, F_OK) == 0)
        return EXIT_GOOD;
    if (!options[STATUS].value && s->shards == 1 && !cli_sweep_under_mpi())
        return run_all(s);
    cli_complain("sweep: %s: there is no table yet, and --%s needs it; make it first, without "
                 "--record and --page",
                 s->out, options[RECORD].value ? "record" : "page");
    return EXIT_BAD_INPUT;
}

/* Options that read the table of a sweep, complete or under way. */
static int look(sweep *s, const char *study) {
    const cli_option *options = s->options;
    cli_sweep_names names = {study, s->out, options[PAGE].value};
    if (!cli_may_write("sweep", names.page, &options[OVERWRITE]))
        return EXIT_UNWRITABLE;
    int code = options[RECORD].value ? cli_sweep_check_record(s->study, options[RECORD].value,
                                                              s->out, &options[OVERWRITE])
                                     : EXIT_GOOD;
    if (code == EXIT_GOOD && options[STATUS].value)
        code = print_status(s);
    if (code == EXIT_GOOD)
        code = make_missing_table(s);
    if (code == EXIT_GOOD && options[RECORD].value)
        code = cli_sweep_record(s->study, options[RECORD].value, s->out, s->quiet);
    if (code == EXIT_GOOD && names.page)
        code = cli_sweep_page(s->study, &names, s->quiet);
    return code == EXIT_GOOD ? cli_flush() : code;
}

static int read_study(sweep *s, const char *path) {
    rg_error error = {0};
    rg_status status = rg_study_read_file(path, NULL, &s->study, &error);
    if (status != RG_OK) {
        cli_complain("%s", error.text);
        return cli_exit_code(status);
    }
    s->info = rg_study_get_info(s->study);
    if (s->info.parameter_count > PARAMETERS_MOST) {
        cli_complain("sweep: more than %d parameters", PARAMETERS_MOST);
        return EXIT_BAD_INPUT;
    }
    return EXIT_GOOD;
}

/* Started by mpirun: rank 0 is asked for everything, the others make runs for it. */
static int run_with_mpi(sweep *s, const char *study) {
    bool leads = s->mpi->rank == 0;
    if (!leads && !cli_sweep_wait_for_begin(s->mpi)) {
        s->mpi->finish();
        return EXIT_GOOD; /* rank 0 has said why */
    }
    int code = parse(s, study);
    if (code == EXIT_GOOD)
        code = read_study(s, study);
    if (code == EXIT_GOOD)
        code = leads ? run_all(s) : cli_sweep_follow(s->mpi, s->study, s->jobs);
    if (code >= 128 || (!leads && code != EXIT_GOOD))
        _exit(code); /* mpirun ends the others */
    cli_sweep_end_mpi(s->mpi);
    return code;
}

int cli_sweep(int count, const char **arguments) {
    cli_option options[OPTIONS] = {
        [OUT] = {"out", 'o', true, NULL},      [OVERWRITE] = {"overwrite", 'f', false, NULL},
        [RESUME] = {"resume", 0, false, NULL}, [JOBS] = {"jobs", 0, true, NULL},
        [SHARD] = {"shard", 0, true, NULL},    [MERGE] = {"merge", 0, false, NULL},
        [STATUS] = {"status", 0, false, NULL}, [RECORD] = {"record", 0, true, NULL},
        [PAGE] = {"page", 0, true, NULL},      [QUIET] = {"quiet", 'q', false, NULL},
        [HELP] = {"help", 'h', false, NULL}};
    if (!cli_parse_options("sweep", options, OPTIONS, arguments, &count))
        return EXIT_USAGE;
    if (options[HELP].value) {
        fputs(cli_sweep_help, stdout);
        return cli_flush();
    }
    if (count == 0 || (count > 1 && !options[MERGE].value)) {
        cli_complain(
            "sweep: needs one STUDY, a file that names a scene and its parameters, such as\n"
            "  study: 1\n"
            "  scene: incline\n"
            "  parameters: {mu: {from: 0.1, to: 0.9, count: 9}}\n"
            "see `rigor sweep --help`");
        return EXIT_USAGE;
    }
    static sweep s;
    int code;
    s.options = options;
    bool looks = options[STATUS].value || options[RECORD].value || options[PAGE].value;
    if (cli_sweep_under_mpi() && !looks && !options[MERGE].value) {
        s.mpi = cli_sweep_start_mpi();
        code = s.mpi ? run_with_mpi(&s, arguments[0]) : EXIT_FAILED;
    } else {
        code = parse(&s, arguments[0]);
        if (code == EXIT_GOOD)
            code = read_study(&s, arguments[0]);
        if (code == EXIT_GOOD && looks)
            code = look(&s, arguments[0]);
        else if (code == EXIT_GOOD && options[MERGE].value)
            code = merge(&s, count - 1, arguments + 1);
        else if (code == EXIT_GOOD)
            code = run_all(&s);
    }
    rg_study_destroy(s.study);
    return code;
}
