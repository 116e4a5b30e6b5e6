/* Recordings as one page that opens from disk, without a network: the viewer's page with manifests,
 * overviews and chunks inside (docs/view-format.md, "In a page"); or a scene that runs in the page,
 * with the library as a WebAssembly module inside.
 *
 * What would not be seen is left out, so that pages stay small enough to send around: frames beyond
 * 30 a second, contacts without force, and of the numbers of contacts all but 16 bits (nearly five
 * digits; poses and velocities keep their 32 bits). Nothing in the data can end its script element:
 * JSON has "<" escaped, and base64 has none.
 *
 * How it fails: as reading the recordings and writing the file do; a page without a place for data
 * is an invalid argument. */
#include "record/record_view.h"

#include "base/base_text.h"
#include "record/record_outlet.h"

#include <assert.h>
#include <string.h>

static const char data_mark[] = "<!--rigor-data-->";

enum { HTML_CONTACT_BITS = 16, HTML_CHUNK_FRAMES = 128 };
static const double default_rate = 30; /* frames a second */

typedef struct html_writer {
    rg_outlet out;
    rg_buffer text;
    rg_view_buffer data;
    const rg_html_options *options;
    rg_error *error;
} html_writer;

static void put(html_writer *w, const char *text) {
    rg_buffer_append(&w->text, text, strlen(text));
}

/* Four characters for three bytes. */
static void put_base64(html_writer *w, const unsigned char *data, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i < 3 ? size - i : 3;
        unsigned bits = (unsigned)data[i] << 16 | (left > 1 ? (unsigned)data[i + 1] << 8 : 0) |
                        (left > 2 ? data[i + 2] : 0);
        char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63], digits[bits >> 6 & 63],
                        digits[bits & 63]};
        memset(four + 1 + left, '=', 3 - left);
        rg_buffer_append(&w->text, four, 4);
    }
}

static void put_html(html_writer *w, const char *text) {
    for (const char *c = text; *c; c++)
        if (*c == '<')
            put(w, "&lt;");
        else if (*c == '&')
            put(w, "&amp;");
        else
            rg_buffer_append(&w->text, c, 1);
}

/* ---- the data ---- */

/* The data as an element; the text goes out. */
static rg_status put_data(html_writer *w, const char *kind, size_t run, const size_t *number) {
    rg_buffer_print(&w->text, "<script type=\"application/octet-stream\" id=\"rigor-%s-%zu", kind,
                    run);
    if (number)
        rg_buffer_print(&w->text, "-%zu", *number);
    put(w, "\">");
    put_base64(w, w->data.bytes, w->data.size);
    put(w, "</script>\n");
    return rg_outlet_flush(&w->out, &w->text, w->error);
}

static rg_status put_view(html_writer *w, rg_view *view, size_t run) {
    rg_status status = rg_view_manifest(view, &w->data, w->error);
    if (status != RG_OK)
        return status;
    rg_buffer_print(&w->text, "<script type=\"application/json\" id=\"rigor-manifest-%zu\">", run);
    rg_buffer_append(&w->text, w->data.bytes, w->data.size);
    put(w, "</script>\n");
    status = rg_view_overview(view, &w->data, w->error);
    if (status == RG_OK)
        status = put_data(w, "overview", run, NULL);
    for (size_t i = 0; status == RG_OK && i < rg_view_chunk_count(view); i++) {
        status = rg_view_chunk(view, i, &w->data, w->error);
        if (status == RG_OK)
            status = put_data(w, "chunk", run, &i);
    }
    return status;
}

static rg_status put_run(html_writer *w, rg_recording *recording, size_t run) {
    rg_view *view;
    double rate = w->options->frames_per_second;
    size_t bodies = rg_recording_get_info(recording).body_count;
    rg_view_options options = {.every = rg_view_every(recording, rate > 0 ? rate : default_rate),
                               .chunk_frames = bodies <= HTML_CHUNK_FRAMES ? HTML_CHUNK_FRAMES : 0,
                               .contact_bits = HTML_CONTACT_BITS,
                               .leave_out_contacts = w->options->leave_out_contacts,
                               .leave_out_idle_contacts = true,
                               .compression = 9,
                               .allocator = rg_recording_allocator(recording)};
    rg_status status = rg_view_open(recording, &options, &view, w->error);
    if (status == RG_OK)
        status = put_view(w, view, run);
    rg_view_close(view);
    return status;
}

static const char *name_of(rg_recording *recording, const char *const *names, size_t i) {
    return names && names[i] ? names[i] : rg_recording_get_info(recording).scene_name;
}

static void begin_boot(html_writer *w, const char *mode) {
    rg_buffer_print(&w->text,
                    "<script type=\"application/json\" id=\"rigor-boot\">{\"mode\":\"%s\",", mode);
}

static void put_boot(html_writer *w, rg_recording *const *recordings, const char *const *names,
                     size_t count) {
    begin_boot(w, "embedded");
    put(w, "\"runs\":[");
    for (size_t i = 0; i < count; i++) {
        rg_buffer_print(&w->text, "%s{\"id\":\"%zu\",\"name\":", i ? "," : "", i);
        rg_json_put_text(&w->text, name_of(recordings[i], names, i));
        put(w, "}");
    }
    put(w, "]}</script>\n");
}

/* ---- the page around it ---- */

/* Where a text is in the page; null: it is not there. */
static const char *find(const rg_html_options *options, const char *text, bool last) {
    size_t size = strlen(text);
    const char *found = NULL;
    for (size_t i = 0; i + size <= options->page_size && (last || !found); i++)
        if (memcmp(options->page + i, text, size) == 0)
            found = options->page + i;
    return found;
}

/* The page up to the mark, with a title of its own. */
static void put_top(html_writer *w, const char *mark, const char *name) {
    const rg_html_options *options = w->options;
    const char *title = find(options, "<title>", false), *end = find(options, "</title>", false);
    const char *from = options->page;
    if (title && end && title < end && end < mark) {
        title += strlen("<title>");
        rg_buffer_append(&w->text, from, (size_t)(title - from));
        if (!options->title)
            put_html(w, name);
        put_html(w, options->title ? options->title : " · rigor");
        from = end;
    }
    rg_buffer_append(&w->text, from, (size_t)(mark - from));
}

static rg_status put_bottom(html_writer *w, const char *mark) {
    mark += strlen(data_mark);
    rg_buffer_append(&w->text, mark, (size_t)(w->options->page + w->options->page_size - mark));
    return rg_outlet_flush(&w->out, &w->text, w->error);
}

/* The names of all runs, for the title. */
static rg_status name_all(rg_buffer *title, rg_recording *const *recordings,
                          const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        rg_buffer_print(title, "%s%s", i ? ", " : "", name_of(recordings[i], names, i));
    rg_buffer_append(title, "", 1);
    return title->failed ? RG_OUT_OF_MEMORY : RG_OK;
}

static rg_status write_page(html_writer *w, rg_recording *const *recordings,
                            const char *const *names, size_t count, const char *mark) {
    rg_buffer title = rg_buffer_make(&w->out.allocator);
    rg_status status = name_all(&title, recordings, names, count);
    if (status == RG_OK) {
        put_top(w, mark, title.data);
        put_boot(w, recordings, names, count);
    }
    rg_buffer_free(&title);
    for (size_t i = 0; status == RG_OK && i < count; i++)
        status = put_run(w, recordings[i], i);
    return status == RG_OK ? put_bottom(w, mark) : status;
}

static rg_status find_mark(const rg_html_options *options, const char **mark, rg_error *error) {
    *mark = find(options, data_mark, true);
    return *mark ? RG_OK
                 : rg_fail(error, RG_INVALID_ARGUMENT, "the viewer's page has no %s", data_mark);
}

rg_status rg_view_export_html(rg_recording *const *recordings, const char *const *names,
                              size_t count, const rg_html_options *options, const char *path,
                              rg_error *error) {
    assert(recordings && count > 0 && options && options->page && path);
    const char *mark;
    html_writer w = {.options = options, .error = error};
    rg_status status = find_mark(options, &mark, error);
    if (status == RG_OK)
        status = rg_outlet_open(&w.out, recordings, count, NULL, path, error);
    if (status != RG_OK)
        return status;
    w.text = rg_buffer_make(&w.out.allocator);
    w.data = rg_view_buffer_create(&w.out.allocator);
    status = rg_outlet_close(&w.out, write_page(&w, recordings, names, count, mark), error);
    rg_buffer_free(&w.text);
    rg_view_buffer_destroy(&w.data);
    return status;
}

/* ---- a scene that runs in the page ---- */

static rg_status write_live(html_writer *w, const rg_live_page *live, const char *mark) {
    put_top(w, mark, live->name);
    begin_boot(w, "play");
    put(w, "\"runs\":[{\"id\":\"play\",\"name\":");
    rg_json_put_text(&w->text, live->name);
    put(w, "}]}</script>\n<script type=\"application/json\" id=\"rigor-scene\">{\"name\":");
    rg_json_put_text(&w->text, live->name);
    put(w, ",\"text\":");
    rg_json_put_text(&w->text, live->text);
    put(w, "}</script>\n<script type=\"application/octet-stream\" id=\"rigor-module\">");
    put_base64(w, live->module, live->module_size);
    put(w, "</script>\n");
    return put_bottom(w, mark);
}

rg_status rg_view_export_live(const rg_live_page *live, const rg_html_options *options,
                              const char *path, rg_error *error) {
    assert(live && live->name && live->text && live->module && options && options->page && path);
    const char *mark;
    html_writer w = {.options = options, .error = error};
    rg_status status = find_mark(options, &mark, error);
    if (status == RG_OK)
        status = rg_outlet_open(&w.out, NULL, 0, NULL, path, error);
    if (status != RG_OK)
        return status;
    w.text = rg_buffer_make(&w.out.allocator);
    status = rg_outlet_close(&w.out, write_live(&w, live, mark), error);
    rg_buffer_free(&w.text);
    return status;
}
