/* Lists of named values that people choose from: solvers, laws of impact, step methods. A list is
 * an array of pointers to constants with a name and a summary; its functions are those that the
 * public headers declare: PREFIX_count, _at, _find, _name and _summary.
 *
 * Tested by tests/solve/test_auto.c and tests/step/test_driver.c. */
#ifndef RIGOR_BASE_REGISTRY_H
#define RIGOR_BASE_REGISTRY_H

#include <stddef.h>
#include <string.h>

#define RG_DEFINE_REGISTRY(prefix, list)                                                           \
    size_t prefix##_count(void) {                                                                  \
        return sizeof(list) / sizeof *(list);                                                      \
    }                                                                                              \
    const prefix *prefix##_at(size_t index) {                                                      \
        return index < prefix##_count() ? (list)[index] : NULL;                                    \
    }                                                                                              \
    const prefix *prefix##_find(const char *name) {                                                \
        for (size_t i = 0; i < prefix##_count(); i++)                                              \
            if (strcmp((list)[i]->name, name) == 0)                                                \
                return (list)[i];                                                                  \
        return NULL;                                                                               \
    }                                                                                              \
    const char *prefix##_name(const prefix *value) {                                               \
        return value->name;                                                                        \
    }                                                                                              \
    const char *prefix##_summary(const prefix *value) {                                            \
        return value->summary;                                                                     \
    }

#endif
