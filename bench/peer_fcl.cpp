/* FCL: collide() of two Convex bodies with contact, by its default solver. */
#include "peers.h"

#include <fcl/geometry/shape/convex.h>
#include <fcl/narrowphase/collision.h>
#include <memory>
#include <vector>

namespace {

struct body {
    std::unique_ptr<fcl::Convexd> convex;
};

void *make(const rg_shape *hull) {
    const rg_polyhedron *p = rg_shape_polyhedron(hull);
    auto vertices = std::make_shared<std::vector<fcl::Vector3d>>();
    for (uint32_t i = 0; i < p->vertex_count; i++)
        vertices->emplace_back(p->vertices[i].x, p->vertices[i].y, p->vertices[i].z);
    auto faces = std::make_shared<std::vector<int>>();
    for (uint32_t f = 0; f < p->facet_count; f++) {
        faces->push_back(static_cast<int>(p->facet_start[f + 1] - p->facet_start[f]));
        for (uint32_t k = p->facet_start[f]; k < p->facet_start[f + 1]; k++)
            faces->push_back(static_cast<int>(p->facet_vertices[k]));
    }
    auto b = new body;
    b->convex.reset(new fcl::Convexd(vertices, static_cast<int>(p->facet_count), faces, false));
    return b;
}

void release(void *b) {
    delete static_cast<body *>(b);
}

fcl::Transform3d placed(rg_pose pose) {
    fcl::Transform3d t = fcl::Transform3d::Identity();
    t.translation() = fcl::Vector3d(pose.position.x, pose.position.y, pose.position.z);
    t.linear() = fcl::Quaterniond(pose.orientation.w, pose.orientation.x, pose.orientation.y,
                                  pose.orientation.z)
                     .toRotationMatrix();
    return t;
}

double depth(void *body1, rg_pose pose1, void *body2, rg_pose pose2) {
    fcl::CollisionRequestd request(1, true);
    fcl::CollisionResultd result;
    fcl::collide<double>(static_cast<body *>(body1)->convex.get(), placed(pose1),
                         static_cast<body *>(body2)->convex.get(), placed(pose2), request, result);
    return result.isCollision() ? result.getContact(0).penetration_depth : -1;
}

} // namespace

extern "C" const peer peer_fcl = {"FCL", make, release, depth};
