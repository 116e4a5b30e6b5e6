/* What a frame has any number of: joints, loads, contacts of its last step, events and impulses of
 * the steps since the frame before. In memory and in the journal they are arrays of the structures
 * of rigor/recording.h, in FILE tables with the rows of all frames one after the other. */
#ifndef RIGOR_RECORD_ROWS_H
#define RIGOR_RECORD_ROWS_H

#include "base/base_memory.h"
#include "rigor/recording.h"

/* The order is that of the journal. */
typedef enum rg_rows {
    RG_ROWS_CONTACTS,
    RG_ROWS_EVENTS,
    RG_ROWS_IMPULSES,
    RG_ROWS_JOINTS, /* of scenes that have some */
    RG_ROWS_LOADS,
    RG_ROWS_COUNT,
    RG_ROWS_PENDING = RG_ROWS_JOINTS /* kinds that a checkpoint may have some of */
} rg_rows;

/* Sets of them, as in the journal's header. */
enum {
    RG_ROWS_OF_FORMAT_2 = 1u << RG_ROWS_CONTACTS,
    RG_ROWS_OF_FORMAT_3 = (1u << RG_ROWS_JOINTS) - 1,
    RG_ROWS_OF_FORMAT_4 = (1u << RG_ROWS_LOADS) - 1,
    RG_ROWS_ALL = (1u << RG_ROWS_COUNT) - 1
};
static inline bool rg_rows_has(uint64_t set, int rows) {
    return (set >> rows & 1) != 0;
}

const char *rg_rows_name(int rows); /* "contacts", "events" and so on: groups of FILE */
size_t rg_rows_size(int rows);      /* bytes of one in memory */

/* Whether rows name only bodies, modes and kinds that there are. */
bool rg_rows_make_sense(int rows, const void *data, size_t count, size_t body_count);

/* A contact of the world's last step. False: one of its bodies was removed since then. */
bool rg_rows_contact(const rg_world *world, const rg_contact_force *force,
                     rg_recorded_contact *contact);
/* Touches of the last step among which there may be sensors; false: this is none that is touched.
 * A contact without a force, B the sensor. */
size_t rg_rows_touch_count(const rg_world *world);
bool rg_rows_sensor(const rg_world *world, size_t touch, rg_recorded_contact *contact);
/* Appends the events and impulses of the world's last step. */
void rg_rows_append_events(rg_buffer *events, const rg_world *world);
void rg_rows_append_impulses(rg_buffer *impulses, const rg_world *world);
/* A joint as it is; a load of the world. */
rg_recorded_joint rg_rows_joint(const rg_world *world, size_t index);
rg_recorded_load rg_rows_load(const rg_world *world, const rg_load *load);
/* Appends all joints and loads, of those kinds that the set has, each to its place in `rows`. */
void rg_rows_append_state(uint64_t set, rg_world *world, rg_buffer rows[RG_ROWS_COUNT]);

#endif
