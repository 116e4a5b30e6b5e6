/* Stage profiles of scenes, kept in a file and shown beside those of an earlier run.
 *
 * The file is CSV: scene,stage,ms a step. The stages are those of rigor/profile.h, and two more:
 * `step`, all of them together, and `yardstick`, an engine that did not change, by which one sees
 * how fast the machine was. Ratios of ratios are what can be compared between runs. */
#include "cli_engine.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0, used = 0;
    while (file && !ferror(file) && !feof(file)) {
        char *more = realloc(text, size = 2 * size + 4096);
        if (!more) {
            free(text), text = NULL;
            break;
        }
        text = more;
        used += fread(text + used, 1, size - used - 1, file);
        text[used] = '\0';
    }
    if (file && (ferror(file) || fclose(file) != 0))
        free(text), text = NULL;
    return text;
}

static const char head[] = "scene,stage,ms\n";

int cli_engine_record_begin(cli_engine_record *this, const char *command) {
    if (this->against) {
        this->before = read_file(this->against);
        if (!this->before || strncmp(this->before, head, sizeof head - 1) != 0) {
            cli_complain("%s: --against: %s: %s", command, this->against,
                         this->before ? "not a file of --record" : strerror(errno));
            return EXIT_BAD_INPUT;
        }
    }
    if (this->record) {
        this->out = fopen(this->record, "w");
        if (!this->out) {
            cli_complain("%s: --record: %s cannot be written: %s", command, this->record,
                         strerror(errno));
            return EXIT_UNWRITABLE;
        }
        fputs(head, this->out);
    }
    return EXIT_GOOD;
}

/* NaN: it is not there. */
static double find(const cli_engine_record *this, const char *scene, const char *stage) {
    char key[CLI_ENGINE_TEXT + 64];
    int length = snprintf(key, sizeof key, "\n%s,%s,", scene, stage);
    const char *at = this->before ? strstr(this->before, key) : NULL;
    return at ? strtod(at + length, NULL) : NAN;
}

/* Stages that are below this share of the step before and after are left out: noise. */
#define SHARE_SHOWN 0.002

static void add(cli_engine_record *this, const char *scene, const char *stage, double ms,
                double least) {
    char text[CLI_NUMBER_SIZE];
    double before = find(this, scene, stage);
    if (this->out)
        fprintf(this->out, "%s,%s,%s\n", scene, stage, cli_exact(ms, text));
    if (!isnan(before) && (before >= least || ms >= least))
        printf("    %-12s %12.5g %12.5g %10.3f\n", stage, before, ms, ms / before);
}

void cli_engine_record_add(cli_engine_record *this, const char *scene, const rg_profile *profile,
                           double yardstick) {
    double scale = profile->steps ? 1e3 / (double)profile->steps : NAN;
    double before = find(this, scene, "step"), old = find(this, scene, "yardstick");
    double least = SHARE_SHOWN * fmin(before, profile->step * scale);
    if (!this->out && !this->before)
        return;
    if (!isnan(before))
        printf("  %s: ms a step\n    %-12s %12s %12s %10s\n", scene, "stage", "before", "now",
               "now/before");
    else if (this->before)
        printf("  %s: not in %s\n", scene, this->against);
    for (int i = 0; i < RG_STAGE_COUNT; i++)
        add(this, scene, rg_stage_name((rg_stage)i), profile->stage[i] * scale, least);
    add(this, scene, "step", profile->step * scale, 0);
    if (!isnan(yardstick))
        add(this, scene, "yardstick", yardstick, 0);
    if (!isnan(before) && !isnan(old) && !isnan(yardstick))
        printf("    %-12s %12.5g %12.5g %10.3f\n", "of yardstick", before / old,
               profile->step * scale / yardstick,
               profile->step * scale / yardstick / (before / old));
    if (this->before)
        putchar('\n');
}

int cli_engine_record_end(cli_engine_record *this, const char *command) {
    free(this->before);
    if (!this->out || fclose(this->out) == 0)
        return EXIT_GOOD;
    cli_complain("%s: --record: %s cannot be written: %s", command, this->record, strerror(errno));
    return EXIT_UNWRITABLE;
}
