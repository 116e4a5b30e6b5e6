/* Plots by gnuplot. How it fails: it says so where gnuplot is missing or fails. */
#include "cli_gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_on_path(const char *program) {
    const char *path = getenv("PATH");
    size_t room = (path ? strlen(path) : 0) + strlen(program) + 2;
    char *name = malloc(room);
    bool found = false;
    while (name && path && !found) {
        size_t length = strcspn(path, ":");
        snprintf(name, room, "%.*s/%s", (int)length, path, program);
        found = length > 0 && access(name, X_OK) == 0;
        path = path[length] == ':' ? path + length + 1 : NULL;
    }
    free(name);
    return found;
}

int cli_gnuplot_open(const char *command, const char *path, int *output) {
    *output = -1;
    if (!path)
        return EXIT_GOOD;
    if (!is_on_path("gnuplot")) {
        cli_complain("%s: --plot: the program gnuplot is missing (Debian: gnuplot-nox); nothing "
                     "else needs it",
                     command);
        return EXIT_UNWRITABLE;
    }
    *output = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (*output >= 0)
        return EXIT_GOOD;
    cli_complain("%s: --plot: %s cannot be written: %s", command, path, strerror(errno));
    return EXIT_UNWRITABLE;
}

void cli_gnuplot_quote(FILE *script, const char *text) {
    fputc('\'', script);
    for (const char *c = text; *c; c++) {
        if ((unsigned char)*c < 0x20)
            fputc('?', script);
        else
            fprintf(script, *c == '\'' ? "''" : "%c", *c);
    }
    fputc('\'', script);
}

/* gnuplot reads the script from a file and writes to one that is open already: no name passes
 * through a shell or its quotes. */
static int start(int script, int output) {
    int state = 0;
    pid_t child = fork();
    if (child == 0) {
        if (dup2(script, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0)
            execlp("gnuplot", "gnuplot", (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &state, 0) < 0 && errno == EINTR)
        continue;
    return child > 0 && WIFEXITED(state) ? WEXITSTATUS(state) : 127;
}

int cli_gnuplot_draw(const char *command, FILE *script, int output) {
    bool written = fflush(script) == 0 && !ferror(script) &&
                   lseek(fileno(script), 0, SEEK_SET) == 0; /* the descriptor is shared */
    int state = written ? start(fileno(script), output) : 127;
    if (state == 0)
        return EXIT_GOOD;
    cli_complain("%s: --plot: gnuplot failed (exit code %d)", command, state);
    return EXIT_UNWRITABLE;
}
