/* The page of the viewer inside the command: one file to copy, and nothing to look for at run time.
 *
 * The assembler takes the file in as it is (.incbin), which is quick at any size; a C array of
 * numbers would cost the compiler seconds. gcc and clang, ELF on any machine. CMake compiles this
 * file again when the page changes, and without RIGOR_PAGE_FILE where there is no page. */
#include "page.h"

#ifdef RIGOR_PAGE_FILE

__asm__(".pushsection .rodata.rigor_page, \"a\", %progbits\n"
        ".balign 16\n"
        ".hidden rigor_page_begin\n"
        ".hidden rigor_page_end\n"
        ".globl rigor_page_begin\n"
        ".globl rigor_page_end\n"
        "rigor_page_begin:\n"
        ".incbin \"" RIGOR_PAGE_FILE "\"\n"
        "rigor_page_end:\n"
        ".byte 0\n"
        ".popsection\n");
extern const char rigor_page_begin[], rigor_page_end[];

const char *rg_view_page(size_t *size) {
    *size = (size_t)(rigor_page_end - rigor_page_begin);
    return *size ? rigor_page_begin : NULL;
}

#else

const char *rg_view_page(size_t *size) {
    *size = 0;
    return NULL;
}

#endif
