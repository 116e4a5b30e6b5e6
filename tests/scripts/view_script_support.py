"""`rigor view` for script tests: a server that is started and ended, HTTP and WebSocket as raw as the
tests need them, frames decoded."""
import base64
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import time

from record_script_support import check, check_equal

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
FIGURES = ("energy kinetic impact_loss friction_work stabilisation integration external_work "
           "prescribed_work closure_rel penetration overlap complementarity cone_violation momentum_error "
           "joint_error contacts solver_iterations solver_failures solves passed_through").split()
PAGE = "<!doctype html><title>page</title><script>let a = 1;</script>\n"


class Server:
    """with Server(rigor, page, "incline") as server: ..."""

    def __init__(self, rigor, page, *arguments):
        self.sanitized = "sanitize" in rigor.path # slower, and larger
        self.process = subprocess.Popen(
            [rigor.path, "view", *map(str, arguments), "--page", page, "--no-browser"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        line = self.process.stdout.readline()
        match = re.fullmatch(r"http://([0-9.]+):(\d+)/\?token=([0-9a-f]{32})\n", line)
        check(match, f"address {line!r}: " + ("" if match else self.process.communicate()[1]))
        self.host, self.port, self.token = match[1], int(match[2]), match[3]

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind: # what went wrong is on its way; what the server says may explain it
            self.process.kill()
            print(self.process.communicate()[1])
        else:
            self.end()

    def end(self, number=signal.SIGINT):
        """Ends it; it must do so in time, with code 0 and nothing from a sanitizer."""
        if self.process.returncode is not None:
            return
        if self.process.poll() is None:
            self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=60)
        check_equal(self.process.returncode, 0, f"exit code of view ({errors})")
        check("Sanitizer" not in errors and "runtime error" not in errors, errors)

    def memory(self):
        """Resident now, and its largest so far, in MB."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as stream:
            text = stream.read()
        return [int(re.search(rf"{name}:\s+(\d+) kB", text)[1]) / 1024 for name in ("VmRSS", "VmHWM")]

    def connect(self, **options):
        connection = socket.socket()
        if "receive" in options:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, options["receive"])
        connection.settimeout(30)
        connection.connect((self.host, self.port))
        return connection

    def raw(self, request):
        """Sends bytes as they are; code, headers (lower case), body."""
        with self.connect() as connection:
            connection.sendall(request)
            answer = b""
            while True:
                try:
                    part = connection.recv(1 << 16)
                except ConnectionResetError:
                    break
                if not part:
                    break
                answer += part
        head, _, body = answer.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        match = re.match(r"HTTP/1\.1 (\d+) ", lines[0])
        code = int(match[1]) if match else None
        headers = dict(line.lower().split(": ", 1) for line in lines[1:])
        return code, headers, body

    def target(self, path):
        return f"{path}?token={self.token}"

    def get(self, path, token=True, method="GET", host=None, more=()):
        lines = [f"{method} {self.target(path) if token is True else path + (token or '')} HTTP/1.1",
                 f"Host: {host or f'{self.host}:{self.port}'}", *more, "", ""]
        return self.raw("\r\n".join(lines).encode("latin-1"))

    def fetch(self, path):
        code, headers, body = self.get(path)
        check_equal(code, 200, f"{path}: {body[:200]!r}")
        check_equal(int(headers["content-length"]), len(body), f"length of {path}")
        return body


class Client:
    """A WebSocket of a live run. Keeps the newest manifest, state and frame; `errors` are all."""

    def __init__(self, server, run=0, **options):
        self.server = server
        self.socket = server.connect(**options)
        self.manifest = self.state = self.frame = self.closed = None
        self.errors, self.frames, self.manifests, self.pings = [], 0, 0, 0
        self.speed, self.marks = 1.0, 0
        host = f"{server.host}:{server.port}"
        lines = [f"GET {server.target(f'/api/live/{run}')} HTTP/1.1", f"Host: {host}",
                 "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
                 "Sec-WebSocket-Version: 13",
                 f"Origin: {options.get('origin', f'http://{host}')}", "", ""]
        self.socket.sendall("\r\n".join(lines).encode())
        head = b""
        while b"\r\n\r\n" not in head:
            part = self.socket.recv(1) # no more than the head
            if not part:
                break
            head += part
        self.code = int(head.split()[1]) if head else None

    def __enter__(self):
        check_equal(self.code, 101, "answer to the upgrade")
        return self

    def __exit__(self, *_):
        self.vanish()

    def vanish(self):
        self.socket.close()

    def send_frame(self, opcode, data, final=True, bits=0):
        mask = os.urandom(4)
        size = len(data)
        head = bytes([(0x80 if final else 0) | bits | opcode])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 1 << 16:
            head += b"\xfe" + struct.pack(">H", size)
        else:
            head += b"\xff" + struct.pack(">Q", size)
        body = int.from_bytes(data, "big") ^ int.from_bytes((mask * (size // 4 + 1))[:size], "big")
        self.socket.sendall(head + mask + body.to_bytes(size, "big"))

    def send_text(self, text):
        self.send_frame(TEXT, text.encode() if isinstance(text, str) else text)

    def send(self, kind, **values):
        self.send_text(json.dumps({"type": kind, **values}))

    def _read(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise ConnectionError("closed")
            data += part
        return data

    def receive(self):
        """One message: its opcode, or None if the connection has ended."""
        try:
            first, second = self._read(2)
            size = second & 127
            if size > 125:
                size = struct.unpack(">H", self._read(2))[0] if size == 126 else struct.unpack(
                    ">Q", self._read(8))[0]
            data = self._read(size)
        except (ConnectionError, socket.timeout):
            return None
        check(first & 0x80 and not second & 0x80, "a part, or a mask, from the server")
        self.take(first & 15, data)
        return first & 15

    def take(self, opcode, data):
        if opcode == BINARY:
            self.frame = decode_chunk(data)[0]
            self.frames += 1
            check_equal(self.frame["bodies"], len(self.manifest["bodies"]), "bodies of a frame")
        elif opcode == CLOSE:
            self.closed = struct.unpack(">H", data[:2])[0] if data else 1005
        elif opcode == PING:
            self.pings += 1
            self.send_frame(PONG, data)
        elif opcode == TEXT:
            message = json.loads(data.decode())
            kind = message.pop("type")
            check(kind in ("manifest", "state", "error"), f"a message of type {kind}")
            if kind == "manifest":
                self.manifest = message["manifest"]
                self.manifests += 1
            elif kind == "state":
                self.state = message
            else:
                self.errors.append(message["text"])

    def drain(self, seconds=0.0):
        """Everything that comes in a time."""
        end = time.monotonic() + seconds
        while select.select([self.socket], [], [], max(0, end - time.monotonic()))[0]:
            if self.receive() is None:
                break

    def until(self, condition, what, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            check(time.monotonic() < end, f"waited {seconds} s for {what}; state {self.state}, "
                  f"errors {self.errors}")
            if self.receive() is None:
                check(condition(), f"the connection ended before {what}")
                break

    def ask(self, kind, **values):
        """Sends, and waits until it was carried out; the error that it met with, or None. A speed that
        differs in the last digits marks the state that comes after it."""
        if kind == "speed":
            self.speed = values["value"]
        self.marks += 1
        mark, errors = self.speed + self.marks * 1e-9, len(self.errors)
        self.send(kind, **values)
        self.send("speed", value=mark)
        self.until(lambda: self.state and self.state["speed"] == mark, f"an answer to {kind}")
        return self.errors[-1] if len(self.errors) > errors else None

    def settle(self):
        """Paused, with the last frame there."""
        self.ask("pause")
        self.drain(0.2)
        return self.frame

    def step(self, count=1):
        """That many steps; the frame after them."""
        self.drain()
        before = self.frame["step"]
        self.send("step", count=count)
        self.until(lambda: self.frame["step"] == before + count, f"{count} steps")
        return self.frame

    def body(self, name):
        return [body["name"] for body in self.manifest["bodies"]].index(name)


def decode_chunk(data):
    """The frames of a chunk that is not coded."""
    magic, flags, first, frames, bodies, contacts, figures, size = struct.unpack("<4s7I", data[:32])
    check_equal(magic, b"RGV1", "first letters of a chunk")
    check_equal(flags & 3, 0, "flags of a live frame")
    check_equal(size, len(data) - 32, "bytes of a chunk")
    at = 32

    def take(kind, count):
        nonlocal at
        values = struct.unpack_from(f"<{count}{kind}", data, at)
        at += struct.calcsize(f"<{count}{kind}")
        return values

    def rows(values, width):
        return [values[i:i + width] for i in range(0, len(values), width)]

    check_equal(frames, 1, "frames of a live chunk")
    frame = {"index": first, "bodies": bodies, "time": take("d", 1)[0], "step": take("d", 1)[0],
             "position": rows(take("f", 3 * bodies), 3),
             "orientation": rows(take("f", 4 * bodies), 4),
             "velocity": rows(take("f", 3 * bodies), 3), "angular": rows(take("f", 3 * bodies), 3)}
    if flags & 4:
        check_equal(take("I", 1)[0], contacts, "contacts of a frame")
        a, b, mode = take("I", contacts), take("I", contacts), take("I", contacts)
        vectors = [rows(take("f", 3 * contacts), 3) for _ in range(3)]
        scalars = [take("f", contacts) for _ in range(3)]
        frame["contacts"] = [
            dict(zip(("a", "b", "mode", "position", "normal", "force", "gap", "friction", "slip"), row))
            for row in zip(a, b, mode, *vectors, *scalars)]
    if flags & 16:
        loads = take("I", 1)[0]
        kind, number, body = take("I", loads), take("I", loads), take("I", loads)
        point, force, torque = (rows(take("f", 3 * loads), 3) for _ in range(3))
        frame["loads"] = [dict(zip(("kind", "number", "body", "point", "force", "torque"), load))
                          for load in zip(kind, number, body, point, force, torque)]
    if flags & 8:
        frame["figures"] = dict(zip(FIGURES, take("f", figures)))
    check_equal(at, len(data), "bytes of a chunk that were read")
    return [frame]
