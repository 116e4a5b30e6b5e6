/* Contact points in motion: where a point that was found once is at another pose, how far the
 * bodies are apart there (chi), and how both change: all that forces at the level of accelerations
 * need (Baraff 1989, section 5 and Appendix A).
 *
 * One formula serves all kinds of contact. With c the place of contact, n the normal (from B to A),
 * and u = (v_a + w_a x (c - x_a)) - (v_b + w_b x (c - x_b)) the velocity of A's material against
 * B's there,
 *
 *   chi'  = n . u
 *   u'    = [a_a + alpha_a x (c - x_a)] - [a_b + alpha_b x (c - x_b)] + drift,
 *   drift = w_a x (c' - v_a) - w_b x (c' - v_b)
 *   chi'' = n . u' + n' . u
 *
 * so that a kind of contact only has to say c, n and their rates. Each side is a piece of a
 * surface: a point, a line, a face, a rim, a cone, an ellipsoid. A vertex of A on a face of B has
 * n' = w_b x n; two edges have n along e_a x e_b; curved surfaces roll, and their curvature
 * decides. All figures are exact at any small gap, not only at 0.
 *
 *   contact_motion.c         the table: from a track to what follows it
 *   contact_motion_make.c    tracks of polyhedra and half-spaces, degenerate kinds
 *   contact_motion_smooth.c  tracks where a shape is curved: which pieces meet
 *   contact_motion_flat.c    face against anything, edges, balls: closed forms
 *   contact_motion_curved.c  all other pairs of pieces: Newton's method
 *   contact_motion_parts.h   what these files share */
#ifndef RIGOR_CONTACT_MOTION_H
#define RIGOR_CONTACT_MOTION_H

#include "base/base_math.h"
#include "rigor/contact.h"

/* A rigid motion at an instant. */
typedef struct rg_rigid_motion {
    rg_pose pose;     /* of the convex shape's frame, world; a unit quaternion */
    rg_vec3 centre;   /* x: the point that `velocity` is of (the body's centre of mass) */
    rg_vec3 velocity; /* m/s */
    rg_vec3 angular_velocity;
} rg_rigid_motion;

/* A piece of a convex surface, in the frame of its shape. `m` is the outward normal. */
typedef enum rg_piece_kind {
    RG_PIECE_POINT, /* vertex, apex, a fixed point of a rim; with a radius a ball */
    RG_PIECE_LINE,  /* edge; with a radius the side of a cylinder or capsule */
    RG_PIECE_FACE,
    RG_PIECE_RIM,  /* a circle with its plane's outward normal */
    RG_PIECE_CONE, /* the side of a cone */
    RG_PIECE_ELLIPSOID
} rg_piece_kind;

/* Where a face ends. */
typedef enum rg_piece_border {
    RG_BORDER_NONE,
    RG_BORDER_FACET, /* at the polygon of the facet `index` */
    RG_BORDER_DISC,  /* `high` from `point` */
    RG_BORDER_STRIP  /* `low` and `high` along `size`, `radius` across, from `point` */
} rg_piece_border;

typedef struct rg_contact_piece {
    rg_piece_kind kind;
    rg_piece_border border;
    /* The facet; of a point the vertex, of a line or rim anything, if their normals have a border;
     * UINT32_MAX: none. */
    uint32_t index;
    /* Vertex, centre of ball, rim or ellipsoid, apex; any point of a line; the point that a face's
     * border is about. */
    rg_vec3 point;
    /* Unit: along the line; face: m; rim: out of its base; cone: to the apex; point: the middle of
     * its normals, each of which has m . direction >= low (0: any, or those of the vertex). */
    rg_vec3 direction;
    rg_vec3 size;      /* ellipsoid: semi-axes; cone: x sine, y cosine of half its angle; rim: the
                          neighbour of its base leaves it along x direction + y out */
    rg_vec3 beside[2]; /* line: into the faces beside it, across it */
    double radius;     /* added to a point or a line; of a rim */
    double low, high;  /* the line's ends, from `point`; of a cone: from its apex down */
} rg_contact_piece;

/* What follows a contact point. Flat; shapes are borrowed. Nothing changes it but
 * rg_contact_track_make and rg_contact_track_refresh. */
typedef struct rg_contact_track {
    const rg_shape *shape_b, *shape_a; /* convex */
    rg_feature_pair feature;
    /* Degenerate kinds: the plane that extends B there (Baraff 1989, 4.1), in B's frame; the vertex
     * is A's, or B's own against the plane of A's side. Otherwise the normal of the start. */
    rg_vec3 local_normal;
    rg_vec3 hint; /* the last normal, in B's frame: where Newton's method starts */
    bool planar;
    bool extended; /* a face stands for a degenerate meeting */

    rg_contact_piece piece[2]; /* of B, of A */
    rg_vec3 hint_a;            /* the last normal, in A's frame */
    rg_vec3 place[2];          /* the last place of contact, in either frame */
    double orientation;        /* two lines: n goes along orientation e_a x e_b */
    double size;               /* m: the smaller circumradius */
    double slack;              /* m: `inside` counts from so far outside; see there */
} rg_contact_track;

/* From a point of a manifold at the current poses. */
rg_contact_track rg_contact_track_make(const rg_shape *shape_b, rg_pose pose_b,
                                       const rg_shape *shape_a, rg_pose pose_a,
                                       const rg_manifold *manifold, const rg_contact_point *point);

typedef struct rg_contact_motion {
    rg_vec3 point, point_rate;   /* c on the surfaces (half-way), c' */
    rg_vec3 normal, normal_rate; /* n, n' */
    double gap, gap_rate;        /* chi, chi' */
    rg_vec3 slip;                /* u - (n.u) n */
    rg_vec3 drift;               /* see above */
    /* m: how far inside its face, edges or surface piece the point is; negative: it has left, and
     * another feature is the one. Infinity where there is no border. Borders are taken wider by the
     * track's slack, a few times the tolerance of places (RG_CONTACT_LATERAL), so that every track
     * starts inside, and when it has left, a new search finds other features. Borders in direction
     * (the normals that an edge has) count as angle times the smaller circumradius. */
    double inside;
    bool regular; /* false: edges became parallel, a curvature is singular: figures are no use */
} rg_contact_motion;

rg_contact_motion rg_contact_follow(const rg_contact_track *track, const rg_rigid_motion *b,
                                    const rg_rigid_motion *a);

/* Takes the place and normal of `motion`, found at these poses, as the new start of Newton's
 * method. Worth doing after every accepted step for pairs that roll; never needed for polyhedra. */
void rg_contact_track_refresh(rg_contact_track *track, const rg_contact_motion *motion,
                              rg_pose pose_b, rg_pose pose_a);

#endif
