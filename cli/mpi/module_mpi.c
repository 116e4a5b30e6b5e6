/* rigor-mpi.so: messages between the ranks of `mpirun -n N rigor sweep`. All there is to know of
 * MPI is here. Tested by tests/scripts/test_run_mpi.py. */
#include "../cli_mpi.h"

#include <mpi.h>

static cli_mpi state;

static void send_message(int to, int kind, const void *bytes, size_t size) {
    MPI_Send(bytes, (int)size, MPI_BYTE, to, kind, MPI_COMM_WORLD);
}

static bool receive_message(int *from, int *kind, void *bytes, size_t room, size_t *size) {
    int there = 0, count = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (!there)
        return false;
    MPI_Recv(bytes, (int)room, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
             &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    *from = status.MPI_SOURCE, *kind = status.MPI_TAG, *size = (size_t)count;
    return true;
}

static void finish(void) {
    MPI_Finalize();
}

const cli_mpi *rigor_mpi_start(void);

/* Failures of MPI itself end the job, as is MPI's default. */
const cli_mpi *rigor_mpi_start(void) {
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return NULL;
    state = (cli_mpi){.send = send_message, .receive = receive_message, .finish = finish};
    MPI_Comm_rank(MPI_COMM_WORLD, &state.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &state.size);
    return &state;
}
