/* MuJoCo: a model written as MJCF text, Newton's method with elliptic cones, everything else as
 * MuJoCo has it by default. Its contacts are soft by design and have no coefficient of
 * restitution: worlds with one are refused. */
#include "cli_peer.h"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct mujoco_world {
    const engine_model *model;
    mjModel *made;
    mjData *data;
    std::vector<int> body; /* MuJoCo's number; -1: fixed */
};

__attribute__((format(printf, 2, 3))) void say(std::string &text, const char *format, ...) {
    char line[512];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    text += line;
}

/* MuJoCo takes the larger coefficient of two geoms: those of the materials with themselves must
 * give the laws of all pairs of bodies that way. */
bool frictions_combine(const engine_model *model) {
    size_t n = model->material_count;
    std::vector<bool> used(n), moves(n);
    for (size_t b = 0; b < model->body_count; b++) {
        used[model->bodies[b].material] = true;
        if (model->bodies[b].mass > 0)
            moves[model->bodies[b].material] = true;
    }
    for (size_t i = 0; i < n * n; i++) {
        double larger =
            std::max(model->friction[i / n * (n + 1)], model->friction[i % n * (n + 1)]);
        if (moves[i / n] && used[i % n] && std::abs(model->friction[i] - larger) > 1e-12 * larger)
            return false;
    }
    return true;
}

bool bounces(const engine_model *model) {
    for (size_t i = 0; i < model->material_count * model->material_count; i++)
        if (model->restitution[i] > 0)
            return true;
    return false;
}

void say_pose(std::string &text, rg_pose pose) {
    say(text, " pos=\"%.17g %.17g %.17g\" quat=\"%.17g %.17g %.17g %.17g\"", pose.position.x,
        pose.position.y, pose.position.z, pose.orientation.w, pose.orientation.x,
        pose.orientation.y, pose.orientation.z);
}

void say_geom(std::string &text, const engine_model *model, size_t i) {
    const engine_body &body = model->bodies[i];
    double mu = model->friction[body.material * (model->material_count + 1)];
    /* A friction of 0 is no valid contact: such contacts have the normal direction only. */
    say(text, "<geom condim=\"%d\" friction=\"%.17g 0.005 0.0001\"", mu > 0 ? 3 : 1,
        mu > 0 ? mu : 1);
    if (body.shape == ENGINE_HALFSPACE) {
        rg_vec3 at = rg_scale(body.offset, body.normal);
        say(text,
            " type=\"plane\" size=\"0 0 1\" pos=\"%.17g %.17g %.17g\" zaxis=\"%.17g %.17g %.17g\"",
            at.x, at.y, at.z, body.normal.x, body.normal.y, body.normal.z);
    } else {
        say_pose(text,
                 body.mass > 0 ? body.shape_pose : rg_pose_compose(body.pose, body.shape_pose));
    }
    if (body.shape == ENGINE_BOX)
        say(text, " type=\"box\" size=\"%.17g %.17g %.17g\"", body.size.x / 2, body.size.y / 2,
            body.size.z / 2);
    if (body.shape == ENGINE_SPHERE)
        say(text, " type=\"sphere\" size=\"%.17g\"", body.radius);
    if (body.shape == ENGINE_HULL)
        say(text, " type=\"mesh\" mesh=\"m%zu\"", i);
    text += "/>\n";
}

void say_body(std::string &text, const engine_model *model, size_t i) {
    const engine_body &body = model->bodies[i];
    say(text, "<body name=\"b%zu\"", i);
    say_pose(text, body.pose);
    say(text,
        "><freejoint/><inertial pos=\"0 0 0\" mass=\"%.17g\" diaginertia=\"%.17g %.17g %.17g\"/>",
        body.mass, body.inertia.x, body.inertia.y, body.inertia.z);
    say_geom(text, model, i);
    text += "</body>\n";
}

std::string write_model(const engine_model *model) {
    /* What MuJoCo makes room for grows with the square of the rows: as much as scenes here need,
     * and not the default's five times as much. */
    size_t contacts = 64, freedoms = 0;
    for (size_t i = 0; i < model->body_count; i++)
        if (model->bodies[i].mass > 0)
            contacts += model->bodies[i].shape == ENGINE_SPHERE ? 7 : 14, freedoms += 6;
    size_t rows = 3 * contacts;
    std::string text = "<mujoco><compiler balanceinertia=\"false\" boundmass=\"0\"/>\n";
    say(text, "<size nconmax=\"%zu\" njmax=\"%zu\" nstack=\"%zu\"/>\n", contacts, rows,
        4 * freedoms * freedoms + 4 * rows * (freedoms + 64));
    say(text, "<option timestep=\"%.17g\" gravity=\"%.17g %.17g %.17g\" cone=\"elliptic\"/>\n",
        model->step, model->gravity.x, model->gravity.y, model->gravity.z);
    text += "<asset>\n";
    for (size_t i = 0; i < model->body_count; i++) {
        const rg_polyhedron *hull = model->bodies[i].hull;
        if (model->bodies[i].shape != ENGINE_HULL)
            continue;
        say(text, "<mesh name=\"m%zu\" vertex=\"", i);
        for (uint32_t k = 0; k < hull->vertex_count; k++)
            say(text, "%.17g %.17g %.17g ", hull->vertices[k].x, hull->vertices[k].y,
                hull->vertices[k].z);
        text += "\"/>\n";
    }
    text += "</asset><worldbody>\n";
    for (size_t i = 0; i < model->body_count; i++)
        if (model->bodies[i].mass > 0)
            say_body(text, model, i);
        else
            say_geom(text, model, i);
    return text + "</worldbody></mujoco>\n";
}

mjModel *load(const std::string &text, char *message, size_t room) {
    auto files = new mjVFS;
    mj_defaultVFS(files);
    mjModel *made = nullptr;
    snprintf(message, room, "MuJoCo's file system is full");
    if (mj_makeEmptyFileVFS(files, "model.xml", int(text.size()) + 1) == 0) {
        int place = mj_findFileVFS(files, "model.xml");
        memcpy(files->filedata[place], text.c_str(), text.size() + 1);
        files->filesize[place] = int(text.size());
        made = mj_loadXML("model.xml", files, message, int(room));
    }
    mj_deleteVFS(files);
    delete files;
    return made;
}

/* A free joint has seven positions; its velocities are linear in world axes, angular in the
 * body's. */
void start(mujoco_world *w) {
    w->data = mj_makeData(w->made);
    for (size_t i = 0; i < w->model->body_count; i++) {
        const engine_body &body = w->model->bodies[i];
        w->body.push_back(-1);
        if (!(body.mass > 0))
            continue;
        char name[32];
        snprintf(name, sizeof name, "b%zu", i);
        int id = w->body[i] = mj_name2id(w->made, mjOBJ_BODY, name);
        mjtNum *v = w->data->qvel + w->made->body_dofadr[id];
        rg_vec3 turn = rg_rotate(rg_quat_conjugate(body.pose.orientation), body.angular_velocity);
        v[0] = body.velocity.x, v[1] = body.velocity.y, v[2] = body.velocity.z;
        v[3] = turn.x, v[4] = turn.y, v[5] = turn.z;
        w->data->xfrc_applied[6 * id] = body.force.x;
        w->data->xfrc_applied[6 * id + 1] = body.force.y;
        w->data->xfrc_applied[6 * id + 2] = body.force.z;
    }
}

void be_quiet(const char *) {}

void *create(const engine_model *model, char *message, size_t room) {
    if (bounces(model)) {
        snprintf(message, room, "MuJoCo has no coefficient of restitution");
        return nullptr;
    }
    if (model->joint_count) {
        snprintf(message, room, "joints are not written for MuJoCo");
        return nullptr;
    }
    if (!frictions_combine(model)) {
        snprintf(message, room, "MuJoCo takes the larger of two coefficients of friction");
        return nullptr;
    }
    mju_user_warning = be_quiet; /* it would write a file */
    mjModel *made = load(write_model(model), message, room);
    if (!made)
        return nullptr;
    auto w = new mujoco_world{model, made, nullptr, {}};
    start(w);
    return w;
}

bool step(void *world) {
    auto w = static_cast<mujoco_world *>(world);
    mj_step(w->made, w->data);
    /* It goes on without the contacts that it has no room for, and starts anew after bad numbers. */
    const mjWarningStat *warning = w->data->warning;
    return !warning[mjWARN_CONTACTFULL].number && !warning[mjWARN_CNSTRFULL].number &&
           !warning[mjWARN_BADQPOS].number && !warning[mjWARN_BADQVEL].number &&
           !warning[mjWARN_BADQACC].number;
}

void read(void *world, engine_state *states) {
    auto w = static_cast<mujoco_world *>(world);
    for (size_t i = 0; i < w->body.size(); i++) {
        int id = w->body[i];
        if (id < 0)
            continue;
        const mjtNum *x = w->data->qpos + w->made->jnt_qposadr[w->made->body_jntadr[id]];
        const mjtNum *v = w->data->qvel + w->made->body_dofadr[id];
        rg_quat q = {x[4], x[5], x[6], x[3]};
        states[i] = {
            {{x[0], x[1], x[2]}, q}, {v[0], v[1], v[2]}, rg_rotate(q, rg_vec3{v[3], v[4], v[5]})};
    }
}

void destroy(void *world) {
    auto w = static_cast<mujoco_world *>(world);
    mj_deleteData(w->data);
    mj_deleteModel(w->made);
    delete w;
}

const engine mujoco = {"mujoco", "MuJoCo", "MuJoCo " ENGINE_VERSION, create, step, read, destroy};
const engine *const list[] = {&mujoco, nullptr};

} // namespace

const engine *const *rigor_bench_engines(void) {
    return list;
}
