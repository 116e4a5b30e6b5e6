/* libccd: GJK and EPA. It takes support functions from outside and gets ours, which climb. */
#include "peers.h"

#include <ccd/ccd.h>
#include <ccd/quat.h>
#include <stdlib.h>

typedef struct body {
    const rg_shape *shape;
    ccd_vec3_t position;
    ccd_quat_t orientation;
    uint32_t hint;
} body;

static void *make(const rg_shape *hull) {
    body *b = calloc(1, sizeof *b);
    b->shape = hull;
    return b;
}

static void place(body *b, rg_pose pose) {
    ccdVec3Set(&b->position, pose.position.x, pose.position.y, pose.position.z);
    ccdQuatSet(&b->orientation, pose.orientation.x, pose.orientation.y, pose.orientation.z,
               pose.orientation.w);
    b->hint = 0;
}

static void support(const void *object, const ccd_vec3_t *direction, ccd_vec3_t *point) {
    body *b = (body *)object;
    ccd_quat_t back;
    ccd_vec3_t local = *direction;
    ccdQuatInvert2(&back, &b->orientation);
    ccdQuatRotVec(&local, &back);
    rg_vec3 d = {ccdVec3X(&local), ccdVec3Y(&local), ccdVec3Z(&local)};
    rg_vec3 p = rg_shape_support(b->shape, d, &b->hint);
    ccdVec3Set(point, p.x, p.y, p.z);
    ccdQuatRotVec(point, &b->orientation);
    ccdVec3Add(point, &b->position);
}

static double depth(void *body1, rg_pose pose1, void *body2, rg_pose pose2) {
    place(body1, pose1);
    place(body2, pose2);
    ccd_t settings;
    CCD_INIT(&settings);
    settings.support1 = settings.support2 = support;
    settings.max_iterations = 1000;
    settings.epa_tolerance = 1e-6;
    ccd_real_t d;
    ccd_vec3_t direction, position;
    return ccdGJKPenetration(body1, body2, &settings, &d, &direction, &position) == 0 ? d : -1;
}

const peer peer_ccd = {"libccd", make, free, depth};
