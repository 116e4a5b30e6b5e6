// Bullet in bench_bunnies: the triangles of a mesh by GImpact, or its convex parts.
#include "bench_bunnies.h"
#include "rigor/math.h"

#include <BulletCollision/Gimpact/btGImpactCollisionAlgorithm.h>
#include <BulletCollision/Gimpact/btGImpactShape.h>
#include <btBulletDynamicsCommon.h>

#include <ctime>
#include <memory>
#include <vector>

static double now() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

static btVector3 vector_of(rg_vec3 v) {
    return btVector3(btScalar(v.x), btScalar(v.y), btScalar(v.z));
}

using shape_list = std::vector<std::unique_ptr<btCollisionShape>>;

static void add_triangles(const rg_mesh *mesh, const btVector3 &centre, btTriangleMesh *surface) {
    for (size_t i = 0; i < 3 * mesh->triangle_count; i += 3) {
        btVector3 p[3];
        for (size_t k = 0; k < 3; k++)
            p[k] = vector_of(mesh->vertices[mesh->triangles[i + k]]) - centre;
        surface->addTriangle(p[0], p[1], p[2]);
    }
}

// The hulls go to the list.
static btCompoundShape *compound_of(const rg_decomposition *d, const btVector3 &centre,
                                    shape_list *hulls) {
    auto *compound = new btCompoundShape;
    for (size_t i = 0; i < d->part_count; i++) {
        const rg_polyhedron *p = rg_shape_polyhedron(d->parts[i]);
        auto *hull = new btConvexHullShape;
        for (uint32_t k = 0; k < p->vertex_count; k++)
            hull->addPoint(vector_of(p->vertices[k]) - centre, false);
        hull->recalcLocalAabb();
        hull->setMargin(0);
        hulls->emplace_back(hull);
        compound->addChildShape(btTransform::getIdentity(), hull);
    }
    return compound;
}

static void copy_poses(const std::vector<std::unique_ptr<btRigidBody>> &bodies, rg_vec3 centre,
                       bunny_run *run) {
    for (size_t i = 0; i < run->count; i++) {
        const btTransform &t = bodies[5 + i]->getWorldTransform();
        btQuaternion q = t.getRotation();
        rg_pose pose = {{t.getOrigin().x(), t.getOrigin().y(), t.getOrigin().z()},
                        {q.x(), q.y(), q.z(), q.w()}};
        pose.position = rg_sub(pose.position, rg_rotate(pose.orientation, centre));
        run->poses[i] = pose;
    }
}

void bunny_run_bullet(const rg_mesh *mesh, const rg_decomposition *d, bool triangles,
                      bunny_run *run) {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher(&configuration);
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
    btGImpactCollisionAlgorithm::registerAlgorithm(&dispatcher);
    world.setGravity(btVector3(0, 0, btScalar(-9.81)));

    rg_mass_properties mass;
    rg_mesh_mass(mesh, 1000, &mass, nullptr);
    shape_list shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    btTriangleMesh surface;
    std::unique_ptr<btCollisionShape> shape;
    add_triangles(mesh, vector_of(mass.centre), &surface);
    if (triangles) {
        auto *whole = new btGImpactMeshShape(&surface);
        whole->setMargin(0);
        whole->updateBound();
        shape.reset(whole);
    } else {
        shape.reset(compound_of(d, vector_of(mass.centre), &shapes));
    }
    const btVector3 normals[5] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    for (int i = 0; i < 5; i++) {
        auto *plane = new btStaticPlaneShape(normals[i], btScalar(i ? -run->wall : 0));
        shapes.emplace_back(plane);
        bodies.emplace_back(new btRigidBody(0, nullptr, plane));
    }
    // The inertia of a scanned body is not diagonal; Bullet gets its diagonal.
    btVector3 inertia(btScalar(mass.inertia.m[0][0]), btScalar(mass.inertia.m[1][1]),
                      btScalar(mass.inertia.m[2][2]));
    for (size_t i = 0; i < run->count; i++) {
        auto *body = new btRigidBody(btScalar(mass.mass), nullptr, shape.get(), inertia);
        rg_quat q = run->poses[i].orientation;
        btTransform pose(btQuaternion(btScalar(q.x), btScalar(q.y), btScalar(q.z), btScalar(q.w)),
                         vector_of(rg_pose_apply(run->poses[i], mass.centre)));
        body->setWorldTransform(pose);
        bodies.emplace_back(body);
    }
    for (auto &body : bodies) {
        body->setFriction(btScalar(0.70710678)); // their product is 0.5
        body->setActivationState(DISABLE_DEACTIVATION);
        world.addRigidBody(body.get());
    }
    double start = now();
    for (size_t i = 0; i < run->steps; i++)
        world.stepSimulation(btScalar(run->step), 0);
    run->time = now() - start;
    copy_poses(bodies, mass.centre, run);
    for (auto &body : bodies)
        world.removeRigidBody(body.get());
}
