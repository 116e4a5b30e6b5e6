/* What the tests of recordings share: a directory of their own, small scenes, a disk that fails at
 * will, and the comparison of a recording with what really happened. */
#ifndef RIGOR_RECORD_SUPPORT_H
#define RIGOR_RECORD_SUPPORT_H

#include "test_support.h"

#include "record/record_recorder.h"
#include "record/record_recording.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory in memory if there is one (the tests sync thousands of times), otherwise below the
 * current one. */
static char test_directory[64];

static inline int make_test_directory(void **state) {
    (void)state;
    snprintf(test_directory, sizeof test_directory, "/dev/shm/rigor-record-XXXXXX");
    if (!mkdtemp(test_directory)) {
        snprintf(test_directory, sizeof test_directory, "rigor-record-XXXXXX");
        if (!mkdtemp(test_directory))
            return -1;
    }
    return 0;
}

static inline size_t empty_test_directory(void) {
    size_t count = 0;
    DIR *directory = opendir(test_directory);
    if (!directory)
        return 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        char path[512];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", test_directory, entry->d_name);
        (void)remove(path);
        count++;
    }
    closedir(directory);
    return count;
}

static inline int remove_test_directory(void **state) {
    (void)state;
    empty_test_directory();
    return rmdir(test_directory);
}

/* How many files there are. */
static inline size_t count_files(void) {
    size_t count = 0;
    DIR *directory = opendir(test_directory);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static inline const char *in_directory(const char *name, char path[256]) {
    snprintf(path, 256, "%s/%s", test_directory, name);
    return path;
}

/* ---- files as bytes ---- */

typedef struct bytes {
    char *data;
    size_t size;
} bytes;

static inline bytes read_bytes(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    bytes content = {NULL, 0};
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    content.size = (size_t)ftell(file);
    rewind(file);
    content.data = malloc(content.size + 1);
    assert_non_null(content.data);
    assert_int_equal(fread(content.data, 1, content.size, file), content.size);
    content.data[content.size] = '\0';
    fclose(file);
    return content;
}

static inline void write_bytes(const char *path, const char *data, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* ---- scenes ---- */

static const char two_bodies[] =
    "rigor: 1\n"
    "method: {name: stepping, step: 0.01}\n"
    "duration: 0.12\n"
    "record: {every: 0.01}\n"
    "bodies:\n"
    "  - {name: top, shape: {box: [1, 2, 3]}, position: [1, 2, 3], angular_velocity: [1, 2, 0.1]}\n"
    "  - {name: ball, shape: {sphere: 0.5}, position: [9, 0, 3], velocity: [1, 2, 5]}\n";

/* The same with a floor: one body slides on it, another one falls onto it. */
static const char on_a_floor[] =
    "rigor: 1\n"
    "method: {name: stepping, step: 0.01}\n"
    "duration: 0.12\n"
    "record: {every: 0.01}\n"
    "bodies:\n"
    "  - {name: sledge, shape: {box: [1, 2, 0.5]}, position: [0, 0, 0.25], velocity: [2, 0.5, 0]}\n"
    "  - {name: ball, shape: {sphere: 0.5}, position: [5, 0, 0.53], velocity: [1, 2, -1]}\n"
    "  - {name: floor, motion: fixed, shape: {box: [40, 40, 1]}, position: [0, 0, -0.5]}\n";

static inline rg_scene *scene_of_text(const char *text) {
    rg_scene *scene;
    rg_error error = {0};
    if (rg_scene_read_text(text, strlen(text), "test", NULL, NULL, &scene, &error) != RG_OK)
        fail_msg("%s", error.text);
    return scene;
}

static inline void step_scene(rg_scene *scene) {
    rg_error error = {0};
    if (rg_world_step(rg_scene_world(scene), 0.01, NULL, &error) != RG_OK)
        fail_msg("%s", error.text);
}

/* The same, and tells the recorder. */
static inline void step_recorded(rg_scene *scene, rg_recorder *recorder) {
    rg_error error = {0};
    rg_step_info info;
    if (rg_world_step(rg_scene_world(scene), 0.01, &info, &error) != RG_OK)
        fail_msg("%s", error.text);
    rg_recorder_step(recorder, &info);
}

static inline rg_recording *open_recording(const char *path) {
    rg_recording *recording;
    rg_error error = {0};
    if (rg_recording_open(path, &recording, &error) != RG_OK)
        fail_msg("%s", error.text);
    return recording;
}

/* ---- what really happened: state hashes, positions of body 0 and so on, step by step ---- */

enum { TRUTH_STEPS = 64 };

typedef struct run_truth {
    uint64_t hash[TRUTH_STEPS];
    rg_vec3 first_position[TRUTH_STEPS];
    rg_step_info step[TRUTH_STEPS]; /* of the step up to there; steps 0: none */
    size_t contacts[TRUTH_STEPS];   /* how many, and the last one */
    rg_contact_force last_contact[TRUTH_STEPS];
} run_truth;

static inline void check_contact(const rg_recorded_contact *contact, const rg_contact_force *force,
                                 const rg_world *world) {
    if (world) {
        rg_body_id a = rg_world_body_at(world, contact->body_a);
        rg_body_id b = rg_world_body_at(world, contact->body_b);
        assert_int_equal(a.index1, force->body_a.index1);
        assert_int_equal(b.index1, force->body_b.index1);
    }
    assert_memory_equal(&contact->position, &force->position, sizeof force->position);
    assert_memory_equal(&contact->normal, &force->normal, sizeof force->normal);
    assert_memory_equal(&contact->force, &force->force, sizeof force->force);
    assert_memory_equal(&contact->gap, &force->gap, sizeof force->gap);
    assert_memory_equal(&contact->friction, &force->friction, sizeof force->friction);
    assert_memory_equal(&contact->slip_speed, &force->slip_speed, sizeof force->slip_speed);
    assert_int_equal(contact->mode, force->mode);
    assert_int_equal(contact->reserved, 0);
}

/* Everything but the processor's time, which is 0; -0 is 0. */
static inline void check_info(const rg_step_info *got, const rg_step_info *wanted) {
    rg_step_info expected = *wanted;
    expected.profile = (rg_step_profile){0, 0};
    for (size_t i = 0; i < rg_summary_field_count; i++) {
        const rg_summary_field *field = &rg_summary_fields[i];
        double numbers[2];
        memcpy(&numbers[0], (const char *)got + field->offset, 8);
        memcpy(&numbers[1], (const char *)&expected + field->offset, 8);
        if (field->is_count || numbers[0] != numbers[1])
            assert_memory_equal(&numbers[0], &numbers[1], 8);
    }
}

/* The contacts of a frame, and its certificate if the recorder was told of the step. */
static inline void check_judgement(rg_recording *recording, size_t index, const run_truth *truth) {
    rg_recording_info info = rg_recording_get_info(recording);
    const rg_recorded_contact *contacts;
    size_t count;
    rg_step_info step;
    rg_error error = {0};
    if (info.has_contacts) {
        if (rg_recording_read_contacts(recording, index, &contacts, &count, &error) != RG_OK)
            fail_msg("%s", error.text);
        assert_int_equal(count, truth->contacts[index]);
        if (count)
            check_contact(&contacts[count - 1], &truth->last_contact[index], NULL);
    }
    if (info.has_certificate) {
        if (rg_recording_read_certificate(recording, index, &step, &error) != RG_OK)
            fail_msg("%s", error.text);
        if (step.steps)
            check_info(&step, &truth->step[index]);
    }
}

static inline run_truth find_truth(const char *text) {
    static run_truth truth;
    truth = (run_truth){0};
    rg_scene *scene = scene_of_text(text);
    rg_world *world = rg_scene_world(scene);
    for (int i = 0; i < TRUTH_STEPS; i++) {
        truth.hash[i] = rg_world_state_hash(world);
        truth.first_position[i] = rg_body_pose(world, rg_world_body_at(world, 0)).position;
        const rg_contact_force *forces = rg_world_contact_forces(world, &truth.contacts[i]);
        if (truth.contacts[i])
            truth.last_contact[i] = forces[truth.contacts[i] - 1];
        rg_error error = {0};
        rg_step_info *next = i + 1 < TRUTH_STEPS ? &truth.step[i + 1] : NULL;
        if (rg_world_step(world, 0.01, next, &error) != RG_OK)
            fail_msg("%s", error.text);
    }
    rg_scene_destroy(scene);
    return truth;
}

/* Every frame of the recording is one of a run with a frame at every step. Returns their number. */
static inline size_t check_recording(const char *path, const run_truth *truth) {
    rg_recording *recording = open_recording(path);
    rg_error error = {0};
    rg_recording_info info = rg_recording_get_info(recording);
    rg_vec3 position[4];
    assert_true(info.body_count <= 4);
    for (size_t i = 0; i < info.frame_count; i++) {
        rg_frame frame = {.position = position};
        if (rg_recording_read(recording, i, &frame, &error) != RG_OK)
            fail_msg("%s", error.text);
        assert_int_equal(frame.step, i);
        assert_true(frame.state_hash == truth->hash[i]);
        assert_memory_equal(&position[0], &truth->first_position[i], sizeof position[0]);
        check_judgement(recording, i, truth);
    }
    rg_recording_close(recording);
    return info.frame_count;
}

/* ---- a disk that fails ---- */

typedef struct failing_disk {
    long operations, fail_at; /* counted from 0; -1: never */
    bool for_good;            /* all operations from then on: the process is dead */
    bool only_writes;         /* a full disk: files can still be removed and cut */
    int error;
    long failures;
} failing_disk;

static inline int fail_at_will(void *user, const char *operation, const char *path) {
    failing_disk *disk = user;
    (void)path;
    if (disk->only_writes && strcmp(operation, "write") != 0)
        return 0;
    long number = disk->operations++;
    bool fails =
        disk->fail_at >= 0 && (disk->for_good ? number >= disk->fail_at : number == disk->fail_at);
    disk->failures += fails;
    return fails ? disk->error : 0;
}

#endif
