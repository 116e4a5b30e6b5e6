/* The page of the viewer inside the command, and the WebAssembly module that a page with a live
 * scene carries: one file to copy, and nothing to look for at run time.
 *
 * The assembler takes the files in as they are (.incbin), which is quick at any size; a C array of
 * numbers would cost the compiler seconds. gcc and clang, ELF on any machine. CMake compiles this
 * file again when one of them changes, and without RIGOR_PAGE_FILE or RIGOR_MODULE_FILE where there
 * is none. */
#include "page.h"

#define EMBED(name, file)                                                                          \
    __asm__(".pushsection .rodata." name ", \"a\", %progbits\n"                                    \
            ".balign 16\n"                                                                         \
            ".hidden " name "_begin\n"                                                             \
            ".hidden " name "_end\n"                                                               \
            ".globl " name "_begin\n"                                                              \
            ".globl " name "_end\n" name "_begin:\n"                                               \
            ".incbin \"" file "\"\n" name "_end:\n"                                                \
            ".byte 0\n"                                                                            \
            ".popsection\n")

#ifdef RIGOR_PAGE_FILE
EMBED("rigor_page", RIGOR_PAGE_FILE);
extern const char rigor_page_begin[], rigor_page_end[];
#else
static const char rigor_page_begin[1], *const rigor_page_end = rigor_page_begin;
#endif

#ifdef RIGOR_MODULE_FILE
EMBED("rigor_module", RIGOR_MODULE_FILE);
extern const char rigor_module_begin[], rigor_module_end[];
#else
static const char rigor_module_begin[1], *const rigor_module_end = rigor_module_begin;
#endif

const char *rg_view_page(size_t *size) {
    *size = (size_t)(rigor_page_end - rigor_page_begin);
    return *size ? rigor_page_begin : NULL;
}

const char *rg_view_module(size_t *size) {
    *size = (size_t)(rigor_module_end - rigor_module_begin);
    return *size ? rigor_module_begin : NULL;
}
