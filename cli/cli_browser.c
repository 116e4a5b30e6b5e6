/* A headless Chromium as a drawing machine.
 *
 * It is started with --remote-debugging-pipe: it reads commands from its file descriptor 3 and
 * answers on 4, JSON objects that end with a zero byte (the DevTools protocol). So there is no port
 * that others could connect to. It gets a profile of its own in a temporary directory, is the
 * leader of a process group, and both are gone afterwards, also after SIGINT, SIGTERM and SIGHUP.
 *
 * WebGL is drawn by the processor (SwiftShader): the same everywhere, with or without a graphics
 * card.
 *
 * How it fails: with a complaint, never by waiting for ever: every answer has a time limit. */
#include "cli_export.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double start_limit = 60, answer_limit = 180; /* s */

struct cli_browser {
    char directory[256], log[300];
    pid_t process;
    int commands, answers; /* pipes; -1: closed */
    unsigned last_id;
    char session[80];
    char *text; /* what came; the message at hand is its first text_end bytes */
    size_t size, capacity, text_end;
    struct sigaction old_actions[4];
};

/* ---- signals ---- */

static const int caught_signals[4] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
static volatile sig_atomic_t caught_signal; /* a handler can reach nothing else */

static void note_signal(int number) {
    if (number != SIGPIPE)
        caught_signal = number;
}

static void catch_signals(cli_browser *browser) {
    struct sigaction action = {.sa_handler = note_signal};
    sigemptyset(&action.sa_mask);
    caught_signal = 0;
    for (int i = 0; i < 4; i++)
        sigaction(caught_signals[i], &action, &browser->old_actions[i]);
}

static void release_signals(cli_browser *browser) {
    for (int i = 0; i < 4; i++)
        sigaction(caught_signals[i], &browser->old_actions[i], NULL);
}

int cli_browser_signal(void) {
    return caught_signal;
}

/* ---- programs and directories ---- */

static bool is_program(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* `what` it is needed for, and the package that has it. */
static bool find_program(const char *variable, const char *const *names, const char *what,
                         const char *package, char path[CLI_PROGRAM_SIZE]) {
    const char *given = getenv(variable);
    if (given && given[0]) {
        snprintf(path, CLI_PROGRAM_SIZE, "%s", given);
        if (is_program(path))
            return true;
        cli_complain("export: %s names %s, which is not a program", variable, given);
        return false;
    }
    for (; *names; names++)
        for (const char *at = getenv("PATH"); at && *at;) {
            size_t length = strcspn(at, ":");
            int needed = snprintf(path, CLI_PROGRAM_SIZE, "%.*s/%s", (int)length, at, *names);
            if (length && needed > 0 && needed < CLI_PROGRAM_SIZE && is_program(path))
                return true;
            at += length + (at[length] == ':');
        }
    cli_complain(
        "export: %s, which is not installed here; install it (Debian: apt-get install %s), "
        "or name it in %s",
        what, package, variable);
    return false;
}

bool cli_find_chromium(char path[CLI_PROGRAM_SIZE]) {
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome",
                                        "google-chrome-stable", NULL};
    return find_program("RIGOR_CHROMIUM", names, "pictures and films are drawn by Chromium",
                        "chromium", path);
}

bool cli_find_ffmpeg(char path[CLI_PROGRAM_SIZE]) {
    static const char *const names[] = {"ffmpeg", NULL};
    return find_program("RIGOR_FFMPEG", names, "films are put together by ffmpeg", "ffmpeg", path);
}

/* With all that is in it; links are not followed. */
static void remove_tree(const char *path) {
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char inside[4096];
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name) >= (int)sizeof inside)
            continue;
        if (lstat(inside, &status) == 0 && S_ISDIR(status.st_mode))
            remove_tree(inside);
        else
            unlink(inside);
    }
    if (directory)
        closedir(directory);
    rmdir(path);
}

static bool make_directory(cli_browser *browser) {
    const char *place = getenv("TMPDIR");
    size_t room = sizeof browser->directory;
    if (!place || !place[0] || strlen(place) > room - 40)
        place = "/tmp";
    snprintf(browser->directory, room, "%s/rigor-film-XXXXXX", place);
    if (!mkdtemp(browser->directory)) {
        cli_complain("%s: cannot be created: %s", browser->directory, strerror(errno));
        browser->directory[0] = '\0';
        return false;
    }
    snprintf(browser->log, sizeof browser->log, "%s/log", browser->directory);
    return true;
}

/* ---- starting and stopping ---- */

/* In the child: file descriptors 3 and 4, then the program. */
static void run_browser(const char *program, const cli_browser *browser, int commands,
                        int answers) {
    char profile[300], crashes[300];
    snprintf(profile, sizeof profile, "--user-data-dir=%s/profile", browser->directory);
    snprintf(crashes, sizeof crashes, "--crash-dumps-dir=%s/crashes", browser->directory);
    const char *arguments[32] = {program,
                                 "--headless=new",
                                 "--remote-debugging-pipe",
                                 profile,
                                 crashes,
                                 "--no-first-run",
                                 "--no-default-browser-check",
                                 "--disable-background-networking",
                                 "--disable-background-timer-throttling",
                                 "--disable-backgrounding-occluded-windows",
                                 "--disable-renderer-backgrounding",
                                 "--disable-component-update",
                                 "--disable-breakpad",
                                 "--disable-crash-reporter",
                                 "--disable-default-apps",
                                 "--disable-dev-shm-usage",
                                 "--disable-extensions",
                                 "--disable-sync",
                                 "--metrics-recording-only",
                                 "--mute-audio",
                                 "--hide-scrollbars",
                                 "--force-color-profile=srgb",
                                 "--force-device-scale-factor=1",
                                 "--use-gl=angle",
                                 "--use-angle=swiftshader",
                                 "--enable-unsafe-swiftshader",
                                 "about:blank"};
    if (geteuid() == 0) { /* its sandbox refuses to run as root */
        size_t last = 0;
        while (arguments[last + 1])
            last++;
        arguments[last + 1] = arguments[last];
        arguments[last] = "--no-sandbox";
    }
    setpgid(0, 0);
    int log = open(browser->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int nothing = open("/dev/null", O_RDWR);
    /* Out of the way first: one of them may be 3 or 4 already. */
    commands = fcntl(commands, F_DUPFD, 10);
    answers = fcntl(answers, F_DUPFD, 10);
    if (log < 0 || nothing < 0 || commands < 0 || answers < 0 || dup2(nothing, 0) < 0 ||
        dup2(log, 1) < 0 || dup2(log, 2) < 0 || dup2(commands, 3) < 0 || dup2(answers, 4) < 0)
        _exit(126);
    close(commands);
    close(answers);
    execv(program, (char *const *)arguments);
    _exit(127);
}

static bool start_process(cli_browser *browser, const char *program) {
    int commands[2] = {-1, -1}, answers[2] = {-1, -1};
    if (pipe(commands) < 0 || pipe(answers) < 0) {
        cli_complain("%s: cannot be started: %s", program, strerror(errno));
        for (int i = 0; i < 2; i++)
            if (commands[i] >= 0)
                close(commands[i]);
        return false;
    }
    fcntl(commands[1], F_SETFD, FD_CLOEXEC);
    fcntl(answers[0], F_SETFD, FD_CLOEXEC);
    browser->process = fork();
    if (browser->process == 0)
        run_browser(program, browser, commands[0], answers[1]);
    close(commands[0]);
    close(answers[1]);
    browser->commands = commands[1];
    browser->answers = answers[0];
    if (browser->process < 0) {
        cli_complain("%s: cannot be started: %s", program, strerror(errno));
        return false;
    }
    setpgid(browser->process, browser->process); /* in parent and child: either may run first */
    fcntl(browser->answers, F_SETFL, O_NONBLOCK);
    return true;
}

/* Gives it a moment to end by itself, then insists. */
static void end_process(cli_browser *browser) {
    if (browser->process <= 0)
        return;
    const struct timespec moment = {0, 20000000};
    for (int i = 0; i < 250; i++) {
        if (i == 50)
            kill(-browser->process, SIGTERM);
        siginfo_t ended = {0};
        if (waitid(P_PID, (id_t)browser->process, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            ended.si_pid == browser->process)
            break;
        nanosleep(&moment, NULL);
    }
    /* With it, whatever it has left behind of its group. Only then is it waited for: until then its
     * number can be that of no other process or group. */
    kill(-browser->process, SIGKILL);
    while (waitpid(browser->process, NULL, 0) < 0 && errno == EINTR)
        continue;
    browser->process = 0;
}

void cli_browser_stop(cli_browser *browser) {
    if (!browser)
        return;
    /* It ends when its pipe does. */
    if (browser->commands >= 0)
        close(browser->commands);
    if (browser->answers >= 0)
        close(browser->answers);
    end_process(browser);
    if (browser->directory[0])
        for (int i = 0; i < 20 && access(browser->directory, F_OK) == 0; i++) {
            if (i > 0) /* something was still being written there */
                nanosleep(&(struct timespec){0, 50000000}, NULL);
            remove_tree(browser->directory);
        }
    release_signals(browser);
    free(browser->text);
    free(browser);
}

const char *cli_browser_directory(const cli_browser *browser) {
    return browser->directory;
}

/* ---- JSON, as much of it as answers need ---- */

static const char *skip_space(const char *c) {
    return c + strspn(c, " \t\r\n");
}

/* Past a value that starts at c; null: it is none. */
static const char *skip_value(const char *c) {
    int depth = 0;
    do {
        c = skip_space(c);
        if (*c == '"') {
            for (c++; *c != '"'; c++)
                if (*c == '\0' || (*c == '\\' && *++c == '\0'))
                    return NULL;
            c++;
        } else if (*c == '{' || *c == '[') {
            depth++;
            c++;
        } else if (*c == '}' || *c == ']') {
            depth--;
            c++;
        } else if (*c == ',' || *c == ':') {
            c++;
        } else {
            size_t length = strcspn(c, "{}[],:\" \t\r\n");
            if (length == 0)
                return NULL;
            c += length;
        }
    } while (depth > 0);
    return depth == 0 ? c : NULL;
}

/* The value of a key of the object at c; null: there is none. */
static const char *member(const char *c, const char *key) {
    size_t length = strlen(key);
    if (!c || *(c = skip_space(c)) != '{')
        return NULL;
    for (c = skip_space(c + 1); *c == '"'; c = skip_space(c + 1)) {
        const char *name = c + 1, *end = skip_value(c);
        if (!end || *(c = skip_space(end)) != ':')
            return NULL;
        c = skip_space(c + 1);
        if ((size_t)(end - name) == length + 1 && strncmp(name, key, length) == 0)
            return c;
        if (!(c = skip_value(c)) || *(c = skip_space(c)) != ',')
            return NULL;
    }
    return NULL;
}

/* A text without its quotes and escapes, in place; null: it is none. */
static const char *text_of(const char *c, size_t *size) {
    const char *end = c && *c == '"' ? skip_value(c) : NULL;
    if (!end)
        return NULL;
    char *start = (char *)c + 1, *to = start; /* of our own buffer */
    for (const char *from = start; from < end - 1; from++)
        if (*from == '\\')
            *to++ = *++from == 'n' ? ' ' : *from;
        else
            *to++ = *from;
    *to = '\0';
    *size = (size_t)(to - start);
    return start;
}

/* ---- messages ---- */

static bool is_stopped(void) {
    return caught_signal != 0;
}

/* The last thing that the browser said on its own, for complaints. */
static void complain_with_log(const cli_browser *browser, const char *what) {
    char text[2048], *last = NULL;
    FILE *log = fopen(browser->log, "r");
    while (log && fgets(text, sizeof text, log)) {
        text[strcspn(text, "\r\n")] = '\0';
        if (text[0]) {
            free(last);
            last = strdup(text);
        }
    }
    if (log)
        fclose(log);
    if (!is_stopped())
        cli_complain(last ? "the browser %s; its last output: %.300s" : "the browser %s", what,
                     last);
    free(last);
}

static bool send_text(cli_browser *browser, const char *text) {
    size_t left = strlen(text) + 1;
    while (left > 0) {
        ssize_t written = write(browser->commands, text, left);
        if (written < 0 && errno == EINTR && !is_stopped())
            continue;
        if (written < 0) {
            complain_with_log(browser, "has ended");
            return false;
        }
        text += written;
        left -= (size_t)written;
    }
    return true;
}

/* Reads what is there, after at most 0.2 s; false: the pipe has ended. */
static bool read_some(cli_browser *browser) {
    enum { PIECE = 1 << 16 };
    if (browser->capacity - browser->size < PIECE) {
        size_t capacity = 2 * browser->capacity + 2 * PIECE;
        char *text = realloc(browser->text, capacity);
        if (!text)
            return false;
        browser->text = text;
        browser->capacity = capacity;
    }
    struct pollfd ready = {.fd = browser->answers, .events = POLLIN};
    if (poll(&ready, 1, 200) <= 0)
        return true;
    ssize_t got = read(browser->answers, browser->text + browser->size, PIECE);
    if (got > 0)
        browser->size += (size_t)got;
    return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

/* The next message, until the next call; null with a complaint. */
static const char *next_message(cli_browser *browser, double deadline) {
    if (browser->text_end) {
        browser->size -= browser->text_end;
        memmove(browser->text, browser->text + browser->text_end, browser->size);
        browser->text_end = 0;
    }
    for (size_t searched = 0;;) {
        char *end = browser->size > searched
                        ? memchr(browser->text + searched, '\0', browser->size - searched)
                        : NULL;
        if (end) {
            browser->text_end = (size_t)(end - browser->text) + 1;
            return browser->text;
        }
        searched = browser->size;
        if (is_stopped())
            return NULL;
        if (cli_clock() > deadline) {
            complain_with_log(browser, "does not answer");
            return NULL;
        }
        if (!read_some(browser)) {
            complain_with_log(browser, "has ended");
            return NULL;
        }
    }
}

/* Sends a command and waits for its answer: the value of "result"; events in between are dropped.
 * */
static const char *ask(cli_browser *browser, const char *method, const char *parameters,
                       double limit) {
    unsigned id = ++browser->last_id;
    size_t room = strlen(parameters) + strlen(method) + 200;
    char *message = malloc(room);
    if (!message)
        return NULL;
    snprintf(message, room, "{\"id\":%u,\"method\":\"%s\",\"params\":%s%s%s%s}", id, method,
             parameters, browser->session[0] ? ",\"sessionId\":\"" : "", browser->session,
             browser->session[0] ? "\"" : "");
    bool sent = send_text(browser, message);
    free(message);
    double deadline = cli_clock() + limit;
    for (const char *answer; sent && (answer = next_message(browser, deadline));) {
        const char *number = member(answer, "id"), *result = member(answer, "result");
        if (!number || strtoul(number, NULL, 10) != id)
            continue;
        if (result)
            return result;
        size_t size;
        const char *why = text_of(member(member(answer, "error"), "message"), &size);
        cli_complain("the browser refuses %s: %s", method, why ? why : "no reason given");
        return NULL;
    }
    return NULL;
}

/* ---- pages ---- */

/* Copies a text of an answer that has nothing to escape in it. */
static bool copy_text(const char *value, char *to, size_t room) {
    size_t size;
    const char *text = text_of(value, &size);
    if (!text || size >= room || strpbrk(text, "\"\\"))
        return false;
    memcpy(to, text, size + 1);
    return true;
}

static bool attach(cli_browser *browser) {
    char target[80], parameters[160];
    const char *result =
        ask(browser, "Target.createTarget", "{\"url\":\"about:blank\"}", start_limit);
    if (!result || !copy_text(member(result, "targetId"), target, sizeof target))
        return false;
    snprintf(parameters, sizeof parameters, "{\"targetId\":\"%s\",\"flatten\":true}", target);
    result = ask(browser, "Target.attachToTarget", parameters, start_limit);
    /* A page that is not in front is not asked to draw. */
    return result &&
           copy_text(member(result, "sessionId"), browser->session, sizeof browser->session) &&
           ask(browser, "Page.bringToFront", "{}", start_limit);
}

cli_browser *cli_browser_start(const char *program) {
    cli_browser *browser = calloc(1, sizeof *browser);
    if (!browser)
        return NULL;
    browser->commands = browser->answers = -1;
    catch_signals(browser);
    if (make_directory(browser) && start_process(browser, program) && attach(browser))
        return browser;
    cli_browser_stop(browser);
    return NULL;
}

/* A path as an address: everything but letters, digits and a few signs in hexadecimal. */
static char *address_of(const char *path) {
    char *address = malloc(3 * strlen(path) + 8), *to = address;
    if (!address)
        return NULL;
    to += sprintf(to, "file://");
    for (const unsigned char *c = (const unsigned char *)path; *c; c++)
        if ((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
            strchr("/-_.", *c))
            *to++ = (char)*c;
        else
            to += sprintf(to, "%%%02X", *c);
    *to = '\0';
    return address;
}

bool cli_browser_open(cli_browser *browser, const char *path, int width, int height,
                      bool prefers_dark) {
    char parameters[4 * 1024];
    snprintf(parameters, sizeof parameters,
             "{\"width\":%d,\"height\":%d,\"deviceScaleFactor\":1,\"mobile\":false}", width,
             height);
    if (!ask(browser, "Emulation.setDeviceMetricsOverride", parameters, answer_limit))
        return false;
    snprintf(parameters, sizeof parameters,
             "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"%s\"}]}",
             prefers_dark ? "dark" : "light");
    if (!ask(browser, "Emulation.setEmulatedMedia", parameters, answer_limit))
        return false;
    char *address = address_of(path);
    int needed =
        snprintf(parameters, sizeof parameters, "{\"url\":\"%s\"}", address ? address : "");
    free(address);
    return needed < (int)sizeof parameters &&
           ask(browser, "Page.navigate", parameters, answer_limit);
}

const char *cli_browser_evaluate(cli_browser *browser, const char *expression, size_t *size) {
    size_t length = strlen(expression), used = 0;
    char *parameters = malloc(2 * length + 100);
    if (!parameters)
        return NULL;
    used += (size_t)sprintf(parameters, "{\"expression\":\"");
    for (const char *c = expression; *c; c++) {
        if (*c == '"' || *c == '\\')
            parameters[used++] = '\\';
        parameters[used++] = *c;
    }
    sprintf(parameters + used, "\",\"awaitPromise\":true,\"returnByValue\":true}");
    const char *answer = ask(browser, "Runtime.evaluate", parameters, answer_limit);
    free(parameters);
    if (!answer)
        return NULL;
    const char *thrown = member(answer, "exceptionDetails");
    const char *text = text_of(member(member(answer, "result"), "value"), size);
    if (thrown) {
        const char *why = text_of(member(member(thrown, "exception"), "description"), size);
        cli_complain("the viewer's page failed: %.300s", why ? why : "it does not say why");
        return NULL;
    }
    if (!text)
        cli_complain("the viewer's page gave no picture");
    return text;
}
