/* Contact points of balls in closed form: two balls, a ball over a half-space, a ball over a face
 * of a box. One point each; the rules are those of any other pair (contact_parts.c,
 * contact_plane.c), and so is what is found, to rounding (tests/contact/test_round.c compares
 * them).
 *
 * A ball about the centre of its body does not show how it turns. With d the way from centre to
 * centre, v its rate and R the sum of the radii, the gap of two balls over a motion is
 * |d + t v| - R: they meet at the smaller root of
 *
 *     |v|^2 t^2 + 2 d.v t + |d|^2 - R^2 = 0
 *
 * and the plane of any unit n separates as n.(d + t v) - R, which is linear. A half-space has one
 * plane. The growth of a ball and a box has the normal of a face if the way from the centre of the
 * box leaves the two grown together through it; a ball that leaves the face in the motion that is
 * looked at, or a box that turns meanwhile and does not touch it yet, is left to the general way.
 *
 * Fails, and says so, where a body is not round about its centre of mass, where centres coincide
 * and where no face of the box is under the ball. */
#include "contact/contact.h"

#include "shape/shape.h"

/* Two balls, or a ball and something flat. */
typedef struct round_pair {
    const rg_contact_query *query;
    const rg_pair_motion *motion;
    int flat;          /* side that is no ball; of two balls it means nothing */
    rg_vec3 centre[2]; /* of the balls; of what is flat the foot of the ball's centre */
    double radius[2];  /* of what is flat 0 */
    double size;       /* m: smaller circumradius */
    rg_vec3 d;         /* from 1 to 2 */
    rg_vec3 normal;    /* at the start */
    double gap;
} round_pair;

/* Whether side i is a ball about the centre that it turns about. */
static bool is_centred(const round_pair *p, int i) {
    rg_vec3 arm = rg_sub(p->centre[i], p->motion->centre[i]);
    return rg_largest_entry(arm) == 0 ||
           (rg_largest_entry(p->motion->angular_velocity[0][i]) == 0 &&
            (p->motion->count < 2 || rg_largest_entry(p->motion->angular_velocity[1][i]) == 0));
}

static rg_vec3 rate_of(const rg_pair_motion *m, int k) {
    return rg_sub(m->velocity[k][1], m->velocity[k][0]);
}

/* The point along n: `share` of the way from 1 to 2. */
static void point_along(const rg_vec3 *centre, const double *radius, rg_vec3 n, double share,
                        rg_contact_point *point) {
    point->on_b = rg_add_scaled(centre[0], radius[0], n);
    point->on_a = rg_add_scaled(centre[1], -radius[1], n);
    point->feature = (rg_feature_pair){RG_FEATURES_SMOOTH, 0, 0};
    point->id = rg_contact_id(point->feature);
    rg_vec3 across = rg_sub(point->on_a, point->on_b);
    point->position = rg_add_scaled(point->on_b, share, across);
    point->gap = rg_dot(n, across);
}

/* The point of the plane of the beginning, along n. */
static void write_point(const rg_vec3 *centre, const double *radius, rg_vec3 n,
                        rg_contact_point *point, rg_manifold *manifold) {
    point_along(centre, radius, n, 0.5, point);
    *manifold =
        (rg_manifold){.normal = n, .gap = point->gap, .point_count = 1, .features = point->feature};
}

static void write_start(const round_pair *p, rg_manifold *manifold) {
    write_point(p->centre, p->radius, p->normal, p->query->points, manifold);
}

static rg_vec3 velocity_at(const rg_pair_motion *m, int k, int i, rg_vec3 p) {
    return rg_add(m->velocity[k][i], rg_cross(m->angular_velocity[k][i], rg_sub(p, m->centre[i])));
}

/* The point of a plane that is met at `time` of motion k, or separates until then, as it is at the
 * beginning (contact_parts.c: bring_back). */
static void write_later(const round_pair *p, int k, rg_vec3 n, double time, bool meets,
                        rg_manifold *manifold) {
    const rg_pair_motion *m = p->motion;
    rg_contact_point *point = p->query->points;
    point_along(p->centre, p->radius, n, m->share, point);
    if (!meets) {
        rg_vec3 relative =
            rg_sub(velocity_at(m, k, 1, point->position), velocity_at(m, k, 0, point->position));
        point->gap += time * (rg_dot(n, rate_of(m, k)) - rg_dot(n, relative));
    }
    *manifold = (rg_manifold){
        .normal = n, .gap = point->gap, .point_count = 1, .time = time, .meets = meets};
    if (meets)
        manifold->features = point->feature;
}

/* What an earlier look of the step found stays; *bent as in contact_parts.c. Null: it found
 * nothing. */
static const rg_manifold *kept_of(const round_pair *p) {
    const rg_kept_manifolds *kept = &p->motion->kept;
    const rg_contact_cache *cache = p->query->cache;
    for (uint32_t i = 0; i < kept->count; i++)
        if (kept->manifolds[i].part1 == cache->part1 && kept->manifolds[i].part2 == cache->part2 &&
            kept->manifolds[i].point_count == 1)
            return &kept->manifolds[i];
    return NULL;
}

static void keep(const round_pair *p, const rg_manifold *kept, bool *bent, rg_manifold *manifold) {
    *manifold = *kept;
    p->query->points[0] = p->motion->kept.points[kept->first_point];
    if (kept->time == 0 || kept->meets)
        return;
    rg_vec3 later = rg_add_scaled(p->d, kept->time, rate_of(p->motion, 0));
    double end = rg_dot(kept->normal, later) - p->radius[0] - p->radius[1];
    *bent = end < -RG_CONTACT_NEAR * p->size;
    if (!*bent)
        return;
    write_later(p, 0, kept->normal, kept->time, true, manifold);
    manifold->features = kept->features;
}

/* --- two balls -------------------------------------------------------------------------------- */

/* s: when two balls that are apart come as near as `gap`; infinity: never. With |d|^2 - reach^2 as
 * a product, and the root that adds like signs, nothing cancels. */
static double meeting_time(const round_pair *p, rg_vec3 v, double gap) {
    double reach = p->radius[0] + p->radius[1] + gap;
    double square = rg_length_squared(v), closing = -rg_dot(p->d, v);
    rg_vec3 nearest = rg_add_scaled(p->d, closing / square, v);
    double left = reach * reach - rg_length_squared(nearest);
    if (!(closing > 0 && left >= 0))
        return INFINITY;
    double away = rg_length(p->d);
    return (away - reach) * (away + reach) / (closing + sqrt(square * left));
}

/* The feature that is met first, if any is; what is grazed counts as met. */
static bool choose_by_time(const round_pair *p, rg_vec3 v, rg_plane_choice *choice) {
    double time = meeting_time(p, v, 0.5 * RG_CONTACT_FLAT * p->size);
    if (time >= choice->time) {
        time = choice->time;
        double end = rg_length(rg_add_scaled(p->d, time, v)) - p->radius[0] - p->radius[1];
        if (!(end < RG_PLANE_GRAZING * time * rg_length(v))) {
            choice->result = RG_PLANE_NEVER;
            return true;
        }
    }
    rg_vec3 then = rg_add_scaled(p->d, time, v);
    double length = rg_length(then);
    choice->result = RG_PLANE_MEETS;
    choice->normal = rg_scale(1 / length, then);
    choice->time = time;
    return length > 0;
}

/* rg_contact_plane of two balls in motion k. False: their centres meet. */
static bool choose_plane(const round_pair *p, int k, rg_plane_choice *choice) {
    const rg_pair_motion *m = p->motion;
    rg_vec3 v = rate_of(m, k), end = rg_add_scaled(p->d, m->time, v);
    double tolerance = RG_CONTACT_FLAT * p->size, sum = p->radius[0] + p->radius[1];
    bool apart = p->gap > tolerance;
    *choice = (rg_plane_choice){RG_PLANE_OF_START, p->normal, .time = m->time};
    if (rg_largest_entry(v) == 0 && rg_largest_entry(m->angular_velocity[k][0]) == 0 &&
        rg_largest_entry(m->angular_velocity[k][1]) == 0)
        return true;
    double kept = rg_dot(p->normal, end) - sum, length = rg_length(end);
    if (kept >= -tolerance) {
        choice->result = apart ? RG_PLANE_APART : RG_PLANE_OF_START;
        return true;
    }
    if (!(length > 0))
        return false;
    rg_vec3 n = rg_scale(1 / length, end);
    double turned = fmin(length, rg_dot(n, p->d)) - sum;
    if (turned >= -tolerance) {
        choice->result = RG_PLANE_APART;
        choice->normal = n;
        return true;
    }
    if (!m->found && turned > kept && turned >= -RG_PLANE_UNDECIDED * p->size &&
        rg_dot(n, p->normal) < RG_PLANE_ANOTHER) {
        choice->result = RG_PLANE_NEVER;
        return true;
    }
    if (apart)
        return choose_by_time(p, v, choice);
    choice->closes = true;
    return true;
}

static bool place_balls(round_pair *p) {
    const rg_contact_query *q = p->query;
    p->centre[0] = q->one.pose.position, p->centre[1] = q->two.pose.position;
    p->radius[0] = q->one.shape->def.radius, p->radius[1] = q->two.shape->def.radius;
    p->size = fmin(p->radius[0], p->radius[1]);
    p->d = rg_sub(p->centre[1], p->centre[0]);
    double length = rg_length(p->d);
    p->normal = rg_scale(1 / length, p->d);
    p->gap = length - p->radius[0] - p->radius[1];
    return length > 0 && is_centred(p, 0) && is_centred(p, 1);
}

static bool find_of_balls(round_pair *p, rg_part_remarks *remarks, rg_manifold *manifold) {
    if (!place_balls(p))
        return false;
    const rg_manifold *kept = kept_of(p);
    if (kept) {
        keep(p, kept, &remarks->bent, manifold);
        return true;
    }
    *manifold = (rg_manifold){.gap = p->gap};
    if (p->gap > p->query->settings->near)
        return true;
    rg_plane_choice choice = {.result = RG_PLANE_NEVER};
    int k = -1;
    while (choice.result == RG_PLANE_NEVER && k + 1 < p->motion->count)
        if (!choose_plane(p, ++k, &choice))
            return false;
    remarks->left_out = choice.result == RG_PLANE_NEVER;
    if (choice.result == RG_PLANE_OF_START)
        write_start(p, manifold);
    else if (choice.result != RG_PLANE_NEVER)
        write_later(p, k, choice.normal, choice.time, choice.result == RG_PLANE_MEETS, manifold);
    return true;
}

/* --- a ball over something flat --------------------------------------------------------------- */

/* `up`: the normal of the flat side, `height`: of the ball's centre over it. */
static void place_over(round_pair *p, rg_vec3 up, double height) {
    int flat = p->flat;
    const rg_placed_shape *ball = flat == 0 ? &p->query->two : &p->query->one;
    p->centre[1 - flat] = ball->pose.position;
    p->radius[1 - flat] = ball->shape->def.radius;
    p->centre[flat] = rg_add_scaled(ball->pose.position, -height, up);
    p->d = rg_sub(p->centre[1], p->centre[0]);
    p->normal = flat == 0 ? up : rg_neg(up);
    p->gap = height - p->radius[1 - flat];
}

bool rg_contact_over_plane(const rg_ball_over_plane *over, double near, rg_contact_point *point,
                           rg_manifold *manifold) {
    rg_vec3 up = rg_rotate(over->plane_pose->orientation, over->plane->def.normal);
    rg_vec3 away = rg_sub(over->centre, over->plane_pose->position), centre[2];
    double height = rg_dot(up, away) - over->plane->def.offset, gap = height - over->radius;
    double radius[2] = {0};
    int ball = over->first ? 1 : 0;
    if (!(gap <= near)) {
        *manifold = (rg_manifold){.gap = gap};
        return false;
    }
    radius[ball] = over->radius;
    centre[ball] = over->centre;
    centre[1 - ball] = rg_add_scaled(over->centre, -height, up);
    write_point(centre, radius, over->first ? up : rg_neg(up), point, manifold);
    return true;
}

static bool find_over_plane(round_pair *p, rg_part_remarks *remarks, rg_manifold *manifold) {
    (void)remarks;
    const rg_contact_query *q = p->query;
    const rg_placed_shape *plane = p->flat == 0 ? &q->one : &q->two;
    const rg_placed_shape *ball = p->flat == 0 ? &q->two : &q->one;
    rg_ball_over_plane over = {.plane = plane->shape,
                               .plane_pose = &plane->pose,
                               .radius = ball->shape->def.radius,
                               .centre = ball->pose.position,
                               .first = p->flat == 0};
    rg_contact_over_plane(&over, q->settings->near, q->points, manifold);
    return true;
}

/* Which face of a box the growth with a ball leaves through, and the ball's centre is over by at
 * least `margin` from its sides; -1: none. `c`: that centre from the middle of the box, in its
 * frame; `r`: radius of the ball. */
static int face_under(const double c[3], const double half[3], double r, double margin) {
    for (int i = 0; i < 3; i++) {
        double tau = (half[i] + r) / fabs(c[i]);
        bool over = fabs(c[i]) > half[i];
        for (int j = 0; j < 3; j++)
            over = over && (j == i || fmax(1, tau) * fabs(c[j]) < half[j] - margin);
        if (over)
            return i;
    }
    return -1;
}

/* Whether the ball is over the face of the box, `in_box` from its middle in its frame. */
static bool is_over(const round_pair *p, rg_vec3 in_box, int face, const double half[3]) {
    double c[3] = {in_box.x, in_box.y, in_box.z}, margin = RG_CONTACT_LATERAL * p->size;
    for (int j = 0; j < 3; j++)
        if (j != face && !(fabs(c[j]) < half[j] - margin))
            return false;
    return true;
}

/* Whether the ball stays over the face in the first motion, and the plane of the beginning
 * separates them at its end; of a box that does not turn. */
static bool stays_over(const round_pair *p, rg_vec3 in_box, int face, const double half[3],
                       rg_quat box) {
    const rg_pair_motion *m = p->motion;
    int flat = p->flat;
    rg_vec3 way = rg_scale(m->time, rg_sub(m->velocity[0][1 - flat], m->velocity[0][flat]));
    return is_over(p, rg_add(in_box, rg_rotate_back(box, way)), face, half) &&
           rg_dot(p->normal, rg_add_scaled(p->d, m->time, rate_of(m, 0))) >=
               p->radius[1 - flat] - RG_CONTACT_FLAT * p->size;
}

/* The same of a box that turns, by as little as contact_plane.c allows. */
static bool stays_over_turning(const round_pair *p, int face, const double half[3],
                               const rg_placed_shape *box) {
    const rg_pair_motion *m = p->motion;
    int flat = p->flat;
    rg_swept_shape swept = {*box, m->centre[flat], m->velocity[0][flat],
                            m->angular_velocity[0][flat]};
    if (m->time * rg_length(swept.angular_velocity) > RG_CONTACT_TURN)
        return false;
    rg_pose end = rg_swept_pose(&swept, m->time);
    rg_vec3 ball = rg_add_scaled(p->centre[1 - flat], m->time, m->velocity[0][1 - flat]);
    rg_vec3 up = flat == 0 ? p->normal : rg_neg(p->normal);
    rg_vec3 axes = rg_rotate_back(end.orientation, up);
    double top = half[0] * fabs(axes.x) + half[1] * fabs(axes.y) + half[2] * fabs(axes.z);
    return is_over(p, rg_pose_apply_inverse(end, ball), face, half) &&
           rg_dot(up, rg_sub(ball, end.position)) - top >=
               p->radius[1 - flat] - RG_CONTACT_FLAT * p->size;
}

static bool find_over_box(round_pair *p, rg_part_remarks *remarks, rg_manifold *manifold) {
    (void)remarks;
    int flat = p->flat;
    const rg_placed_shape *box = flat == 0 ? &p->query->one : &p->query->two;
    const rg_placed_shape *ball = flat == 0 ? &p->query->two : &p->query->one;
    rg_vec3 size = box->shape->def.size, axis = {0, 0, 0};
    double half[3] = {0.5 * size.x, 0.5 * size.y, 0.5 * size.z};
    rg_vec3 in_box = rg_pose_apply_inverse(box->pose, ball->pose.position);
    double c[3] = {in_box.x, in_box.y, in_box.z}, r = ball->shape->def.radius;
    p->size = fmin(r, box->shape->circumradius);
    int face = face_under(c, half, r, RG_CONTACT_LATERAL * p->size);
    if (face < 0 || kept_of(p))
        return false;
    *(face == 0 ? &axis.x : face == 1 ? &axis.y : &axis.z) = c[face] < 0 ? -1 : 1;
    place_over(p, rg_rotate(box->pose.orientation, axis), fabs(c[face]) - half[face]);
    if (!is_centred(p, 1 - flat))
        return false;
    *manifold = (rg_manifold){.gap = p->gap};
    if (p->gap > p->query->settings->near)
        return true;
    bool turns = rg_largest_entry(p->motion->angular_velocity[0][flat]) != 0;
    bool touches = p->gap <= RG_CONTACT_FLAT * p->size;
    if (turns ? !touches || !stays_over_turning(p, face, half, box)
              : !stays_over(p, in_box, face, half, box->pose.orientation))
        return false;
    bool still = rg_largest_entry(rate_of(p->motion, 0)) == 0 && !turns &&
                 rg_largest_entry(p->motion->angular_velocity[0][1 - flat]) == 0;
    if (still || touches)
        write_start(p, manifold);
    else
        write_later(p, 0, p->normal, p->motion->time, false, manifold);
    return true;
}

/* --- the table -------------------------------------------------------------------------------- */

typedef bool find_function(round_pair *p, rg_part_remarks *remarks, rg_manifold *manifold);

static find_function *const table[RG_SHAPE_KIND_COUNT][RG_SHAPE_KIND_COUNT] = {
    [RG_SHAPE_SPHERE] = {[RG_SHAPE_SPHERE] = find_of_balls,
                         [RG_SHAPE_HALFSPACE] = find_over_plane,
                         [RG_SHAPE_BOX] = find_over_box},
    [RG_SHAPE_DISC] = {[RG_SHAPE_DISC] = find_of_balls, [RG_SHAPE_HALFSPACE] = find_over_plane},
    [RG_SHAPE_HALFSPACE] = {[RG_SHAPE_SPHERE] = find_over_plane, [RG_SHAPE_DISC] = find_over_plane},
    [RG_SHAPE_BOX] = {[RG_SHAPE_SPHERE] = find_over_box}};

bool rg_contact_round(const rg_contact_query *query, const rg_pair_motion *motion,
                      rg_part_remarks *remarks, rg_manifold *manifold) {
    find_function *find = table[query->one.shape->kind][query->two.shape->kind];
    if (!find || query->capacity == 0)
        return false;
    rg_shape_kind first = query->one.shape->kind;
    bool ball_first = first == RG_SHAPE_SPHERE || first == RG_SHAPE_DISC;
    round_pair pair; /* the rest of it is written before it is read */
    pair.query = query, pair.motion = motion;
    pair.flat = ball_first ? 1 : 0;
    pair.radius[0] = pair.radius[1] = 0;
    return find(&pair, remarks, manifold);
}
