/* Contacts, events, impulses, joints and loads of FILE: of every kind a table with the rows of all
 * frames, and, as data of the frames, where each frame's rows begin and how many it has. Compound
 * types, whose fields have names. See docs/recording.md.
 *
 * How it fails: a field that FILE lacks is 0; rows that the frames do not speak of, or do not have,
 * make FILE a damaged one. Tested by tests/record/test_events.c and test_contacts.c there. */
#include "record/record_layout.h"

#include <stdio.h>
#include <string.h>

/* ---- types ---- */

typedef enum field_type { REAL, VECTOR, BODY, COUNT, MODE, KIND, JOINT, FORCE } field_type;

typedef struct row_field {
    const char *name;
    field_type type;
    size_t offset; /* in memory */
} row_field;

static const row_field contact_fields[] = {
    {"body_a", BODY, offsetof(rg_recorded_contact, body_a)},
    {"body_b", BODY, offsetof(rg_recorded_contact, body_b)},
    {"position", VECTOR, offsetof(rg_recorded_contact, position)},
    {"normal", VECTOR, offsetof(rg_recorded_contact, normal)},
    {"force", VECTOR, offsetof(rg_recorded_contact, force)},
    {"gap", REAL, offsetof(rg_recorded_contact, gap)},
    {"friction", REAL, offsetof(rg_recorded_contact, friction)},
    {"slip_speed", REAL, offsetof(rg_recorded_contact, slip_speed)},
    {"mode", MODE, offsetof(rg_recorded_contact, mode)},
};
static const row_field event_fields[] = {
    {"time", REAL, offsetof(rg_recorded_event, time)},
    {"step", COUNT, offsetof(rg_recorded_event, step)},
    {"kind", KIND, offsetof(rg_recorded_event, kind)},
    {"contacts", BODY, offsetof(rg_recorded_event, contacts)},
    {"body_a", BODY, offsetof(rg_recorded_event, body_a)},
    {"body_b", BODY, offsetof(rg_recorded_event, body_b)},
    {"value", REAL, offsetof(rg_recorded_event, value)},
    {"friction", REAL, offsetof(rg_recorded_event, friction)},
    {"restitution", REAL, offsetof(rg_recorded_event, restitution)},
};
static const row_field impulse_fields[] = {
    {"time", REAL, offsetof(rg_recorded_impulse, time)},
    {"step", COUNT, offsetof(rg_recorded_impulse, step)},
    {"impact", BODY, offsetof(rg_recorded_impulse, impact)},
    {"round", BODY, offsetof(rg_recorded_impulse, round)},
    {"body_a", BODY, offsetof(rg_recorded_impulse, body_a)},
    {"body_b", BODY, offsetof(rg_recorded_impulse, body_b)},
    {"position", VECTOR, offsetof(rg_recorded_impulse, position)},
    {"normal", VECTOR, offsetof(rg_recorded_impulse, normal)},
    {"impulse", VECTOR, offsetof(rg_recorded_impulse, impulse)},
    {"before", VECTOR, offsetof(rg_recorded_impulse, before)},
    {"after", VECTOR, offsetof(rg_recorded_impulse, after)},
    {"friction", REAL, offsetof(rg_recorded_impulse, friction)},
    {"restitution", REAL, offsetof(rg_recorded_impulse, restitution)},
};

static const row_field joint_fields[] = {
    {"joint", BODY, offsetof(rg_recorded_joint, joint)},
    {"kind", JOINT, offsetof(rg_recorded_joint, kind)},
    {"body_a", BODY, offsetof(rg_recorded_joint, body_a)},
    {"body_b", BODY, offsetof(rg_recorded_joint, body_b)},
    {"axes", BODY, offsetof(rg_recorded_joint, axes)},
    {"broken", BODY, offsetof(rg_recorded_joint, broken)},
    {"coordinate", VECTOR, offsetof(rg_recorded_joint, coordinate)},
    {"velocity", VECTOR, offsetof(rg_recorded_joint, velocity)},
    {"axis_force", VECTOR, offsetof(rg_recorded_joint, axis_force)},
    {"motor_force", VECTOR, offsetof(rg_recorded_joint, motor_force)},
    {"point", VECTOR, offsetof(rg_recorded_joint, point)},
    {"force", VECTOR, offsetof(rg_recorded_joint, force)},
    {"torque", VECTOR, offsetof(rg_recorded_joint, torque)},
    {"error", REAL, offsetof(rg_recorded_joint, error)},
};

static const row_field load_fields[] = {
    {"force", BODY, offsetof(rg_recorded_load, force)},
    {"kind", FORCE, offsetof(rg_recorded_load, kind)},
    {"body", BODY, offsetof(rg_recorded_load, body)},
    {"point", VECTOR, offsetof(rg_recorded_load, point)},
    {"force_vector", VECTOR, offsetof(rg_recorded_load, force_vector)},
    {"torque", VECTOR, offsetof(rg_recorded_load, torque)},
};

static const struct {
    const char *path;
    const row_field *fields;
    size_t field_count;
    const char *unit, *meaning;
} kinds[RG_ROWS_COUNT] = {
    [RG_ROWS_CONTACTS] =
        {"contacts/table", contact_fields, sizeof contact_fields / sizeof contact_fields[0],
         "1, 1, m, 1, N, m, 1, m/s, 1",
         "one row for each contact point of the step before each frame, rows start to start + "
         "count "
         "of the frame: bodies; position, unit normal from B to A, force on A (world axes); gap; "
         "friction coefficient; speed of slip; mode. Position and gap at the beginning of that "
         "step"},
    [RG_ROWS_EVENTS] =
        {"events/table", event_fields, sizeof event_fields / sizeof event_fields[0],
         "s, 1, 1, 1, 1, 1, as the kind says, 1, 1",
         "one row for each event of the steps since the frame before, rows start to start + count "
         "of the frame; bodies: 4294967295 is none"},
    [RG_ROWS_IMPULSES] =
        {"impulses/table", impulse_fields, sizeof impulse_fields / sizeof impulse_fields[0],
         "s, 1, 1, 1, 1, 1, m, 1, N s, m/s, m/s, 1, 1",
         "one row for each contact and round of the impacts of the steps since the frame before, "
         "rows start to start + count of the frame: position, unit normal from B to A, impulse on "
         "A, velocity of A relative to B before and after the round (world axes)"},
    [RG_ROWS_JOINTS] =
        {"joints/table", joint_fields, sizeof joint_fields / sizeof joint_fields[0],
         "1, 1, 1, 1, 1, 1, m or rad, m/s or rad/s, N or N m, N or N m, m, N, N m, m and rad",
         "one row for each joint and frame, rows start to start + count of the frame: number, "
         "kind, "
         "bodies (4294967295 is the world), number of axes, broken; coordinates, velocities, "
         "forces and motor forces of the axes; point, force and torque on B there (world axes), "
         "of the step before the frame; how far it is from being closed"},
    [RG_ROWS_LOADS] =
        {"loads/table", load_fields, sizeof load_fields / sizeof load_fields[0],
         "1, 1, 1, m, N, N m",
         "one row for each force besides gravity, contact and joints and each body that it acts "
         "on, "
         "rows start to start + count of the frame: number of the force (4294967295: applied by "
         "the program during the step before), kind, body; point, force there and torque (world "
         "axes)"},
};

static hid_t names_type(field_type type) {
    hid_t names = H5Tenum_create(H5T_STD_U8LE);
    uint32_t count = type == MODE    ? RG_MODE_COUNT
                     : type == JOINT ? RG_JOINT_KIND_COUNT
                     : type == FORCE ? RG_FORCE_KIND_COUNT + 1
                                     : RG_STEP_EVENT_KIND_COUNT;
    for (uint8_t i = 0; names >= 0 && i < count; i++) {
        const char *name = type == MODE    ? rg_contact_mode_name((rg_contact_mode)i)
                           : type == JOINT ? rg_joint_kind_name((rg_joint_kind)i)
                           : type == FORCE ? rg_force_kind_name((rg_force_kind)i)
                                           : rg_step_event_name((rg_step_event_kind)i);
        if (H5Tenum_insert(names, name, &i) < 0) {
            H5Tclose(names);
            return -1;
        }
    }
    return names;
}

/* To be closed. */
static hid_t field_type_of(field_type type, bool in_memory) {
    const hsize_t three = 3;
    hid_t real = in_memory ? H5T_NATIVE_DOUBLE : H5T_IEEE_F64LE;
    switch (type) {
    case REAL:
        return H5Tcopy(real);
    case VECTOR:
        return H5Tarray_create2(real, 1, &three);
    case BODY:
        return H5Tcopy(in_memory ? H5T_NATIVE_UINT32 : H5T_STD_U32LE);
    case COUNT:
        return H5Tcopy(in_memory ? H5T_NATIVE_UINT64 : H5T_STD_U64LE);
    case MODE:
    case KIND:
    case JOINT:
    case FORCE:
        break;
    }
    return names_type(type);
}

static hid_t or_close(hid_t type, bool good) {
    if (!good && type >= 0)
        H5Tclose(type);
    return good ? type : -1;
}

/* Rows of FILE, without gaps. */
static hid_t file_type(int rows) {
    static const size_t bytes[] = {[REAL] = 8, [VECTOR] = 24, [BODY] = 4,  [COUNT] = 8,
                                   [MODE] = 1, [KIND] = 1,    [JOINT] = 1, [FORCE] = 1};
    const row_field *fields = kinds[rows].fields;
    size_t size = 0, at = 0;
    for (size_t i = 0; i < kinds[rows].field_count; i++)
        size += bytes[fields[i].type];
    hid_t type = H5Tcreate(H5T_COMPOUND, size);
    bool good = type >= 0;
    for (size_t i = 0; good && i < kinds[rows].field_count; i++) {
        hid_t field = field_type_of(fields[i].type, false);
        good = field >= 0 && H5Tinsert(type, fields[i].name, at, field) >= 0;
        rg_close(field);
        at += bytes[fields[i].type];
    }
    return or_close(type, good);
}

/* A field of names in memory: the lowest byte of its 32 bits, of the type that the table has. Of
 * that itself, and not of the names of this version, as HDF5 writes no member that the table has
 * not: a recording that is continued may be older than a name. */
static herr_t insert_names(hid_t type, hid_t of_table, const row_field *field) {
    int member = H5Tget_member_index(of_table, field->name);
    hid_t names = member >= 0 ? H5Tget_member_type(of_table, (unsigned)member) : -1;
    size_t lowest = H5Tget_order(H5T_NATIVE_UINT32) == H5T_ORDER_BE ? 3 : 0;
    bool small = names >= 0 && H5Tget_class(names) == H5T_ENUM && H5Tget_size(names) == 1;
    herr_t result = small ? H5Tinsert(type, field->name, field->offset + lowest, names) : -1;
    rg_close(names);
    return result;
}

/* The structure in memory, as rows of the table. */
static hid_t memory_type(hid_t table, int rows) {
    const row_field *fields = kinds[rows].fields;
    hid_t of_table = H5Dget_type(table), type = H5Tcreate(H5T_COMPOUND, rg_rows_size(rows));
    bool good = of_table >= 0 && type >= 0;
    for (size_t i = 0; good && i < kinds[rows].field_count; i++) {
        if (fields[i].type >= MODE) {
            good = insert_names(type, of_table, &fields[i]) >= 0;
            continue;
        }
        hid_t field = field_type_of(fields[i].type, true);
        good = field >= 0 && H5Tinsert(type, fields[i].name, fields[i].offset, field) >= 0;
        rg_close(field);
    }
    rg_close(of_table);
    return or_close(type, good);
}

/* ---- tables ---- */

herr_t rg_rows_create(rg_store *store) {
    for (int i = 0; i < RG_ROWS_COUNT; i++) {
        if (!rg_rows_has(store->identity.rows, i))
            continue;
        store->rows[i] = rg_table_create(store->file, kinds[i].path, file_type(i), RG_CHUNK_ROWS,
                                         kinds[i].unit, kinds[i].meaning);
        if (store->rows[i] < 0)
            return -1;
    }
    return 0;
}

herr_t rg_rows_open(rg_store *store) {
    for (int i = 0; i < RG_ROWS_COUNT; i++) {
        if (!rg_rows_has(store->identity.rows, i))
            continue;
        store->rows[i] = rg_table_open(store->file, kinds[i].path, &store->row_count[i]);
        if (store->rows[i] < 0)
            return -1;
    }
    return 0;
}

static herr_t transfer(const rg_store *store, int rows, size_t start, void *data, size_t count,
                       bool writing) {
    hid_t type = memory_type(store->rows[rows], rows);
    if (type < 0)
        return -1;
    herr_t result = rg_table_transfer(store->rows[rows], type, start, count, data, writing);
    H5Tclose(type);
    return result;
}

herr_t rg_rows_write(rg_store *store, int rows, const void *data, size_t count) {
    const hsize_t size = store->row_count[rows] + count;
    if (store->rows[rows] < 0 || count == 0)
        return 0;
    if (H5Dset_extent(store->rows[rows], &size) < 0)
        return -1;
    return transfer(store, rows, store->row_count[rows], (void *)data, count, true);
}

herr_t rg_rows_read(const rg_store *store, int rows, size_t start, void *data, size_t count) {
    if (count == 0)
        return 0;
    memset(data, 0, count * rg_rows_size(rows)); /* what no field fills */
    return transfer(store, rows, start, data, count, false);
}
