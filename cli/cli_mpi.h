/* Between `rigor` and its module for MPI (mpi/module_mpi.c): the command itself is built and runs
 * without MPI, and loads the module only when mpirun has started it. */
#ifndef RIGOR_CLI_MPI_H
#define RIGOR_CLI_MPI_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_mpi {
    int rank, size;
    /* Small messages, kept in order between two ranks. */
    void (*send)(int to, int kind, const void *bytes, size_t size);
    /* Takes a message that has come, from any rank; false if there is none. `room` must suffice. */
    bool (*receive)(int *from, int *kind, void *bytes, size_t room, size_t *size);
    void (*finish)(void); /* waits for all ranks */
} cli_mpi;

/* What the module is looked up by: starts MPI; null if that fails. */
typedef const cli_mpi *cli_mpi_start_function(void);
#define CLI_MPI_START "rigor_mpi_start"

#endif
