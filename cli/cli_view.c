/* `rigor view`: scenes as they run, and recordings, in the browser. */
#include "cli.h"

#include "page.h"
#include "view_server.h"

#include "rigor/solver.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char cli_view_help[] =
    "Usage: rigor view SCENE|RECORDING ... [NAME=VALUE ...] [OPTION ...]\n"
    "\n"
    "Serves a page that shows recordings, and scenes while they run: contacts with their\n"
    "forces, the certificate and the energy ledger, step by step; two runs side by side. A\n"
    "scene runs live: pause it, step it, change method, solver, friction and gravity, take a\n"
    "body with the mouse, throw boxes. A scene file that changes is read again and restarted.\n"
    "SCENE is a built-in scene (`rigor scenes` lists them) or\n"
    "a scene file; NAME=VALUE sets parameters of the scenes. The page is opened in the browser\n"
    "if there is one; its address is printed on standard output in any case. It holds a random\n"
    "token: only people who have the address have access.\n"
    "\n"
    "Options:\n"
    "      --no-browser     only print the address\n"
    "      --port N         listen on port N instead of any free one\n"
    "      --listen ADDRESS listen at this IPv4 address; 0.0.0.0: at all of this machine's.\n"
    "                       Without it, at 127.0.0.1: reached from this machine only\n"
    "      --paused         scenes start paused\n"
    "      --speed X        simulated seconds per second (default 1)\n"
    "      --method NAME    step method instead of the scenes': analytic, stepping, penalty\n"
    "      --solver NAME    solver of contact problems instead of the scenes'\n"
    "      --step S         seconds of a step instead of the scenes', such as 1/240\n"
    "      --threads N      threads of a scene; the results do not depend on it\n"
    "      --page FILE      serve this page instead of the one that is built in\n"
    "  -h, --help           this text\n"
    "\n"
    "SIGINT (Ctrl-C) and SIGTERM end it.\n"
    "\n"
    "Exit codes: 0 ended by SIGINT or SIGTERM, 1 the server cannot start (the port is in use,\n"
    "or the command was built without server or page), 2 usage, 3 a scene or recording cannot\n"
    "be used, 4 the address cannot be written.\n"
    "\n"
    "Examples:\n"
    "  rigor view dominoes\n"
    "  rigor view incline angle=30 mu=0.2 --speed 0.25\n"
    "  rigor run pyramid --out pyramid.h5 && rigor view pyramid.h5\n"
    "  rigor view newton.h5 gauss-seidel.h5 --port 8080 --no-browser\n";

enum {
    OPTION_NO_BROWSER,
    OPTION_PORT,
    OPTION_LISTEN,
    OPTION_PAUSED,
    OPTION_SPEED,
    OPTION_METHOD,
    OPTION_SOLVER,
    OPTION_STEP,
    OPTION_THREADS,
    OPTION_PAGE,
    OPTION_HELP,
    OPTION_COUNT
};
#define OPTIONS                                                                                    \
    {                                                                                              \
        {"no-browser", 0, false, NULL}, {"port", 0, true, NULL}, {"listen", 0, true, NULL},        \
            {"paused", 0, false, NULL}, {"speed", 0, true, NULL}, {"method", 0, true, NULL},       \
            {"solver", 0, true, NULL}, {"step", 0, true, NULL}, {"threads", 0, true, NULL},        \
            {"page", 0, true, NULL}, {"help", 'h', false, NULL},                                   \
    }

enum { LARGEST_PAGE = 256 << 20 };

/* A scene file, to be read again when it changes. */
typedef struct watched_file {
    bool watched;
    struct timespec read;   /* when the scene was written that runs */
    struct timespec before; /* when it was written, as seen by the last look */
} watched_file;

typedef struct view {
    cli_option options[OPTION_COUNT];
    const char **names; /* of scenes and recordings: the caller's array */
    int name_count;
    watched_file *files;            /* one for each name */
    rg_scene_parameter *parameters; /* names are copies that end at the '=' */
    size_t parameter_count;
    double speed, step;
    int port, threads;
    char *page; /* of --page */
    view_server *server;
} view;

static bool given(const view *this, int option) {
    return this->options[option].value != NULL;
}

/* ---- the command line ---- */

static bool parse_whole(const cli_option *option, double least, double most, int *value) {
    double number;
    if (!option->value)
        return true;
    if (cli_parse_number(option->value, &number) && number >= least && number <= most &&
        number == floor(number)) {
        *value = (int)number;
        return true;
    }
    cli_complain("view: --%s: '%s' is not a whole number from %g to %g", option->name,
                 option->value, least, most);
    return false;
}

static bool check_names(const view *this) {
    const char *method = this->options[OPTION_METHOD].value;
    const char *solver = this->options[OPTION_SOLVER].value;
    if (method && !rg_method_find(method)) {
        cli_complain("view: --method: unknown method '%s'; see `rigor view --help`", method);
        return false;
    }
    if (solver && !rg_solver_find(solver)) {
        cli_complain("view: --solver: unknown solver '%s'; see `rigor run --help`", solver);
        return false;
    }
    return true;
}

/* NAME=VALUE; a path may have an '=' too, but a name has neither '/' nor '.'. */
static bool is_parameter(const char *argument) {
    size_t length = strcspn(argument, "=/.");
    return length > 0 && argument[length] == '=';
}

static bool sort_arguments(view *this, int count, const char **arguments) {
    this->names = arguments;
    this->parameters = calloc((size_t)count + 1, sizeof *this->parameters);
    for (int i = 0; this->parameters && i < count; i++) {
        if (!is_parameter(arguments[i])) {
            this->names[this->name_count++] = arguments[i];
            continue;
        }
        size_t length = strcspn(arguments[i], "=");
        char *name = calloc(length + 1, 1);
        if (!name)
            break;
        memcpy(name, arguments[i], length);
        this->parameters[this->parameter_count++] =
            (rg_scene_parameter){name, arguments[i] + length + 1};
    }
    if (this->parameters && (size_t)this->name_count + this->parameter_count == (size_t)count)
        return true;
    cli_complain("view: out of memory");
    return false;
}

static int parse(view *this, int count, const char **arguments) {
    if (!cli_parse_options("view", this->options, OPTION_COUNT, arguments, &count))
        return EXIT_USAGE;
    if (given(this, OPTION_HELP))
        return EXIT_GOOD;
    if (!cli_positive_option("view", &this->options[OPTION_SPEED], 1, &this->speed) ||
        !cli_positive_option("view", &this->options[OPTION_STEP], 0, &this->step) ||
        !parse_whole(&this->options[OPTION_PORT], 1, 65535, &this->port) ||
        !parse_whole(&this->options[OPTION_THREADS], 1, 1024, &this->threads) ||
        !check_names(this) || !sort_arguments(this, count, arguments))
        return EXIT_USAGE;
    if (this->name_count == 0) {
        cli_complain("view: which SCENE or RECORDING? `rigor scenes` lists the built-in scenes");
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

/* ---- what is shown ---- */

/* Threads inherit what is blocked, so that signals come to the main one. Not while scenes are read:
 * one may come from a pipe, and waiting for it must end by a signal. */
static void block_signals(bool block) {
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    pthread_sigmask(block ? SIG_BLOCK : SIG_UNBLOCK, &both, NULL);
}

static rg_status add_recording(view *this, const char *path, rg_error *error) {
    block_signals(true);
    rg_status status = view_server_add_recording(this->server, path, error);
    block_signals(false);
    return status;
}

static rg_status read_scene(const view *this, const char *name, rg_scene **scene, rg_error *error) {
    rg_scene_options options = {.parameters = this->parameters,
                                .parameter_count = this->parameter_count,
                                .method = this->options[OPTION_METHOD].value,
                                .solver = this->options[OPTION_SOLVER].value,
                                .step = this->step,
                                .threads = this->threads};
    return cli_create_scene(name, &options, "rigor: ", scene, error);
}

/* When a file was written last; false: it is not there, or is a pipe. */
static bool written(const char *name, struct timespec *when) {
    struct stat info;
    if (stat(name, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    *when = info.st_mtim;
    return true;
}

static bool same_moment(struct timespec a, struct timespec b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static rg_status add_scene(view *this, int number, rg_error *error) {
    const char *name = this->names[number];
    watched_file *file = &this->files[number];
    view_live_options live = {.paused = given(this, OPTION_PAUSED), .speed = this->speed};
    rg_scene *scene;
    file->watched = written(name, &file->read);
    file->before = file->read;
    rg_status status = read_scene(this, name, &scene, error);
    if (status != RG_OK)
        return status;
    block_signals(true);
    status = view_server_add_scene(this->server, scene, &live, error);
    block_signals(false);
    return status;
}

/* Takes the scene again from a file that has changed and was left alone since the last look. */
static void look_at_file(view *this, int number) {
    const char *name = this->names[number];
    watched_file *file = &this->files[number];
    struct timespec now;
    if (!file->watched || !written(name, &now))
        return;
    bool settled = same_moment(now, file->before);
    file->before = now;
    if (!settled || same_moment(now, file->read))
        return;
    rg_error error = {0};
    rg_scene *scene;
    file->read = now;
    block_signals(true);
    if (read_scene(this, name, &scene, &error) == RG_OK) {
        view_server_replace_scene(this->server, (size_t)number, scene);
        fprintf(stderr, "rigor: %s has changed and runs from its beginning\n", name);
    } else {
        view_server_tell(this->server, (size_t)number, error.text);
        cli_complain("%s", error.text);
    }
    block_signals(false);
}

static int add_runs(view *this) {
    bool scenes = false;
    this->files = calloc((size_t)this->name_count, sizeof *this->files);
    if (!this->files) {
        cli_complain("view: out of memory");
        return EXIT_FAILED;
    }
    for (int i = 0; i < this->name_count; i++) {
        rg_error error = {0};
        bool recording = cli_is_recording(this->names[i]);
        rg_status status =
            recording ? add_recording(this, this->names[i], &error) : add_scene(this, i, &error);
        scenes |= !recording;
        if (status != RG_OK) {
            cli_complain("%s", error.text);
            return cli_exit_code(status);
        }
    }
    if (scenes || this->parameter_count == 0)
        return EXIT_GOOD;
    cli_complain("view: %s=%s is for scenes, and there is none; leave it out",
                 this->parameters[0].name, this->parameters[0].value);
    return EXIT_USAGE;
}

/* ---- the page ---- */

static bool read_page(view *this, const char *path, size_t *size) {
    struct stat info;
    FILE *file = fopen(path, "rb");
    *size = 0;
    if (file && fstat(fileno(file), &info) == 0 && info.st_size > 0 && info.st_size <= LARGEST_PAGE)
        this->page = malloc((size_t)info.st_size);
    if (this->page)
        *size = fread(this->page, 1, (size_t)info.st_size, file);
    if (file)
        fclose(file);
    if (*size > 0)
        return true;
    cli_complain("view: --page: %s cannot be read", path);
    return false;
}

static int find_page(view *this, const char **page, size_t *size) {
    const char *path = this->options[OPTION_PAGE].value;
    if (path) {
        bool read = read_page(this, path, size);
        *page = this->page;
        return read ? EXIT_GOOD : EXIT_BAD_INPUT;
    }
    *page = rg_view_page(size);
    if (*page)
        return EXIT_GOOD;
    cli_complain("view: this command was built without the page; run tools/page (it needs Node 18 "
                 "or newer and npm) and build again, or give --page FILE");
    return EXIT_FAILED;
}

/* ---- the browser ---- */

/* Nothing is read from it and nothing of what it prints is shown. */
static bool spawn(const char *const arguments[], pid_t *child) {
    extern char **environ;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    for (int i = 0; i < 3; i++)
        posix_spawn_file_actions_addopen(&files, i, "/dev/null", O_RDWR, 0);
    signal(SIGCHLD, SIG_IGN); /* it is not waited for */
    int failure =
        posix_spawnp(child, arguments[0], &files, NULL, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    return failure == 0;
}

static bool has_display(void) {
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x && *x) || (wayland && *wayland);
}

/* ---- the run ---- */

/* The handler writes to this pipe: what a handler may do, and what the main thread can wait for. */
static int ending[2];

/* s: programs that end others often send the same signal to the process and to its group. */
#define SAME_SIGNAL 0.5

/* A second signal ends it at once, for the impatient. */
static void note_signal(int number) {
    static volatile sig_atomic_t noted;
    static struct timespec first;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!noted) {
        char byte = (char)number;
        noted = 1;
        first = now;
        (void)!write(ending[1], &byte, 1);
    } else if ((double)(now.tv_sec - first.tv_sec) + 1e-9 * (double)(now.tv_nsec - first.tv_nsec) >
               SAME_SIGNAL) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

/* Not before everything is read: until then a signal shall end the process, in particular one that
 * waits for a scene from a pipe. */
static bool watch_signals(void) {
    static const int watched[] = {SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = note_signal}, before;
    sigemptyset(&action.sa_mask);
    if (pipe(ending) != 0)
        return false;
    for (int i = 0; i < 2; i++) /* not for the browser */
        fcntl(ending[i], F_SETFD, FD_CLOEXEC);
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++)
        /* Shells tell what runs in the background to ignore SIGINT. */
        if (sigaction(watched[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(watched[i], &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    return true;
}

enum { LOOK_EVERY = 250 }; /* ms between looks at the scene files: a save is seen at once */

static void wait_for_end(view *this) {
    struct pollfd signals = {.fd = ending[0], .events = POLLIN};
    bool any = false;
    for (int i = 0; i < this->name_count; i++)
        any |= this->files[i].watched;
    for (;;) {
        int ready = poll(&signals, 1, any ? LOOK_EVERY : -1);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return;
        for (int i = 0; ready == 0 && i < this->name_count; i++)
            look_at_file(this, i);
    }
}

static int serve(view *this) {
    rg_error error = {0};
    view_server_options options = {.listen = this->options[OPTION_LISTEN].value,
                                   .port = this->port};
    int code = find_page(this, &options.page, &options.page_size);
    if (code != EXIT_GOOD)
        return code;
    block_signals(true);
    rg_status status = view_server_start(this->server, &options, &error);
    block_signals(false);
    if (status != RG_OK) {
        cli_complain("view: %s", error.text);
        return status == RG_INVALID_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
    }
    const char *address = view_server_address(this->server);
    printf("%s\n", address);
    code = cli_flush();
    if (code != EXIT_GOOD)
        return code;
    pid_t child;
    const char *const browser[] = {"xdg-open", address, NULL};
    bool opened = !given(this, OPTION_NO_BROWSER) && has_display() && spawn(browser, &child);
    fprintf(stderr, "rigor: %s; Ctrl-C ends it\n",
            opened ? "opening the address in the browser" : "open the address in a browser");
    wait_for_end(this);
    return EXIT_GOOD;
}

static int execute(view *this) {
    rg_error error = {0};
    rg_status status = view_server_create(&this->server, &error);
    if (status != RG_OK) {
        cli_complain("view: %s", error.text);
        return EXIT_FAILED;
    }
    int code = add_runs(this);
    if (code != EXIT_GOOD)
        return code;
    if (watch_signals())
        return serve(this);
    cli_complain("view: cannot create a pipe: %s", strerror(errno));
    return EXIT_FAILED;
}

int cli_view(int count, const char **arguments) {
    view this = {.options = OPTIONS};
    int code = parse(&this, count, arguments);
    if (code == EXIT_GOOD && given(&this, OPTION_HELP)) {
        fputs(cli_view_help, stdout);
        code = cli_flush();
    } else if (code == EXIT_GOOD) {
        code = execute(&this);
    }
    view_server_destroy(this.server);
    for (size_t i = 0; i < this.parameter_count; i++)
        free((char *)this.parameters[i].name);
    free(this.parameters);
    free(this.files);
    free(this.page);
    return code;
}
