/* Version of the library and of its programming interface. */
#ifndef RIGOR_VERSION_H
#define RIGOR_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

#define RG_VERSION_MAJOR 0
#define RG_VERSION_MINOR 1
#define RG_VERSION_PATCH 0
#define RG_VERSION_TEXT  "0.1.0"

/* Raised whenever a public struct or function changes in a way that needs a recompile. Def structs
 * carry the number they were made with; a library of another number refuses them with
 * RG_VERSION_MISMATCH instead of misreading them. */
#define RG_API_VERSION 2

/* Version of the library that is linked, which may differ from the header's. */
const char *rg_version_text(void);
int rg_version_api(void);

#ifdef __cplusplus
}
#endif
#endif
