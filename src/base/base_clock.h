/* The clock of all timers. */
#ifndef RIGOR_BASE_CLOCK_H
#define RIGOR_BASE_CLOCK_H

/* Seconds from an arbitrary start. */
double rg_clock(void);

#endif
