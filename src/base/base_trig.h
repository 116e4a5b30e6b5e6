/* Elementary functions of our own, for everything that reaches the state: the C library's differ
 * between versions in the last bit, and a simulation amplifies that. Only + - * / and sqrt are
 * used, which IEEE 754 rounds correctly, and contraction is off. Accurate to 1 ulp or so (tested).
 */
#ifndef RIGOR_BASE_TRIG_H
#define RIGOR_BASE_TRIG_H

/* Any finite argument, huge ones included (full argument reduction); NaN for infinities. */
void rg_sin_cos(double x, double *sine, double *cosine);
double rg_sin(double x);
double rg_cos(double x);
double rg_atan2(double y, double x);
double rg_acos(double x); /* clamps to [-1, 1] */
double rg_exp(double x);
double rg_log(double x);
/* x^(1/n) for x >= 0, n >= 1, by Newton's iteration. */
double rg_root(double x, int n);

#endif
