#include "base/base_root.h"

#include <math.h>

/* ITP's constants as its authors recommend: kappa_1 = 0.2 / (b - a), kappa_2 = 2, n_0 = 1. */
#define ITP_KAPPA_1 0.2
#define ITP_SLACK   1

static double bisect(const rg_bracket *k) {
    return k->a + 0.5 * (k->b - k->a);
}

/* The root of the chord. `wa`, `wb` are the values that Illinois has halved. */
static double chord(const rg_bracket *k, double wa, double wb) {
    return k->a + (k->b - k->a) * (wa / (wa - wb));
}

/* The point of ITP: the chord's root, truncated towards the middle, projected so that the bracket
 * shrinks at least as bisection with `slack` steps to spare would have it. */
static double itp_point(const rg_bracket *k, double first_length, double radius) {
    double length = k->b - k->a, middle = bisect(k), x = chord(k, k->fa, k->fb);
    double towards = middle > x ? 1 : -1;
    double truncation = ITP_KAPPA_1 / first_length * length * length;
    x = truncation <= fabs(middle - x) ? x + towards * truncation : middle;
    return fabs(x - middle) <= radius ? x : middle - towards * radius;
}

rg_root rg_root_find(rg_scalar_function *function, void *user, rg_bracket bracket,
                     rg_root_settings settings) {
    /* Inside, the bracket runs upwards from the free side in s = |x - a|. */
    double a = bracket.a, sign = bracket.b > a ? 1 : -1;
    double x_tolerance = settings.x_tolerance, f_tolerance = settings.f_tolerance;
    rg_bracket k = {0, bracket.fa, fabs(bracket.b - a), bracket.fb};
    double first_length = k.b, wa = k.fa, wb = k.fb;
    int last = 0; /* which end moved last: -1 free side, +1 other */
    int halvings; /* that bisection would need: first_length / x_tolerance <= 2^halvings */
    frexp(fmax(first_length / x_tolerance, 1), &halvings);
    rg_root root = {.evaluations = 0};
    while (k.b - k.a > x_tolerance && !(k.fa <= f_tolerance) &&
           root.evaluations < settings.evaluation_limit) {
        double s = bisect(&k);
        if (settings.method == RG_ROOT_ILLINOIS)
            s = chord(&k, wa, wb);
        else if (settings.method == RG_ROOT_ITP) {
            double most = ldexp(x_tolerance, halvings + ITP_SLACK - root.evaluations);
            s = itp_point(&k, first_length, fmax(0, 0.5 * (most - (k.b - k.a))));
        }
        if (!(s > k.a && s < k.b))
            s = bisect(&k);
        if (!(s > k.a && s < k.b))
            break; /* neighbouring numbers */
        double f = function(user, a + sign * s);
        root.evaluations++;
        if (f > 0) {
            k.a = s;
            k.fa = wa = f;
            wb = last < 0 ? 0.5 * wb : k.fb;
            last = -1;
        } else {
            k.b = s;
            k.fb = wb = f;
            wa = last > 0 ? 0.5 * wa : k.fa;
            last = 1;
        }
    }
    root.x = a + sign * k.a;
    root.f = k.fa;
    root.upper = a + sign * k.b;
    root.converged =
        k.b - k.a <= x_tolerance || k.fa <= f_tolerance || !(bisect(&k) > k.a && bisect(&k) < k.b);
    return root;
}
