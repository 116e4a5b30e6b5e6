/* Contacts in a fixed step, stage by stage: rows (step_contacts_rows.c), forces island by island
 * (step_contacts.c), and what is told of them (step_contacts_forces.c). step_stepping.c calls them
 * in order. */
#ifndef RIGOR_STEP_CONTACTS_H
#define RIGOR_STEP_CONTACTS_H

#include "problem/problem_islands.h"
#include "rigor/contact_force.h"
#include "rigor/solver.h"
#include "solve/solve_single.h"
#include "step/step_machinery.h"
#include "step/step_method.h"

/* Speeds are relative to |g| h (the speed that gravity gives in a step), or without gravity to the
 * largest speed at a contact of the world. */
#define RG_STEP_SLIP 1e-6 /* slower is no slip */
/* That reference is at least this share of the speeds of the bodies themselves: relative speeds are
 * differences of those, and what is left of them has no more digits (2e-16 over this is what can be
 * asked of a solver). */
#define RG_STEP_ROUNDING 1e-6
/* Of |g| h: slower approach has no restitution, so that rest stays rest. Nor has approach slower
 * than RG_STEP_ROUNDING of the speeds of the bodies, which a solve may leave. */
#define RG_STEP_IMPACT 2.0
/* Of a step: a contact that is only reached with its end, up to rounding, meets in the next one;
 * and what meets within this time of an impact takes part in it. */
#define RG_STEP_REACHED 1e-9
/* Of the smaller circumradius: contacts nearer than this take part in an impact. */
#define RG_STEP_TOUCHES 1e-9
/* By how much earlier a contact must be reached than along its tangent for that to count. */
#define RG_STEP_EARLIER 1e-6
/* Normal impulses below this share of (lighter mass) x (that speed) are none. */
#define RG_STEP_NO_FORCE 1e-9
/* Gaps up to this many units of rounding of the coordinates count as none. Points of a face whose
 * gaps differ by rounding contradict each other, and bodies at rest would never rest. */
#define RG_STEP_GAP_ROUNDING 32.0
/* Of the smaller circumradius: gaps of the points of one manifold that differ by no more count as
 * their mean. Two edges between bodies that lean on each other ask them to turn to and fro by what
 * is left of the curvature of earlier steps, some 1e-10 of their size: there is no motion nearby
 * that does both, and the exact answers are jumps. */
#define RG_STEP_FLUSH 1e-9
/* In islands of more than RG_STEP_SMALL contacts and RG_STEP_HEAP bodies, gaps and overlaps up to
 * this share of |g| h^2 count as none, but at least and at most those shares of the smaller
 * circumradius. Few bodies are no heap but a tight fit: a nut would turn on its bolt 0.5 % too
 * slowly.
 *
 * Where hundreds of contacts close loops of bodies, gaps that differ by what arcs and earlier
 * solves have left contradict each other: to meet one of them, contacts would have to open or slip,
 * with other forces throughout the heap. And a solve that ends at a residual e leaves errors of
 * gaps of e |g| h^2, which the next step is asked to take back: a heap in which nothing else
 * happens keeps itself from coming to rest. Solves that failed, and thousands of factorisations, in
 * four funnels of balls (3 s), three piles (3.5 s) and five (5 s) of stones:
 *
 *     share of |g| h^2          0   5e-4   1e-3   2e-3   5e-3   1e-2   0.05    0.2
 *     funnels of 200: failed  572    317    265           365    251    271    206
 *                     factors 101     79     73            81     76     75     68
 *     piles of 200:   failed  176    174    148           175    205    313    248
 *                     factors 173    178    174           180    194    222    281
 *     piles of 300:   failed 1578   1430          1730
 *                     factors 422    408           425
 *
 * (the first with RG_STEP_LEVEL_LEAST alone; without that piles leave three times as many). */
#define RG_STEP_LEVEL       5e-4
#define RG_STEP_LEVEL_LEAST 1e-7
#define RG_STEP_LEVEL_MOST  1e-5
#define RG_STEP_HEAP        50
/* Penetrations are pushed out no faster than the largest of: the speed at which the motion of the
 * surfaces may have caused what is new of them (with this factor of safety), and the speed that
 * rises by a quarter of the depth against gravity (so that bodies that overlap at the start do not
 * jump), or without gravity the depth over this many seconds. */
#define RG_STEP_DRIFT     4.0
#define RG_STEP_PUSH_RISE 0.5 /* v^2 / (g depth) */
#define RG_STEP_PUSH_TIME 0.1
/* Factorisations that a solve of an island may cost before the best forces that were found
 * stand, and count as failed (solve_auto.c). In the first 2.1 s of a pile of 300: 60 leave 210
 * solves unsolved and take 12.4 s, 80 leave 136 and take 13.8 s. With no more contacts than
 * RG_STEP_SMALL there is no limit: tight fits need all solvers, and a solve that fails costs more
 * in the steps after it than it saves (failures of 50 dominoes with mu 0.3: 13 in 3.1 s with 160,
 * none in 1.5 s with 400). */
#define RG_STEP_SMALL  400
#define RG_STEP_EFFORT 80u
/* Solvers aim at this share of the tolerance that they are judged by, but at no less than what
 * rounding leaves. */
#define RG_STEP_AIM       1e-1
#define RG_STEP_AIM_LEAST 1e-15
/* Residual that is enough in the first pass of a step for islands of more than RG_STEP_SMALL
 * contacts: an error of 4e-4 m/s at 240 steps a second tells who meets. Contacts are looked for
 * again with these velocities, and the forces that stand are found in the pass after. */
#define RG_STEP_ROUGH 1e-2
/* Factorisations for it: with 20 the first passes of a pile take 50 % longer, and as many solves of
 * the second ones fail. */
#define RG_STEP_ROUGH_EFFORT 10u

/* Impulses of the last step that are the answer once more leave a body at rest that was no faster
 * than what they leave it with: no more than their residual, and than this share of the tolerance,
 * in the unit |g| h. */
#define RG_STEP_STAY 1e-4
/* The same share, and that of the residual with which last impulses are the answer, where forces
 * besides gravity act: these may change in every step, and with them the last bits of the impulses.
 * What is left out so is in the certificate's error of momentum. */
#define RG_STEP_KEEP 1e-2

/* Solves until the bounds of rolling friction are those of the normal impulses, at most; what is
 * left is part of the residual. */
#define RG_STEP_ROLLING 50

/* In a further pass of a step the forces of the pass before are the answer of an island again, if
 * their residual is no more than this times what it was, or than RG_STEP_STAY of the tolerance:
 * what was not solved better within the effort is not tried once more. Rounding changes with the
 * order of the rows. */
#define RG_STEP_AGAIN 1.01

/* Contacts that one chunk of a parallel loop takes: 50 to 200 ns each, so that a chunk is some
 * tens of microseconds, which is a hundred times what a parallel loop costs. */
enum { RG_STEP_CONTACTS_PER_CHUNK = 512 };

/* Contacts of an island that all threads work on together; smaller ones go side by side. */
enum { RG_STEP_SHARED = 500 };

/* Which contacts have rows. */
typedef enum rg_contact_choice_of_rows {
    RG_ROWS_ALL,
    RG_ROWS_BETWEEN_IMPACTS, /* those that meet with restitution have none: they are not reached */
    RG_ROWS_IN_IMPACT /* those that touch, at an instant: no time passes, and gaps do not matter */
} rg_contact_choice_of_rows;

/* A touch of an island that rests, with its contact forces of the step before. */
typedef struct rg_left_touch {
    uint32_t leader1; /* 1 + the first body of the island; 0: of none */
    uint32_t first, count;
} rg_left_touch;

/* Islands that rest and have no rows: step_contacts_rest.c. */
typedef struct rg_contacts_left {
    bool allowed; /* in: they may be left out */
    /* Per body: 1 in such an island, in this pass and in the one before. Null: none. */
    uint8_t *resting, *rested;
    uint8_t *skips;         /* per touch of the view: 1 if it has no rows */
    rg_left_touch *touches; /* per touch */
    size_t touch_count;     /* of the view then: the last look may have found others since */
    size_t count;           /* their contacts */
    rg_solve_counts counts; /* what their solves would have added */
} rg_contacts_left;

/* One step's contacts, or those of a part of it. Arrays over bodies are the caller's, over all
 * bodies of the world. */
typedef struct rg_contact_step {
    /* in: */
    double step, end_time;
    double whole; /* s: the step of the world, which this may be a part of */
    bool stores;  /* it is that, and its forces are to be stored as they are */
    rg_contact_choice_of_rows rows;
    const rg_vec3 *external; /* N: forces besides gravity; null: none */
    const rg_vec3 *free_velocity, *free_angular_velocity; /* after all forces but contact, at the
                                                             orientation of the beginning */
    const rg_vec3 *velocity,
        *angular_velocity; /* after those of contact, too: when they are applied */
    /* Per body: 1 if its contacts are wanted; null: all. Of the others none. */
    const uint8_t *member;
    /* Per body: 1 if it is to be told that such a body is near a member; null: none. */
    const uint8_t *apart;
    const rg_contact_force *last; /* of the step before, in the order of colliders, parts, points */
    size_t last_count;
    double last_step; /* s: the length of that */
    size_t shown; /* problems shown to an observer in this step: numbers of islands go on there */
    /* out: */
    rg_row_set set;
    rg_joint_set joints; /* with their impulses */
    double *inertia;     /* kg m^2 per body: rg_joints_stiffen */
    rg_islands islands;
    double *impulse; /* set.count x dimension, N s */
    size_t twists;   /* rows of rolling and torsional friction, the last ones of `joints` */
    double *kept;    /* per body of the world, m/s: slower is at rest; 0: no impulses were kept */
    /* Per body of the world: the residual of the island that it was in, in this pass and in the one
     * before; null: none. */
    double *residual, *earlier;
    bool rough;      /* this pass solves large islands roughly, if they ask for an effort */
    bool repeats;    /* this pass solves only those again that were */
    uint8_t *rushed; /* per body: 1 if its island was solved roughly */
    bool unfinished; /* there are such islands */
    /* set.count: m/s, the normal velocity before, of contacts with restitution whose bodies
     * approach or part faster than counts as rest; 0 of all others. */
    double *passes;
    rg_contact_force *forces; /* set.count, to be stored */
    uint8_t *loaded;          /* set.count: 1 where there is a force */
    rg_solve_counts counts;
    uint64_t impacts;
    rg_contacts_left left;
    uint8_t *recalled;       /* per body: 1 if the solve of its island was that of the last step */
    rg_residual *answers;    /* of these, per body */
    bool joined;             /* a member has a contact with a body that is `apart`: */
    uint32_t join_a, join_b; /* dense */
} rg_contact_step;

typedef struct rg_lane_report {
    rg_island_memory *memory; /* of the lane; null: nothing is remembered */
    rg_status status;
    rg_error error; /* where the status is one */
    rg_solve_counts counts;
    bool unfinished;
} rg_lane_report;

typedef struct rg_contact_job {
    rg_world *world;
    rg_contact_step *contacts;
    rg_step_machinery *machinery;
    rg_collision *collision; /* the machinery's, or that of parts of a step */
    rg_collision_view view;
    double speed;                   /* m/s: |g| h */
    double impact_speed;            /* m/s: slower approach has no restitution */
    bool tree;                      /* joints have their impulses: rg_contacts_tree */
    rg_residual tree_residual;      /* of these */
    double *before;                 /* rows: velocities at the beginning of the step */
    double *shift;                  /* rows */
    double *mu;                     /* contacts */
    uint8_t *meets;                 /* contacts: 1 where restitution applies */
    const rg_contact_force **last;  /* contacts: what was there in the step before, or null */
    const rg_contact_force **start; /* the same or, in a second pass, what the first one found */
    rg_lane_report *lanes;          /* RG_STEP_ALL_LANES */
    size_t grain;
} rg_contact_job;

/* Rows from the contact points of the last look, with laws, shifts and first guesses. `first`
 * (null: none): forces of an earlier pass of this step, to start from. RG_OUT_OF_MEMORY is the only
 * failure. */
rg_status rg_contacts_rows(rg_contact_job *job, const rg_contact_force *first, size_t first_count);
/* Leaves small gaps out of the rows of an island that is a heap (RG_STEP_LEVEL). */
void rg_contacts_level(rg_contact_job *job, const rg_island *island, rg_pool *pool);
/* s: when contact i, if it has restitution, is reached by free motion, fast enough for an impact:
 * 0 if it touches, infinity if it is not. */
double rg_contacts_time_of_impact(const rg_contact_job *job, size_t i);
/* step_contacts_single.c: whether an island is one contact and no more, and that. */
bool rg_contacts_is_single(const rg_contact_job *job, const rg_island *island);
void rg_contacts_single(const rg_contact_job *job, const rg_island *island, rg_single *single);
/* step_contacts_tree.c: impulses of joints of mechanisms without loops that touch nothing; false:
 * there are others, or their residual is above the aim. */
bool rg_contacts_tree(rg_contact_job *job, double aim);
/* step_contacts_rest.c: which islands rest, before their rows are made; `again`: in a further pass.
 * RG_OUT_OF_MEMORY is the only failure. */
rg_status rg_contacts_find_rest(rg_contact_job *job, bool again);
/* True if they take part all the same, because speeds are relative to another one than they were in
 * the last step: rows are to be made again, of all. */
bool rg_contacts_end_rest(rg_contact_job *job);
/* m/s: the largest free velocity of their bodies. */
double rg_contacts_rest_speed(const rg_contact_job *job);
/* What a further pass starts from: residuals of their bodies, and forces of those that do not rest
 * any longer. */
void rg_contacts_rest_start(rg_contact_job *job);
/* The forces of all contacts, theirs among them, to be stored. RG_OUT_OF_MEMORY is the only
 * failure. */
rg_status rg_contacts_all_forces(rg_contact_job *job, rg_contact_force **forces, size_t *count);
/* Bodies at the end of a step; islands that repeated themselves are remembered. */
typedef struct rg_bodies_after {
    const rg_vec3 *position, *momentum, *angular_momentum, *velocity, *angular_velocity;
    const rg_quat *orientation;
    const double *angle;
} rg_bodies_after;
void rg_contacts_note_rest(rg_contact_job *job, const rg_bodies_after *after);
/* Impulses of all islands. */
rg_status rg_contacts_solve(rg_contact_job *job, rg_error *error);
/* contacts->forces, from the impulses and the velocities that they gave. */
void rg_contacts_describe(rg_contact_job *job);
/* A step of either method has succeeded: keeps its contact forces and what contact detection found,
 * for the next step and for readers. RG_OUT_OF_MEMORY: nothing has changed. */
rg_status rg_contacts_store(rg_world *world, const rg_contact_force *forces, size_t count,
                            rg_error *error);
/* m/s: from the components of a relative velocity. */
double rg_contact_slip(const rg_row_set *set, const double *u);

#endif
