/* Files that commands write. One habit for all of them: what is there stays, unless -f says
 * otherwise; and it is looked for before anything is computed.
 * Tested by tests/scripts/test_run_files.py. */
#include "cli.h"

#include <string.h>
#include <sys/stat.h>

bool cli_may_write(const char *command, const char *path, const cli_option *overwrite) {
    struct stat there;
    if (!path || strcmp(path, "-") == 0 || overwrite->value || stat(path, &there) != 0 ||
        !(S_ISREG(there.st_mode)))
        return true;
    cli_complain("%s: %s exists; add -f (--overwrite) to replace it, or choose another name",
                 command, path);
    return false;
}
