/* Forces of scene files. The tables of keys differ by kind and all begin with the same five keys.
 * Tested by tests/scene/test_reader.c. */
#include "scene/scene_reader.h"

#include <math.h>
#include <string.h>

enum { MAX_SUGGESTIONS = 10000 };

/* In the order of rg_force_kind. */
static const char *const kind_names[] = {"constant", "spring", "drag", "field", "central"};
static const rg_key_table *const kind_tables[] = {&rg_keys_constant, &rg_keys_spring, &rg_keys_drag,
                                                  &rg_keys_field, &rg_keys_central};
enum { KIND_COUNT = sizeof kind_names / sizeof kind_names[0] };

_Static_assert((int)SPRING_BODY == (int)CONSTANT_BODY && (int)CENTRAL_STOP == (int)CONSTANT_STOP,
               "all kinds begin with the same keys");

typedef struct copy {
    const rg_repeat *repeat;
    const uint64_t *index;
} copy;

static rg_status fail_no_body(rg_reader *reader, const rg_place *place, const char *name) {
    size_t count = rg_world_body_count(reader->world);
    count = count < MAX_SUGGESTIONS ? count : MAX_SUGGESTIONS;
    const char **names = rg_allocate(&reader->allocator, count, sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        names[i] = rg_body_name(reader->world, rg_world_body_at(reader->world, i));
    const char *nearest = names ? rg_nearest_word(name, names, count) : NULL;
    char quoted[RG_QUOTE_SIZE], nearest_quoted[RG_QUOTE_SIZE];
    rg_quote_word(name, quoted);
    rg_status status =
        nearest && nearest[0]
            ? rg_place_fail(reader, place, RG_NOT_FOUND,
                            "there is no body \"%s\"; did you mean \"%s\"?", quoted,
                            rg_quote_word(nearest, nearest_quoted))
            : rg_place_fail(reader, place, RG_NOT_FOUND,
                            "there is no body \"%s\"; give the name of a body", quoted);
    rg_release(&reader->allocator, names);
    return status;
}

rg_status rg_read_body_name(rg_reader *reader, const rg_place *place, const rg_repeat *repeat,
                            const uint64_t *index, rg_body_id *body) {
    const char *written, *name;
    rg_status status = rg_read_text(reader, place, &written);
    if (status == RG_OK)
        status = rg_expand_name(reader, place, written, repeat, index, &name);
    if (status == RG_OK && rg_world_find_body(reader->world, name, body) != RG_OK)
        return rg_has_failed(reader, RG_NAMED_BODY, name) ? rg_follow(reader)
                                                          : fail_no_body(reader, place, name);
    return status;
}

static rg_status read_body(rg_reader *reader, const rg_place *place, const copy *c,
                           rg_body_id *body) {
    return rg_given(place) ? rg_read_body_name(reader, place, c->repeat, c->index, body) : RG_OK;
}

static rg_status read_vector_key(rg_reader *reader, const rg_place *place, rg_vec3 *vector) {
    return rg_given(place) ? rg_read_vector(reader, place, vector) : RG_OK;
}

rg_status rg_read_coefficient(rg_reader *reader, const rg_place *place, const char *what,
                              double *value) {
    return rg_given(place) ? rg_read_not_negative(reader, place, what, value) : RG_OK;
}

static rg_status read_of_time(rg_reader *reader, const rg_place *place, size_t slot,
                              rg_vec3 *vector, rg_force_def *def) {
    return rg_given(place) ? rg_read_vector_of_time(reader, place, slot, slot == RG_OF_TIME_TORQUE,
                                                    vector, def->of_time + slot)
                           : RG_OK;
}

static rg_status read_constant(rg_reader *reader, const rg_place *v, rg_force_def *def) {
    rg_status status = read_vector_key(reader, &v[CONSTANT_POINT], &def->point);
    if (rg_recover(reader, &status))
        status = read_of_time(reader, &v[CONSTANT_FORCE], RG_OF_TIME_FORCE, &def->force, def);
    if (rg_recover(reader, &status))
        status = read_of_time(reader, &v[CONSTANT_TORQUE], RG_OF_TIME_TORQUE, &def->torque, def);
    return status;
}

static rg_status read_spring(rg_reader *reader, const rg_place *place, const rg_place *v,
                             const copy *c, rg_force_def *def) {
    if (!rg_given(&v[SPRING_BODY]))
        return rg_place_fail(reader, place, RG_NOT_FOUND,
                             "a spring needs the body that it pulls; write body: its name");
    if (!rg_given(&v[SPRING_STIFFNESS]))
        return rg_place_fail(reader, place, RG_NOT_FOUND,
                             "a spring needs its stiffness, in N/m; write stiffness: 100");
    rg_status status = read_body(reader, &v[SPRING_OTHER], c, &def->other);
    if (status == RG_OK && def->other.index1 == def->body.index1)
        return rg_place_fail(reader, &v[SPRING_OTHER], RG_INVALID_ARGUMENT,
                             "both ends of the spring are on one body; name another, or leave it "
                             "out for a point of the world");
    if (rg_recover(reader, &status))
        status = read_vector_key(reader, &v[SPRING_POINT], &def->point);
    if (rg_recover(reader, &status))
        status = read_vector_key(reader, &v[SPRING_OTHER_POINT], &def->other_point);
    if (rg_recover(reader, &status))
        status = rg_read_coefficient(reader, &v[SPRING_STIFFNESS], "a stiffness", &def->stiffness);
    if (rg_recover(reader, &status))
        status = rg_read_coefficient(reader, &v[SPRING_DAMPING], "a damping", &def->damping);
    if (rg_recover(reader, &status))
        status =
            rg_read_coefficient(reader, &v[SPRING_REST_LENGTH], "a rest length", &def->rest_length);
    return status;
}

static rg_status read_drag(rg_reader *reader, const rg_place *v, rg_force_def *def) {
    rg_status status = rg_read_coefficient(reader, &v[DRAG_LINEAR], "a drag", &def->linear);
    if (rg_recover(reader, &status))
        status = rg_read_coefficient(reader, &v[DRAG_QUADRATIC], "a drag", &def->quadratic);
    if (rg_recover(reader, &status))
        status = rg_read_coefficient(reader, &v[DRAG_ANGULAR], "a drag", &def->angular);
    return status;
}

static rg_status read_central(rg_reader *reader, const rg_place *place, const rg_place *v,
                              rg_force_def *def) {
    if (!rg_given(&v[CENTRAL_STRENGTH]))
        return rg_place_fail(reader, place, RG_NOT_FOUND,
                             "a central field needs its strength, in m^3/s^2; write strength: 1");
    rg_status status = read_vector_key(reader, &v[CENTRAL_CENTRE], &def->centre);
    return status == RG_OK ? rg_read_number(reader, &v[CENTRAL_STRENGTH], &def->strength) : status;
}

static rg_status read_times(rg_reader *reader, const rg_place *v, rg_force_def *def) {
    const rg_place *start = &v[CONSTANT_START], *stop = &v[CONSTANT_STOP];
    rg_status status = rg_given(start) ? rg_read_number(reader, start, &def->start_time) : RG_OK;
    if (status == RG_OK && rg_given(stop))
        status = rg_read_number(reader, stop, &def->stop_time);
    if (status == RG_OK && !(def->start_time < def->stop_time))
        return rg_place_fail(reader, stop, RG_INVALID_ARGUMENT,
                             "the force stops before it starts; stop must be later than start");
    return status;
}

static rg_status read_kind(rg_reader *reader, const rg_place *entry, size_t *kind) {
    rg_status status =
        rg_require_mapping(reader, entry, "a force such as {kind: drag, linear: 0.1}");
    if (status != RG_OK)
        return status;
    for (size_t p = 0; p < rg_mapping_size(entry); p++) {
        rg_place value = rg_mapping_at(reader, entry, p, NULL);
        if (strcmp(value.key, "kind") == 0)
            return rg_read_choice(reader, &value, kind_names, KIND_COUNT, kind);
    }
    return rg_place_fail(reader, entry, RG_NOT_FOUND,
                         "needs a kind: constant, spring, drag, field or central");
}

static rg_status read_copy(rg_reader *reader, const rg_place *entry, const rg_repeat *repeat,
                           const uint64_t index[3]) {
    size_t kind = 0;
    rg_place v[RG_MAX_KEYS];
    copy c = {repeat, index};
    size_t failures = reader->mistakes.failures;
    rg_status status = read_kind(reader, entry, &kind);
    if (status != RG_OK)
        return status;
    status = rg_read_keys(reader, entry, kind_tables[kind], v);
    if (!rg_recover(reader, &status))
        return status;
    rg_force_def def = rg_force_def_default((rg_force_kind)kind);
    status = read_times(reader, v, &def);
    if (rg_recover(reader, &status))
        status = read_body(reader, &v[CONSTANT_BODY], &c, &def.body);
    if (status == RG_OK)
        switch (def.kind) {
        case RG_FORCE_CONSTANT:
            status = read_constant(reader, v, &def);
            break;
        case RG_FORCE_SPRING:
            status = read_spring(reader, entry, v, &c, &def);
            break;
        case RG_FORCE_DRAG:
            status = read_drag(reader, v, &def);
            break;
        case RG_FORCE_FIELD:
            status = read_of_time(reader, &v[FIELD_ACCELERATION], RG_OF_TIME_ACCELERATION,
                                  &def.acceleration, &def);
            break;
        default:
            status = read_central(reader, entry, v, &def);
            break;
        }
    if (!rg_recover(reader, &status) || failures < reader->mistakes.failures)
        return status;
    rg_force_id force;
    rg_error cause = {0};
    status = rg_world_add_force(reader->world, &def, &force, &cause);
    return status == RG_OK ? RG_OK : rg_place_wrap(reader, entry, status, &cause);
}

rg_status rg_read_forces(rg_reader *reader, const rg_place *place) {
    return rg_for_each_copy(reader, place, "forces", read_copy, NULL);
}
