/* The loader of Clp. The name of the library (RG_CLP_LIBRARY) is that of the one whose header was
 * compiled against.
 * Tested by tests/lp/test_clp.c. */
#include "lp/lp_clp_load.h"

#include "base/base_text.h"

#include <dlfcn.h>

rg_status rg_clp_load(rg_clp *clp, rg_error *error) {
    void *library = dlopen(RG_CLP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return rg_fail(error, RG_UNSUPPORTED, "linear programs need Clp: %s", dlerror());
    const struct {
        const char *name;
        void **place;
    } functions[] = {
#define RG_CLP_PLACE(name) {"Clp_" #name, (void **)&clp->name},
        RG_CLP_FUNCTIONS(RG_CLP_PLACE)
#undef RG_CLP_PLACE
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        *functions[i].place = dlsym(library, functions[i].name);
        if (!*functions[i].place)
            return rg_fail(error, RG_UNSUPPORTED, "%s has no function %s", RG_CLP_LIBRARY,
                           functions[i].name);
    }
    return RG_OK;
}
