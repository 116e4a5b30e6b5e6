/* Bullet: the pair detector of its narrow phase (GJK) with EPA for depth, margins 0. */
#include "peers.h"

#include <BulletCollision/CollisionShapes/btConvexHullShape.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpaPenetrationDepthSolver.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkPairDetector.h>
#include <BulletCollision/NarrowPhaseCollision/btPointCollector.h>
#include <BulletCollision/NarrowPhaseCollision/btVoronoiSimplexSolver.h>

namespace {

void *make(const rg_shape *hull) {
    const rg_polyhedron *p = rg_shape_polyhedron(hull);
    auto shape = new btConvexHullShape;
    for (uint32_t i = 0; i < p->vertex_count; i++)
        shape->addPoint(btVector3(btScalar(p->vertices[i].x), btScalar(p->vertices[i].y),
                                  btScalar(p->vertices[i].z)),
                        false);
    shape->recalcLocalAabb();
    shape->setMargin(0);
    return shape;
}

void release(void *b) {
    delete static_cast<btConvexHullShape *>(b);
}

btTransform placed(rg_pose pose) {
    return btTransform(
        btQuaternion(btScalar(pose.orientation.x), btScalar(pose.orientation.y),
                     btScalar(pose.orientation.z), btScalar(pose.orientation.w)),
        btVector3(btScalar(pose.position.x), btScalar(pose.position.y), btScalar(pose.position.z)));
}

double depth(void *body1, rg_pose pose1, void *body2, rg_pose pose2) {
    btVoronoiSimplexSolver simplex;
    btGjkEpaPenetrationDepthSolver epa;
    btGjkPairDetector detector(static_cast<btConvexHullShape *>(body1),
                               static_cast<btConvexHullShape *>(body2), &simplex, &epa);
    btGjkPairDetector::ClosestPointInput input;
    input.m_transformA = placed(pose1);
    input.m_transformB = placed(pose2);
    btPointCollector collector;
    detector.getClosestPoints(input, collector, nullptr);
    return collector.m_hasResult ? -double(collector.m_distance) : -1;
}

} // namespace

extern "C" const peer peer_bullet = {"Bullet", make, release, depth};
