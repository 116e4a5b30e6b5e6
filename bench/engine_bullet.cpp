/* Bullet (its build in floats, which is the usual one): sequential impulses with its default
 * settings. Bodies never sleep; hulls get no margin, which would keep them apart by 4 cm each. */
#include "cli_peer.h"

#include <btBulletDynamicsCommon.h>

#include <cstdio>
#include <memory>
#include <vector>

namespace {

struct bullet_world {
    const engine_model *model;
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broad_phase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broad_phase, &solver, &configuration};
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::vector<std::unique_ptr<btTypedConstraint>> joints;
};

btVector3 to_bullet(rg_vec3 v) {
    return btVector3(btScalar(v.x), btScalar(v.y), btScalar(v.z));
}

btTransform to_bullet(rg_pose pose) {
    rg_quat q = pose.orientation;
    return btTransform(btQuaternion(btScalar(q.x), btScalar(q.y), btScalar(q.z), btScalar(q.w)),
                       to_bullet(pose.position));
}

/* Bullet multiplies the coefficients of the bodies; these are the laws of the pair. One world per
 * process: the callbacks have no argument to find it by. */
const engine_model *model_of_pairs;

size_t pair_of(const btCollisionObject *a, const btCollisionObject *b) {
    return size_t(a->getUserIndex()) * model_of_pairs->material_count + size_t(b->getUserIndex());
}

btScalar friction_of(const btCollisionObject *a, const btCollisionObject *b) {
    return btScalar(model_of_pairs->friction[pair_of(a, b)]);
}

btScalar restitution_of(const btCollisionObject *a, const btCollisionObject *b) {
    return btScalar(model_of_pairs->restitution[pair_of(a, b)]);
}

btCollisionShape *make_hull(const engine_body &body) {
    auto hull = new btConvexHullShape;
    for (uint32_t i = 0; i < body.hull->vertex_count; i++)
        hull->addPoint(to_bullet(rg_pose_apply(body.shape_pose, body.hull->vertices[i])), false);
    hull->recalcLocalAabb();
    hull->setMargin(0);
    return hull;
}

/* In the body's frame. */
btCollisionShape *make_shape(const engine_body &body, bullet_world *w) {
    btCollisionShape *shape;
    switch (body.shape) {
    case ENGINE_HALFSPACE: /* world coordinates; its body stays at the origin */
        return new btStaticPlaneShape(to_bullet(body.normal), btScalar(body.offset));
    case ENGINE_HULL:
        return make_hull(body);
    case ENGINE_BOX:
        shape = new btBoxShape(to_bullet(rg_scale(0.5, body.size)));
        break;
    default:
        shape = new btSphereShape(btScalar(body.radius));
    }
    btTransform inner = to_bullet(body.shape_pose);
    if (inner == btTransform::getIdentity())
        return shape;
    w->shapes.emplace_back(shape);
    auto compound = new btCompoundShape;
    compound->addChildShape(inner, shape);
    return compound;
}

void add(bullet_world *w, const engine_body &body) {
    btCollisionShape *shape = make_shape(body, w);
    w->shapes.emplace_back(shape);
    btRigidBody::btRigidBodyConstructionInfo info(btScalar(body.mass), nullptr, shape,
                                                  to_bullet(body.inertia));
    if (body.shape != ENGINE_HALFSPACE)
        info.m_startWorldTransform = to_bullet(body.pose);
    auto made = new btRigidBody(info);
    w->bodies.emplace_back(made);
    made->setUserIndex(int(body.material));
    made->setFriction(1), made->setRestitution(1); /* the callbacks have the values */
    made->setActivationState(DISABLE_DEACTIVATION);
    made->setLinearVelocity(to_bullet(body.velocity));
    made->setAngularVelocity(to_bullet(body.angular_velocity));
    w->world.addRigidBody(made);
}

/* Its constraints want a body: what is joined to the world is the first of the two then. */
void join(bullet_world *w, const engine_joint &joint) {
    auto at = [&](int i) {
        return joint.body[i] == SIZE_MAX ? nullptr : w->bodies[joint.body[i]].get();
    };
    btRigidBody *one = at(0) ? at(0) : at(1), *two = at(0) ? at(1) : nullptr;
    auto local = [&](btRigidBody *body) {
        return body->getWorldTransform().inverse() * to_bullet(joint.point);
    };
    auto axis = [&](btRigidBody *body) {
        return body->getWorldTransform().getBasis().transpose() * to_bullet(joint.axis);
    };
    btTypedConstraint *made;
    if (joint.kind == ENGINE_BALL)
        made = two ? new btPoint2PointConstraint(*one, *two, local(one), local(two))
                   : new btPoint2PointConstraint(*one, local(one));
    else
        made = two ? new btHingeConstraint(*one, *two, local(one), local(two), axis(one), axis(two))
                   : new btHingeConstraint(*one, local(one), axis(one));
    w->joints.emplace_back(made);
    w->world.addConstraint(made, true);
}

void *create(const engine_model *model, char *, size_t) {
    auto w = new bullet_world;
    w->model = model_of_pairs = model;
    gCalculateCombinedFrictionCallback = friction_of;
    gCalculateCombinedRestitutionCallback = restitution_of;
    w->world.setGravity(to_bullet(model->gravity));
    for (size_t i = 0; i < model->body_count; i++)
        add(w, model->bodies[i]);
    for (size_t i = 0; i < model->joint_count; i++)
        join(w, model->joints[i]);
    return w;
}

bool step(void *world) {
    auto w = static_cast<bullet_world *>(world);
    for (size_t i = 0; i < w->bodies.size(); i++)
        if (rg_length(w->model->bodies[i].force) > 0)
            w->bodies[i]->applyCentralForce(to_bullet(w->model->bodies[i].force));
    w->world.stepSimulation(btScalar(w->model->step), 0);
    return true;
}

rg_vec3 from_bullet(const btVector3 &v) {
    return {v.x(), v.y(), v.z()};
}

void read(void *world, engine_state *states) {
    auto w = static_cast<bullet_world *>(world);
    for (size_t i = 0; i < w->bodies.size(); i++) {
        const btRigidBody &body = *w->bodies[i];
        const btTransform &at = body.getWorldTransform();
        btQuaternion q = at.getRotation();
        if (!body.isStaticObject())
            states[i] = {{from_bullet(at.getOrigin()), {q.x(), q.y(), q.z(), q.w()}},
                         from_bullet(body.getLinearVelocity()),
                         from_bullet(body.getAngularVelocity())};
    }
}

void destroy(void *world) {
    auto w = static_cast<bullet_world *>(world);
    for (auto &joint : w->joints)
        w->world.removeConstraint(joint.get());
    for (auto &body : w->bodies)
        w->world.removeRigidBody(body.get());
    delete w;
}

const engine bullet = {"bullet", "Bullet", "Bullet " ENGINE_VERSION, create, step, read, destroy};
const engine *const list[] = {&bullet, nullptr};

} // namespace

const engine *const *rigor_bench_engines(void) {
    return list;
}
