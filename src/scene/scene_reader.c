/* Scene files, top level: version, parameters, world, materials, and the order in which the rest is
 * read. Whatever fails, everything built so far is destroyed before the call returns. */
#include "scene/scene_reader.h"

#include "base/base_file.h"
#include "base/base_math.h"
#include "rigor/impact.h"
#include "rigor/solver.h"
#include "scene/scene_robot.h"
#include "scene/scene_state.h"
#include "world/world.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MAX_METHODS = 16, MAX_PARAMETERS = 1000, READ_CHUNK = 65536 };

rg_scene_limits rg_scene_limits_default(void) {
    return (rg_scene_limits){.bytes = (size_t)1 << 30,
                             .bodies = 10000000,
                             .values = UINT64_C(2000000000),
                             .depth = 64,
                             .files = true};
}

/* ---- parameters ---- */

static rg_status check_parameter_name(rg_reader *reader, const rg_place *value) {
    static const char *const reserved[] = {"i", "j", "k", "n", "pi", "t"};
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(value->key, reserved[i]) == 0)
            return rg_place_fail(reader, value, RG_INVALID_ARGUMENT,
                                 "\"%s\" has a meaning of its own; choose another name",
                                 value->key);
    if (!rg_expression_is_name(value->key))
        return rg_place_fail(reader, value, RG_INVALID_ARGUMENT,
                             "a parameter's name has letters, digits and _, begins with a letter, "
                             "and is not the name of a function; choose another name");
    return RG_OK;
}

/* The value that the command line gives instead of the file's. */
static rg_status override_parameter(rg_reader *reader, const char *name, double *value) {
    const rg_scene_options *options = reader->options;
    for (size_t i = 0; options && i < options->parameter_count; i++) {
        const rg_scene_parameter *given = &options->parameters[i];
        if (strcmp(given->name, name) != 0)
            continue;
        rg_error cause = {0};
        rg_status status = rg_expression_evaluate(given->value, strlen(given->value),
                                                  reader->variables, 1, value, NULL, &cause);
        if (status != RG_OK)
            return rg_fail(reader->error, status, "%s: parameter %s=%.200s: %s", reader->file, name,
                           given->value,
                           status == RG_NOT_FOUND ? "must be a number or an expression with pi"
                                                  : cause.text);
    }
    return RG_OK;
}

/* Every parameter of the command line must be one of the scene's. */
static rg_status check_options(rg_reader *reader) {
    const rg_scene_options *options = reader->options;
    for (size_t i = 0; options && i < options->parameter_count; i++) {
        const char *name = options->parameters[i].name;
        const char *known[MAX_PARAMETERS];
        size_t count = 0;
        bool found = false;
        for (size_t v = 1; v < reader->variable_count && count < MAX_PARAMETERS; v++) {
            known[count++] = reader->variables[v].name;
            found |= strcmp(name, reader->variables[v].name) == 0;
        }
        if (found)
            continue;
        if (rg_has_failed(reader, RG_NAMED_PARAMETER, name))
            return rg_follow(reader);
        char list[400];
        if (!count)
            return rg_fail(reader->error, RG_NOT_FOUND,
                           "%s: there is no parameter \"%s\"; this scene has none", reader->file,
                           name);
        return rg_fail(reader->error, RG_NOT_FOUND,
                       "%s: there is no parameter \"%s\"; the parameters are: %s", reader->file,
                       name, rg_scene_list_words(known, count, list, sizeof list));
    }
    return RG_OK;
}

static rg_status read_parameter(rg_reader *reader, const rg_place *value) {
    double number;
    rg_status status = check_parameter_name(reader, value);
    if (status == RG_OK)
        status = rg_read_number(reader, value, &number);
    if (status == RG_OK)
        status = override_parameter(reader, value->key, &number);
    if (status == RG_OK)
        status = rg_reader_push_variable(reader, value->key, number, false);
    return status;
}

static rg_status read_parameters(rg_reader *reader, const rg_place *place) {
    rg_status status = rg_reader_push_variable(reader, "pi", RG_PI, false);
    if (status != RG_OK || !rg_given(place))
        return status == RG_OK ? check_options(reader) : status;
    status = rg_require_mapping(reader, place, "a mapping of names to numbers");
    size_t count = status == RG_OK ? rg_mapping_size(place) : 0;
    if (count > MAX_PARAMETERS)
        return rg_place_fail(reader, place, RG_LIMIT_EXCEEDED,
                             "has %zu parameters; at most %d are allowed", count, MAX_PARAMETERS);
    for (size_t i = 0; i < count && status == RG_OK; i++) {
        rg_place value = rg_mapping_at(reader, place, i, NULL);
        size_t failures = reader->mistakes.failures;
        status = read_parameter(reader, &value);
        if (rg_recover(reader, &status) && failures < reader->mistakes.failures)
            status = rg_note_failed(reader, RG_NAMED_PARAMETER, value.key);
    }
    return status == RG_OK ? check_options(reader) : status;
}

/* ---- the world ---- */

static rg_status read_method_name(rg_reader *reader, const rg_place *place, rg_world_def *def) {
    const char *names[MAX_METHODS];
    size_t count = rg_method_count() < MAX_METHODS ? rg_method_count() : MAX_METHODS, choice;
    for (size_t i = 0; i < count; i++)
        names[i] = rg_method_name(rg_method_at(i));
    rg_status status = rg_read_choice(reader, place, names, count, &choice);
    if (status == RG_OK)
        def->method = rg_method_at(choice);
    return status;
}

/* all, or how many contact points a pair of convex parts is reduced to. */
static rg_status read_points(rg_reader *reader, const rg_place *place, rg_world_def *def) {
    uint64_t most = 0;
    bool all = rg_is_scalar(place) &&
               strcmp((const char *)place->node->data.scalar.value, RG_POINTS_ALL) == 0;
    rg_status status = all ? RG_OK : rg_read_whole(reader, place, 1, RG_POINTS_MOST, &most);
    if (status == RG_OK)
        def->collision.contacts.reduce_to = (uint32_t)most;
    return status;
}

/* One of the words, if it is given. */
static rg_status read_word(rg_reader *reader, const rg_place *place, const char *const *words,
                           size_t count, size_t *choice) {
    return rg_given(place) ? rg_read_choice(reader, place, words, count, choice) : RG_OK;
}

/* Of the analytic method. */
static rg_status read_numerics(rg_reader *reader, const rg_place v[METHOD_COUNT],
                               rg_method_settings *settings) {
    static const char *const integrators[] = {"dormand-prince", "adams"};
    const char *finders[RG_ROOT_METHOD_COUNT];
    size_t integrator = settings->integrator, finder = settings->root_finder;
    for (int i = 0; i < RG_ROOT_METHOD_COUNT; i++)
        finders[i] = rg_root_method_name((rg_root_method)i);
    rg_status status = read_word(reader, &v[METHOD_INTEGRATOR], integrators, 2, &integrator);
    if (status == RG_OK)
        status = read_word(reader, &v[METHOD_ROOT_FINDER], finders, RG_ROOT_METHOD_COUNT, &finder);
    settings->integrator = (rg_integrator)integrator;
    settings->root_finder = (rg_root_method)finder;
    return status;
}

static rg_status read_penalty(rg_reader *reader, const rg_place *place,
                              rg_penalty_settings *settings) {
    rg_place v[PENALTY_COUNT];
    const rg_number_key numbers[] = {{PENALTY_STIFFNESS, "a stiffness", &settings->stiffness},
                                     {PENALTY_DEPTH, "a depth", &settings->depth},
                                     {PENALTY_SLIP, "a speed", &settings->slip},
                                     {PENALTY_TOLERANCE, "a tolerance", &settings->tolerance}};
    const char *const measures[] = {rg_penalty_measure_name(RG_PENALTY_DISTANCE),
                                    rg_penalty_measure_name(RG_PENALTY_RATIO)};
    size_t measure = settings->measure, collisions = settings->impulses;
    rg_status status = rg_read_keys(reader, place, &rg_keys_penalty, v);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && rg_recover(reader, &status); i++)
        if (rg_given(&v[numbers[i].key]))
            status =
                rg_read_positive(reader, &v[numbers[i].key], numbers[i].what, numbers[i].value);
    if (rg_recover(reader, &status))
        status = read_word(reader, &v[PENALTY_MEASURE], measures, 2, &measure);
    if (rg_recover(reader, &status))
        status = read_word(reader, &v[PENALTY_COLLISIONS], rg_collisions_names, 2, &collisions);
    settings->measure = (rg_penalty_measure)measure;
    settings->impulses = collisions == 1;
    return status;
}

static rg_status read_method(rg_reader *reader, const rg_place *place, rg_world_def *def) {
    if (!rg_is_mapping(place))
        return read_method_name(reader, place, def);
    rg_place v[METHOD_COUNT];
    size_t detection = def->settings.discrete_detection, hand_over = def->settings.hand_over;
    size_t contradictions = def->settings.contradictions;
    rg_method_settings *settings = &def->settings;
    rg_status status = rg_read_keys(reader, place, &rg_keys_method, v);
    if (rg_recover(reader, &status) && rg_given(&v[METHOD_NAME]))
        status = read_method_name(reader, &v[METHOD_NAME], def);
    if (rg_recover(reader, &status) && rg_given(&v[METHOD_STEP]))
        status = rg_read_positive(reader, &v[METHOD_STEP], "a step", &reader->step);
    if (rg_recover(reader, &status) && rg_given(&v[METHOD_TOLERANCE]))
        status =
            rg_read_positive(reader, &v[METHOD_TOLERANCE], "a tolerance", &settings->tolerance);
    if (rg_recover(reader, &status))
        status = read_numerics(reader, v, settings);
    if (rg_recover(reader, &status) && rg_given(&v[METHOD_GAMMA]))
        status = rg_read_not_negative(reader, &v[METHOD_GAMMA], "gamma", &settings->gamma);
    if (rg_recover(reader, &status))
        status = read_word(reader, &v[METHOD_DETECTION], rg_detection_names, 2, &detection);
    if (rg_recover(reader, &status) && rg_given(&v[METHOD_POINTS]))
        status = read_points(reader, &v[METHOD_POINTS], def);
    if (rg_recover(reader, &status))
        status = read_word(reader, &v[METHOD_HAND_OVER], rg_hand_over_names, 2, &hand_over);
    if (rg_recover(reader, &status))
        status = read_word(reader, &v[METHOD_CONTRADICTIONS], rg_contradictions_names, 2,
                           &contradictions);
    if (rg_recover(reader, &status) && rg_given(&v[METHOD_PENALTY]))
        status = read_penalty(reader, &v[METHOD_PENALTY], &settings->penalty);
    settings->discrete_detection = detection == 1;
    settings->hand_over = hand_over == 1;
    settings->contradictions = (rg_joint_norm)contradictions;
    return status;
}

static rg_status read_solver_name(rg_reader *reader, const rg_place *place,
                                  rg_method_settings *settings) {
    const char *names[RG_MAX_SOLVERS];
    size_t count = rg_scene_solver_names(names), choice;
    char list[200];
    if (rg_is_scalar(place) && strcmp((const char *)place->node->data.scalar.value, "lp") == 0 &&
        !rg_solver_find("lp"))
        return rg_place_fail(reader, place, RG_NOT_FOUND,
                             "lp belongs to the library rigor-lp, which scene files do not reach; "
                             "the solvers here are: %s",
                             rg_scene_list_words(names, count, list, sizeof list));
    rg_status status = rg_read_choice(reader, place, names, count, &choice);
    if (status == RG_OK)
        settings->solver = rg_solver_at(choice);
    return status;
}

/* cone, or {polygon: K}. */
static rg_status read_solver_friction(rg_reader *reader, const rg_place *place,
                                      rg_method_settings *settings) {
    static const char *const words[] = {"cone"};
    size_t choice;
    uint64_t corners;
    if (rg_is_scalar(place) && strcmp((const char *)place->node->data.scalar.value, "cone") != 0)
        return rg_place_fail(reader, place, RG_NOT_FOUND,
                             "write cone, or {polygon: 8} for a pyramid of as many sides");
    if (!rg_is_mapping(place)) {
        settings->friction_directions = 0;
        return rg_read_choice(reader, place, words, 1, &choice);
    }
    rg_place v[SOLVER_FRICTION_COUNT];
    rg_status status = rg_read_keys(reader, place, &rg_keys_solver_friction, v);
    if (status == RG_OK && !rg_given(&v[SOLVER_FRICTION_POLYGON]))
        return rg_place_fail(reader, place, RG_NOT_FOUND,
                             "needs the number of corners; write cone or {polygon: 8}");
    if (status == RG_OK)
        status = rg_read_whole(reader, &v[SOLVER_FRICTION_POLYGON], 4, 256, &corners);
    if (status == RG_OK)
        settings->friction_directions = (int)corners;
    return status;
}

/* smallest or largest. */
static rg_status read_policy(rg_reader *reader, const rg_place *place,
                             rg_method_settings *settings) {
    const char *const words[] = {rg_solution_policy_name(RG_POLICY_SMALLEST_FORCE),
                                 rg_solution_policy_name(RG_POLICY_LARGEST_FORCE)};
    size_t choice;
    rg_status status = rg_read_choice(reader, place, words, 2, &choice);
    if (status == RG_OK)
        settings->policy = choice == 0 ? RG_POLICY_SMALLEST_FORCE : RG_POLICY_LARGEST_FORCE;
    return status;
}

static rg_status read_solver(rg_reader *reader, const rg_place *place, rg_world_def *def) {
    rg_method_settings *settings = &def->settings;
    if (!rg_is_mapping(place))
        return read_solver_name(reader, place, settings);
    rg_place v[SOLVER_COUNT];
    rg_status status = rg_read_keys(reader, place, &rg_keys_solver, v);
    if (rg_recover(reader, &status) && rg_given(&v[SOLVER_NAME]))
        status = read_solver_name(reader, &v[SOLVER_NAME], settings);
    if (rg_recover(reader, &status) && rg_given(&v[SOLVER_TOLERANCE]))
        status = rg_read_positive(reader, &v[SOLVER_TOLERANCE], "a tolerance",
                                  &settings->solver_tolerance);
    if (rg_recover(reader, &status) && rg_given(&v[SOLVER_FRICTION]))
        status = read_solver_friction(reader, &v[SOLVER_FRICTION], settings);
    if (rg_recover(reader, &status) && rg_given(&v[SOLVER_POLICY]))
        status = read_policy(reader, &v[SOLVER_POLICY], settings);
    return status;
}

static rg_status read_impact_law(rg_reader *reader, const rg_place *place,
                                 const rg_impact_law **law) {
    const char *names[RG_MAX_LAWS];
    size_t count = rg_scene_law_names(names), choice;
    rg_status status = rg_read_choice(reader, place, names, count, &choice);
    if (status == RG_OK)
        *law = rg_impact_law_at(choice);
    return status;
}

static rg_status read_impact(rg_reader *reader, const rg_place *place, rg_world_def *def) {
    return read_impact_law(reader, place, &def->settings.impact);
}

/* Reads one of the keys that make up the settings, and asks at once whether its values will do, so
 * that the message has its place. */
static rg_status read_settings(rg_reader *reader, const rg_place *place,
                               rg_status (*read)(rg_reader *, const rg_place *, rg_world_def *),
                               rg_world_def *def) {
    rg_error cause = {0};
    if (!rg_given(place))
        return RG_OK;
    rg_method_settings before = def->settings;
    rg_status status = read(reader, place, def);
    if (!rg_recover(reader, &status))
        return status;
    status = rg_settings_check(&def->settings, &cause);
    if (status == RG_OK)
        return RG_OK;
    def->settings = before; /* the rest is read with settings that will do */
    return rg_place_wrap(reader, place, status, &cause);
}

static rg_status read_world(rg_reader *reader, const rg_place *root, const rg_place *v,
                            rg_scene *scene) {
    rg_world_def def = rg_world_def_default();
    rg_status status = RG_OK;
    def.allocator = reader->allocator;
    def.method = rg_method_find("stepping");
    if (rg_given(&v[TOP_PLANAR]))
        status = rg_read_truth(reader, &v[TOP_PLANAR], &reader->planar);
    if (status != RG_OK) /* lists of two numbers or of three: nothing else can be judged */
        return status;
    def.planar = reader->planar;
    if (rg_given(&v[TOP_GRAVITY]))
        status = rg_read_vector(reader, &v[TOP_GRAVITY], &def.gravity);
    if (rg_recover(reader, &status) && rg_given(&v[TOP_SEED]))
        status = rg_read_bits(reader, &v[TOP_SEED], &def.seed);
    if (rg_recover(reader, &status))
        status = read_settings(reader, &v[TOP_METHOD], read_method, &def);
    if (rg_recover(reader, &status))
        status = read_settings(reader, &v[TOP_SOLVER], read_solver, &def);
    if (rg_recover(reader, &status))
        status = read_settings(reader, &v[TOP_IMPACT], read_impact, &def);
    if (rg_recover(reader, &status))
        status = rg_scene_apply_options(reader->options, &def, &reader->step, reader->error);
    if (status != RG_OK)
        return status;
    scene->step = reader->step;
    rg_error cause = {0};
    status = rg_world_create(&def, &scene->world, &cause);
    reader->world = scene->world;
    return status == RG_OK ? RG_OK : rg_place_wrap(reader, root, status, &cause);
}

/* ---- materials ---- */

static rg_status read_friction(rg_reader *reader, const rg_place *place, rg_contact_law *law) {
    static const char what[] = "a coefficient of friction";
    if (!rg_is_mapping(place)) {
        law->static_friction = 0;
        return rg_read_not_negative(reader, place, what, &law->friction);
    }
    rg_place v[FRICTION_COUNT];
    rg_status status = rg_read_keys(reader, place, &rg_keys_friction, v);
    if (status == RG_OK && !rg_given(&v[FRICTION_STATIC]))
        return rg_place_fail(reader, place, RG_NOT_FOUND,
                             "needs static; write a number or {static: 0.6, dynamic: 0.5}");
    if (status == RG_OK)
        status = rg_read_not_negative(reader, &v[FRICTION_STATIC], what, &law->static_friction);
    law->friction = law->static_friction;
    if (status == RG_OK && rg_given(&v[FRICTION_DYNAMIC]))
        status = rg_read_not_negative(reader, &v[FRICTION_DYNAMIC], what, &law->friction);
    if (status == RG_OK && law->friction > law->static_friction)
        return rg_place_fail(reader, &v[FRICTION_DYNAMIC], RG_INVALID_ARGUMENT,
                             "dynamic friction must not be larger than static friction");
    if (status == RG_OK && law->friction == 0 && law->static_friction > 0)
        return rg_place_fail(reader, &v[FRICTION_DYNAMIC], RG_INVALID_ARGUMENT,
                             "dynamic friction must not be 0 beside static friction");
    if (law->static_friction == law->friction)
        law->static_friction = 0;
    return status;
}

/* The keys of a law are the same, and in the same order, in materials and pairs. */
enum { PAIR_LAW = PAIR_FRICTION - MATERIAL_FRICTION };
_Static_assert(PAIR_LAW == PAIR_TORSIONAL - MATERIAL_TORSIONAL, "keys of a law");

static rg_status read_law(rg_reader *reader, const rg_place *v, rg_contact_law *law) {
    const rg_place *friction = &v[MATERIAL_FRICTION], *restitution = &v[MATERIAL_RESTITUTION];
    const rg_place *impact = &v[MATERIAL_IMPACT], *stiffness = &v[MATERIAL_STIFFNESS];
    rg_status status = rg_given(friction) ? read_friction(reader, friction, law) : RG_OK;
    if (rg_recover(reader, &status) && rg_given(&v[MATERIAL_ROLLING]))
        status = rg_read_not_negative(reader, &v[MATERIAL_ROLLING],
                                      "a coefficient of rolling friction, in metres",
                                      &law->rolling_friction);
    if (rg_recover(reader, &status) && rg_given(&v[MATERIAL_TORSIONAL]))
        status = rg_read_not_negative(reader, &v[MATERIAL_TORSIONAL],
                                      "a coefficient of torsional friction, in metres",
                                      &law->torsional_friction);
    if (rg_recover(reader, &status) && rg_given(stiffness))
        status = rg_read_positive(reader, stiffness, "a stiffness", &law->stiffness);
    if (rg_recover(reader, &status) && rg_given(impact))
        status = read_impact_law(reader, impact, &law->impact);
    if (rg_recover(reader, &status) && rg_given(restitution))
        status = rg_read_number(reader, restitution, &law->restitution);
    char number[RG_NUMBER_SIZE];
    if (status == RG_OK && !(law->restitution >= 0 && law->restitution <= 1))
        return rg_place_fail(reader, restitution, RG_INVALID_ARGUMENT,
                             "restitution must be from 0 to 1, not %s",
                             rg_format_double(law->restitution, number));
    return status;
}

static rg_status read_material(rg_reader *reader, const rg_place *place) {
    rg_place v[MATERIAL_COUNT];
    rg_contact_law law = rg_contact_law_default();
    rg_material_id material = {0};
    rg_error cause = {0};
    size_t failures = reader->mistakes.failures;
    rg_status status = rg_read_keys(reader, place, &rg_keys_material, v);
    if (rg_recover(reader, &status))
        status = read_law(reader, v, &law);
    if (!rg_recover(reader, &status) || failures < reader->mistakes.failures)
        return status;
    if (!place->key[0])
        return rg_place_fail(reader, place, RG_INVALID_ARGUMENT,
                             "the name is empty; give it at least one letter");
    status = strcmp(place->key, "default") == 0
                 ? rg_world_set_material_law(reader->world, material, &law, &cause)
                 : rg_world_add_material(reader->world, place->key, &law, &material, &cause);
    return status == RG_OK ? RG_OK : rg_place_wrap(reader, place, status, &cause);
}

static rg_status read_materials(rg_reader *reader, const rg_place *place) {
    rg_status status = rg_require_mapping(reader, place, "a mapping of names to materials");
    for (size_t i = 0; status == RG_OK && i < rg_mapping_size(place); i++) {
        rg_place value = rg_mapping_at(reader, place, i, NULL);
        size_t failures = reader->mistakes.failures;
        status = read_material(reader, &value);
        if (rg_recover(reader, &status) && failures < reader->mistakes.failures)
            status = rg_note_failed(reader, RG_NAMED_MATERIAL, value.key);
    }
    return status;
}

static rg_status read_between(rg_reader *reader, const rg_place *place, rg_material_id ids[2]) {
    char text[RG_DESCRIPTION_SIZE];
    if (!rg_is_list(place) || rg_list_size(place) != 2)
        return rg_place_fail(reader, place, RG_WRONG_TYPE,
                             "expected two names of materials, got %s; write [ice, default]",
                             rg_describe_node(reader, place->node, text));
    rg_status status = RG_OK;
    for (size_t i = 0; i < 2 && status == RG_OK; i++) {
        rg_place item = rg_list_at(reader, place, i);
        status = rg_read_material(reader, &item, &ids[i]);
    }
    return status;
}

static bool same_material(rg_material_id a, rg_material_id b) {
    return a.index1 == b.index1;
}

static bool pair_exists(const rg_world *world, const rg_material_id ids[2]) {
    for (size_t i = 0; i < rg_world_pair_count(world); i++) {
        rg_material_id a, b;
        rg_contact_law law;
        rg_world_pair_at(world, i, &a, &b, &law);
        if ((same_material(a, ids[0]) && same_material(b, ids[1])) ||
            (same_material(a, ids[1]) && same_material(b, ids[0])))
            return true;
    }
    return false;
}

static rg_status read_pair(rg_reader *reader, const rg_place *place) {
    rg_place v[PAIR_COUNT];
    rg_material_id ids[2];
    rg_status status = rg_read_keys(reader, place, &rg_keys_pair, v);
    if (status == RG_OK && !rg_given(&v[PAIR_BETWEEN]))
        return rg_place_fail(reader, place, RG_NOT_FOUND,
                             "needs the two materials; write between: [ice, default]");
    if (status == RG_OK)
        status = read_between(reader, &v[PAIR_BETWEEN], ids);
    if (status != RG_OK)
        return status;
    if (pair_exists(reader->world, ids))
        return rg_place_fail(reader, &v[PAIR_BETWEEN], RG_DUPLICATE_NAME,
                             "this pair is listed already; keep one");
    /* What the entry leaves out is as it would be without the entry. */
    rg_contact_law law = rg_world_pair_law(reader->world, ids[0], ids[1]);
    rg_error cause = {0};
    law.impact = NULL; /* the materials' */
    size_t failures = reader->mistakes.failures;
    status = read_law(reader, v + PAIR_LAW, &law);
    if (!rg_recover(reader, &status) || failures < reader->mistakes.failures)
        return status;
    status = rg_world_set_pair_law(reader->world, ids[0], ids[1], &law, &cause);
    return status == RG_OK ? RG_OK : rg_place_wrap(reader, place, status, &cause);
}

static rg_status read_pairs(rg_reader *reader, const rg_place *place) {
    rg_status status = rg_require_list(reader, place, "a list of pairs");
    if (status != RG_OK)
        return status;
    for (size_t i = 0; rg_recover(reader, &status) && i < rg_list_size(place); i++) {
        rg_place item = rg_list_at(reader, place, i);
        status = read_pair(reader, &item);
    }
    return status;
}

/* ---- the run ---- */

static rg_status read_version(rg_reader *reader, const rg_place *place) {
    double version;
    rg_status status = rg_read_number(reader, place, &version);
    char number[RG_NUMBER_SIZE];
    if (status == RG_OK && version != 1)
        return rg_place_fail(reader, place, RG_UNSUPPORTED,
                             "format %s is not known to this version; write rigor: 1",
                             rg_format_double(version, number));
    return status;
}

static rg_status read_run(rg_reader *reader, const rg_place *v, rg_scene *scene) {
    rg_status status = RG_OK;
    if (rg_given(&v[TOP_NAME])) {
        const char *name;
        status = rg_read_text(reader, &v[TOP_NAME], &name);
        char *copy = status == RG_OK ? rg_copy_text(&reader->allocator, name) : NULL;
        if (status == RG_OK && !copy)
            return rg_reader_no_memory(reader);
        if (copy) {
            rg_release(&reader->allocator, scene->name);
            scene->name = copy;
        }
    }
    if (rg_recover(reader, &status) && rg_given(&v[TOP_DURATION]))
        status = rg_read_positive(reader, &v[TOP_DURATION], "a duration", &scene->duration);
    if (rg_recover(reader, &status) && rg_given(&v[TOP_RECORD])) {
        rg_place record[RECORD_COUNT];
        status = rg_read_keys(reader, &v[TOP_RECORD], &rg_keys_record, record);
        if (status == RG_OK && rg_given(&record[RECORD_EVERY]))
            status = rg_read_positive(reader, &record[RECORD_EVERY], "an interval",
                                      &scene->record_every);
    }
    return status;
}

typedef rg_status read_function(rg_reader *reader, const rg_place *place);

static rg_status read_top(rg_reader *reader, rg_scene *scene) {
    rg_place root = {NULL, yaml_document_get_root_node(&reader->document), NULL, 0};
    rg_place v[TOP_COUNT];
    rg_status status = rg_read_keys(reader, &root, &rg_keys_top, v);
    for (int kind = 0; kind < RG_NAMED_COUNT && status != RG_OK; kind++)
        rg_note_failed(reader, (rg_named_kind)kind, NULL); /* "bodys" */
    if (rg_recover(reader, &status) && rg_given(&v[TOP_RIGOR]))
        status = read_version(reader, &v[TOP_RIGOR]);
    if (rg_recover(reader, &status))
        status = read_parameters(reader, &v[TOP_PARAMETERS]);
    if (rg_recover(reader, &status))
        status = read_run(reader, v, scene);
    if (rg_recover(reader, &status))
        status = read_world(reader, &root, v, scene);
    static const struct {
        int key;
        read_function *read;
        rg_named_kind defined; /* RG_NAMED_COUNT: nothing that others name */
    } parts[] = {{TOP_MATERIALS, read_materials, RG_NAMED_MATERIAL},
                 {TOP_PAIRS, read_pairs, RG_NAMED_COUNT},
                 {TOP_SHAPES, rg_read_shapes, RG_NAMED_SHAPE},
                 {TOP_BODIES, rg_read_bodies, RG_NAMED_BODY},
                 {TOP_JOINTS, rg_read_joints, RG_NAMED_COUNT},
                 {TOP_FORCES, rg_read_forces, RG_NAMED_COUNT}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == RG_OK; i++) {
        if (rg_given(&v[parts[i].key]))
            status = parts[i].read(reader, &v[parts[i].key]);
        if (status != RG_OK && parts[i].defined < RG_NAMED_COUNT)
            rg_note_failed(reader, parts[i].defined, NULL); /* no list, no mapping */
        rg_recover(reader, &status);
    }
    return status;
}

static void free_reader(rg_reader *reader) {
    rg_reader_free_shapes(reader);
    rg_reader_unload(reader);
    rg_release(&reader->allocator, reader->variables);
    rg_release(&reader->allocator, reader->body_lines);
    rg_release(&reader->allocator, reader->colliders);
    rg_buffer_free(&reader->text);
    for (size_t i = 0; i < RG_OF_TIME_COUNT; i++)
        rg_buffer_free(&reader->of_time[i]);
}

void rg_scene_short_name(const char *file, char name[RG_QUOTE_SIZE]) {
    const char *slash = strrchr(file, '/');
    rg_quote_word(slash ? slash + 1 : file, name);
    char *dot = strrchr(name, '.');
    if (dot && dot != name)
        *dot = 0;
    if (!name[0])
        snprintf(name, RG_QUOTE_SIZE, "scene");
}

rg_status rg_scene_read_limited(const rg_scene_source *source, const rg_scene_options *options,
                                const rg_scene_limits *limits, rg_scene **scene, rg_error *error) {
    assert((source->text || !source->size) && source->name && scene);
    *scene = NULL;
    rg_error scratch = {0}; /* places need somewhere to write, wanted or not */
    if (rg_robot_is_one(source->text, source->size)) {
        rg_error *told = error ? error : &scratch;
        rg_status status = rg_robot_read(source, options, limits, scene, told);
        if (status != RG_OK && options && options->mistake && told->line > 0)
            options->mistake(options->mistake_user, told);
        return status;
    }
    rg_allocator allocator = rg_allocator_or_default(options ? options->allocator : NULL);
    rg_reader reader = {.file = source->name,
                        .step = RG_DEFAULT_STEP,
                        .directory = source->directory,
                        .allocator = allocator,
                        .limits = *limits,
                        .options = options,
                        .error = error ? error : &scratch,
                        .text = rg_buffer_make(&allocator)};
    for (size_t i = 0; i < RG_OF_TIME_COUNT; i++)
        reader.of_time[i] = rg_buffer_make(&allocator);
    char short_name[RG_QUOTE_SIZE];
    rg_scene_short_name(source->name, short_name);
    rg_scene *made = rg_scene_make(&allocator, short_name);
    rg_status status = made ? rg_mistakes_begin(&reader) : rg_reader_no_memory(&reader);
    if (status == RG_OK)
        status = rg_reader_load(&reader, source->text, source->size);
    if (status == RG_OK)
        status = read_top(&reader, made);
    status = rg_mistakes_end(&reader, status);
    free_reader(&reader);
    if (status == RG_OK)
        *scene = made;
    else
        rg_scene_destroy(made);
    return status;
}

rg_status rg_scene_read_text(const char *text, size_t size, const char *name, const char *directory,
                             const rg_scene_options *options, rg_scene **scene, rg_error *error) {
    rg_scene_limits limits = rg_scene_limits_default();
    return rg_scene_read_limited(&(rg_scene_source){text, size, name, directory}, options, &limits,
                                 scene, error);
}

/* ---- files ---- */

static const char *describe_errno(int code) {
    switch (code) {
    case ENOENT:
        return "there is no such file; check the path";
    case EACCES:
        return "permission denied; make it readable";
    case EISDIR:
        return "this is a directory; name a scene file in it";
    case ENOTDIR:
        return "a part of the path is not a directory; check the path";
    case RG_FILE_IRREGULAR:
        return RG_FILE_IRREGULAR_TEXT;
    default:
        return "it cannot be read";
    }
}

rg_status rg_scene_load_file(rg_scene_namer namer, const char *path, const rg_scene_limits *limits,
                             rg_buffer *text, rg_error *error) {
    FILE *file;
    int code = 0;
    if (namer == RG_NAMED_BY_FILE)
        code = rg_file_open(path, &file);
    else if (!(file = fopen(path, "rb")))
        code = errno;
    if (code)
        return rg_fail(error, RG_FILE_UNREADABLE, "%s: %s", path, describe_errno(code));
    char chunk[READ_CHUNK];
    size_t got;
    errno = 0;
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0 && text->size <= limits->bytes)
        rg_buffer_append(text, chunk, got);
    if (ferror(file))
        code = errno ? errno : EIO;
    fclose(file);
    if (code)
        return rg_fail(error, RG_FILE_UNREADABLE, "%s: %s", path, describe_errno(code));
    if (text->size > limits->bytes)
        return rg_fail(error, RG_LIMIT_EXCEEDED,
                       "%s: the file is larger than %zu bytes, the most that a scene may have",
                       path, limits->bytes);
    if (text->failed)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s: not enough memory for this scene", path);
    return RG_OK;
}

rg_status rg_scene_read_file(const char *path, const rg_scene_options *options, rg_scene **scene,
                             rg_error *error) {
    assert(path && scene);
    *scene = NULL;
    rg_allocator allocator = rg_allocator_or_default(options ? options->allocator : NULL);
    rg_scene_limits limits = rg_scene_limits_default();
    rg_buffer text = rg_buffer_make(&allocator), directory = rg_buffer_make(&allocator);
    rg_status status = rg_scene_load_file(RG_NAMED_BY_CALLER, path, &limits, &text, error);
    const char *slash = strrchr(path, '/');
    if (slash == path)
        slash++; /* the root directory */
    rg_buffer_append(&directory, path, slash ? (size_t)(slash - path) : 0);
    if (status == RG_OK && directory.failed)
        status = rg_fail(error, RG_OUT_OF_MEMORY, "%s: not enough memory for this scene", path);
    if (status == RG_OK)
        status = rg_scene_read_limited(
            &(rg_scene_source){text.data ? text.data : "", text.size, path, directory.data},
            options, &limits, scene, error);
    rg_buffer_free(&text);
    rg_buffer_free(&directory);
    return status;
}
