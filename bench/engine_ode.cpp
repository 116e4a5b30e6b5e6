/* ODE: both of its steppers. Contacts by dCollide with friction that scales with the normal force
 * (dContactApprox1), everything else as ODE has it by default; bodies are never disabled. */
#include "cli_peer.h"

#include <ode/ode.h>

#include <cstdio>
#include <vector>

namespace {

enum { CONTACTS = 16 }; /* most of a pair of shapes */

/* A convex geom keeps pointers to these. */
struct convex_arrays {
    std::vector<dReal> planes, points;
    std::vector<unsigned> polygons;
};

struct ode_world {
    const engine_model *model;
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    std::vector<dBodyID> bodies; /* null: fixed */
    std::vector<convex_arrays> convex;
};

void meet(void *data, dGeomID a, dGeomID b) {
    auto w = static_cast<ode_world *>(data);
    dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
    if (!body_a && !body_b)
        return;
    if (body_a && body_b && dAreConnectedExcluding(body_a, body_b, dJointTypeContact))
        return;
    auto one = static_cast<const engine_body *>(dGeomGetData(a));
    auto two = static_cast<const engine_body *>(dGeomGetData(b));
    size_t pair = one->material * w->model->material_count + two->material;
    double restitution = w->model->restitution[pair];
    dContact contact[CONTACTS] = {};
    int count = dCollide(a, b, CONTACTS, &contact[0].geom, sizeof contact[0]);
    for (int c = 0; c < count; c++) {
        contact[c].surface.mode = dContactApprox1 | (restitution > 0 ? dContactBounce : 0);
        contact[c].surface.mu = w->model->friction[pair];
        contact[c].surface.bounce = restitution;
        dJointAttach(dJointCreateContact(w->world, w->contacts, &contact[c]), body_a, body_b);
    }
}

/* In the body's frame: a polygon is its number of corners, then these, counter-clockwise. */
dGeomID make_convex(const engine_body &body, dSpaceID space, convex_arrays &arrays) {
    const rg_polyhedron *p = body.hull;
    for (uint32_t i = 0; i < p->vertex_count; i++) {
        rg_vec3 at = rg_pose_apply(body.shape_pose, p->vertices[i]);
        arrays.points.insert(arrays.points.end(), {at.x, at.y, at.z});
    }
    for (uint32_t i = 0; i < p->facet_count; i++) {
        rg_vec3 n = rg_rotate(body.shape_pose.orientation, p->normals[i]);
        rg_vec3 on =
            rg_pose_apply(body.shape_pose, p->vertices[p->facet_vertices[p->facet_start[i]]]);
        arrays.planes.insert(arrays.planes.end(), {n.x, n.y, n.z, rg_dot(n, on)});
        arrays.polygons.push_back(p->facet_start[i + 1] - p->facet_start[i]);
        for (uint32_t k = p->facet_start[i]; k < p->facet_start[i + 1]; k++)
            arrays.polygons.push_back(p->facet_vertices[k]);
    }
    return dCreateConvex(space, arrays.planes.data(), p->facet_count, arrays.points.data(),
                         p->vertex_count, arrays.polygons.data());
}

dGeomID make_geom(const engine_body &body, dSpaceID space, convex_arrays &arrays) {
    switch (body.shape) {
    case ENGINE_HALFSPACE:
        return dCreatePlane(space, body.normal.x, body.normal.y, body.normal.z, body.offset);
    case ENGINE_BOX:
        return dCreateBox(space, body.size.x, body.size.y, body.size.z);
    case ENGINE_SPHERE:
        return dCreateSphere(space, body.radius);
    default:
        return make_convex(body, space, arrays);
    }
}

dBodyID make_body(const engine_body &body, dWorldID world) {
    dBodyID id = dBodyCreate(world);
    dMass mass;
    dMassSetParameters(&mass, body.mass, 0, 0, 0, body.inertia.x, body.inertia.y, body.inertia.z, 0,
                       0, 0);
    dBodySetMass(id, &mass);
    dBodySetLinearVel(id, body.velocity.x, body.velocity.y, body.velocity.z);
    dBodySetAngularVel(id, body.angular_velocity.x, body.angular_velocity.y,
                       body.angular_velocity.z);
    return id;
}

/* Hulls have the body's frame already. */
void place(const engine_body &body, dGeomID geom, dBodyID id) {
    rg_pose pose = body.pose;
    if (body.shape != ENGINE_HULL)
        pose = rg_pose_compose(body.pose, body.shape_pose);
    dQuaternion frame = {body.pose.orientation.w, body.pose.orientation.x, body.pose.orientation.y,
                         body.pose.orientation.z};
    dQuaternion turned = {pose.orientation.w, pose.orientation.x, pose.orientation.y,
                          pose.orientation.z};
    if (id) {
        dBodySetPosition(id, body.pose.position.x, body.pose.position.y, body.pose.position.z);
        dBodySetQuaternion(id, frame);
        dGeomSetBody(geom, id);
        if (body.shape != ENGINE_HULL) {
            dGeomSetOffsetWorldPosition(geom, pose.position.x, pose.position.y, pose.position.z);
            dGeomSetOffsetWorldQuaternion(geom, turned);
        }
    } else if (body.shape != ENGINE_HALFSPACE) {
        dGeomSetPosition(geom, pose.position.x, pose.position.y, pose.position.z);
        dGeomSetQuaternion(geom, turned);
    }
}

void join(const engine_joint &joint, const ode_world *w) {
    dBodyID body[2];
    for (int i = 0; i < 2; i++)
        body[i] = joint.body[i] == SIZE_MAX ? nullptr : w->bodies[joint.body[i]];
    rg_vec3 p = joint.point, z = joint.axis;
    dJointID id = joint.kind == ENGINE_HINGE ? dJointCreateHinge(w->world, nullptr)
                                             : dJointCreateBall(w->world, nullptr);
    dJointAttach(id, body[0], body[1]);
    if (joint.kind == ENGINE_HINGE) {
        dJointSetHingeAnchor(id, p.x, p.y, p.z);
        dJointSetHingeAxis(id, z.x, z.y, z.z);
    } else {
        dJointSetBallAnchor(id, p.x, p.y, p.z);
    }
}

void *create(const engine_model *model, char *message, size_t room) {
    if (!dCheckConfiguration("ODE_double_precision")) {
        snprintf(message, room, "this ODE is not built in doubles");
        return nullptr;
    }
    dInitODE2(0);
    auto w = new ode_world{};
    w->model = model;
    w->world = dWorldCreate();
    w->space = dHashSpaceCreate(nullptr);
    w->contacts = dJointGroupCreate(0);
    w->convex.resize(model->body_count);
    dWorldSetGravity(w->world, model->gravity.x, model->gravity.y, model->gravity.z);
    for (size_t i = 0; i < model->body_count; i++) {
        const engine_body &body = model->bodies[i];
        dGeomID geom = make_geom(body, w->space, w->convex[i]);
        dGeomSetData(geom, const_cast<engine_body *>(&body));
        dBodyID id = body.mass > 0 ? make_body(body, w->world) : nullptr;
        place(body, geom, id);
        w->bodies.push_back(id);
    }
    for (size_t i = 0; i < model->joint_count; i++)
        join(model->joints[i], w);
    return w;
}

void detect(ode_world *w) {
    for (size_t i = 0; i < w->bodies.size(); i++) {
        rg_vec3 f = w->model->bodies[i].force;
        if (w->bodies[i])
            dBodyAddForce(w->bodies[i], f.x, f.y, f.z);
    }
    dSpaceCollide(w->space, w, meet);
}

bool step_quick(void *world) {
    auto w = static_cast<ode_world *>(world);
    detect(w);
    bool made = dWorldQuickStep(w->world, w->model->step) != 0; /* 0: no memory */
    dJointGroupEmpty(w->contacts);
    return made;
}

bool step_exact(void *world) {
    auto w = static_cast<ode_world *>(world);
    detect(w);
    bool made = dWorldStep(w->world, w->model->step) != 0; /* 0: no memory */
    dJointGroupEmpty(w->contacts);
    return made;
}

void read(void *world, engine_state *states) {
    auto w = static_cast<ode_world *>(world);
    for (size_t i = 0; i < w->bodies.size(); i++) {
        dBodyID id = w->bodies[i];
        if (!id)
            continue;
        const dReal *x = dBodyGetPosition(id), *q = dBodyGetQuaternion(id);
        const dReal *v = dBodyGetLinearVel(id), *o = dBodyGetAngularVel(id);
        states[i] = {
            {{x[0], x[1], x[2]}, {q[1], q[2], q[3], q[0]}}, {v[0], v[1], v[2]}, {o[0], o[1], o[2]}};
    }
}

void destroy(void *world) {
    auto w = static_cast<ode_world *>(world);
    dJointGroupDestroy(w->contacts);
    dSpaceDestroy(w->space);
    dWorldDestroy(w->world);
    dCloseODE();
    delete w;
}

#define VERSION "ODE " ENGINE_VERSION
const engine quick = {"ode-quick", "ODE quick", VERSION, create, step_quick, read, destroy};
const engine exact = {"ode-exact", "ODE exact", VERSION, create, step_exact, read, destroy};
const engine *const list[] = {&quick, &exact, nullptr};

} // namespace

const engine *const *rigor_bench_engines(void) {
    return list;
}
