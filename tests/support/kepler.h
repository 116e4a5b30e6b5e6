/* Kepler's problem at eccentricity 0.3: smooth, nonlinear, with a closed form by Kepler's
 * equation. */
#ifndef RIGOR_TEST_KEPLER_H
#define RIGOR_TEST_KEPLER_H

#include "test_support.h"

#include <math.h>

#define ECCENTRICITY 0.3

static inline void unit_scale(void *user, const double *y, double *scale) {
    (void)user;
    (void)y;
    for (int i = 0; i < 4; i++)
        scale[i] = 1;
}

static inline void kepler_exact(double t, double *y) {
    double e = ECCENTRICITY, anomaly = t;
    for (int i = 0; i < 50; i++)
        anomaly -= (anomaly - e * sin(anomaly) - t) / (1 - e * cos(anomaly));
    double c = cos(anomaly), s = sin(anomaly), root = sqrt(1 - e * e), rate = 1 / (1 - e * c);
    y[0] = c - e;
    y[1] = root * s;
    y[2] = -s * rate;
    y[3] = root * c * rate;
}

static inline double distance(const double *a, const double *b) {
    double largest = 0;
    for (int i = 0; i < 4; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

#endif
