/* Other libraries behind one small interface, for bench_narrow. A shim exists where its library is
 * installed; a table of those present is in peers.c. */
#ifndef RIGOR_BENCH_PEERS_H
#define RIGOR_BENCH_PEERS_H

#include "rigor/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peer {
    const char *name;
    void *(*make)(const rg_shape *hull); /* a hull with rg_shape_polyhedron */
    void (*release)(void *body);
    /* Depth of two overlapping bodies in metres, negative if it says that they do not overlap. */
    double (*depth)(void *body1, rg_pose pose1, void *body2, rg_pose pose2);
} peer;

extern const peer peer_ccd, peer_fcl, peer_bullet;
/* Ends with a null name. */
extern const peer *const peers[];

#ifdef __cplusplus
}
#endif
#endif
