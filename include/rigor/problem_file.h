/* Contact problems in files (docs/problem-files.md): what other programs leave for a solver, read
 * into the arrays of rigor/complementarity.h, and our own problems written for others. Part of the
 * rigor-io library.
 *
 *     rg_problem_file *file;
 *     if (rg_problem_file_read("wall.txt", RG_FORMAT_AUTO, NULL, &file, &error) == RG_OK) {
 *         rg_solve(context, rg_solver_find("auto"), rg_problem_file_problem(file), ...);
 *         rg_problem_file_destroy(file);
 *     }
 */
#ifndef RIGOR_PROBLEM_FILE_H
#define RIGOR_PROBLEM_FILE_H

#include "rigor/complementarity.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_problem_file rg_problem_file;

/* The Siconos texts have no mark of their own: they are told apart by their content, all of which
 * has to fit. */
typedef enum rg_problem_format {
    RG_FORMAT_AUTO,            /* by content; the name of the file does not matter */
    RG_FORMAT_LCP,             /* Siconos text: w = M z + q */
    RG_FORMAT_MLCP,            /* Siconos text: the same with equations */
    RG_FORMAT_RELAY,           /* Siconos text: the same with bounds on z */
    RG_FORMAT_FRICTION,        /* Siconos text: u = W r + q with Coulomb's law, 2D or 3D */
    RG_FORMAT_GLOBAL_FRICTION, /* Siconos text: M v = q + H r, u = H' v + b */
    RG_FORMAT_SEQUENCE,        /* rigidfc3d: bodies and contacts of one time step */
    RG_FORMAT_FCLIB,           /* HDF5: fclib_local or fclib_global */
    RG_FORMATS
} rg_problem_format;
/* "auto", "lcp", "mlcp", "relay", "friction", "global-friction", "rigidfc3d", "fclib". */
const char *rg_problem_format_name(rg_problem_format format);
bool rg_problem_format_find(const char *name, rg_problem_format *format);

/* Nothing half-read remains after a failure; the message has line and column where the file is
 * text. What is read passes rg_problem_check. */
rg_status rg_problem_file_read(const char *path, rg_problem_format format,
                               const rg_allocator *allocator, rg_problem_file **file,
                               rg_error *error);
/* From memory, HDF5 too. `name` stands for the file in messages. */
rg_status rg_problem_file_read_memory(const void *data, size_t size, const char *name,
                                      rg_problem_format format, const rg_allocator *allocator,
                                      rg_problem_file **file, rg_error *error);
void rg_problem_file_destroy(rg_problem_file *file); /* null is allowed */

/* Valid as long as the file object. */
const rg_problem *rg_problem_file_problem(const rg_problem_file *file);

typedef struct rg_problem_file_info {
    rg_problem_format format; /* not auto */
    size_t freedom; /* degrees of freedom of a global form, also if it was condensed; else 0 */
    /* The file is in global form and the problem in local form: M has no blocks of at most six, or
     * a contact touches more than two of them. */
    bool condensed;
    const double *reference;   /* forces that the file gives as the best known; null: none */
    double reference_residual; /* what the file says of them (rigidfc3d: RES); negative: nothing */
    const char *title;         /* FCLIB's title, a sequence's scene and step; "" if there is none */
    const char *remark;        /* text behind the problem, FCLIB's description; "" */
} rg_problem_file_info;
rg_problem_file_info rg_problem_file_get_info(const rg_problem_file *file);

typedef struct rg_problem_text {
    const char *title, *description, *math_info; /* null: empty */
} rg_problem_text;
/* Writes a contact problem in FCLIB's form, beside its place first and then renamed into it. What
 * FCLIB has no place for (the block structure of the global form, free velocities, the polygon, the
 * scale) goes into a group `rigor` of its own, so that reading it again gives the same bits. Linear
 * problems and bounds on joints have no form in FCLIB: RG_UNSUPPORTED. `text` may be null. */
rg_status rg_problem_write_fclib(const char *path, const rg_problem *problem,
                                 const rg_problem_text *text, const rg_allocator *allocator,
                                 rg_error *error);

#ifdef __cplusplus
}
#endif
#endif
