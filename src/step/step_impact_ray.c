/* The impulse out of Painleve's inconsistency. Sliding contacts for which no forces exist (Baraff
 * 1994 survey, section 7.1): the forces would grow without bound along a ray, so they act as an
 * impulse along it until the sliding that makes them grow has stopped (the reinterpretation of
 * Baraff 1991). On the way the contacts are compressed; that is then stopped as in an impact
 * without restitution.
 *
 * How it fails: with several contacts in space the ray is followed straight, although slip
 * directions turn, and not beyond where that would gain energy. The rest of the impact is exact in
 * any case.
 * Tested by tests/step/test_impact.c. */
#include "step/step_impact.h"

#include "base/base_math.h"
#include "step/step_impact_sliding.h"

#include <assert.h>

static double slip_of(const rg_impact_state *s, size_t contact) {
    double sum = 0;
    for (size_t k = 1; k < (size_t)s->d; k++) {
        double u = s->u[rg_impact_normal(s, contact) + k];
        sum += u * u;
    }
    return sqrt(sum);
}

/* The sliding contact that jams by itself: its normal velocity falls as its normal impulse grows.
 */
static bool find_jam(const rg_impact_state *s, size_t *contact) {
    double worst = 0;
    for (size_t i = 0; i < s->contacts; i++) {
        size_t n = rg_impact_normal(s, i);
        double slip = slip_of(s, i), rate = rg_impact_row(s, n)[n];
        if (!(slip > s->still && s->u[n] <= s->still && rate > 0))
            continue;
        for (size_t k = 1; k < (size_t)s->d; k++)
            rate -= s->mu[i] * rg_impact_row(s, n)[n + k] * s->u[n + k] / slip;
        double relative = rate / rg_impact_row(s, n)[n];
        if (relative < worst)
            worst = relative, *contact = i;
    }
    return worst < 0;
}

static rg_status slide_out(rg_impact_state *s, size_t contact, rg_error *error) {
    double w[9], u[3];
    rg_impact_one(s, contact, w, u);
    u[0] = fmin(u[0], 0);
    rg_slide slide = rg_slide_through(w, u, s->mu[contact], 0, RG_SLIDE_ENERGETIC, s->scale);
    if (!(slide.impulse[0] > 0))
        return rg_fail(error, RG_NOT_FOUND, "contact %zu does not jam", contact);
    rg_impact_apply_one(s, contact, slide.impulse, slide.normal_work);
    return rg_impact_goes_on(s) ? rg_impact_stop_all(s, error) : RG_OK;
}

/* Normal parts of the ray, and the friction that opposes the slip. */
static void take_ray(const rg_impact_state *s, const double *ray, double *impulse) {
    for (size_t i = 0; i < s->rows; i++)
        impulse[i] = 0;
    for (size_t i = 0; i < s->contacts; i++) {
        size_t n = rg_impact_normal(s, i);
        double slip = slip_of(s, i);
        impulse[n] = fmax(ray[n], 0);
        for (size_t k = 1; k < (size_t)s->d; k++)
            impulse[n + k] = slip > s->still ? -s->mu[i] * impulse[n] * s->u[n + k] / slip
                                             : ray[n + k]; /* sticks: as the solver says */
    }
}

/* Along d r = ray the energy first falls, by friction; how far it goes until it has come back to
 * what it was. 0: it does not fall. */
static double first_gain(const rg_impact_state *s, const double *ray, const double *change) {
    double slope = 0, bend = 0;
    for (size_t i = 0; i < s->rows; i++) {
        slope += ray[i] * s->u[i];
        bend += 0.5 * ray[i] * change[i];
    }
    return slope >= 0 ? 0 : bend > 0 ? -slope / bend : INFINITY;
}

/* Along d r = ray: until the first contact that slides has stopped, or slides at its slowest. */
static double first_stop(const rg_impact_state *s, const double *ray, const double *change) {
    double first = INFINITY;
    for (size_t i = 0; i < s->contacts; i++) {
        size_t n = rg_impact_normal(s, i);
        double toward = 0, rate = 0;
        for (size_t k = 1; k < (size_t)s->d; k++) {
            toward -= s->u[n + k] * change[n + k];
            rate += change[n + k] * change[n + k];
        }
        if (ray[n] > 0 && s->mu[i] > 0 && slip_of(s, i) > s->still && toward > 0)
            first = fmin(first, toward / rate);
    }
    return first;
}

static rg_status follow(rg_impact_state *s, const double *ray, rg_error *error) {
    double *impulse, *change;
    RG_TAKE(impulse, s->context, s->rows, error);
    RG_TAKE(change, s->context, s->rows, error);
    take_ray(s, ray, impulse);
    size_t loaded = 0, last = 0;
    for (size_t i = 0; i < s->contacts; i++)
        if (impulse[rg_impact_normal(s, i)] > 0)
            loaded++, last = i;
    if (loaded == 1)
        return slide_out(s, last, error);
    rg_impact_change(s, impulse, change);
    double share = first_stop(s, impulse, change);
    if (!(share < INFINITY))
        return rg_fail(error, RG_NOT_FOUND, "no contact along the ray would stop sliding");
    share = fmin(share, first_gain(s, impulse, change));
    if (!(share > 0))
        return rg_fail(error, RG_NOT_FOUND, "along the ray no energy would be lost");
    for (size_t i = 0; i < s->rows; i++)
        impulse[i] *= share;
    rg_status status = rg_impact_apply(s, impulse, error);
    return status ? status : rg_impact_stop_all(s, error);
}

rg_status rg_impact_along_ray(rg_solve_context *context, const rg_impact_problem *problem,
                              const double *ray, double *impulse, double *velocity,
                              rg_impact_info *info, rg_error *error) {
    assert(context && problem && impulse);
    rg_impact_session now;
    rg_status status = rg_impact_begin(&now, context, problem, info, error);
    if (!status) {
        size_t contact = 0;
        if (ray)
            status = follow(&now.state, ray, error);
        else if (find_jam(&now.state, &contact))
            status = slide_out(&now.state, contact, error);
        else
            status = rg_fail(error, RG_NOT_FOUND,
                             "no sliding contact jams by itself: the solver's ray is needed");
    }
    now.info->rounds = 1;
    if (!status)
        status = rg_impact_finish(&now, problem, impulse, velocity, error);
    rg_impact_end(&now);
    return status;
}
