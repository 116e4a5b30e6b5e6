/* What happened in a run of the event-driven method: how often, and in plain words what a user must
 * know: where forces did not exist or were not unique, where bounces had no end, where something
 * was given up. The log of the world is that of one step; this adds them up. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool matters(uint32_t kind) {
    return kind == RG_STEP_EVENT_ACCUMULATION || kind == RG_STEP_EVENT_INCONSISTENT ||
           kind == RG_STEP_EVENT_INDETERMINATE || kind == RG_STEP_EVENT_UNSOLVED ||
           kind == RG_STEP_EVENT_HANDED_OVER || kind == RG_STEP_EVENT_AVERAGED ||
           kind == RG_STEP_EVENT_JOINT_YIELD;
}

void cli_events_note(cli_events *events, const rg_world *world) {
    size_t kept, count;
    const rg_step_event *list = rg_world_step_events(world, &kept, &count);
    events->unlisted += count - kept;
    for (size_t i = 0; i < kept; i++) {
        events->count[list[i].kind]++;
        if (!matters(list[i].kind))
            continue;
        if (events->told < CLI_EVENTS_TOLD)
            (void)rg_step_event_text(world, &list[i], events->text[events->told++],
                                     sizeof events->text[0]);
        else
            events->untold++;
    }
}

void cli_events_print(const cli_events *events) {
    bool any = events->unlisted > 0;
    for (int k = 0; k < RG_STEP_EVENT_KIND_COUNT; k++)
        any |= events->count[k] > 0;
    if (!any)
        return;
    puts("\n  events");
    for (int k = 0; k < RG_STEP_EVENT_KIND_COUNT; k++)
        if (events->count[k])
            printf("    %-28s %14" PRIu64 "\n", rg_step_event_name((rg_step_event_kind)k),
                   events->count[k]);
    if (events->unlisted)
        printf("    %-28s %14" PRIu64 "\n", "not listed", events->unlisted);
    for (size_t i = 0; i < events->told; i++)
        printf("    %s\n", events->text[i]);
    if (events->untold)
        printf("    and %" PRIu64 " more like these\n", events->untold);
}

void cli_events_print_json(const cli_events *events) {
    fputs("\"events\": {", stdout);
    for (int k = 0; k < RG_STEP_EVENT_KIND_COUNT; k++)
        printf("\"%s\": %" PRIu64 ", ", rg_step_event_name((rg_step_event_kind)k),
               events->count[k]);
    printf("\"unlisted\": %" PRIu64 "}, \"event_texts\": [", events->unlisted);
    for (size_t i = 0; i < events->told; i++) {
        fputs(i ? ", " : "", stdout);
        cli_print_json_text(events->text[i]);
    }
    fputs("], ", stdout);
}
