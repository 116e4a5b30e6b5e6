/* What the viewer reads, against the recording itself: every number of every chunk, the sums and
 * the worst of figures over frames that are left out, overviews of long recordings, recordings of
 * all kinds, manifests, and running worlds. The reader of chunks is the tests' own. */
#include "view_support.h"

enum { STEPS = 40 };

static const char *const series[VIEW_FIGURES] = {
    "energy",      "kinetic",           "impact_loss",     "friction_work",  "stabilisation",
    "integration", "external_work",     "prescribed_work", "closure_rel",    "penetration",
    "overlap",     "complementarity",   "cone_violation",  "momentum_error", "joint_error",
    "contacts",    "solver_iterations", "solver_failures", "solves",         "passed_through"};

static int figure_of(const char *name) {
    for (int i = 0; i < VIEW_FIGURES; i++)
        if (strcmp(series[i], name) == 0)
            return i;
    fail_msg("%s", name);
    return -1;
}

static bool same(float a, double b) {
    return isnan(b) ? isnan(a) : a == (float)b;
}

/* ---- recordings ---- */

typedef struct run_options {
    const char *text;
    int steps, every;
    int format;
    bool leave_out_contacts, leave_open, not_told;
} run_options;

static rg_recorder *open_recorder; /* of a run that is still going on */
static rg_scene *open_scene;

static rg_recording *record(const char *name, const run_options *run) {
    char path[256];
    in_directory(name, path);
    rg_scene *scene = scene_of_text(run->text);
    rg_recorder_options options = {
        .overwrite = true, .checkpoint_every = 1e9, .leave_out_contacts = run->leave_out_contacts};
    rg_recorder_tuning tuning = {.format = run->format};
    rg_recorder *recorder;
    rg_error error = {0};
    if (rg_recorder_create_tuned(scene, path, &options, &tuning, &recorder, &error) != RG_OK)
        fail_msg("%s", error.text);
    for (int i = 1; i <= run->steps; i++) {
        if (run->not_told)
            step_scene(scene);
        else
            step_recorded(scene, recorder);
        if (i % (run->every ? run->every : 1) == 0)
            assert_int_equal(rg_recorder_frame(recorder, NULL, NULL), RG_OK);
    }
    if (run->leave_open) {
        open_recorder = recorder;
        open_scene = scene;
    } else {
        assert_int_equal(rg_recorder_close(recorder, true, NULL), RG_OK);
        rg_scene_destroy(scene);
    }
    rg_recording *recording;
    if (rg_recording_open(path, &recording, &error) != RG_OK)
        fail_msg("%s", error.text);
    return recording;
}

static rg_view *open_view(rg_recording *recording, const rg_view_options *options) {
    rg_view *view;
    rg_error error = {0};
    if (rg_view_open(recording, options, &view, &error) != RG_OK)
        fail_msg("%s", error.text);
    return view;
}

/* ---- chunks ---- */

enum { MOST_BODIES = 8 };

typedef struct frame_numbers {
    rg_vec3 position[MOST_BODIES], velocity[MOST_BODIES], angular[MOST_BODIES];
    rg_quat orientation[MOST_BODIES];
    rg_frame frame;
} frame_numbers;

static void read_numbers(rg_recording *recording, size_t index, frame_numbers *numbers) {
    assert_true(rg_recording_get_info(recording).body_count <= MOST_BODIES);
    numbers->frame = (rg_frame){.position = numbers->position,
                                .orientation = numbers->orientation,
                                .velocity = numbers->velocity,
                                .angular_velocity = numbers->angular};
    assert_int_equal(rg_recording_read(recording, index, &numbers->frame, NULL), RG_OK);
}

static void check_bodies(const view_chunk *chunk, size_t f, const frame_numbers *numbers) {
    for (size_t b = 0; b < chunk->bodies; b++) {
        size_t row = f * chunk->bodies + b;
        const double *p = &numbers->position[b].x, *q = &numbers->orientation[b].x;
        const double *v = &numbers->velocity[b].x, *w = &numbers->angular[b].x;
        for (size_t i = 0; i < 4; i++)
            assert_true(same(chunk->orientation[4 * row + i], q[i]));
        for (size_t i = 0; i < 3; i++) {
            assert_true(same(chunk->position[3 * row + i], p[i]));
            assert_true(same(chunk->velocity[3 * row + i], v[i]));
            assert_true(same(chunk->angular[3 * row + i], w[i]));
        }
    }
}

static size_t check_contacts(const view_chunk *chunk, size_t f, size_t start,
                             rg_recording *recording, size_t index) {
    const rg_recorded_contact *contacts;
    size_t count;
    assert_int_equal(rg_recording_read_contacts(recording, index, &contacts, &count, NULL), RG_OK);
    assert_int_equal(chunk->count[f], count);
    for (size_t k = 0; k < count; k++) {
        const rg_recorded_contact *contact = &contacts[k];
        size_t i = start + k;
        assert_int_equal(chunk->a[i], contact->body_a);
        assert_int_equal(chunk->b[i], contact->body_b);
        assert_int_equal(chunk->mode[i], contact->mode);
        for (size_t c = 0; c < 3; c++) {
            assert_true(same(chunk->point[3 * i + c], (&contact->position.x)[c]));
            assert_true(same(chunk->normal[3 * i + c], (&contact->normal.x)[c]));
            assert_true(same(chunk->force[3 * i + c], (&contact->force.x)[c]));
        }
        assert_true(same(chunk->gap[i], contact->gap));
        assert_true(same(chunk->friction[i], contact->friction));
        assert_true(same(chunk->slip[i], contact->slip_speed));
    }
    return start + count;
}

/* Figures of the steps since the frame shown before, and of all steps up to now. */
static void check_figures(const float *figure, const rg_step_info *since, const rg_step_info *sums,
                          double energy) {
    const rg_certificate *worst = &since->certificate;
    const rg_energy_ledger *work = &sums->energy;
    bool told = sums->steps > 0;
    const struct {
        const char *name;
        double value;
    } expected[] = {{"energy", energy},
                    {"impact_loss", told ? work->impact_loss : 0},
                    {"friction_work", told ? work->friction_work : 0},
                    {"stabilisation", told ? work->stabilisation : 0},
                    {"integration", told ? work->integration : 0},
                    {"external_work", told ? work->external_work : 0},
                    {"prescribed_work", told ? work->prescribed_work : 0},
                    {"closure_rel", since->energy.closure_rel},
                    {"penetration", worst->max_penetration},
                    {"complementarity", worst->complementarity},
                    {"cone_violation", worst->cone_violation},
                    {"momentum_error", worst->momentum_error},
                    {"joint_error", worst->joint_error},
                    {"contacts", (double)since->contacts_max},
                    {"solver_iterations", (double)since->solver_iterations},
                    {"solver_failures", (double)since->solver_failures},
                    {"passed_through", (double)since->passed_through},
                    {"overlap", isnan(worst->min_gap) ? NAN : fmax(0, -worst->min_gap)},
                    {"solves", (double)since->solves}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        float got = figure[figure_of(expected[i].name)];
        double wanted = expected[i].value;
        if (!same(got, wanted) && !(fabs((double)got - wanted) <= 1e-6 * fabs(wanted)))
            fail_msg("%s: %g, not %g", expected[i].name, (double)got, wanted);
    }
}

/* Every chunk of a recording, with each nth frame. */
static void check_chunks(rg_recording *recording, size_t chunk_frames, size_t every) {
    rg_recording_info info = rg_recording_get_info(recording);
    rg_view *view =
        open_view(recording, &(rg_view_options){.chunk_frames = chunk_frames, .every = every});
    rg_view_buffer buffer = rg_view_buffer_create(NULL);
    size_t shown = 0, next = 0;
    rg_step_info sums = rg_step_info_nothing();
    for (size_t n = 0; n < rg_view_chunk_count(view); n++) {
        rg_error error = {0};
        if (rg_view_chunk(view, n, &buffer, &error) != RG_OK)
            fail_msg("%s", error.text);
        view_chunk chunk = view_read(&buffer);
        assert_int_equal(chunk.flags, (info.has_contacts ? 15 : 11) + (info.has_loads ? 16 : 0));
        assert_int_equal(chunk.first, shown);
        assert_int_equal(chunk.bodies, info.body_count);
        assert_true(chunk.frames == chunk_frames || n + 1 == rg_view_chunk_count(view));
        size_t contacts = 0;
        for (size_t f = 0; f < chunk.frames; f++, shown++) {
            size_t index = shown * every < info.frame_count ? shown * every : info.frame_count - 1;
            frame_numbers numbers;
            rg_step_info since = rg_step_info_nothing(), one;
            for (; next <= index; next++)
                if (info.has_certificate) {
                    assert_int_equal(rg_recording_read_certificate(recording, next, &one, NULL),
                                     RG_OK);
                    rg_step_info_add(&since, &one);
                    rg_step_info_add(&sums, &one);
                }
            read_numbers(recording, index, &numbers);
            assert_true(chunk.time[f] == numbers.frame.time);
            assert_true(chunk.step[f] == (double)numbers.frame.step);
            check_bodies(&chunk, f, &numbers);
            if (info.has_contacts)
                contacts = check_contacts(&chunk, f, contacts, recording, index);
            if (info.has_certificate)
                check_figures(chunk.figure + VIEW_FIGURES * f, &since, &sums, numbers.frame.energy);
        }
        assert_int_equal(chunk.contacts, contacts);
        view_free(&chunk);
    }
    assert_int_equal(shown, rg_view_frame_count(view));
    assert_int_equal(next, info.frame_count);
    rg_error error = {0};
    assert_int_equal(rg_view_chunk(view, rg_view_chunk_count(view), &buffer, &error),
                     RG_INVALID_ARGUMENT);
    rg_view_buffer_destroy(&buffer);
    rg_view_close(view);
}

static void test_every_number(void **state) {
    (void)state;
    rg_recording *recording =
        record("all.h5", &(run_options){.text = on_a_floor, .steps = STEPS, .every = 2});
    const size_t chunk_frames[] = {1, 7, 64};
    for (size_t i = 0; i < 3; i++)
        for (size_t every = 1; every <= 4; every++)
            check_chunks(recording, chunk_frames[i], every);
    rg_recording_close(recording);
}

/* From the journal alone, and from FILE and journal. */
static void test_going_on(void **state) {
    (void)state;
    rg_recording *recording =
        record("open.h5", &(run_options){.text = on_a_floor, .steps = STEPS, .leave_open = true});
    assert_false(rg_recording_get_info(recording).finished);
    check_chunks(recording, 16, 1);
    check_chunks(recording, 16, 3);
    rg_view *view = open_view(recording, NULL);
    rg_view_buffer json = rg_view_buffer_create(NULL);
    assert_int_equal(rg_view_manifest(view, &json, NULL), RG_OK);
    assert_true(is_json(&json) && contains(&json, "\"finished\":false"));
    rg_view_buffer_destroy(&json);
    rg_view_close(view);
    rg_recording_close(recording);
    assert_int_equal(rg_recorder_close(open_recorder, false, NULL), RG_OK);
    rg_scene_destroy(open_scene);
}

/* Without contacts, without certificates, without having been told of the steps. */
static void test_older_and_poorer(void **state) {
    (void)state;
    rg_recording *recording =
        record("bare.h5", &(run_options){.text = on_a_floor, .steps = 9, .leave_out_contacts = 1});
    check_chunks(recording, 4, 1);
    rg_recording_close(recording);
    recording = record("old.h5", &(run_options){.text = on_a_floor, .steps = 9, .format = 1});
    assert_false(rg_recording_get_info(recording).has_certificate);
    check_chunks(recording, 4, 2);
    rg_view *view = open_view(recording, &(rg_view_options){.chunk_frames = 4});
    rg_view_buffer buffer = rg_view_buffer_create(NULL);
    assert_int_equal(rg_view_chunk(view, 1, &buffer, NULL), RG_OK);
    view_chunk chunk = view_read(&buffer);
    for (int i = 0; i < VIEW_FIGURES; i++) /* energy and kinetic energy are known all the same */
        assert_int_equal(!isnan(chunk.figure[i]), i < 2);
    view_free(&chunk);
    assert_int_equal(rg_view_manifest(view, &buffer, NULL), RG_OK);
    assert_true(contains(&buffer, "\"has_certificate\":false,\"has_contacts\":false"));
    assert_int_equal(rg_view_overview(view, &buffer, NULL), RG_OK);
    chunk = view_read(&buffer);
    assert_int_equal(chunk.frames, 10);
    view_free(&chunk);
    rg_view_buffer_destroy(&buffer);
    rg_view_close(view);
    rg_recording_close(recording);
    recording =
        record("quiet.h5", &(run_options){.text = on_a_floor, .steps = 9, .not_told = true});
    check_chunks(recording, 4, 2);
    rg_recording_close(recording);
}

/* Kinetic energy plus m g z of the centres of mass is the energy that the judge found. */
static void check_kinetic(const char *name, const char *text) {
    rg_recording *recording = record(name, &(run_options){.text = text, .steps = 20});
    rg_scene *scene = scene_of_text(text);
    const rg_world *world = rg_scene_world(scene);
    rg_view *view = open_view(recording, NULL);
    rg_view_buffer buffer = rg_view_buffer_create(NULL);
    assert_int_equal(rg_view_chunk(view, 0, &buffer, NULL), RG_OK);
    view_chunk chunk = view_read(&buffer);
    assert_int_equal(rg_view_overview(view, &buffer, NULL), RG_OK);
    view_chunk overview = view_read(&buffer);
    assert_int_equal(chunk.frames, 21);
    for (size_t f = 0; f < chunk.frames; f++) {
        frame_numbers numbers;
        read_numbers(recording, f, &numbers);
        double potential = 0;
        for (size_t b = 0; b < chunk.bodies; b++) {
            rg_body_id body = rg_world_body_at(world, b);
            if (rg_body_motion(world, body) != RG_MOTION_DYNAMIC)
                continue;
            rg_vec3 c = rg_body_local_centre(world, body).position;
            rg_quat q = numbers.orientation[b];
            /* third row of the rotation matrix */
            double z = numbers.position[b].z + 2 * (q.x * q.z - q.w * q.y) * c.x +
                       2 * (q.y * q.z + q.w * q.x) * c.y + (1 - 2 * (q.x * q.x + q.y * q.y)) * c.z;
            potential += 9.81 * rg_body_mass(world, body).mass * z;
        }
        double kinetic = numbers.frame.energy - potential;
        assert_true(fabs((double)chunk.figure[VIEW_FIGURES * f + 1] - kinetic) <= 1e-6 * kinetic);
        assert_true(chunk.figure[VIEW_FIGURES * f + 1] == overview.figure[VIEW_FIGURES * f + 1]);
    }
    view_free(&chunk);
    view_free(&overview);
    rg_view_buffer_destroy(&buffer);
    rg_view_close(view);
    rg_recording_close(recording);
    rg_scene_destroy(scene);
}

static const char flat[] =
    "rigor: 1\n"
    "planar: true\n"
    "name: flat\n"
    "method: {name: stepping, step: 0.01}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {halfspace: {normal: [0, 1], offset: 0}}}\n"
    "  - {name: wheel, shape: {disc: 0.5}, position: [0, 3], velocity: [1, 2], angular_velocity: "
    "3}\n"
    "  - {shape: {polygon: [[0, 0], [2, 0], [0, 1]]}, position: [5, 4], angular_velocity: -2}\n";

static void test_kinetic_energy(void **state) {
    (void)state;
    check_kinetic("kinetic.h5", two_bodies);
    check_kinetic("flat.h5", flat);
}

/* ---- times and overviews ---- */

static void test_times(void **state) {
    (void)state;
    rg_recording *recording = record("times.h5", &(run_options){.text = two_bodies, .steps = 50});
    rg_view *view = open_view(recording, &(rg_view_options){.every = 4});
    rg_view_buffer buffer = rg_view_buffer_create(NULL);
    assert_int_equal(rg_view_times(view, &buffer, NULL), RG_OK);
    assert_int_equal(rg_view_frame_count(view), 14); /* 0 4 ... 48 and 50 */
    assert_int_equal(buffer.size, 8 * 14);
    for (size_t i = 0; i < 14; i++) {
        frame_numbers numbers;
        double time;
        memcpy(&time, buffer.bytes + 8 * i, 8);
        read_numbers(recording, i < 13 ? 4 * i : 50, &numbers);
        assert_true(time == numbers.frame.time);
    }
    rg_view_buffer_destroy(&buffer);
    rg_view_close(view);
    rg_recording_close(recording);
}

/* Points stand for ranges that together are the run. */
static void test_overview_of_a_long_run(void **state) {
    (void)state;
    enum { FRAMES = 4501 };
    rg_recording *recording =
        record("long.h5", &(run_options){.text = on_a_floor, .steps = FRAMES - 1});
    rg_view *view = open_view(recording, NULL);
    rg_view_buffer buffer = rg_view_buffer_create(NULL);
    assert_int_equal(rg_view_overview(view, &buffer, NULL), RG_OK);
    view_chunk overview = view_read(&buffer);
    assert_int_equal(overview.flags, 9);
    assert_int_equal(overview.frames, 2000);
    assert_int_equal(overview.bodies, 0);
    size_t next = 0;
    rg_step_info sums = rg_step_info_nothing();
    for (size_t p = 0; p < overview.frames; p++) {
        rg_step_info since = rg_step_info_nothing(), one;
        frame_numbers numbers;
        size_t begin = next;
        do {
            assert_true(next < FRAMES);
            assert_int_equal(rg_recording_read_certificate(recording, next, &one, NULL), RG_OK);
            rg_step_info_add(&since, &one);
            rg_step_info_add(&sums, &one);
            read_numbers(recording, next++, &numbers);
        } while (numbers.frame.time < overview.time[p]);
        assert_true(numbers.frame.time == overview.time[p]);
        assert_true(overview.step[p] == (double)numbers.frame.step);
        assert_true(next - begin >= 2 && next - begin <= 3);
        check_figures(overview.figure + VIEW_FIGURES * p, &since, &sums, numbers.frame.energy);
    }
    assert_int_equal(next, FRAMES);
    view_free(&overview);
    rg_view_buffer_destroy(&buffer);
    rg_view_close(view);
    rg_recording_close(recording);
}

/* A chunk in the middle knows the work before it, whether the overview was asked for or not, and an
 * overview after a chunk is the same as one before. */
static void test_order_of_questions(void **state) {
    (void)state;
    rg_recording *recording =
        record("order.h5", &(run_options){.text = on_a_floor, .steps = STEPS});
    rg_view_buffer one = rg_view_buffer_create(NULL), two = rg_view_buffer_create(NULL);
    rg_view_options options = {.chunk_frames = 8};
    rg_view *view = open_view(recording, &options);
    assert_int_equal(rg_view_chunk(view, 3, &one, NULL), RG_OK);
    assert_int_equal(rg_view_overview(view, &one, NULL), RG_OK);
    rg_view_close(view);
    view = open_view(recording, &options);
    assert_int_equal(rg_view_overview(view, &two, NULL), RG_OK);
    assert_int_equal(one.size, two.size);
    assert_memory_equal(one.bytes, two.bytes, one.size);
    rg_view_close(view);
    rg_recording_close(recording);
    rg_view_buffer_destroy(&one);
    rg_view_buffer_destroy(&two);
}

/* ---- what is left out of contacts ---- */

static void test_rounded_contacts(void **state) {
    (void)state;
    rg_recording *recording =
        record("rounded.h5", &(run_options){.text = on_a_floor, .steps = STEPS});
    rg_view_buffer full = rg_view_buffer_create(NULL), less = rg_view_buffer_create(NULL);
    const int bits[] = {1, 8, 12, 22};
    rg_view *view = open_view(recording, NULL);
    assert_int_equal(rg_view_chunk(view, 0, &full, NULL), RG_OK);
    rg_view_close(view);
    view_chunk exact = view_read(&full);
    assert_true(exact.contacts > 4 * STEPS);
    for (int i = 0; i < 4; i++) {
        view = open_view(recording, &(rg_view_options){.contact_bits = bits[i]});
        assert_int_equal(rg_view_chunk(view, 0, &less, NULL), RG_OK);
        rg_view_close(view);
        view_chunk rounded = view_read(&less);
        assert_int_equal(rounded.contacts, exact.contacts);
        assert_memory_equal(rounded.position, exact.position, 12 * exact.frames * exact.bodies);
        assert_memory_equal(rounded.mode, exact.mode, 4 * exact.contacts);
        for (size_t k = 0; k < 3 * exact.contacts; k++) {
            double tolerance = ldexp(1, -bits[i] - 1);
            assert_true(fabs((double)rounded.force[k] - (double)exact.force[k]) <=
                        tolerance * fabs((double)exact.force[k]));
            float scaled = ldexpf(frexpf(rounded.force[k], &(int){0}), bits[i] + 1);
            assert_true(scaled == floorf(scaled));
        }
        view_free(&rounded);
    }
    view = open_view(recording, &(rg_view_options){.leave_out_idle_contacts = true});
    assert_int_equal(rg_view_chunk(view, 0, &less, NULL), RG_OK);
    view_chunk busy = view_read(&less);
    size_t forces = 0;
    for (size_t k = 0; k < exact.contacts; k++)
        forces += exact.mode[k] != 0 || exact.force[3 * k] != 0 || exact.force[3 * k + 1] != 0 ||
                  exact.force[3 * k + 2] != 0;
    assert_true(forces > 0 && forces < exact.contacts);
    assert_int_equal(busy.contacts, forces);
    for (size_t k = 0; k < busy.contacts; k++)
        assert_int_not_equal(busy.mode[k], RG_MODE_SEPARATING);
    view_free(&busy);
    view_free(&exact);
    rg_view_close(view);
    rg_recording_close(recording);
    rg_view_buffer_destroy(&full);
    rg_view_buffer_destroy(&less);
}

/* ---- manifests ---- */

static const char many_shapes[] =
    "rigor: 1\n"
    "name: \"a \\\"name\\\" \\\\ </script>\"\n"
    "method: {name: stepping, step: 0.01}\n"
    "solver: {name: newton, tolerance: 1e-9, friction: {polygon: 8}}\n"
    "materials: {ice: {friction: 0.02, restitution: 0.25}}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {halfspace: {normal: [0, 0, 1], offset: 0.5}}, material: ice}\n"
    "  - {shape: {box: [1, 2, 3]}, position: [0, 0, 9]}\n"
    "  - {shape: {box: [1, 2, 3]}, position: [9, 0, 9]}\n"
    "  - {shape: {ellipsoid: [1, 2, 3]}, position: [-9, 0, 9]}\n"
    "  - {shape: {capsule: {radius: 0.5, length: 2}}, position: [0, 9, 9]}\n"
    "  - {shape: {hull: [[0,0,0], [1,0,0], [0,1,0], [0,0,1], [0.1,0.1,0.1]]}, position: [9, 9, "
    "9]}\n"
    "  - {name: pair, shape: {compound: [{shape: {sphere: 1}, position: [2, 0, 0]},"
    " {shape: {sphere: 1}, position: [-2, 0, 0]}]}, position: [20, 9, 9]}\n";

static void test_manifest(void **state) {
    (void)state;
    rg_recording *recording = record("shapes.h5", &(run_options){.text = many_shapes, .steps = 3});
    rg_view *view = open_view(recording, &(rg_view_options){.chunk_frames = 3});
    rg_view_buffer json = rg_view_buffer_create(NULL);
    assert_int_equal(rg_view_manifest(view, &json, NULL), RG_OK);
    assert_true(is_json(&json));
    assert_false(contains(&json, "<"));
    const char *const wanted[] = {
        "{\"format\":\"rigor-view\",\"version\":1,\"kind\":\"recording\","
        "\"name\":\"a \\\"name\\\" \\\\ \\u003c/script>\",\"generator\":\"rigor 0.",
        "\"planar\":false,\"method\":\"stepping\",\"solver\":\"newton\",\"step\":0.01,"
        "\"gravity\":[0,0,-9.81],\"friction\":\"polygon:8\",\"tolerance\":1e-9,"
        "\"finished\":true",
        "\"frame_count\":4,\"chunk_frames\":3,\"has_certificate\":true,\"has_contacts\":true",
        "\"shapes\":[\n{\"kind\":\"halfspace\",\"normal\":[0,0,1],\"offset\":0.5},\n"
        "{\"kind\":\"box\",\"size\":[1,2,3]},\n"
        "{\"kind\":\"ellipsoid\",\"size\":[1,2,3]},\n"
        "{\"kind\":\"capsule\",\"radius\":0.5,\"length\":2},\n"
        "{\"kind\":\"hull\",\"points\":[",
        "{\"kind\":\"sphere\",\"radius\":1},\n{\"kind\":\"compound\",\"parts\":["
        "{\"shape\":5,\"pose\":[2,0,0,0,0,0,1]},{\"shape\":5,\"pose\":[-2,0,0,0,0,0,1]}]}],"
        "\"bodies\":[",
        "{\"name\":\"\",\"motion\":\"fixed\",\"mass\":null,\"centre\":[0,0,0],\"inertia\":null,"
        "\"axes\":[0,0,0,1],\"colliders\":[{\"shape\":0,\"pose\":[0,0,0,0,0,0,1],"
        "\"friction\":0.02,\"restitution\":0.25,\"material\":\"ice\",\"sensor\":false}]}",
        /* 6000 kg: 500 (4 + 9), 500 (1 + 9), 500 (1 + 4) */
        "{\"name\":\"\",\"motion\":\"dynamic\",\"mass\":6000,\"centre\":[0,0,0],"
        "\"inertia\":[6500,5000,2500],\"axes\":[0,0,0,1],\"colliders\":[{\"shape\":1,",
        "{\"name\":\"pair\",\"motion\":\"dynamic\",\"mass\":"};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (!contains(&json, wanted[i]))
            fail_msg("no %s in %.*s", wanted[i], (int)json.size, (const char *)json.bytes);
    assert_false(contains(&json, "{\"shape\":7,")); /* equal boxes are one shape */
    rg_view_buffer_destroy(&json);
    rg_view_close(view);
    rg_recording_close(recording);
}

static void test_flat_manifest(void **state) {
    (void)state;
    rg_recording *recording = record("flat.h5", &(run_options){.text = flat, .steps = 3});
    rg_view *view = open_view(recording, NULL);
    rg_view_buffer json = rg_view_buffer_create(NULL);
    assert_int_equal(rg_view_manifest(view, &json, NULL), RG_OK);
    assert_true(is_json(&json));
    assert_true(contains(&json, "\"planar\":true"));
    assert_true(contains(&json, "{\"kind\":\"disc\",\"radius\":0.5}"));
    assert_true(contains(&json, "{\"kind\":\"polygon\",\"points\":[0,0,0,2,0,0,0,0,1]}"));
    rg_view_buffer_destroy(&json);
    rg_view_close(view);
    rg_recording_close(recording);
}

/* A pendulum's bob that a spring pulls aside: at every frame the loads of both are those that were
 * recorded, the joint's on both of its bodies; live, those of the world. */
static const char pulled[] =
    "rigor: 1\n"
    "method: {name: stepping, step: 0.01}\n"
    "bodies:\n"
    "  - {name: arm, shape: {box: [0.1, 0.1, 1]}, position: [0, 0, -0.5], gravity_scale: 0.5}\n"
    "  - {name: bob, shape: {sphere: 0.2}, position: [0, 0, -1.2]}\n"
    "joints:\n"
    "  - {kind: hinge, bodies: [world, arm], point: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  - {kind: ball, bodies: [arm, bob], point: [0, 0, -1]}\n"
    "forces:\n"
    "  - {kind: drag, linear: 1, body: bob}\n"
    "  - {kind: spring, body: bob, point: [0, 0, 0.1], other_point: [2, 0, -1], stiffness: 900}\n";

enum { PULLED_LOADS = 1 + 3 }; /* the spring, a joint on one body and one on two */

static void check_pulled(const view_chunk *chunk, size_t f, size_t first, rg_recording *recording,
                         size_t index) {
    const rg_recorded_load *loads;
    const rg_recorded_joint *joints;
    size_t count, joint_count, drags = chunk->load_count[f] - PULLED_LOADS;
    assert_int_equal(rg_recording_read_loads(recording, index, &loads, &count, NULL), RG_OK);
    assert_int_equal(count, drags + 1);
    assert_int_equal(drags, index > 0); /* at first it does not move */
    for (size_t k = 0; k < count; k++) {
        assert_int_equal(chunk->load_kind[first + k], loads[k].kind);
        assert_int_equal(chunk->load_number[first + k], loads[k].force);
        assert_int_equal(chunk->load_body[first + k], 1);
        for (size_t i = 0; i < 3; i++) {
            assert_true(chunk->load_point[3 * (first + k) + i] == (float)(&loads[k].point.x)[i]);
            assert_true(chunk->load_force[3 * (first + k) + i] ==
                        (float)(&loads[k].force_vector.x)[i]);
        }
    }
    static const uint32_t body[] = {0, 1, 0}, number[] = {0, 1, 1};
    static const float sign[] = {1, 1, -1};
    assert_int_equal(rg_recording_read_joints(recording, index, &joints, &joint_count, NULL),
                     RG_OK);
    for (size_t k = 0; k < 3; k++) {
        size_t at = first + count + k;
        assert_int_equal(chunk->load_kind[at], 7);
        assert_int_equal(chunk->load_number[at], number[k]);
        assert_int_equal(chunk->load_body[at], body[k]);
        for (size_t i = 0; i < 3; i++)
            assert_true(chunk->load_force[3 * at + i] ==
                        sign[k] * (float)(&joints[number[k]].force.x)[i]);
    }
}

static void test_loads(void **state) {
    (void)state;
    enum { FRAMES = 11 };
    rg_recording *recording =
        record("pulled.h5", &(run_options){.text = pulled, .steps = FRAMES - 1});
    rg_view *view = open_view(recording, &(rg_view_options){.chunk_frames = 4});
    rg_view_buffer buffer = rg_view_buffer_create(NULL);
    size_t shown = 0;
    for (size_t n = 0; n < rg_view_chunk_count(view); n++) {
        assert_int_equal(rg_view_chunk(view, n, &buffer, NULL), RG_OK);
        view_chunk chunk = view_read(&buffer);
        size_t first = 0;
        for (size_t f = 0; f < chunk.frames; f++, shown++) {
            check_pulled(&chunk, f, first, recording, shown);
            first += chunk.load_count[f];
        }
        view_free(&chunk);
    }
    assert_int_equal(shown, FRAMES);
    assert_int_equal(rg_view_manifest(view, &buffer, NULL), RG_OK);
    assert_true(is_json(&buffer));
    assert_true(contains(&buffer,
                         "\"springs\":[\n{\"force\":1,\"a\":1,\"b\":-1,\"point_a\":[0,0,0.1],"
                         "\"point_b\":[2,0,-1],\"rest_length\":0}]}"));
    assert_true(contains(&buffer, "\"gravity_scale\":0.5,"));
    assert_true(contains(&buffer, "\"has_loads\":true"));
    rg_view_buffer_destroy(&buffer);
    rg_view_close(view);
    rg_recording_close(recording);
}

static void test_live_loads(void **state) {
    (void)state;
    rg_scene *scene = scene_of_text(pulled);
    rg_world *world = rg_scene_world(scene);
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_view_buffer buffer = rg_view_buffer_create(&allocator);
    assert_int_equal(rg_world_step(world, 0.01, NULL, NULL), RG_OK);
    assert_int_equal(rg_view_world_frame(world, 0, NULL, NULL, &buffer, NULL), RG_OK);
    size_t calls = counter.resizes;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(rg_world_step(world, 0.01, NULL, NULL), RG_OK);
        assert_int_equal(rg_view_world_frame(world, 1, NULL, NULL, &buffer, NULL), RG_OK);
    }
    assert_int_equal(counter.resizes, calls);
    view_chunk chunk = view_read(&buffer);
    const rg_load *loads;
    size_t count;
    assert_int_equal(rg_world_find_loads(world, &loads, &count), RG_OK);
    assert_int_equal(chunk.load_count[0], count + 3);
    for (size_t k = 0; k < count; k++)
        assert_true(chunk.load_force[3 * k] == (float)loads[k].vector.x);
    view_free(&chunk);
    rg_view_buffer_destroy(&buffer);
    rg_scene_destroy(scene);
}

/* A bar on the world, and a weight on the bar by a slider with limits. */
static void test_joint_manifest(void **state) {
    (void)state;
    static const char text[] =
        "rigor: 1\n"
        "method: {name: stepping, step: 0.01}\n"
        "bodies:\n"
        "  - {name: bar, shape: {box: [1, 1, 2]}, position: [0, 0, -1]}\n"
        "  - {name: weight, shape: {sphere: 0.5}, position: [0, 0, -3]}\n"
        "joints:\n"
        "  - {kind: hinge, name: pin, bodies: [world, bar], point: [0, 0, 0], axis: [0, 1, 0]}\n"
        "  - {kind: slider, bodies: [bar, weight], point: [0, 0, -2], axis: [0, 0, 1],\n"
        "     axes: {lower: -0.5, upper: 0.25}}\n";
    rg_recording *recording = record("joints.h5", &(run_options){.text = text, .steps = 1});
    rg_view *view = open_view(recording, NULL);
    rg_view_buffer json = rg_view_buffer_create(NULL);
    assert_int_equal(rg_view_manifest(view, &json, NULL), RG_OK);
    assert_true(is_json(&json));
    const char *const wanted[] = {
        "\"joints\":[\n{\"name\":\"pin\",\"kind\":\"hinge\",\"a\":-1,\"b\":0,\"frame_a\":[0,0,0,",
        "\"axes\":[{\"angle\":true,\"lower\":null,\"upper\":null}]},\n",
        "{\"name\":\"\",\"kind\":\"slider\",\"a\":0,\"b\":1,\"frame_a\":[0,0,-1,",
        "\"axes\":[{\"angle\":false,\"lower\":-0.5,\"upper\":0.25}]}]}"};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (!contains(&json, wanted[i]))
            fail_msg("no %s in %.*s", wanted[i], (int)json.size, (const char *)json.bytes);
    rg_view_buffer_destroy(&json);
    rg_view_close(view);
    rg_recording_close(recording);
}

/* ---- running worlds ---- */

static void test_running_world(void **state) {
    (void)state;
    rg_scene *scene = scene_of_text(on_a_floor);
    rg_world *world = rg_scene_world(scene);
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_view_buffer buffer = rg_view_buffer_create(&allocator);
    assert_int_equal(rg_view_world_frame(world, 0, NULL, NULL, &buffer, NULL), RG_OK);
    view_chunk chunk = view_read(&buffer);
    assert_int_equal(chunk.contacts, 0);
    for (int i = 0; i < VIEW_FIGURES; i++)
        assert_int_equal(!isnan(chunk.figure[i]), i < 2);
    view_free(&chunk);
    rg_step_info info;
    for (uint32_t n = 1; n < 60; n++) {
        assert_int_equal(rg_world_step(world, 0.01, &info, NULL), RG_OK);
        rg_step_info sums = rg_world_summary(world);
        assert_int_equal(rg_view_world_frame(world, n, &sums, &info, &buffer, NULL), RG_OK);
        if (n == 30)
            counter.resizes = 0;
        chunk = view_read(&buffer);
        size_t count;
        const rg_contact_force *forces = rg_world_contact_forces(world, &count);
        assert_int_equal(chunk.flags, 28);
        assert_int_equal(chunk.first, n);
        assert_int_equal(chunk.frames, 1);
        assert_int_equal(chunk.contacts, count);
        assert_true(chunk.time[0] == rg_world_time(world) && chunk.step[0] == n);
        for (size_t b = 0; b < chunk.bodies; b++) {
            rg_body_id body = rg_world_body_at(world, b);
            rg_pose pose = rg_body_pose(world, body);
            rg_vec3 velocity = rg_body_velocity(world, body);
            for (size_t c = 0; c < 3; c++) {
                assert_true(same(chunk.position[3 * b + c], (&pose.position.x)[c]));
                assert_true(same(chunk.velocity[3 * b + c], (&velocity.x)[c]));
            }
        }
        for (size_t k = 0; k < count; k++) {
            assert_int_equal(chunk.a[k], rg_body_index(world, forces[k].body_a));
            assert_int_equal(chunk.mode[k], forces[k].mode);
            assert_true(same(chunk.force[3 * k + 2], forces[k].force.z));
        }
        check_figures(chunk.figure, &info, &sums, rg_world_energy(world));
        view_free(&chunk);
    }
    assert_int_equal(counter.resizes, 0); /* a steady stream */
    /* A body that goes away takes its contacts with it. */
    rg_body_id sledge;
    assert_int_equal(rg_world_find_body(world, "sledge", &sledge), RG_OK);
    assert_int_equal(rg_world_remove_body(world, sledge), RG_OK);
    assert_int_equal(rg_view_world_frame(world, 60, NULL, NULL, &buffer, NULL), RG_OK);
    chunk = view_read(&buffer);
    assert_int_equal(chunk.bodies, 2);
    for (size_t k = 0; k < chunk.contacts; k++)
        assert_true(chunk.a[k] < 2 && chunk.b[k] < 2);
    view_free(&chunk);
    rg_view_buffer_destroy(&buffer);
    rg_scene_destroy(scene);
}

/* Names are any bytes. */
static void test_names(void **state) {
    (void)state;
    rg_scene *scene = scene_of_text(two_bodies);
    rg_world *world = rg_scene_world(scene);
    static const char *const names[] = {
        "\xff\xfe",  "caf\xc3\xa9", "\xc3", "\x01\x7f", "\xed\xa0\x80 \xf4\x90\x80\x80",
        "<!--\n\t\""};
    static const char *const written[] = {"\"\xef\xbf\xbd\xef\xbf\xbd\"",
                                          "\"caf\xc3\xa9\"",
                                          "\"\xef\xbf\xbd\"",
                                          "\"\\u0001\\u007f\"",
                                          " ",
                                          "\"\\u003c!--\\u000a\\u0009\\\"\""};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        rg_body_def def = rg_body_def_default();
        rg_error error = {0};
        rg_body_id body;
        def.name = names[i];
        def.motion = RG_MOTION_FIXED;
        if (rg_world_add_body(world, &def, &body, &error) != RG_OK)
            fail_msg("%s", error.text);
    }
    rg_view_buffer json = rg_view_buffer_create(NULL);
    assert_int_equal(rg_view_world_manifest(scene, &json, NULL), RG_OK);
    assert_true(is_json(&json));
    assert_true(contains(&json, "\"kind\":\"live\""));
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++)
        if (!contains(&json, written[i]))
            fail_msg("name %zu in %.*s", i, (int)json.size, (const char *)json.bytes);
    rg_view_buffer_destroy(&json);
    rg_scene_destroy(scene);
}

/* ---- no memory ---- */

static void test_no_memory(void **state) {
    (void)state;
    rg_recording *recording = record("memory.h5", &(run_options){.text = on_a_floor, .steps = 20});
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_status status = RG_OUT_OF_MEMORY;
    size_t n = 1;
    for (; status != RG_OK; n++) {
        counter = (counting_allocator){.fail_after = n};
        rg_view_buffer buffer = rg_view_buffer_create(&allocator);
        rg_view *view;
        rg_view_options options = {.allocator = &allocator, .chunk_frames = 9};
        status = rg_view_open(recording, &options, &view, NULL);
        if (status == RG_OK)
            status = rg_view_manifest(view, &buffer, NULL);
        if (status == RG_OK)
            status = rg_view_chunk(view, 1, &buffer, NULL);
        if (status == RG_OK)
            status = rg_view_overview(view, &buffer, NULL);
        if (status == RG_OK)
            status = rg_view_times(view, &buffer, NULL);
        assert_true(status == RG_OK || status == RG_OUT_OF_MEMORY);
        rg_view_close(view);
        rg_view_buffer_destroy(&buffer);
        assert_true(n < 100000);
    }
    assert_true(n > 20);
    rg_recording_close(recording);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_number),
        cmocka_unit_test(test_going_on),
        cmocka_unit_test(test_older_and_poorer),
        cmocka_unit_test(test_kinetic_energy),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_overview_of_a_long_run),
        cmocka_unit_test(test_order_of_questions),
        cmocka_unit_test(test_rounded_contacts),
        cmocka_unit_test(test_manifest),
        cmocka_unit_test(test_flat_manifest),
        cmocka_unit_test(test_joint_manifest),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_live_loads),
        cmocka_unit_test(test_running_world),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, make_test_directory, remove_test_directory);
}
