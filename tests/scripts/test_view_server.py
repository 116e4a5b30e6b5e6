#!/usr/bin/python3
"""test_view_server.py RIGOR: the server of `rigor view`: who gets in, what is refused, what the live
protocol does, who may be slow or vanish, and how it ends."""
import json
import math
import os
import resource
import signal
import socket
import struct
import sys
import time
import zlib

from record_script_support import Command, check, check_equal, scratch_directory
from view_script_support import BINARY, CLOSE, PAGE, PING, TEXT, Client, Server

STEP = 1 / 240
WEIGHT = """
rigor: 1
bodies:
  - {name: floor, shape: {halfspace: {normal: [0, 0, 1], offset: 0}}, motion: fixed}
  - {name: box, shape: {box: [0.4, 0.4, 0.4]}, position: [0, 0, 0.2]}
  - {name: bar, shape: {box: [2, 0.1, 0.1]}, position: [0, 2, 0.05]}
duration: 1
"""
# Falls into the centre, where the acceleration is infinite.
DOOMED = """
rigor: 1
gravity: [0, 0, 0]
method: analytic
bodies:
  - {name: ball, shape: {sphere: 0.01}, position: [0.1, 0, 0]}
forces:
  - {kind: central, centre: [0, 0, 0], strength: 1}
duration: 1
"""
PLANAR = """
rigor: 1
planar: true
bodies:
  - {name: floor, shape: {halfspace: {normal: [0, 1], offset: 0}}, motion: fixed}
  - {name: square, shape: {polygon: [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]}, position: [0, 0.5]}
duration: 1
"""


def length(vector):
    return math.sqrt(sum(x * x for x in vector))


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)
    return path


# ---- who gets in ----


def test_answers(rigor, folder, page):
    recording = os.path.join(folder, "incline.h5")
    check_equal(rigor("run", "incline", "--duration", "2", "--out", recording, "-q").returncode, 0,
                "run")
    with Server(rigor, page, "incline", recording) as server:
        body = server.fetch("/")
        check_equal(body.decode(), PAGE, "the page")
        code, headers, _ = server.get("/")
        policy = headers["content-security-policy"]
        check("script-src 'sha256-" in policy and "unsafe-inline" not in policy.split("style-src")[0],
              policy)
        check(f"ws://{server.host}:{server.port};" in policy, policy)
        for name, value in (("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
                            ("cache-control", "no-store"), ("x-frame-options", "deny")):
            check_equal(headers[name], value, name)
        check("access-control-allow-origin" not in headers, "CORS")
        runs = json.loads(server.fetch("/api/runs"))
        check_equal(runs, [{"id": "0", "name": "incline", "live": True},
                           {"id": "1", "name": "incline.h5", "live": False}], "runs")
        check_equal(server.get("/favicon.ico", token=False)[0], 204, "icon")
        check_recording(server)
        live = json.loads(server.fetch("/api/runs/0/manifest"))
        check_equal((live["kind"], len(live["bodies"])), ("live", 2), "live manifest")
        for path in ("/api/runs/0/overview", "/api/runs/0/chunks/0", "/api/runs/0/times",
                     "/api/live/1", "/api/runs/2/manifest"):
            check_equal(server.get(path)[0], 404, path)
        check_equal(server.get("/api/live/0")[0], 426, "a live run without a WebSocket")


def check_recording(server):
    """Manifest, times, overview and chunks of a recording agree with each other."""
    manifest = json.loads(server.fetch("/api/runs/1/manifest"))
    check_equal((manifest["format"], manifest["version"], manifest["kind"]),
                ("rigor-view", 1, "recording"), "manifest")
    frames, per_chunk = manifest["frame_count"], manifest["chunk_frames"]
    check_equal(frames, 121, "frames")
    times = server.fetch("/api/runs/1/times")
    check_equal(len(times), 8 * frames, "bytes of the times")
    times = struct.unpack(f"<{frames}d", times)
    check(abs(times[-1] - 2) < 1e-9 and all(a < b for a, b in zip(times, times[1:])), "times")
    chunks = -(-frames // per_chunk)
    first = 0
    for number in range(chunks):
        data = server.fetch(f"/api/runs/1/chunks/{number}")
        magic, flags, begin, count, bodies, _, figures, size = struct.unpack("<4s7I", data[:32])
        check_equal((magic, flags & 12, begin, bodies, figures), (b"RGV1", 12, first, 2, 20), "chunk")
        body = zlib.decompress(data[32:]) if flags & 1 else data[32:]
        check_equal(len(body), size, "bytes of a chunk")
        check_equal(struct.unpack(f"<{count}d", body[:8 * count]), times[first:first + count],
                    "times in a chunk")
        first += count
    check_equal(first, frames, "frames in chunks")
    check_equal(server.get(f"/api/runs/1/chunks/{chunks}")[0], 404, "a chunk too many")
    overview = server.fetch("/api/runs/1/overview")
    magic, flags, _, points, bodies, contacts, figures, _ = struct.unpack("<4s7I", overview[:32])
    check_equal((magic, flags, bodies, contacts, figures), (b"RGV1", 9, 0, 0, 20), "overview")
    check(1 <= points <= 2000, f"{points} points")


def test_refusals(rigor, _folder, page):
    with Server(rigor, page, "incline") as server:
        good = f"{server.host}:{server.port}"
        token, other = f"?token={server.token}", "0" * 32
        for query in (False, "?token=", f"?token={other}", f"?token={server.token[:-1]}",
                      f"?token={server.token}0", f"{token}&token={other}", f"{token}{token}",
                      f"?Token={server.token}", f"?x={server.token}", f"?xtoken={server.token}",
                      "?token=" + "%30" * 32):
            for path in ("/", "/api/runs", "/api/runs/0/manifest", "/api/live/0", "/nothing"):
                code, _, body = server.get(path, token=query)
                check_equal(code, 403, f"{path}{query}")
                check(server.token.encode() not in body, "the token in an answer")
        for host in ("evil.example", "evil.example:80", f"evil.example:{server.port}", "127.0.0.1",
                     f"127.0.0.1:{server.port + 1}", f"127.0.0.1.evil.example:{server.port}",
                     f"127.0.0.2:{server.port}", f"0.0.0.0:{server.port}", "localhost",
                     f"{good}:{server.port}", f"127.0.0.1:0{server.port}", f"user@{good}", "[", ":",
                     "localhost:" + "9" * 400, "x" * 3000):
            check_equal(server.get("/", host=host)[0], 403, f"Host {host}")
        for host in (f"localhost:{server.port}", f"LOCALHOST:{server.port}", f"[::1]:{server.port}"):
            check_equal(server.get("/", host=host)[0], 200, f"Host {host}")
        for origin in ("http://evil.example", "null", f"https://{good}", f"http://{good}.evil.example",
                       f"http://localhost:{server.port}", "http://127.0.0.1", ""):
            check_equal(server.get("/api/runs", more=[f"Origin: {origin}"])[0], 403,
                        f"Origin {origin}")
            client = Client(server, origin=origin)
            check_equal(client.code, 403, f"WebSocket from {origin}")
            client.vanish()
        check_equal(server.get("/api/runs", more=[f"Origin: http://{good}"])[0], 200, "its own origin")
        for more in ([f"Host: {good}"], ["Host: evil.example"],
                     [f"Origin: http://{good}", "Origin: http://evil.example"]):
            check_equal(server.get("/", more=more)[0], 403, f"twice: {more}")
        check_equal(server.raw(f"GET /{token} HTTP/1.1\r\n\r\n".encode())[0] in (400, 403), True,
                    "no Host")
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "PROPFIND"):
            code, headers, _ = server.get("/", method=method)
            check(code in (405, 400), f"{method}: {code}")
            check("access-control-allow-methods" not in headers, "CORS")
        check_equal(server.get("/", more=["Content-Length: 5"])[0], 413, "a body")
        check_equal(server.get("/", more=["X: " + "y" * 20000])[0] in (413, 400, 431, None), True,
                    "a long header")
        check_equal(server.fetch("/").decode(), PAGE, "it still answers")


def test_paths(rigor, _folder, page):
    """Nothing but the known paths, however they are written."""
    with Server(rigor, page, "incline") as server:
        paths = ["/../", "/../../../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
                 "//etc/passwd", "/./", "/api/../", "/api/runs/", "/api/runs/0", "/api/runs/0/",
                 "/api/runs/00/manifest", "/api/runs/-1/manifest", "/api/runs/0/manifest/",
                 "/api/runs/0/../0/manifest", "/api/runs/0/chunks/", "/api/runs/0/chunks/../../../x",
                 "/api/runs/18446744073709551616/manifest", "/api/runs/0%00/manifest", "/api/%72uns",
                 "/index.html", "/api/live/0/", "/api/live/0/x", "/api/live", "/api/live/", "/API/runs",
                 "/\\..\\..\\etc\\passwd", "/%c0%ae%c0%ae/", "/" + "a" * 4000, "/.git/config",
                 "/etc/passwd", "/proc/self/environ", "/%"]
        for path in paths:
            code, _, body = server.get(path)
            check(code in (400, 404), f"{path}: {code} {body[:100]!r}")
            check(b"root:" not in body, f"{path} served a file")
        for request in (b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
                        b"GET * HTTP/1.1\r\n\r\n", b"\0\1\2\3\r\n\r\n", b"GET\r\n\r\n",
                        b"GET /\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
                        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
            check(server.raw(request)[0] != 200, f"{request!r}")
        target = server.target("/").encode()
        host = f"http://{server.host}:{server.port}".encode()
        code = server.raw(b"GET " + host + target + b" HTTP/1.1\r\nHost: " + host[7:] + b"\r\n\r\n")[0]
        check(code in (400, 404), f"an absolute address: {code}")
        check_equal(server.fetch("/").decode(), PAGE, "it still answers")


# ---- messages ----


def test_messages(rigor, _folder, page):
    """What is not a message is answered with an error, and the connection goes on."""
    good = ['{"type":"pause"}', ' {"type" : "pause"} ', '{"\\u0074ype":"pause"}']
    bad = ["", " ", "x", "[]", "{}", "null", '"pause"', "{", '{"type"}', '{"type":}', '{"type":1}',
           '{"type":"paus"}', '{"type":"pause"', '{"type":"pause",}', '{"type":"pause"}}',
           "{'type':'pause'}", '{"type":"pause","x":1}', '{"type":"pause","type":"pause"}',
           '{"type":"step"}', '{"type":"step","count":0}', '{"type":"step","count":1.5}',
           '{"type":"step","count":-1}', '{"type":"step","count":1e9}', '{"type":"step","count":"1"}',
           '{"type":"step","count":01}', '{"type":"step","count":1e}', '{"type":"step","count":+1}',
           '{"type":"speed","value":0}', '{"type":"speed","value":1e999}', '{"type":"speed","value":NaN}',
           '{"type":"speed","value":Infinity}', '{"type":"speed","value":null}',
           '{"type":"set","method":"magic"}', '{"type":"set","solver":7}', '{"type":"set","step":0}',
           '{"type":"set","friction":-1}', '{"type":"set","friction":"x"}', '{"type":"set","gravity":[0,0]}',
           '{"type":"set","gravity":[0,0,"x"]}', '{"type":"set","gravity":[0,0,[1]]}',
           '{"type":"set","gravity":[0,0,1e7]}', '{"type":"grab","body":0,"point":[0,0,0]}',
           '{"type":"grab","body":99,"point":[0,0,0],"target":[0,0,0]}',
           '{"type":"grab","body":0,"point":[0,0,0],"target":[0,0,0]}',
           '{"type":"grab","body":4294967295,"point":[0,0,0],"target":[0,0,0]}',
           '{"type":"throw","from":[0,0,9],"velocity":[0,0,0],"size":0}',
           '{"type":"throw","from":[0,0,9],"velocity":[0,0,0],"size":1,"mass":1}',
           "[" * 1000, '{"a":' * 1000, '{"type":"\x01"}', '{"type":"\\x"}', '{"type":"\\ud800"}',
           '{"type":"\\u0000"}', '{"type":"' + "p" * 60000 + '"}', " " * 65536, "0" * 65536,
           b'{"type":"\xff\xfe"}', b'{"type":"\xc0\xae"}', b'{"type":"\xed\xa0\x80"}', b"\xef\xbb\xbf{}",
           b'\0{"type":"pause"}', "{" + ",".join(f'"k{i}":{i}' for i in range(3000)) + "}"]
    with Server(rigor, page, "incline", "--paused") as server, Client(server) as client:
        client.until(lambda: client.frame and client.state, "the beginning")
        for text in good:
            client.state = None
            client.send_text(text)
            client.until(lambda: client.state, f"a state after {text!r}")
        check_equal(client.errors, [], "errors of good messages")
        for text in bad:
            count = len(client.errors)
            client.send_text(text)
            client.until(lambda: len(client.errors) > count, f"an error for {text[:80]!r}")
            check(0 < len(client.errors[-1]) < 300 and client.errors[-1].isprintable(),
                  f"{text[:80]!r}: {client.errors[-1]!r}")
        check_equal(len(client.errors), len(bad), "errors")
        check_equal(client.frame["time"], 0.0, "time")
        # In parts, with a ping between them, as the protocol allows.
        client.state = None
        client.send_frame(TEXT, b'{"type":', final=False)
        client.send_frame(PING, b"hello")
        client.send_frame(0, b'"pa', final=False)
        client.send_frame(0, b'use"}')
        client.until(lambda: client.state, "a state after a message in parts")


def test_junk_frames(rigor, _folder, page):
    """What breaks the protocol ends the connection, and nothing else."""
    with Server(rigor, page, "incline", "--paused") as server, Client(server) as witness:
        witness.until(lambda: witness.frame, "the beginning")

        def refused(what, code, act):
            with Client(server) as client:
                client.until(lambda: client.frame, "the beginning")
                try:
                    act(client)
                except OSError:
                    pass
                end = time.monotonic() + 20
                while client.receive() is not None:
                    check(time.monotonic() < end, f"{what} is not refused")
                check(client.closed in (code, None), f"{what}: closed with {client.closed}")

        refused("binary", 1003, lambda c: c.send_frame(BINARY, os.urandom(100)))
        refused("a part of nothing", 1002, lambda c: c.send_frame(0, b"x"))
        refused("two beginnings", 1002, lambda c: [c.send_frame(TEXT, b"x", final=False),
                                                   c.send_frame(TEXT, b"x")])
        refused("an unknown opcode", 1002, lambda c: c.send_frame(3, b"x"))
        refused("reserved bits", 1002, lambda c: c.send_frame(TEXT, b"{}", bits=0x40))
        refused("a text without a mask", 1002, lambda c: c.socket.sendall(b"\x81\x02{}"))
        refused("a ping in parts", 1002, lambda c: c.send_frame(PING, b"x", final=False))
        refused("a long ping", 1002, lambda c: c.send_frame(PING, b"x" * 126))
        refused("64 KiB and 1", 1009, lambda c: c.send_frame(TEXT, b" " * 65537))
        refused("a megabyte", 1009, lambda c: c.send_frame(TEXT, b" " * (1 << 20)))
        refused("a megabyte in parts", 1009, lambda c: [
            c.send_frame(TEXT if i == 0 else 0, b" " * 32768, final=i == 31) for i in range(32)])
        refused("a close", 1000, lambda c: c.send_frame(CLOSE, struct.pack(">H", 1000)))
        # Sizes that nobody means, known by the head alone; a message that breaks off; noise.
        for size in (1 << 30, 1 << 40, (1 << 64) - 1):
            refused(f"{size} bytes", 1009,
                    lambda c, size=size: c.socket.sendall(b"\x81\xff" + struct.pack(">Q", size)))
        for size in (100, 30000, 60000):
            with Client(server) as client:
                client.socket.sendall(b"\x81\xff" + struct.pack(">Q", 60000) + os.urandom(size))
                time.sleep(0.05)
        for _ in range(20):
            with Client(server) as client:
                try:
                    client.socket.sendall(os.urandom(5000))
                except OSError:
                    pass
        check(witness.ask("pause") is None, f"the witness: {witness.errors}")
        check(server.memory()[1] < 200 * (4 if server.sanitized else 1),
              f"{server.memory()} MB")


def test_rate(rigor, _folder, page):
    """Thousands of messages at once: most are left out, it says so, and goes on."""
    with Server(rigor, page, "incline", "--paused") as server, Client(server) as client:
        client.until(lambda: client.frame, "the beginning")
        for _ in range(3000):
            client.send("speed", value=2)
        client.until(lambda: any("left out" in text for text in client.errors), "the limit")
        client.drain(1.2)
        check(len(client.errors) < 200, f"{len(client.errors)} errors")
        check_equal(client.ask("speed", value=0.5), None, "after a rest")
        check(abs(client.state["speed"] - 0.5) < 1e-6, "speed")


# ---- the live run ----


def test_control(rigor, _folder, page):
    with Server(rigor, page, "incline", "--paused") as server, Client(server) as client:
        client.until(lambda: client.frame and client.state, "the beginning")
        check_equal(client.state["running"], False, "running with --paused")
        check_equal((client.state["method"], client.state["solver"], client.state["friction"]),
                    ("stepping", "auto", None), "state")
        check("dantzig" in client.state["solvers"] and "analytic" in client.state["methods"], "lists")
        check_equal(client.manifest["kind"], "live", "kind")
        for count in (1, 1, 3, 120):
            before = client.frame
            after = client.step(count)
            check(abs(after["time"] - before["time"] - count * STEP) < 1e-12,
                  f"{count} steps took {after['time'] - before['time']}")
        client.drain(0.3)
        check_equal(client.frame["step"], 125.0, "no step by itself")
        # It runs, as fast as it is told.
        begin, clock = client.frame["time"], time.monotonic()
        check_equal(client.ask("play"), None, "play")
        client.until(lambda: client.frame["time"] > begin + 0.5, "half a second")
        passed = time.monotonic() - clock
        check(passed > 0.4, f"half a second took {passed} s")
        client.ask("speed", value=4)
        client.until(lambda: client.state["achieved"] > 1, "more than real time")
        profile = client.state["profile"]
        total = sum(profile["stages_ms"].values())
        # Where a step only repeats the last one, reading the clock is what takes the time.
        check(len(profile["stages_ms"]) == 11 and abs(total - profile["step_ms"]) < 0.02 * total + 1e-3,
              f"the stages sum to the step: {profile}")
        frame = client.settle()
        time.sleep(0.3)
        client.drain()
        check_equal(client.frame["step"], frame["step"], "paused")
        check_equal((client.state["running"], client.state["achieved"]), (False, 0), "paused")
        # From the beginning, with the settings of now.
        check_equal(client.ask("set", step=0.01, solver="newton"), None, "set")
        check_equal(client.ask("reset"), None, "reset")
        client.until(lambda: client.frame["time"] == 0, "time 0")
        check_equal((client.state["step"], client.state["solver"]), (0.01, "newton"), "kept settings")
        check(abs(client.step(2)["time"] - 0.02) < 1e-15, "the new step")
        # All or nothing.
        error = client.ask("set", step=0.005, gravity=[0, 0, -1], method="analytic", friction=5000)
        check("friction" in error, f"error {error}")
        check_equal(client.ask("pause"), None, "pause")
        check_equal((client.state["step"], client.state["method"], client.state["gravity"]),
                    (0.01, "stepping", [0, 0, -9.81]), "nothing was set")
        check_equal(client.ask("set", method="analytic"), None, "another method")
        check_equal(client.state["method"], "analytic", "method")


def test_settings(rigor, folder, page):
    """Friction and gravity do what Newton says."""
    with Server(rigor, page, "incline", "--paused", "--step", STEP) as server, Client(server) as client:
        client.until(lambda: client.frame, "the beginning")
        box = 1 - client.manifest["bodies"].index(
            next(body for body in client.manifest["bodies"] if body["motion"] == "fixed"))
        client.step(60)
        check(length(client.frame["velocity"][box]) < 1e-9, "it sticks")
        check(all(contact["mode"] == 1 for contact in client.frame["contacts"]), "stick")
        client.ask("set", friction=0)
        before = length(client.frame["velocity"][box])
        frame = client.step(60)
        gained = length(frame["velocity"][box]) - before
        expected = 60 * STEP * 9.81 * math.sin(math.radians(20))
        check(abs(gained - expected) < 1e-4 * expected, f"gained {gained}, expected {expected}")
        check(frame["figures"]["penetration"] <= 1e-6, f"penetration {frame['figures']}")
        # As the scene says: friction 0.5 brings it to rest again.
        client.ask("set", friction=None)
        check_equal(client.state["friction"], None, "friction")
        slowed = length(client.step(60)["velocity"][box])
        law = 9.81 * (math.sin(math.radians(20)) - 0.5 * math.cos(math.radians(20)))
        check(abs(slowed - before - gained - 60 * STEP * law) < 1e-3, f"slowed to {slowed}")
    with Server(rigor, page, write(folder, "weight.yaml", WEIGHT), "--paused") as server, \
            Client(server) as client:
        client.until(lambda: client.frame, "the beginning")
        client.ask("set", gravity=[0, 0, 2])
        frame = client.step(120)
        check(abs(frame["velocity"][client.body("box")][2] - 1) < 1e-6, "it falls upwards")
        check_equal(client.ask("set", friction=0.3), None, "friction")
        check_equal(client.ask("reset"), None, "reset")
        check_equal((client.state["gravity"], client.state["friction"]), ([0, 0, 2], 0.3), "kept")


def test_grab(rigor, folder, page):
    """A body is lifted by a corner, pushed into the floor, and let go; contact stays exact."""
    with Server(rigor, page, write(folder, "weight.yaml", WEIGHT), "--paused") as server, \
            Client(server) as client:
        client.until(lambda: client.frame, "the beginning")
        box, bar = client.body("box"), client.body("bar")
        worst = 0

        def go(steps):
            nonlocal worst
            for _ in range(steps // 10):
                penetration = client.step(10)["figures"]["penetration"]
                worst = max(worst, 0 if math.isnan(penetration) else penetration)
            return client.frame

        check("floor" in client.ask("grab", body=client.body("floor"), point=[0, 0, 0],
                                    target=[0, 0, 1]), "the floor")
        check_equal(client.ask("grab", body=box, point=[0.2, 0.2, 0.2], target=[0.2, 0.2, 1.4]), None,
                    "grab")
        frame = go(720)
        # It hangs below the corner: the corner is g / w^2 = 6.8 cm below the target, the centre half
        # a diagonal below that.
        expected = 1.4 - 9.81 / 144 - 0.2 * math.sqrt(3)
        check(abs(frame["position"][box][2] - expected) < 0.01,
              f"it hangs at {frame['position'][box]}, expected {expected}")
        check(length(frame["velocity"][box]) < 0.02, f"it rests: {frame['velocity'][box]}")
        client.send("drag", target=[1, 0, -3]) # into the floor
        frame = go(240)
        check(frame["position"][box][2] > 0.19, f"at {frame['position'][box]}")
        check(worst <= 1e-6, f"penetration {worst}")
        client.send("drag", target=[-3, 4, 0.2]) # through the bar, turning: as exact as the method
        go(240)
        check(worst <= 1e-3, f"penetration {worst}")
        check(client.frame["figures"]["external_work"] != 0, "the hand does work")
        client.send("release")
        frame = go(480)
        check(length(frame["velocity"][box]) < 1e-3, f"let go, it rests: {frame['velocity'][box]}")
        # The end of a bar, where it is four times as light, with a large step.
        worst = 0
        client.ask("set", step=0.1)
        check_equal(client.ask("grab", body=bar, point=[1, 0, 0], target=[1, 2, 3]), None, "grab")
        frame = go(200)
        check(0.5 < frame["position"][bar][2] < 3.1 and length(frame["velocity"][bar]) < 0.1,
              f"the bar hangs: {frame['position'][bar]}, {frame['velocity'][bar]}")
        check(worst <= 1e-6, f"penetration {worst}")
        # Whoever holds it vanishes: it falls.
        with Client(server) as other:
            other.until(lambda: other.frame, "the beginning")
            check_equal(other.ask("grab", body=box, point=[0, 0, 0], target=[0, -2, 2]), None, "grab")
            other.step(60)
            check(other.frame["position"][box][2] > 1, f"held at {other.frame['position'][box]}")
        time.sleep(0.7)
        client.drain(0.3)
        go(60)
        check(client.frame["position"][box][2] < 0.25, f"fell to {client.frame['position'][box]}")


def test_throw(rigor, folder, page):
    with Server(rigor, page, write(folder, "weight.yaml", WEIGHT), "--paused") as server, \
            Client(server) as client, Client(server) as other:
        for one in (client, other):
            one.until(lambda one=one: one.frame, "the beginning")
        check_equal(client.ask("throw", **{"from": [-3, 0, 0.3]}, velocity=[10, 0, 0], size=0.2), None,
                    "throw")
        for one in (client, other):
            one.until(lambda one=one: one.frame["bodies"] == 4, "a new body")
        check_equal([body["name"] for body in client.manifest["bodies"]],
                    ["floor", "box", "bar", "thrown-1"], "names")
        check(abs(client.manifest["bodies"][3]["mass"] - 8) < 1e-9, "its mass")
        check(abs(client.frame["velocity"][3][0] - 10) < 1e-6, "its velocity")
        frame = client.step(120)
        check(frame["position"][1][0] > 0.02, f"it hit the box: {frame['position'][1]}")
        check(frame["figures"]["penetration"] <= 1e-6, f"penetration {frame['figures']}")
        error = client.ask("throw", **{"from": [0, 2, 0.05]}, velocity=[0, 0, 0], size=0.2)
        check("no room" in error, f"inside the bar: {error}")
        error = client.ask("throw", **{"from": [5, 5, -5]}, velocity=[0, 0, 0], size=0.2)
        check("no room" in error, f"below the floor: {error}")
        for i in range(350):
            if client.ask("throw", **{"from": [5 + i % 20, 5 + i // 20, 3]}, velocity=[0, 0, 0],
                          size=0.1):
                break
            time.sleep(0.01) # below the limit of messages
        check("300" in client.errors[-1], f"{client.errors[-1]}")
        client.drain(0.3)
        check_equal(client.frame["bodies"], 303, "bodies")
        client.step(5)
        check_equal(client.ask("reset"), None, "reset")
        client.until(lambda: client.frame["bodies"] == 3, "the beginning")
        check_equal(len(client.manifest["bodies"]), 3, "bodies in the manifest")
        check_equal(client.ask("throw", **{"from": [0, 0, 3]}, velocity=[0, 0, 0], size=0.1), None,
                    "after a reset")
    with Server(rigor, page, write(folder, "planar.yaml", PLANAR), "--paused") as server, \
            Client(server) as client:
        client.until(lambda: client.frame, "the beginning")
        check("planar" in client.ask("set", gravity=[0, 1, 0]), "gravity out of the plane")
        check_equal(client.ask("throw", **{"from": [0, 5, 3]}, velocity=[0, 9, -1], size=0.5), None,
                    "throw")
        check_equal(client.ask("grab", body=1, point=[0.5, 9, 0.5], target=[1, -4, 3]), None, "grab")
        frame = client.step(240)
        check(all(position[1] == 0 for position in frame["position"]), "in the plane")
        check(frame["position"][1][2] > 1.5, f"lifted: {frame['position'][1]}")
        check(frame["figures"]["penetration"] <= 1e-6, f"penetration {frame['figures']}")


# ---- many, slow and vanishing clients ----


def test_many(rigor, _folder, page):
    with Server(rigor, page, "dominoes") as server:
        clients = [Client(server) for _ in range(20)]
        for client in clients:
            check_equal(client.code, 101, "one of 20")
        end = time.monotonic() + 60
        for client in clients:
            while not (client.frame and client.frame["time"] > 0.3):
                check(client.receive() is not None and time.monotonic() < end, "20 clients at once")
        # All of them see the same run.
        clients[0].send("pause")
        for client in clients:
            client.drain(0.1)
        check_equal(len({client.frame["time"] for client in clients}), 1, "times after a pause")
        check_equal(len({str(client.frame["position"]) for client in clients}), 1, "positions")
        more = [Client(server) for _ in range(50)]
        codes = [client.code for client in more]
        check_equal(codes.count(101), 44, "of 70 clients, 64")
        check_equal(codes.count(503), 6, "too many")
        for client in clients[1:] + more:
            client.vanish()
        end = time.monotonic() + 20
        while True: # their places are free again
            with_place = Client(server)
            with_place.vanish()
            if with_place.code == 101:
                break
            check(time.monotonic() < end, "no place after others have left")
            time.sleep(0.1)
        check_equal(clients[0].ask("pause"), None, "the first one")
        clients[0].vanish()


def test_half_requests(rigor, _folder, page):
    """Connections that send half a request, or nothing, delay nobody, and are closed in time."""
    with Server(rigor, page, "incline", "--paused") as server, Client(server) as witness:
        witness.until(lambda: witness.frame, "the beginning")
        def open_half():
            connections = [server.connect() for _ in range(298)]
            for i, connection in enumerate(connections):
                try:
                    connection.sendall((b"GET / HT", b"", b"GET / HTTP/1.1\r\nHost: ")[i % 3])
                except OSError:
                    pass # made room for another
            return connections

        def ask():
            check_equal(server.fetch("/").decode(), PAGE, "the page")
            with Client(server) as client:
                client.until(lambda: client.frame, "a live run")
            check_equal(witness.ask("pause"), None, "one that was there before")

        half = answered_before(open_half, ask)
        # 128 may wait: the oldest have been closed by now, the others are in time.
        closed = [c for c in half if is_closed(c, 0)]
        check(len(closed) >= 298 - 128, f"{len(closed)} closed")
        check(is_closed(half[-1], 20), "the last half request is closed, too")
        for connection in half:
            connection.close()


def answered_before(open_connections, ask, attempts=8):
    """Asks while connections are open that will be given up, and returns them. Were the answer to wait for
    that, it would do so every time; a machine that is just slow is in time once."""
    for _ in range(attempts):
        connections = open_connections()
        ask()
        if not is_closed(connections[-1], 0):
            return connections
        for connection in connections:
            connection.close()
    check(False, f"{attempts} times answered only when the others had been given up")


def is_closed(connection, seconds):
    """Whether the other end closes within so many seconds."""
    connection.settimeout(max(seconds, 0.001))
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


def test_few_descriptors(rigor, _folder, page):
    """With no descriptors left, connections without a request make room."""
    with Server(rigor, page, "incline", "--paused") as server:
        limits = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (40, limits[1]))
        silent = answered_before(lambda: [server.connect() for _ in range(100)],
                                 lambda: check_equal(server.fetch("/").decode(), PAGE, "the page"))
        for connection in silent:
            connection.close()


def test_vanishing(rigor, _folder, page):
    """In the middle of anything."""
    with Server(rigor, page, "dominoes") as server, Client(server) as witness:
        witness.until(lambda: witness.frame, "the beginning")
        key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        upgrade = (f"GET {server.target('/api/live/0')} HTTP/1.1\r\nHost: {server.host}:{server.port}"
                   f"\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n{key}"
                   "\r\n").encode()
        for i in range(60):
            connection = server.connect()
            connection.sendall(upgrade[:-i] if i % 3 == 0 and i else upgrade)
            if i % 3 == 1: # with a reset instead of an end
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if i % 2:
                time.sleep(0.01)
                connection.sendall(b"\x81\xfe\x10") # a part of a head
            connection.close()
            with Client(server) as client:
                if i % 4 == 0:
                    client.until(lambda: client.frame, "a frame")
                    client.send("grab", body=2, point=[0, 0, 0], target=[0, 0, 1])
        begin = witness.frame["time"]
        witness.drain()
        witness.until(lambda: witness.frame["time"] > begin + 0.2, "the run goes on")


def test_slow(rigor, _folder, page):
    """One that does not read loses frames; the run, the others and the memory do not notice."""
    with Server(rigor, page, "projectiles", "count=2000", "--step", "0.01") as server, \
            Client(server) as quick:
        quick.until(lambda: quick.frame and quick.frame["time"] > 0.5, "the beginning")
        sleepers = [Client(server, receive=4096) for _ in range(3)]
        before, begin, frames = server.memory()[0], quick.frame["time"], quick.frames
        # Were the run to wait for those that do not read, it would stand still.
        quick.until(lambda: quick.frames > frames + 100 and quick.frame["time"] > begin + 1,
                    "the run goes on with sleepers")
        grown = server.memory()[0] - before
        check(grown < 40 * (3 if server.sanitized else 1), f"{grown} MB more")
        quick.ask("pause")
        quick.drain(0.2)
        sleeper = sleepers[0]
        sleeper.until(lambda: sleeper.frame and sleeper.frame["step"] == quick.frame["step"],
                      "the last frame")
        check(sleeper.state["dropped"] > 0 and sleeper.frames < quick.frames - frames,
              f"{sleeper.frames} frames, dropped {sleeper.state['dropped']}")
        # It ends although two of them still do not read.
        server.end(signal.SIGTERM)


def test_long_recording(rigor, folder, page):
    """Read as it is looked at: ten minutes, or an hour (RIGOR_LONG), of frames in little memory."""
    seconds = 3600 if os.environ.get("RIGOR_LONG") else 600
    recording = os.path.join(folder, "long.h5")
    check_equal(rigor("run", "incline", "--step", repr(1 / 60), "--duration", seconds, "--out", recording,
                      "-q").returncode, 0, "run")
    with Server(rigor, page, recording) as server:
        begin = server.memory()[0]
        manifest = json.loads(server.fetch("/api/runs/0/manifest"))
        check_equal(manifest["frame_count"], 60 * seconds + 1, "frames")
        chunks = -(-manifest["frame_count"] // manifest["chunk_frames"])
        check_equal(len(server.fetch("/api/runs/0/times")), 8 * manifest["frame_count"], "times")
        server.fetch("/api/runs/0/overview")
        for number in range(0, chunks, 16):
            server.fetch(f"/api/runs/0/chunks/{number}")
        grown = server.memory()[1] - begin
        check(server.sanitized or grown < 40, f"{grown} MB more") # sanitizers keep what is freed


# ---- beginning and end ----


def test_failing_steps(rigor, folder, page):
    """A step that cannot be made pauses the run and says why."""
    with Server(rigor, page, write(folder, "doomed.yaml", DOOMED), "--paused") as server, \
            Client(server) as client, Client(server) as other:
        client.until(lambda: client.frame, "the beginning")
        client.send("play")
        for one in (client, other):
            one.until(lambda one=one: one.errors, "a complaint", 120)
            check("at t = " in one.errors[0] and 'the body is "ball"' in one.errors[0], f"{one.errors}")
        check_equal(client.ask("pause"), None, "pause")
        check(not client.state["running"] and client.state["time"] < 0.1, f"{client.state}")
        client.ask("reset")
        client.until(lambda: client.frame["time"] == 0, "the beginning again")
        check(client.step(1)["time"] > 0, "a step that can be made")


def test_messages_of_the_command(rigor, folder, page):
    def expect(arguments, code, text):
        result = rigor("view", *arguments)
        check_equal(result.returncode, code, f"view {arguments}: {result.stderr}")
        check(text in result.stderr, f"view {arguments}: {result.stderr!r}, without {text!r}")
        check_equal(result.stdout, "", "stdout")

    damaged = os.path.join(folder, "damaged.h5")
    with open(damaged, "wb") as stream:
        stream.write(b"\x89HDF\r\n\x1a\n" + b"\0" * 500)
    expect([], 2, "which SCENE or RECORDING")
    expect(["no-such-scene"], 3, "no-such-scene")
    expect(["no-such.h5"], 3, "no-such.h5")
    expect([damaged], 3, "damaged.h5")
    expect([write(folder, "bad.yaml", "rigor: 1\nbodies: 7\n")], 3, "bad.yaml:2")
    expect(["incline", "angel=3"], 3, "angel")
    expect(["incline", "--port", "0"], 2, "--port")
    expect(["incline", "--port", "70000"], 2, "--port")
    expect(["incline", "--method", "magic"], 2, "magic")
    expect(["incline", "--listen", "::1", "--page", page], 2, "not an IPv4 address")
    expect(["incline", "--listen", "example.org", "--page", page], 2, "not an IPv4 address")
    expect(["incline", "--listen", "192.0.2.1", "--page", page], 1, "192.0.2.1")
    expect(["incline", "--page", os.path.join(folder, "nothing.html")], 3, "nothing.html")
    with Server(rigor, page, "incline") as server:
        expect(["incline", "--page", page, "--port", server.port], 1, f"port {server.port}")


def test_end(rigor, _folder, page):
    for number in (signal.SIGINT, signal.SIGTERM):
        with Server(rigor, page, "dominoes") as server:
            clients = [Client(server) for _ in range(3)]
            for client in clients:
                client.until(lambda client=client: client.frame, "the beginning")
            server.end(number)
            for client in clients:
                while client.receive() is not None:
                    pass
                client.vanish()


def test_everywhere(rigor, _folder, page):
    """Told to listen everywhere, addresses in numbers are its names, and still no others."""
    with Server(rigor, page, "incline", "--listen", "0.0.0.0") as server:
        for host, code in (("127.0.0.1", 200), ("192.168.7.7", 200), ("localhost", 200),
                           ("evil.example", 403), ("0.0.0.0", 403)):
            check_equal(server.get("/", host=f"{host}:{server.port}")[0], code, f"Host {host}")
            check_equal(server.get("/", host=f"{host}:1")[0], 403, f"Host {host}, another port")


def main():
    rigor = Command(sys.argv[1])
    wanted = sys.argv[2:]
    with scratch_directory() as folder:
        page = write(folder, "page.html", PAGE)
        for name, test in list(globals().items()):
            if name.startswith("test_") and (not wanted or name in wanted):
                clock = time.monotonic()
                test(rigor, folder, page)
                print(f"{name}: {time.monotonic() - clock:.1f} s", flush=True)


main()
