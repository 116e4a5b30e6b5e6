/* Pictures and films of a recording: the viewer's page draws them, frame by frame, in a headless
 * Chromium (cli_browser.c), and ffmpeg joins them.
 *
 * Nothing runs against a clock: each picture is asked for by its time, so that a slow machine makes
 * the same film. A film is written beside its place and renamed when it is whole. */
#include "cli_export.h"

#include "rigor/view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where pictures go. */
typedef struct picture_sink {
    const cli_film *film;
    char *new_film; /* beside its place; null: no film */
    char chromium[CLI_PROGRAM_SIZE], ffmpeg[CLI_PROGRAM_SIZE];
    bool made_directory;
    pid_t encoder;
    int pipe;
} picture_sink;

/* ---- base64 ---- */

static int digit_of(char c) {
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The bytes of a data URL of a PNG picture, to be freed; null: it is none. */
static unsigned char *decode_picture(const char *text, size_t size, size_t *bytes) {
    static const char prefix[] = "data:image/png;base64,", magic[] = "\x89PNG\r\n\x1a\n";
    if (size < sizeof prefix || strncmp(text, prefix, sizeof prefix - 1) != 0)
        return NULL;
    text += sizeof prefix - 1;
    size -= sizeof prefix - 1;
    unsigned char *data = malloc(3 * (size / 4) + 3);
    unsigned bits = 0, held = 0;
    *bytes = 0;
    for (size_t i = 0; data && i < size && text[i] != '='; i++) {
        int digit = digit_of(text[i]);
        if (digit < 0) {
            free(data);
            return NULL;
        }
        bits = (bits << 6 | (unsigned)digit) & 0xFFFFFF;
        held += 6;
        if (held >= 8) {
            held -= 8;
            data[(*bytes)++] = (unsigned char)(bits >> held);
        }
    }
    if (data && (*bytes < 8 || memcmp(data, magic, 8) != 0)) {
        free(data);
        return NULL;
    }
    return data;
}

/* ---- the encoder ---- */

static void run_encoder(const char *program, const picture_sink *sink, int input) {
    char rate[32];
    snprintf(rate, sizeof rate, "%.9g", sink->film->rate);
    /* H.264 needs even sizes; this is what all players can show. */
    const char *arguments[] = {program,        "-hide_banner",
                               "-loglevel",    "error",
                               "-nostdin",     "-y",
                               "-f",           "image2pipe",
                               "-framerate",   rate,
                               "-c:v",         "png",
                               "-i",           "pipe:0",
                               "-vf",          "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                               "-c:v",         "libx264",
                               "-preset",      "medium",
                               "-crf",         "18",
                               "-pix_fmt",     "yuv420p",
                               "-movflags",    "+faststart",
                               "-f",           "mp4",
                               sink->new_film, NULL};
    setpgid(0, 0);
    int nothing = open("/dev/null", O_WRONLY);
    if (nothing < 0 || dup2(input, 0) < 0 || dup2(nothing, 1) < 0)
        _exit(126);
    execv(program, (char *const *)arguments);
    _exit(127);
}

static int start_encoder(picture_sink *sink) {
    const char *program = sink->ffmpeg;
    int ends[2];
    if (pipe(ends) < 0) {
        cli_complain("%s: cannot be started: %s", program, strerror(errno));
        return EXIT_FAILED;
    }
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    sink->encoder = fork();
    if (sink->encoder == 0)
        run_encoder(program, sink, ends[0]);
    close(ends[0]);
    sink->pipe = ends[1];
    if (sink->encoder > 0)
        return EXIT_GOOD;
    cli_complain("%s: cannot be started: %s", program, strerror(errno));
    return EXIT_FAILED;
}

/* Waits for the encoder, unless a signal says that all shall end: then it is killed. Once it has
 * been waited for, its number may be that of another process, and nothing is sent there any
 * more. */
static int wait_for_encoder(picture_sink *sink) {
    int status = -1;
    pid_t ended;
    while ((ended = waitpid(sink->encoder, &status, 0)) < 0 && errno == EINTR)
        if (cli_browser_signal())
            kill(sink->encoder, SIGKILL);
    sink->encoder = 0;
    return ended < 0 ? -1 : status;
}

/* Ends the encoder and asks it whether everything went well. */
static int end_encoder(picture_sink *sink, int code) {
    if (sink->pipe >= 0)
        close(sink->pipe);
    if (sink->encoder > 0) {
        if (code != EXIT_GOOD)
            kill(sink->encoder, SIGKILL); /* there will be no film */
        int status = wait_for_encoder(sink);
        if (code == EXIT_GOOD && !cli_browser_signal() &&
            !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
            cli_complain("%s: ffmpeg could not make the film", sink->film->film);
            code = EXIT_UNWRITABLE;
        }
    }
    return code;
}

/* The film takes its place if it is whole. */
static int finish_film(picture_sink *sink, int code) {
    if (sink->new_film && code == EXIT_GOOD && rename(sink->new_film, sink->film->film) != 0) {
        cli_complain("%s: cannot be written: %s", sink->film->film, strerror(errno));
        code = EXIT_UNWRITABLE;
    }
    if (sink->new_film && code != EXIT_GOOD)
        unlink(sink->new_film);
    free(sink->new_film);
    return code;
}

/* ---- pictures in a directory ---- */

static const char picture_prefix[] = "frame-";
enum { PATH_SIZE = 4096 }; /* more than any path that the system takes */

/* The path of a picture; false, with a complaint: it has no room. */
static bool name_picture(const char *directory, size_t number, char path[PATH_SIZE]) {
    int size = snprintf(path, PATH_SIZE, "%s/%s%05zu.png", directory, picture_prefix, number);
    if (size >= 0 && size < PATH_SIZE)
        return true;
    cli_complain("%s: the name of the directory is too long for pictures in it", directory);
    return false;
}

static int prepare_directory(picture_sink *sink) {
    const char *path = sink->film->directory;
    char longest[PATH_SIZE];
    if (!name_picture(path, SIZE_MAX, longest))
        return EXIT_UNWRITABLE;
    sink->made_directory = mkdir(path, 0777) == 0;
    if (!sink->made_directory && errno != EEXIST) {
        cli_complain("%s: cannot be created: %s", path, strerror(errno));
        return EXIT_UNWRITABLE;
    }
    DIR *directory = opendir(path);
    if (!directory) {
        cli_complain("%s: cannot be used as a directory: %s", path, strerror(errno));
        return EXIT_UNWRITABLE;
    }
    bool taken = false;
    for (struct dirent *entry; (entry = readdir(directory));) {
        bool picture = strncmp(entry->d_name, picture_prefix, strlen(picture_prefix)) == 0;
        if (picture && sink->film->overwrite && cli_ends_with(entry->d_name, ".png"))
            picture = unlinkat(dirfd(directory), entry->d_name, 0) != 0;
        taken = taken || picture;
    }
    closedir(directory);
    if (taken)
        cli_complain("export: %s has pictures already; add -f (--overwrite) to replace them, or "
                     "choose another directory",
                     path);
    return taken ? EXIT_UNWRITABLE : EXIT_GOOD;
}

static int write_picture(const char *directory, size_t number, const unsigned char *data,
                         size_t size) {
    char path[PATH_SIZE];
    if (!name_picture(directory, number, path))
        return EXIT_UNWRITABLE;
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(data, 1, size, file) == size;
    if (file && fclose(file) != 0)
        good = false;
    if (good)
        return EXIT_GOOD;
    cli_complain("%s: cannot be written: %s", path, strerror(errno));
    return EXIT_UNWRITABLE;
}

static int pipe_picture(const picture_sink *sink, const unsigned char *data, size_t size) {
    while (size > 0) {
        ssize_t written = write(sink->pipe, data, size);
        if (written < 0 && errno == EINTR && !cli_browser_signal())
            continue;
        if (written < 0) {
            if (!cli_browser_signal())
                cli_complain("%s: ffmpeg could not make the film", sink->film->film);
            return EXIT_UNWRITABLE;
        }
        data += written;
        size -= (size_t)written;
    }
    return EXIT_GOOD;
}

/* ---- the film's place ---- */

static bool is_same_file(const char *path, const char *other) {
    struct stat one, two;
    return stat(path, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

bool cli_export_is_recording(const char *path, const char *recording) {
    char journal[PATH_SIZE];
    int size = snprintf(journal, sizeof journal, "%s.journal", recording);
    /* A name that is too long is that of no file. */
    return is_same_file(path, recording) ||
           (size >= 0 && size < PATH_SIZE && is_same_file(path, journal));
}

/* A new, empty file beside the film's place, for the encoder to write over; its name to be freed.
 * Files that are there stay as they are, whatever they are called. Null: errno says why. */
static char *make_beside(const char *path) {
    enum { TRIES = 1000 };
    size_t room = strlen(path) + sizeof ".new-1000";
    char *name = malloc(room);
    if (!name)
        return NULL;
    snprintf(name, room, "%s.new", path);
    for (int i = 0; i < TRIES; i++) {
        int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0) {
            close(file);
            return name;
        }
        if (errno != EEXIST)
            break;
        snprintf(name, room, "%s.new-%d", path, i + 1);
    }
    int reason = errno;
    free(name);
    errno = reason;
    return NULL;
}

/* What cannot be written is found before anything is drawn. */
static int prepare_film(const char *recording, picture_sink *sink) {
    const char *path = sink->film->film;
    struct stat status;
    if (cli_export_is_recording(path, recording))
        cli_complain("%s: would overwrite the recording that is exported; choose another name",
                     path);
    else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        cli_complain("%s: is not a regular file", path);
    else if (!(sink->new_film = make_beside(path)))
        cli_complain("%s: cannot be written: %s", path, strerror(errno));
    return sink->new_film ? EXIT_GOOD : EXIT_UNWRITABLE;
}

/* ---- drawing ---- */

static int draw_one(cli_browser *browser, picture_sink *sink, size_t number, double time) {
    const cli_film *film = sink->film;
    char expression[160], exact[CLI_NUMBER_SIZE];
    size_t size, bytes;
    snprintf(expression, sizeof expression, "window.rigor.capture(%s, %d, %d)",
             cli_exact(time, exact), film->width, film->height);
    const char *text = cli_browser_evaluate(browser, expression, &size);
    if (!text)
        return EXIT_FAILED;
    unsigned char *data = decode_picture(text, size, &bytes);
    if (!data) {
        cli_complain("the viewer's page gave no picture at %g s", time);
        return EXIT_FAILED;
    }
    int code = EXIT_GOOD;
    if (film->directory)
        code = write_picture(film->directory, number, data, bytes);
    if (code == EXIT_GOOD && film->film)
        code = pipe_picture(sink, data, bytes);
    free(data);
    return code;
}

static int draw_all(cli_browser *browser, picture_sink *sink) {
    const cli_film *film = sink->film;
    size_t count = 1 + (size_t)floor((film->to - film->from) * film->rate * (1 + 1e-12) + 1e-9);
    cli_progress progress = cli_progress_begin(0, count, false);
    progress.unit = "pictures";
    int code = EXIT_GOOD;
    for (size_t i = 0; i < count && code == EXIT_GOOD; i++) {
        code = draw_one(browser, sink, i + 1, film->from + (double)i / film->rate);
        cli_progress_update(&progress, i + 1);
        if (cli_browser_signal())
            code = EXIT_FAILED;
    }
    cli_progress_clear(&progress);
    return code;
}

const char *cli_film_view(const char *command, const char *text) {
    static const char *const views[] = {"corner", "x", "-x", "y", "-y", "z"};
    if (!text)
        return views[0];
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++)
        if (strcmp(text, views[i]) == 0)
            return views[i];
    cli_complain("%s: --view: there is no view '%s'; there are " CLI_FILM_VIEWS, command, text);
    return NULL;
}

const char *cli_film_hidden(const char *command, const char *list) {
    static const char *const words[] = {"contacts", "edges", "forces", "grid", "joints", "shadows"};
    enum { WORDS = sizeof words / sizeof words[0] };
    bool given[WORDS] = {false};
    for (const char *word = list; word;) {
        size_t length = strcspn(word, ","), k = 0;
        while (k < WORDS && (strlen(words[k]) != length || strncmp(words[k], word, length) != 0))
            k++;
        if (k == WORDS || given[k]) {
            cli_complain("%s: --hide: '%.*s' is %s " CLI_FILM_HIDDEN, command,
                         (int)(length < 60 ? length : 60), word,
                         k == WORDS ? "none of" : "there twice; give some of");
            return NULL;
        }
        given[k] = true;
        word = word[length] == ',' ? word + length + 1 : NULL;
    }
    return list ? list : "";
}

int cli_export_open_page(cli_browser *browser, rg_recording *recording, const cli_film *film) {
    /* What the page complains of is on it. */
    static const char wait[] =
        "(async () => { const end = Date.now() + 120000; let ready = false;"
        " while (!ready) { const note = document.querySelector('.view-note.error');"
        " if (note) throw new Error(note.textContent);"
        " if (Date.now() > end) throw new Error('it does not start');"
        " window.rigor?.ready.then(() => { ready = true; });"
        " await new Promise((go) => setTimeout(go, 50)); }"
        " for (const view of window.rigor.views) { view.setHome('%s');"
        " for (const name of '%s'.split(',')) if (name) view.setSwitch(name, false); }"
        " return 'ready'; })()";
    rg_html_options options = {.frames_per_second = film->rate};
    rg_error error = {0};
    char path[512], script[sizeof wait + 16 + sizeof CLI_FILM_HIDDEN];
    size_t size;
    int code = cli_export_page(&options.page, &options.page_size);
    if (code != EXIT_GOOD)
        return code;
    snprintf(path, sizeof path, "%s/page.html", cli_browser_directory(browser));
    snprintf(script, sizeof script, wait, film->view, film->hidden);
    rg_status status = rg_view_export_html(&recording, NULL, 1, &options, path, &error);
    if (status != RG_OK) {
        cli_complain("%s", error.text);
        return cli_exit_code(status);
    }
    if (!cli_browser_open(browser, path, film->width, film->height,
                          strcmp(film->theme, "dark") == 0) ||
        !cli_browser_evaluate(browser, script, &size))
        return EXIT_FAILED;
    return EXIT_GOOD;
}

static int draw_film(rg_recording *recording, picture_sink *sink) {
    cli_browser *browser = cli_browser_start(sink->chromium);
    int code = browser ? cli_export_open_page(browser, recording, sink->film) : EXIT_FAILED;
    if (code == EXIT_GOOD && sink->film->film)
        code = start_encoder(sink);
    if (code == EXIT_GOOD)
        code = draw_all(browser, sink);
    code = end_encoder(sink, code);
    cli_browser_stop(browser);
    if (cli_browser_signal()) {
        cli_complain("export: stopped");
        code = 128 + cli_browser_signal();
    }
    return code;
}

/* The times of the run, where none are given. */
static int set_times(rg_recording *recording, const char *path, cli_film *film) {
    size_t count = rg_recording_get_info(recording).frame_count;
    rg_frame first = {0}, last = {0};
    rg_error error = {0};
    rg_status status = rg_recording_read(recording, 0, &first, &error);
    if (status == RG_OK)
        status = rg_recording_read(recording, count - 1, &last, &error);
    if (status != RG_OK) {
        cli_complain("%s", error.text);
        return cli_exit_code(status);
    }
    if (isnan(film->from))
        film->from = first.time;
    if (isnan(film->to))
        film->to = last.time;
    if (film->from > film->to || film->to > last.time + 1e-9 || film->from < first.time - 1e-9) {
        cli_complain("export: %s goes from %g s to %g s; there is no %g s to %g s in it; change "
                     "--from and --to",
                     path, first.time, last.time, film->from, film->to);
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

int cli_export_film(rg_recording *recording, const char *recording_path, const cli_film *wanted) {
    cli_film film = *wanted;
    picture_sink sink = {.film = &film, .pipe = -1};
    const char *page;
    size_t size;
    int code = cli_export_page(&page, &size); /* before anything is started */
    if (code == EXIT_GOOD)
        code = set_times(recording, recording_path, &film);
    if (code == EXIT_GOOD &&
        (!cli_find_chromium(sink.chromium) || (film.film && !cli_find_ffmpeg(sink.ffmpeg))))
        code = EXIT_FAILED;
    if (code == EXIT_GOOD && film.film)
        code = prepare_film(recording_path, &sink);
    if (code == EXIT_GOOD && film.directory)
        code = prepare_directory(&sink);
    if (code == EXIT_GOOD)
        code = draw_film(recording, &sink);
    code = finish_film(&sink, code);
    if (code != EXIT_GOOD && sink.made_directory)
        (void)rmdir(film.directory); /* unless there are pictures in it */
    return code;
}
