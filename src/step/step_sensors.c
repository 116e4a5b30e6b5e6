/* What sensors feel, as events: who began to touch one and who no longer does, as contact_touch.c
 * found it at the beginning of the step.
 * Tested by tests/record/test_sensors.c. */
#include "contact/contact_collision.h"
#include "step/step_log.h"

static const rg_collider *collider_of(const rg_world *world, rg_collider_id id) {
    const rg_world_content *c = &world->content;
    return rg_handle_exists(&c->colliders, RG_HANDLE(id))
               ? &c->collider[rg_handle_index(&c->colliders, RG_HANDLE(id))]
               : NULL;
}

/* B is the sensor; of two sensors, that of the lower slot. */
static void log_pair(rg_world *world, double time, rg_step_event_kind kind, rg_collider_id b,
                     rg_collider_id a) {
    rg_step_machinery *m = world->machinery;
    const rg_collider *one = collider_of(world, b), *other = collider_of(world, a);
    if (!one || !other || !(one->sensor || other->sensor))
        return; /* no sensor, or one that is gone */
    const rg_collider *sensor = one->sensor ? one : other, *visitor = one->sensor ? other : one;
    rg_step_log_add(
        m, &(rg_step_event){
               .time = time, .kind = kind, .body_b = sensor->body, .body_a = visitor->body});
}

void rg_log_sensors(rg_world *world, double time) {
    const rg_step_machinery *m = world->machinery;
    size_t before = m->event_count;
    rg_collision_view view = rg_collision_get(m->collision);
    for (size_t i = 0; i < view.ended_count; i++)
        log_pair(world, time, RG_STEP_EVENT_SENSOR_OFF, view.ended[i].collider_b,
                 view.ended[i].collider_a);
    size_t touches = rg_collision_has_sensors(m->collision) ? view.touch_count : 0;
    for (size_t i = 0; i < touches; i++)
        if (view.touches[i].sensor && view.touches[i].began)
            log_pair(world, time, RG_STEP_EVENT_SENSOR_ON, view.touches[i].collider_b,
                     view.touches[i].collider_a);
    if (before > 0 && m->event_count > before)
        rg_step_log_sort(world);
}
