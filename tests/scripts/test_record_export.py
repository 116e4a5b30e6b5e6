#!/usr/bin/python3
"""What `rigor export` writes for eyes, read by readers of our own: the page's data against h5py, glTF and USD
against the poses that were recorded (and through gltf-validator where npm has fetched it), pictures and
films where Chromium and ffmpeg are installed."""
import ast
import base64
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import zlib

import h5py
import numpy

from record_script_support import Command, check, check_equal, scratch_directory

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NO_PAGE = "this command was built without the viewer's page"

# Every kind of shape, a body of several colliders, one that only moves, one with a hostile name.
SHAPES = """
rigor: 1
name: "all </script><!-- shapes & 'more'"
bodies:
  - {name: ground, motion: fixed, shape: {halfspace: {normal: [0, 0, 1], offset: -0.5}}}
  - {name: box, shape: {box: [0.4, 0.6, 0.2]}, position: [0, 0, 1], angular_velocity: [1, 2, 9]}
  - {shape: {sphere: 0.3}, position: [1, 0, 1]}
  - {name: "</script>", shape: {capsule: {radius: 0.2, length: 0.5}}, position: [2, 0, 1]}
  - {name: cylinder, shape: {cylinder: {radius: 0.2, height: 0.5}}, position: [3, 0, 1]}
  - {name: cone, shape: {cone: {radius: 0.2, height: 0.5}}, position: [4, 0, 1], velocity: [0, 3, 1]}
  - {name: egg, shape: {ellipsoid: [0.2, 0.3, 0.4]}, position: [5, 0, 1]}
  - {name: hull, shape: {hull: [[0,0,0], [1,0,0], [0,1,0], [0,0,1], [0.7,0.7,0.7]]}, position: [6, 0, 1]}
  - {name: dumbbell, position: [0, 3, 1], shape: {compound: [{shape: {sphere: 0.2}, position: [-0.4, 0, 0]},
     {shape: {sphere: 0.2}, position: [0.4, 0, 0]}, {shape: {cylinder: {radius: 0.05, height: 0.8}},
     orientation: {axis: [0, 1, 0], degrees: 90}}]}}
  - {name: twin, shape: {box: [0.4, 0.6, 0.2]}, position: [2, 3, 1]}
  - {name: lift, motion: kinematic, shape: {box: [1, 1, 0.1]}, position: [4, 3, 0], velocity: [0, 0, 0.2]}
duration: 1.5
record: {every: 0.0125}
"""
FLAT = """
rigor: 1
planar: true
name: flat
bodies:
  - {motion: fixed, shape: {halfspace: {normal: [0, 1], offset: 0}}}
  - {name: wheel, shape: {disc: 0.3}, position: [0, 1], angular_velocity: 3}
  - {name: plate, shape: {polygon: [[0, 0], [1, 0], [0.5, 0.7]]}, position: [2, 1], angle: 0.3}
duration: 1
"""
FIXED = """
rigor: 1
name: still
bodies:
  - {name: wall, motion: fixed, shape: {box: [1, 1, 1]}}
duration: 0.1
"""
FIGURES = 20


# ---- the page ----

def elements(page):
    """Type and content of every script element that has an id."""
    return {name: (kind, text) for kind, name, text in re.findall(
        r'<script type="([^"]*)" id="([^"]*)">(.*?)</script>', page, re.S)}


class Chunk:
    """A chunk by docs/view-format.md."""

    def __init__(self, text):
        data = base64.b64decode(text, validate=True)
        check_equal(data[:4], b"RGV1", "magic of a chunk")
        (self.flags, self.first, self.frames, self.bodies, self.contacts, self.figures,
         size) = struct.unpack("<7I", data[4:32])
        self.data = zlib.decompress(data[32:]) if self.flags & 1 else data[32:]
        check_equal(len(self.data), size, "bytes of a chunk")
        self.at = 0
        self.time, self.step = self.plain("<f8", self.frames), self.plain("<f8", self.frames)
        every = [1] * self.frames
        self.position = self.words(every, 3 * self.bodies).view("<f4").reshape(self.frames, -1, 3)
        self.orientation = self.words(every, 4 * self.bodies).view("<f4").reshape(self.frames, -1, 4)
        self.velocity = self.words(every, 3 * self.bodies).view("<f4").reshape(self.frames, -1, 3)
        self.angular = self.words(every, 3 * self.bodies).view("<f4").reshape(self.frames, -1, 3)
        if self.flags & 4:
            self.count = self.plain("<u4", self.frames)
            check_equal(int(self.count.sum()), self.contacts, "contacts")
            self.a, self.b, self.mode = (self.words(self.count, 1) for _ in range(3))
            self.point, self.normal, self.force = (
                self.words(self.count, 3).view("<f4").reshape(-1, 3) for _ in range(3))
            self.gap, self.friction, self.slip = (
                self.words(self.count, 1).view("<f4") for _ in range(3))
        if self.flags & 16:
            self.load_count = self.plain("<u4", self.frames)
            self.load_kind, self.load_number, self.load_body = (self.words(self.load_count, 1) for _ in range(3))
            self.load_point, self.load_force, self.load_torque = (
                self.words(self.load_count, 3).view("<f4").reshape(-1, 3) for _ in range(3))
        if self.flags & 8:
            self.figure = self.words(every, self.figures).view("<f4").reshape(self.frames, -1)
        check_equal(self.at, len(self.data), "bytes that were read")

    def plain(self, kind, count):
        array = numpy.frombuffer(self.data, kind, count, self.at).copy()
        self.at += array.nbytes
        return array

    def words(self, counts, columns):
        total = int(sum(counts)) * columns
        if not self.flags & 2:
            return self.plain("<u4", total)
        planes = self.plain("u1", 4 * total).reshape(4, total).astype("<u4")
        out = (planes[0] + (planes[1] << 8) + (planes[2] << 16) + (planes[3] << 24)).astype("<u4")
        start, before = 0, 0
        for frame, count in enumerate(counts):
            size = int(count) * columns
            if frame:
                shared = min(size, before)
                out[start:start + shared] += out[start - before:start - before + shared]
            start, before = start + size, size
        return out


def check_run(page, run, path):
    """One run of a page against its recording."""
    parts = elements(page)
    manifest = json.loads(parts[f"rigor-manifest-{run}"][1])
    with h5py.File(path, "r") as file:
        times, names = file["time"][:], list(file["bodies/name"].asstr()[:])
        every = file.attrs["record_every"]
        check_equal(manifest["name"], file.attrs["scene_name"], "name")
        check_equal([body["name"] for body in manifest["bodies"]], names, "bodies")
        check_equal(manifest["record_every"], every, "record_every")
        between = max(1, int(1 / 30 / every + 1e-6))
        shown = list(range(0, len(times), between))
        shown += [len(times) - 1] if shown[-1] != len(times) - 1 else []
        check_equal(manifest["frame_count"], len(shown), "frames")
        chunks = [Chunk(parts[f"rigor-chunk-{run}-{i}"][1])
                  for i in range(-(-len(shown) // manifest["chunk_frames"]))]
        check(f"rigor-chunk-{run}-{len(chunks)}" not in parts, "chunks beyond the last")
        check_equal(sum((list(chunk.time) for chunk in chunks), []), list(times[shown]), "times")
        for name, dataset in (("position", "poses/position"), ("orientation", "poses/orientation"),
                              ("velocity", "velocities/linear"), ("angular", "velocities/angular")):
            got = numpy.concatenate([getattr(chunk, name) for chunk in chunks])
            check(numpy.array_equal(got, file[dataset][:][shown].astype("<f4")), f"{dataset} in a page")
        check_contacts(file, chunks, shown)
        check_figures(file, chunks, Chunk(parts[f"rigor-overview-{run}"][1]), shown)


def check_contacts(file, chunks, shown):
    """Those with a force, to 16 bits."""
    start, count, table = (file["contacts/" + name][:] for name in ("start", "count", "table"))
    rows = [table[start[i]:start[i] + count[i]] for i in shown]
    rows = [row[(row["mode"] != 0) | numpy.any(row["force"] != 0, axis=1)] for row in rows]
    check_equal(sum((list(map(int, chunk.count)) for chunk in chunks), []), [len(row) for row in rows],
                "contacts of frames")
    rows = numpy.concatenate(rows)
    check(len(rows) > 20, "too few contacts to say anything")
    for name, field in (("a", "body_a"), ("b", "body_b"), ("mode", "mode")):
        check(numpy.array_equal(numpy.concatenate([getattr(chunk, name) for chunk in chunks]),
                                rows[field]), f"{field} in a page")
    for name, field in (("point", "position"), ("normal", "normal"), ("force", "force"), ("gap", "gap"),
                        ("friction", "friction"), ("slip", "slip_speed")):
        got = numpy.concatenate([getattr(chunk, name) for chunk in chunks]).astype("f8")
        check(numpy.all(numpy.abs(got - rows[field]) <= numpy.abs(rows[field]) * 2.0 ** -16.9 + 1e-37),
              f"{field} in a page")


def check_figures(file, chunks, overview, shown):
    figure = numpy.concatenate([chunk.figure for chunk in chunks]).astype("f8")
    ledger, certificate, counts = file["ledger"][:], file["certificate"][:], file["counts"][:]
    check(numpy.allclose(figure[:, 0], file["energy"][:][shown], rtol=1e-6), "energy in a page")
    for column, name in ((2, "impact_loss_J"), (3, "friction_work_J"), (4, "stabilisation_J"),
                         (5, "integration_J"), (6, "external_J"), (7, "prescribed_J")):
        sums = numpy.cumsum(numpy.nan_to_num(ledger[name]))[shown]
        check(numpy.allclose(figure[:, column], sums, rtol=1e-6, atol=1e-12), f"{name} in a page")
    frames = numpy.searchsorted(shown, numpy.arange(len(ledger))) # which shown frame stands for each
    worst = numpy.full(len(shown), -1.0)
    numpy.maximum.at(worst, frames, numpy.nan_to_num(certificate["max_penetration_m"], nan=-1))
    check(numpy.allclose(numpy.nan_to_num(figure[:, 9], nan=-1), worst, rtol=1e-6), "penetration")
    solves = numpy.zeros(len(shown))
    numpy.add.at(solves, frames, counts["solves"])
    check(numpy.array_equal(figure[:, 18], solves), "solves in a page")
    check_equal((overview.flags, overview.bodies, overview.frames), (9, 0, len(shown)), "overview")
    check(numpy.array_equal(overview.figure.astype("f8"), figure, equal_nan=True), "overview's figures")


def check_pages(rigor):
    result = rigor("export", "shapes.h5", "--html", "shapes.html")
    if result.returncode == 1 and NO_PAGE in result.stderr:
        check("tools/page" in result.stderr, "how to get the page")
        print("skipped: the viewer's exports, because the command has no page")
        return False
    check_equal((result.returncode, result.stderr, result.stdout), (0, "", ""), "export of a page")
    page = open("shapes.html", encoding="utf-8").read()
    check("<title>all &lt;/script>&lt;!-- shapes &amp; 'more' · rigor</title>" in page, "title")
    boot = json.loads(elements(page)["rigor-boot"][1])
    check_equal(boot["mode"], "embedded", "mode")
    check_equal(boot["runs"], [{"id": "0", "name": "all </script><!-- shapes & 'more'"}], "runs")
    check_run(page, 0, "shapes.h5")
    check("http://" not in page.replace("http://www.w3.org/", ""), "a page that needs the network")
    # Two of them; to standard output.
    result = rigor("export", "shapes.h5", "flat.h5", "--html", "-")
    check_equal((result.returncode, result.stderr), (0, ""), "export of two")
    boot = json.loads(elements(result.stdout)["rigor-boot"][1])
    check_equal([run["name"] for run in boot["runs"]], ["shapes", "flat"], "names of two")
    check_run(result.stdout, 0, "shapes.h5")
    check_run(result.stdout, 1, "flat.h5")
    for target in ("shapes.h5", "./flat.h5", "flat.h5.journal"):
        before = os.path.exists(target) and open(target, "rb").read()
        result = rigor("export", "shapes.h5", "flat.h5", "--html", target)
        check_equal(result.returncode, 4, f"a page over {target}")
        check("would overwrite the recording" in result.stderr, result.stderr)
        check_equal(os.path.exists(target) and open(target, "rb").read(), before, target)
    return True


# ---- glTF ----

class Gltf:
    def __init__(self, path):
        data = open(path, "rb").read()
        magic, version, size = struct.unpack("<4sII", data[:12])
        check_equal((magic, version, size), (b"glTF", 2, len(data)), "header of glTF")
        length, kind = struct.unpack("<I4s", data[12:20])
        check_equal(kind, b"JSON", "first chunk of glTF")
        self.json = json.loads(data[20:20 + length])
        self.bin = data[20 + length + 8:]
        check_equal(data[20 + length + 4:20 + length + 8], b"BIN\0", "second chunk of glTF")

    def array(self, number):
        accessor = self.json["accessors"][number]
        view = self.json["bufferViews"][accessor["bufferView"]]
        columns = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        kind = {5126: "<f4", 5125: "<u4"}[accessor["componentType"]]
        start = view["byteOffset"] + accessor.get("byteOffset", 0)
        return numpy.frombuffer(self.bin, kind, columns * accessor["count"], start).reshape(-1, columns)


def interpolate(times, values, t, is_rotation):
    """As glTF's LINEAR does."""
    i = int(numpy.clip(numpy.searchsorted(times, t, side="right") - 1, 0, len(times) - 1))
    if i + 1 >= len(times):
        return values[-1]
    share = (t - times[i]) / (times[i + 1] - times[i])
    a, b = values[i].astype("f8"), values[i + 1].astype("f8")
    dot = abs(float(a @ b))
    if is_rotation and dot < 1 - 1e-12:
        angle = numpy.arccos(min(1.0, dot))
        sign = 1 if a @ b >= 0 else -1
        return (numpy.sin((1 - share) * angle) * a + sign * numpy.sin(share * angle) * b) / numpy.sin(angle)
    return a + share * (b - a)


def check_motion(gltf, path, names):
    """Every pose of every frame is what the animation comes to at its time."""
    root = gltf.json["nodes"][gltf.json["scenes"][0]["nodes"][0]]
    nodes = {gltf.json["nodes"][i]["name"]: (i, gltf.json["nodes"][i]) for i in root["children"]}
    tracks = {}
    for animation in gltf.json.get("animations", []):
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            check_equal(sampler["interpolation"], "LINEAR", "interpolation")
            times, values = gltf.array(sampler["input"])[:, 0], gltf.array(sampler["output"])
            check(numpy.all(numpy.diff(times) > 0), "times of keyframes")
            tracks[channel["target"]["node"], channel["target"]["path"]] = times, values
    with h5py.File(path, "r") as file:
        times, position = file["time"][:], file["poses/position"][:]
        orientation = file["poses/orientation"][:]
    for body, name in enumerate(names):
        number, node = nodes[name]
        still = {"translation": node.get("translation", [0, 0, 0]),
                 "rotation": node.get("rotation", [0, 0, 0, 1])}
        for kind, truth in (("translation", position[:, body]), ("rotation", orientation[:, body])):
            moves = (number, kind) in tracks
            check_equal(moves, bool(numpy.any(truth.astype("f4") != truth[0].astype("f4"))),
                        f"{name} has a channel for {kind}")
            for t, value in zip(times, truth):
                got = interpolate(*tracks[number, kind], numpy.float32(t), kind == "rotation") \
                    if moves else numpy.array(still[kind])
                wrong = min(numpy.abs(got - value).max(),
                            numpy.abs(got + value).max() if kind == "rotation" else numpy.inf)
                check(wrong <= 3e-6, f"{name} is off by {wrong} at {t} s in {kind}")


def validate(*paths):
    """Through gltf-validator, which comes with what the page is built with."""
    folder = os.path.join(SOURCE, "viewer", "page")
    node = shutil.which("node") or shutil.which("nodejs")
    if not node or not os.path.isdir(os.path.join(folder, "node_modules", "gltf-validator")):
        print("skipped: gltf-validator, which is not here")
        return
    script = """
      const validator = require("gltf-validator"), fs = require("fs");
      (async () => {
        for (const path of process.argv.slice(1)) {
          const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(path)));
          const {numErrors, numWarnings, messages} = report.issues;
          console.log(JSON.stringify({numErrors, numWarnings, messages, info: report.info}));
        }
      })();"""
    result = subprocess.run([node, "-e", script, *map(os.path.abspath, paths)], cwd=folder, timeout=120,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    check_equal((result.returncode, result.stderr), (0, ""), "gltf-validator")
    for path, line in zip(paths, result.stdout.splitlines()):
        report = json.loads(line)
        check(report["numErrors"] == 0 and report["numWarnings"] == 0,
              f"{path}: gltf-validator: {report['messages']}")


def check_gltf(rigor):
    for name in ("shapes", "flat", "still"):
        result = rigor("export", f"{name}.h5", "--gltf", f"{name}.glb")
        check_equal((result.returncode, result.stderr, result.stdout), (0, "", ""), "export of glTF")
    gltf = Gltf("shapes.glb")
    check(gltf.json["asset"]["generator"].startswith("rigor "), "generator")
    names = ["ground", "box", "body 2", "</script>", "cylinder", "cone", "egg", "hull", "dumbbell", "twin",
             "lift"]
    check_motion(gltf, "shapes.h5", names)
    check_motion(Gltf("flat.glb"), "flat.h5", ["body 0", "wheel", "plate"])
    check("animations" not in Gltf("still.glb").json, "animation of what does not move")
    nodes = {node["name"]: node for node in gltf.json["nodes"]}
    meshes = gltf.json["meshes"]
    one, other = (meshes[nodes[name]["mesh"]]["primitives"][0]["attributes"] for name in ("box", "twin"))
    check_equal(one, other, "equal shapes share their geometry")
    check_equal(len(nodes["dumbbell"]["children"]), 3, "parts of a compound")
    root = gltf.json["nodes"][gltf.json["scenes"][0]["nodes"][0]]
    check_equal(len(root["children"]), len(names), "bodies below the root")
    x, y, z, w = root["rotation"]
    up = numpy.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    check(numpy.allclose(up, [0, 1, 0]), "z up becomes y up")
    # The slab of the half-space: its surface is at z = -0.5.
    slab = gltf.json["nodes"][nodes["ground"]["children"][0]]
    check(abs(slab["translation"][2] + 0.5) < 1e-6 and "rotation" not in slab, f"slab at {slab}")
    # Fewer frames a second: no more keyframes than that.
    check_equal(rigor("export", "shapes.h5", "--gltf", "few.glb", "--fps", "10").returncode, 0, "--fps")
    few = Gltf("few.glb")
    longest = max(few.json["accessors"][s["input"]]["count"] for s in few.json["animations"][0]["samplers"])
    check(longest <= 16, f"{longest} keyframes in 1.5 s at 10 a second")
    validate("shapes.glb", "flat.glb", "still.glb", "few.glb")
    for target, words in (("no/where.glb", "cannot be written"), (".", "is not a regular file"),
                          ("shapes.h5", "would overwrite the recording")):
        result = rigor("export", "shapes.h5", "--gltf", target)
        check(result.returncode == 4 and words in result.stderr, f"{target}: {result.stderr}")
    check(not os.path.exists("no") and not os.path.exists("shapes.h5.new"), "left-overs")


# ---- pictures and films ----

# --- USD ----------------------------------------------------------------------------------------------

def read_usda(path):
    """The prims of a USD text as nested (type, name, attributes, children), the layer first: one attribute, brace or
    sample a line, as rigor writes them."""
    lines = iter(pathlib.Path(path).read_text().splitlines())
    check_equal([next(lines), next(lines)], ["#usda 1.0", "("], "the head of the USD text")
    root = ("", "", dict(line.split(" = ") for line in iter(lambda: next(lines), ")")), [])
    stack = [root]
    for line in lines:
        if line == "}":
            stack.pop()
        elif match := re.fullmatch(r'def (\w+) "([A-Za-z_]\w*)"', line):
            prim = (*match.groups(), {}, [])
            stack[-1][3].append(prim)
            stack.append(prim)
            check_equal(next(lines), "{", "after def")
        elif match := re.fullmatch(r"(?:custom |uniform )?([\w\[\]]+) ([\w:]+)\.timeSamples = \{", line):
            samples = (sample.rstrip(",").split(": ") for sample in iter(lambda: next(lines), "}"))
            stack[-1][2][match[2]] = (match[1], {float(time): ast.literal_eval(value) for time, value in samples})
        else:
            match = re.fullmatch(r"(?:custom |uniform )?([\w\[\]]+) ([\w:]+) = (.*?)(?: \(interpolation = .*\))?", line)
            check(match, f"a line of USD that is none: {line[:80]}")
            stack[-1][2][match[2]] = (match[1], ast.literal_eval(match[3]))
    check_equal(len(stack), 1, "braces of the USD text")
    return root


def check_usda_body(prim, recorded, number):
    kind, name, attributes, meshes = prim
    check_equal((kind, name), ("Xform", f"body_{number}"), "a prim of a body")
    check_equal(attributes["xformOpOrder"][1], ["xformOp:translate", "xformOp:orient"], "order of operations")
    for attribute, wanted in (("xformOp:translate", recorded["position"][:, number]),
                              ("xformOp:orient", numpy.roll(recorded["orientation"][:, number], 1, axis=1))):
        value = attributes[attribute][1]
        if isinstance(value, dict):
            check(numpy.abs(numpy.array(list(value)) - 60 * recorded["time"]).max() < 1e-3, f"{name}: time codes")
            value = numpy.array(list(value.values()))
        else:
            value = numpy.array([value] * len(recorded["time"]))
        apart = numpy.abs(value - wanted)
        if attribute == "xformOp:orient":  # a quaternion and its negative are one rotation
            apart = numpy.minimum(apart, numpy.abs(value + wanted))
        check(apart.max() < 1e-5, f"{name}: {attribute} is {apart.max()} off")
    for kind, _, parts, below in meshes:
        check_equal((kind, below), ("Mesh", []), "what is under a body")
        points, corners = parts["points"][1], parts["faceVertexIndices"][1]
        check_equal(3 * len(parts["faceVertexCounts"][1]), len(corners), "corners")
        check_equal(len(parts["normals"][1]), len(points), "normals")
        check(0 <= min(corners) and max(corners) < len(points), "indices of corners")
    return len(meshes)


def check_usda(rigor):
    result = rigor("export", "shapes.h5", "--usda", "shapes.usda")
    check_equal((result.returncode, result.stderr), (0, ""), "--usda")
    layer = read_usda("shapes.usda")
    check_equal((layer[2]["upAxis"], layer[2]["metersPerUnit"]), ('"Z"', "1"), "the stage")
    world = layer[3][0]
    check_equal(world[:2], ("Xform", "World"), "the root")
    with h5py.File("shapes.h5") as file:
        recorded = {"time": file["time"][:], "position": file["poses/position"][:],
                    "orientation": file["poses/orientation"][:]}
    check_equal(len(world[3]), recorded["position"].shape[1], "prims of bodies")
    meshes = [check_usda_body(prim, recorded, number) for number, prim in enumerate(world[3])]
    nodes = [node for node in Gltf("shapes.glb").json["nodes"] if "mesh" in node]
    check_equal(sum(meshes), len(nodes), "meshes, beside those of glTF")
    samples = sum(isinstance(value[1], dict) for prim in world[3] for value in prim[2].values())
    check(samples > 0, "nothing moves in the USD text")


def size_of(path):
    data = open(path, "rb").read()
    check_equal(data[:8], b"\x89PNG\r\n\x1a\n", path)
    return struct.unpack(">II", data[16:24])


def leftovers():
    return sorted(os.listdir(os.environ["TMPDIR"]))


def check_film_beside_others(rigor):
    """Whatever lies where the film is made stays as it is, whether there will be a film or not."""
    os.mkdir("films")
    others = {name: f"mine: {name}" for name in ("film.mp4.new", "film.mp4.new-1", "film.mp4.new-3")}
    for name, text in others.items():
        open(os.path.join("films", name), "w", encoding="utf-8").write(text)

    def check_others(expected, what):
        check_equal(sorted(os.listdir("films")), sorted([*others, *expected]), what)
        for name, text in others.items():
            check_equal(open(os.path.join("films", name), encoding="utf-8").read(), text, what)

    words = ("export", "flat.h5", "--mp4", "films/film.mp4", "--size", "160x90", "--fps", "5", "--to", "0.2")
    result = rigor(*words, env={**os.environ, "RIGOR_FFMPEG": shutil.which("false")})
    check(result.returncode == 4 and "ffmpeg could not make the film" in result.stderr, result.stderr)
    check_others([], "beside a film that failed")
    result = rigor(*words)
    check_equal((result.returncode, result.stderr), (0, ""), "film beside others")
    check_others(["film.mp4"], "beside a film")
    mask = os.umask(0)
    os.umask(mask)
    check_equal(os.stat("films/film.mp4").st_mode & 0o777, 0o666 & ~mask, "who may read a film")


def check_films(rigor):
    """Messages first; then, where the programs are, real ones."""
    nowhere = dict(os.environ, PATH="/nowhere")
    result = rigor("export", "flat.h5", "--png", "none", env=nowhere)
    check(result.returncode == 1 and "Chromium, which is not installed here" in result.stderr,
          f"without Chromium: {result.stderr}")
    check(not os.path.exists("none"), "a directory without pictures")
    for variable, command in (("RIGOR_CHROMIUM", "/no/chromium"), ("RIGOR_FFMPEG", "/no/ffmpeg")):
        if variable == "RIGOR_FFMPEG" and not shutil.which("chromium"):
            continue
        result = rigor("export", "flat.h5", "--mp4", "none.mp4", env={**os.environ, variable: command})
        check(result.returncode == 1 and f"{variable} names {command}" in result.stderr,
              f"{variable}: {result.stderr}")
    # Programs that end at once, say nothing, or something else.
    for program in ("true", "cat"):
        result = rigor("export", "flat.h5", "--png", "none",
                       env={**os.environ, "RIGOR_CHROMIUM": shutil.which(program)})
        check(result.returncode == 1 and "the browser has ended" in result.stderr,
              f"{program} as a browser: {result.stderr}")
    check_equal((leftovers(), os.path.exists("none")), ([], False), "left-overs of failures")
    # A name without room for those of the pictures: nothing is drawn, nothing written under another.
    deep, top = "", os.getcwd()
    while len(deep) < 4000:
        deep += 200 * "d" + "/"
        os.mkdir(200 * "d")
        os.chdir(200 * "d")
    os.chdir(top)
    long_name = deep + (4095 - len(deep) - len("/frame-00001.png") + 2) * "e"
    result = rigor("export", "flat.h5", "--png", long_name,
                   env={**os.environ, "RIGOR_CHROMIUM": shutil.which("true")})
    check(result.returncode == 4 and "too long for pictures" in result.stderr, result.stderr[-200:])
    check_equal(os.listdir(deep), [], "a directory of which the name is too long")
    if not shutil.which("chromium"):
        print("skipped: pictures and films, for which Chromium is not here")
        return
    result = rigor("export", "flat.h5", "--png", "pictures", "--size", "320x200", "--fps", "4",
                   "--from", "0.25", "--to", "0.75")
    check_equal((result.returncode, result.stderr), (0, ""), "pictures")
    check_equal(sorted(os.listdir("pictures")), [f"frame-{i:05}.png" for i in (1, 2, 3)], "pictures")
    check_equal({size_of(f"pictures/frame-{i:05}.png") for i in (1, 2, 3)}, {(320, 200)}, "sizes")
    result = rigor("export", "flat.h5", "--png", "pictures")
    check(result.returncode == 4 and "has pictures already" in result.stderr, result.stderr)
    if shutil.which("ffmpeg"):
        result = rigor("export", "flat.h5", "--mp4", "film.mp4", "--size", "161x91", "--fps", "5", "--to",
                       "0.4")
        check_equal((result.returncode, result.stderr), (0, ""), "film")
        check_equal(open("film.mp4", "rb").read()[4:8], b"ftyp", "film")
        check_film_beside_others(rigor)
    else:
        print("skipped: films, for which ffmpeg is not here")
    # Stopped in the middle: nothing is left, neither files nor processes.
    process = rigor.start("export", "flat.h5", "--png", "stopped", "--fps", "1000", start_new_session=True)
    for _ in range(600):
        if os.path.exists("stopped") and os.listdir("stopped"):
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=60)[1]
    check(process.returncode == 130 and "stopped" in errors, f"{process.returncode}: {errors}")
    check_equal(leftovers(), [], "left-overs of a stopped export")


def main():
    rigor = Command(sys.argv[1])
    with scratch_directory() as directory:
        os.chdir(directory)
        os.mkdir("temporary")
        os.environ["TMPDIR"] = os.path.join(directory, "temporary")
        for name, text in (("shapes", SHAPES), ("flat", FLAT), ("still", FIXED)):
            open(f"{name}.yaml", "w", encoding="utf-8").write(text)
            rigor.report("run", f"{name}.yaml", "--out", f"{name}.h5")
        has_page = check_pages(rigor)
        check_gltf(rigor)
        check_usda(rigor)
        if has_page:
            check_films(rigor)
    print("exports: good")


main()
