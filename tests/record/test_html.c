/* Pages: where the data goes in a page, titles, what is refused. What the data is, is checked by
 * test_view.c and, with the viewer's own page, by test_record_export.py. */
#include "record_support.h"

#include "rigor/view.h"

static const char page[] = "<html><head><title>rigor</title></head><body>\n"
                           "<!--rigor-data-->\n<script>go(\"<\\!--rigor-data-->\")</script></body>";

static rg_recording *record_named(const char *file, const char *name) {
    char path[256], text[1024];
    in_directory(file, path);
    snprintf(text, sizeof text, "rigor: 1\nname: \"%s\"\n%s", name, strchr(two_bodies, '\n') + 1);
    rg_scene *scene = scene_of_text(text);
    rg_recorder_options options = {.overwrite = true};
    rg_recorder *recorder;
    assert_int_equal(rg_recorder_open(scene, path, &options, &recorder, NULL), RG_OK);
    for (int i = 0; i < 12; i++) {
        step_recorded(scene, recorder);
        assert_int_equal(rg_recorder_frame(recorder, NULL, NULL), RG_OK);
    }
    assert_int_equal(rg_recorder_close(recorder, true, NULL), RG_OK);
    rg_scene_destroy(scene);
    rg_recording *recording;
    assert_int_equal(rg_recording_open(path, &recording, NULL), RG_OK);
    return recording;
}

static char *export_with(rg_recording *const *recordings, const char *const *names, size_t count,
                         const rg_html_options *options) {
    char path[256];
    rg_error error = {0};
    in_directory("page.html", path);
    if (rg_view_export_html(recordings, names, count, options, path, &error) != RG_OK)
        fail_msg("%s", error.text);
    return read_bytes(path).data;
}

static size_t count_of(const char *text, const char *word) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        count++;
    return count;
}

static void test_place_and_title(void **state) {
    (void)state;
    rg_recording *recordings[] = {record_named("a.h5", "one & <two>"), record_named("b.h5", "b")};
    rg_html_options options = {.page = page, .page_size = sizeof page - 1};
    char *text = export_with(recordings, NULL, 1, &options);
    static const char top[] = "<html><head><title>one &amp; &lt;two> · rigor</title></head><body>\n"
                              "<script type=\"application/json\" id=\"rigor-boot\">"
                              "{\"mode\":\"embedded\",\"runs\":[{\"id\":\"0\","
                              "\"name\":\"one & \\u003ctwo>\"}]}</script>\n";
    assert_memory_equal(text, top, sizeof top - 1);
    assert_int_equal(count_of(text, "<!--rigor-data-->"), 0);
    assert_int_equal(count_of(text, "<script"), 1 + 3 + 1);
    assert_int_equal(count_of(text, "</script"), 1 + 3 + 1);
    assert_non_null(
        strstr(text, "</script>\n\n<script>go(\"<\\!--rigor-data-->\")</script></body>"));
    assert_true(strcmp(text + strlen(text) - 7, "</body>") == 0);
    free(text);
    const char *const names[] = {"left", NULL};
    options.title = "a & b";
    text = export_with(recordings, names, 2, &options);
    assert_non_null(strstr(text, "<title>a &amp; b</title>"));
    assert_non_null(
        strstr(text, "[{\"id\":\"0\",\"name\":\"left\"},{\"id\":\"1\",\"name\":\"b\"}]"));
    assert_non_null(strstr(text, "id=\"rigor-manifest-1\""));
    assert_non_null(strstr(text, "id=\"rigor-chunk-1-0\""));
    free(text);
    /* The last mark counts, and a page need not have a title. */
    static const char bare[] = "<!--rigor-data--> then <!--rigor-data-->.";
    rg_html_options other = {.page = bare, .page_size = sizeof bare - 1};
    text = export_with(recordings, NULL, 1, &other);
    assert_memory_equal(text, "<!--rigor-data--> then <script", 30);
    assert_true(text[strlen(text) - 1] == '.');
    free(text);
    rg_recording_close(recordings[0]);
    rg_recording_close(recordings[1]);
}

static void test_frames_a_second(void **state) {
    (void)state;
    rg_recording *recording = record_named("c.h5", "c"); /* 100 frames a second, 13 of them */
    const struct {
        double rate;
        const char *frames;
    } cases[] = {
        {0, "\"frame_count\":5,"}, /* every third */
        {100, "\"frame_count\":13,"}, {1e9, "\"frame_count\":13,"},
        {50, "\"frame_count\":7,"},   {1, "\"frame_count\":2,"}, /* the first and the last */
        {1e-9, "\"frame_count\":2,"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rg_html_options options = {
            .page = page, .page_size = sizeof page - 1, .frames_per_second = cases[i].rate};
        char *text = export_with(&recording, NULL, 1, &options);
        if (!strstr(text, cases[i].frames))
            fail_msg("%g frames a second: no %s", cases[i].rate, cases[i].frames);
        free(text);
    }
    rg_html_options options = {
        .page = page, .page_size = sizeof page - 1, .leave_out_contacts = true};
    char *text = export_with(&recording, NULL, 1, &options);
    assert_non_null(strstr(text, "\"has_contacts\":false"));
    free(text);
    rg_recording_close(recording);
}

static void test_refused(void **state) {
    (void)state;
    char path[256], target[300];
    rg_recording *recordings[] = {record_named("d.h5", "d"), record_named("e.h5", "e")};
    rg_html_options options = {.page = "<html>", .page_size = 6};
    rg_error error = {0};
    in_directory("f.html", path);
    assert_int_equal(rg_view_export_html(recordings, NULL, 1, &options, path, &error),
                     RG_INVALID_ARGUMENT);
    options = (rg_html_options){.page = page, .page_size = sizeof page - 1};
    const char *const names[] = {"d.h5", "e.h5", "e.h5.journal"};
    for (int i = 0; i < 3; i++) {
        in_directory(names[i], target);
        assert_int_equal(rg_view_export_html(recordings, NULL, 2, &options, target, &error),
                         RG_WRITE_FAILED);
    }
    assert_int_equal(rg_view_export_html(recordings, NULL, 2, &options, test_directory, &error),
                     RG_WRITE_FAILED);
    assert_int_equal(rg_view_export_gltf(recordings[0], NULL, test_directory, &error),
                     RG_WRITE_FAILED);
    in_directory("nowhere/f.html", path);
    assert_int_equal(rg_view_export_html(recordings, NULL, 2, &options, path, &error),
                     RG_WRITE_FAILED);
    for (int i = 0; i < 2; i++)
        rg_recording_close(recordings[i]);
}

/* A failure leaves what was there, and nothing beside it. */
static void test_damaged_recording(void **state) {
    (void)state;
    char path[256], damaged[256];
    rg_recording_close(record_named("g.h5", "g"));
    in_directory("g.h5", path);
    bytes content = read_bytes(path);
    in_directory("h.h5", damaged);
    in_directory("h.html", path);
    rg_html_options options = {.page = page, .page_size = sizeof page - 1};
    for (size_t i = 0; i < 40; i++) {
        size_t at = content.size * i / 40;
        content.data[at] ^= 0x10;
        write_bytes(damaged, content.data, content.size);
        content.data[at] ^= 0x10;
        write_bytes(path, "before", 6);
        rg_recording *recording;
        rg_error error = {0};
        if (rg_recording_open(damaged, &recording, &error) != RG_OK)
            continue;
        rg_status status = rg_view_export_html(&recording, NULL, 1, &options, path, &error);
        rg_recording_close(recording);
        bytes page_now = read_bytes(path);
        if (status != RG_OK) { /* what was not read when it was opened */
            assert_int_equal(status, RG_FILE_DAMAGED);
            assert_int_equal(page_now.size, 6);
        }
        free(page_now.data);
        char left[300];
        snprintf(left, sizeof left, "%s.new", path);
        assert_int_not_equal(access(left, F_OK), 0);
    }
    free(content.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place_and_title),
        cmocka_unit_test(test_frames_a_second),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_damaged_recording),
    };
    return cmocka_run_group_tests(tests, make_test_directory, remove_test_directory);
}
