/* Contact forces of the last step, as all methods keep them: in the order of colliders, parts and
 * points. */
#ifndef RIGOR_STEP_CONTACT_MEMORY_H
#define RIGOR_STEP_CONTACT_MEMORY_H

#include "rigor/contact_force.h"

/* Which contact it is. B's collider has the lower slot. */
typedef struct rg_contact_key {
    rg_collider_id collider_b, collider_a;
    uint32_t part_b, part_a;
    uint64_t id;
} rg_contact_key;

/* By slots: generations do not count. */
int rg_contact_key_compare(const rg_contact_key *x, const rg_contact_key *y);
rg_contact_key rg_contact_force_key(const rg_contact_force *force);
bool rg_contact_force_before(const rg_contact_force *f, const rg_contact_force *g);
/* In place; no two have the same key. */
void rg_contact_forces_sort(rg_contact_force *forces, size_t count);

typedef struct rg_contact_memory {
    const rg_contact_force *forces;
    size_t count;
    size_t next; /* behind the last that was found: keys that come in order are found there */
} rg_contact_memory;
/* The force of a contact, generations included; null: it had none. */
const rg_contact_force *rg_contact_memory_find(rg_contact_memory *memory,
                                               const rg_contact_key *key);
/* Where the forces of two colliders begin. */
size_t rg_contact_memory_first(const rg_contact_memory *memory, rg_collider_id collider_b,
                               rg_collider_id collider_a);

#endif
