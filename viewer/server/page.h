/* The page of the viewer, as tools/page built it, and the library as a WebAssembly module, as
 * tools/wasm built it. */
#ifndef RIGOR_VIEWER_PAGE_H
#define RIGOR_VIEWER_PAGE_H

#include <stddef.h>

/* Its HTML, `size` bytes and a zero after them. Null if the command was built without it. */
const char *rg_view_page(size_t *size);
/* rigor.wasm, compressed (gzip); null likewise. */
const char *rg_view_module(size_t *size);

#endif
