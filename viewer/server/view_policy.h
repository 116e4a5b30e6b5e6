/* What the browser is told that the page may do. */
#ifndef RIGOR_VIEWER_POLICY_H
#define RIGOR_VIEWER_POLICY_H

#include <stddef.h>

enum { VIEW_POLICY_SIZE = 1024 };

/* The value of script-src: SHA-256 sums of the page's own scripts, so that no other text in it can
 * become one, whatever names a recording has in it; 'unsafe-inline' if there are too many to
 * list. */
void view_policy_of_scripts(const char *page, size_t size, char policy[VIEW_POLICY_SIZE]);

#endif
