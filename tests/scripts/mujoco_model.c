/* mujoco_model MODEL: what MuJoCo reads from a model, as numbers, and where it puts the bodies for
 * coordinates that are given on standard input. For tests/scripts/test_robot.py. */
#include <mujoco/mujoco.h>
#include <stdio.h>

static void numbers(const char *what, const mjtNum *values, int count) {
    printf(" %s", what);
    for (int i = 0; i < count; i++)
        printf(" %.17g", values[i]);
}

static void print_bodies(const mjModel *m) {
    for (int i = 0; i < m->nbody; i++) {
        printf("body\t%s\t%d %d", mj_id2name(m, mjOBJ_BODY, i), m->body_parentid[i],
               m->body_weldid[i]);
        numbers("mass", &m->body_mass[i], 1);
        numbers("inertia", &m->body_inertia[3 * i], 3);
        printf("\n");
    }
    for (int i = 0; i < m->njnt; i++) {
        const char *name = mj_id2name(m, mjOBJ_JOINT, i);
        printf("joint\t%s\t%d %d %d\n", name ? name : "", m->jnt_type[i], m->jnt_bodyid[i],
               m->jnt_qposadr[i]);
    }
    printf("reference\t-\t");
    numbers("qpos", m->qpos0, m->nq);
    printf("\n");
}

static void print_places(const mjModel *m, const mjData *d) {
    for (int i = 0; i < m->nbody; i++) {
        printf("place\t%d\t", i);
        numbers("pos", &d->xpos[3 * i], 3);
        numbers("quat", &d->xquat[4 * i], 4);
        numbers("centre", &d->xipos[3 * i], 3);
        numbers("axes", &d->ximat[9 * i], 9);
        printf("\n");
    }
    for (int i = 0; i < m->njnt; i++) {
        printf("axis\t%d\t", i);
        numbers("axis", &d->xaxis[3 * i], 3);
        numbers("anchor", &d->xanchor[3 * i], 3);
        printf("\n");
    }
    for (int i = 0; i < m->ntendon; i++) {
        printf("tendon\t%s\t", mj_id2name(m, mjOBJ_TENDON, i));
        numbers("length", &d->ten_length[i], 1);
        printf("\n");
    }
    /* Accelerations from rest, without contacts and limits. */
    for (int i = 0; i < m->njnt; i++) {
        printf("acceleration\t%d\t", i);
        numbers("qacc", &d->qacc[m->jnt_dofadr[i]], 1);
        printf("\n");
    }
    printf("end\n");
}

int main(int count, char **arguments) {
    char error[1000] = "";
    mjModel *m = count == 2 ? mj_loadXML(arguments[1], NULL, error, sizeof error) : NULL;
    if (!m) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    m->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_LIMIT | mjDSBL_EQUALITY | mjDSBL_FRICTIONLOSS;
    mjData *d = mj_makeData(m);
    print_bodies(m);
    for (;;) {
        mj_kinematics(m, d);
        mj_forward(m, d);
        print_places(m, d);
        for (int i = 0; i < m->nq; i++)
            if (scanf("%lf", &d->qpos[i]) != 1)
                return 0;
        if (m->nq == 0)
            return 0;
    }
}
