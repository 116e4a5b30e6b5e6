/* The viewer inside a program (view_viewer.c): a world that a program has built is served to whom
 * has the address, and to nobody else; its own force function acts; errors leave nothing behind. */
#include "test_support.h"

#include "rigor/viewer.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static atomic_bool late, accelerated;

/* 1 N on 1 kg: after t seconds it moves at t m/s. */
static void push(void *user, rg_force_context *context) {
    (void)user;
    context->force[0].x += 1;
    if (context->time > 0.1) {
        atomic_store(&accelerated, fabs(context->velocity[0].x - context->time) < 0.01);
        atomic_store(&late, true);
    }
}

static rg_scene *make(void) {
    rg_error error = {0};
    rg_world_def world_def = rg_world_def_default();
    rg_world *world;
    rg_scene *scene;
    rg_body_id body;
    rg_force_id force;
    assert_int_equal(rg_world_create(&world_def, &world, &error), RG_OK);
    rg_body_def def = rg_body_def_default();
    def.has_mass = true;
    def.mass = (rg_mass_properties){.mass = 1, .inertia = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    assert_int_equal(rg_world_add_body(world, &def, &body, &error), RG_OK);
    rg_force_def function = rg_force_def_default(RG_FORCE_FUNCTION);
    function.function = push;
    assert_int_equal(rg_world_add_force(world, &function, &force, &error), RG_OK);
    assert_int_equal(rg_scene_adopt(world, "program", &scene, &error), RG_OK);
    return scene;
}

/* Sends a request for `path` with these lines of the head more. */
static int send_request(int port, const char *path, const char *lines) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(s >= 0);
    assert_int_equal(connect(s, (struct sockaddr *)&to, sizeof to), 0);
    char request[512];
    int length = snprintf(request, sizeof request,
                          "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\n", path, port, lines);
    assert_int_equal(send(s, request, (size_t)length, 0), length);
    return s;
}

/* What the server answers; at most so many bytes. */
static size_t ask(int port, const char *path, char *answer, size_t size) {
    int s = send_request(port, path, "Connection: close\r\n");
    size_t got = 0;
    ssize_t part;
    while (got + 1 < size && (part = recv(s, answer + got, size - 1 - got, 0)) > 0)
        got += (size_t)part;
    answer[got] = 0;
    close(s);
    return got;
}

/* As a page does: the run goes on while somebody looks, and the program's function acts in it. */
static void look_until_late(int port, const char *token) {
    char path[256], bytes[4096];
    snprintf(path, sizeof path, "/api/live/0?token=%s", token);
    int s =
        send_request(port, path,
                     "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
    while (!atomic_load(&late))
        assert_true(recv(s, bytes, sizeof bytes, 0) > 0);
    close(s);
    assert_true(atomic_load(&accelerated));
}

static void served(void **state) {
    (void)state;
    rg_error error = {0};
    rg_viewer *viewer;
    rg_status status = rg_viewer_create(make(), NULL, &viewer, &error);
    if (status == RG_UNSUPPORTED) { /* no page was built */
        assert_non_null(strstr(error.text, "without its page"));
        printf("skipped: the viewer in a program: built without the page (tools/page)\n");
        return;
    }
    if (status != RG_OK)
        fail_msg("%s", error.text);
    int port = 0;
    char token[128] = "", path[256], answer[4096];
    assert_int_equal(
        sscanf(rg_viewer_address(viewer), "http://127.0.0.1:%d/?token=%127s", &port, token), 2);
    snprintf(path, sizeof path, "/api/runs?token=%s", token);
    ask(port, path, answer, sizeof answer);
    assert_non_null(strstr(answer, "200"));
    assert_non_null(strstr(answer, "\"name\":\"program\""));
    ask(port, "/api/runs?token=wrong", answer, sizeof answer);
    assert_null(strstr(answer, "program"));
    look_until_late(port, token);
    rg_viewer_destroy(viewer);
}

static void errors_leave_nothing(void **state) {
    (void)state;
    rg_error error = {0};
    rg_viewer *viewer;
    rg_viewer_options nowhere = {.listen = "not an address"};
    assert_int_not_equal(rg_viewer_create(make(), &nowhere, &viewer, &error), RG_OK);
    assert_null(viewer);
    assert_true(error.text[0] != 0);
    rg_viewer_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(served),
        cmocka_unit_test(errors_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
