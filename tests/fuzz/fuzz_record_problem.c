/* Any bytes as a problem text, in every format; what is read must be a sound problem, what is
 * refused must have a message. HDF5 files are left out: HDF5 itself loses memory on damaged ones
 * (tests/record/test_problem.c damages them within bounds). */
#include "record/record_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition)
        abort();
}

static void check_problem(const rg_problem_file *file) {
    const rg_problem *problem = rg_problem_file_problem(file);
    rg_problem_file_info info = rg_problem_file_get_info(file);
    size_t rows = rg_problem_rows(problem);
    require(rg_problem_check(problem, NULL) == RG_OK);
    require(rg_problem_scale(problem) >= 0);
    require(strlen(info.title) + strlen(info.remark) < RG_PROBLEM_MOST_BYTES);
    for (size_t i = 0; info.reference && i < rows; i++)
        require(!isnan(info.reference[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (rg_problem_is_fclib((const char *)data, size))
        return 0;
    for (int format = RG_FORMAT_AUTO; format < RG_FORMAT_FCLIB; format++) {
        rg_problem_file *file;
        rg_error error;
        rg_status status = rg_problem_file_read_memory(
            data, size, "fuzz", (rg_problem_format)format, NULL, &file, &error);
        if (status == RG_OK)
            check_problem(file);
        else
            require(!file && error.status == status && error.text[0]);
        rg_problem_file_destroy(file);
    }
    return 0;
}
