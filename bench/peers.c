/* The peers that were found when the benchmarks were configured. */
#include "peers.h"

const peer *const peers[] = {
#ifdef HAVE_CCD
    &peer_ccd,
#endif
#ifdef HAVE_FCL
    &peer_fcl,
#endif
#ifdef HAVE_BULLET
    &peer_bullet,
#endif
    NULL,
};
