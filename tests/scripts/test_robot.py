"""test_robot.py SOURCE-DIR BUILD-DIR: robot descriptions, against MuJoCo.

Every model of tests/data/robots, those that tools/models fetches, and those of the folder ../shared/data/models
beside the repository if it is there: masses, centres and inertia of the bodies, axes of the joints, and where
the bodies are for 100 random coordinates, as MuJoCo reads and places them from the same file, to 1e-12. Then
each of them stands or hangs for five seconds under motors, certified to 1e-8, and moves without them as it
does when it has been written and read; what is written as MJCF, MuJoCo reads in the same way."""

import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(BUILD / "python"))

import numpy as np  # noqa: E402

import rigor  # noqa: E402

TOLERANCE = 1e-12  # of places, m and rad, and of masses and moments relative to the largest
EIGEN = 1e-6  # of the largest moment: what MuJoCo leaves of products of inertia; test_scene_robot has these exactly
CONFIGURATIONS = 100
STEPS = 60
WRITTEN = 1e-9  # m after these steps: what rounding grows to
CERTIFICATE = 1e-8  # of complementarity, friction cone and momentum, relative, and m of joints
# Three hinges in series leave a body of 0.7 g free to turn under the load of 3 kg: the inertia that keeps it from
# swinging faster than the step can follow (step_joints_tension.c) shows in the momentum.
MOMENTUM = {"chain.xml": 1e-7}
HELD = 5.0  # s under motors
INSTANT = 1e-7  # s: of steps from which accelerations are extrapolated
FREQUENCY = 20.0  # rad/s: the motors hold what a joint carries as critically damped oscillators of this frequency
FETCHED = ["mujoco/**/*.xml", "dart/data/urdf/[!t]*/*.urdf", "dart/data/sdf/atlas/*no_head.urdf",
           "ros-urdf/urdf/test/pr2_desc.urdf", "ros-urdf/urdf/test/test_robot.urdf"]
NO_ROBOT = {"humanoid_body.xml", "scene.xml", "ground.urdf"}  # bodies to be included, floors
LONG = {"22_humanoids.xml"}  # minutes, because they fall on each other: 9.9e-9 when it was tried
HULLS = {"mug.xml"}  # masses of meshes that are not convex: here those of their hulls
FREE, BALL, SLIDE, HINGE = range(4)  # of MuJoCo
# What MuJoCo needs to read a URDF as it is meant: parts without joints are parts of their parents, nothing is
# looked for that is only to be seen.
EXTENSION = '<mujoco><compiler fusestatic="true" strippath="false" balanceinertia="true"/></mujoco>'
# Masses are given: geometry, some of which MuJoCo does not read in URDF, is not needed for what is compared.
GEOMETRY = re.compile(r"<(visual|collision)\b.*?</\1>", re.S)
failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print("FAILED:", text)


# --- poses: (position, quaternion x y z w) ------------------------------------------------------------

def turn(q, v):
    u = np.asarray(q[:3])
    t = 2 * np.cross(u, v)
    return v + q[3] * t + np.cross(u, t)


def times(a, b):
    return np.array([a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
                     a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
                     a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
                     a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]])


def compose(a, b):
    return a[0] + turn(a[1], b[0]), times(a[1], b[1])


def inverse(a):
    back = np.array([-a[1][0], -a[1][1], -a[1][2], a[1][3]])
    return -turn(back, a[0]), back


def about(axis, angle):
    return np.array([*(np.asarray(axis) * math.sin(angle / 2)), math.cos(angle / 2)])


def pose_of(struct):
    p, q = struct.position, struct.orientation
    return np.array([p.x, p.y, p.z]), np.array([q.x, q.y, q.z, q.w])


def distance(a, b):
    return max(np.abs(a[0] - b[0]).max(), min(np.abs(a[1] - b[1]).max(), np.abs(a[1] + b[1]).max()))


# --- MuJoCo -------------------------------------------------------------------------------------------

class Reference:
    """A model in MuJoCo, by the program mujoco_model."""

    def __init__(self, program, path, random):
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copytree(path.parent, pathlib.Path(folder, "models")) / path.name
            if path.suffix == ".urdf":
                text = GEOMETRY.sub("", path.read_text())
                copy.write_text(re.sub(r"(<robot[^>]*>)", r"\1" + EXTENSION, text, count=1))
            head = subprocess.run([program, copy], input="", text=True, capture_output=True, check=False)
            self.error = (head.stderr.strip() or "it is refused") if head.returncode else ""
            if self.error:
                return
            self.read_head(head.stdout)
            self.draw(random)
            lines = "\n".join(" ".join(repr(float(x)) for x in q) for q in self.configurations)
            done = subprocess.run([program, copy], input=lines, text=True, capture_output=True, check=True)
        self.read_places(done.stdout)

    def read_head(self, text):
        self.bodies, self.joints = [], []
        for line in text.splitlines():
            kind, name, rest = (line.split("\t") + ["", ""])[:3]
            name = "" if name == "(null)" else name  # it has none
            words = rest.split()
            if kind == "body":
                self.bodies.append((name, int(words[0]), int(words[1]), float(words[3]),
                                    np.array(words[5:8], float)))
            elif kind == "joint":
                self.joints.append((name, int(words[0]), int(words[1]), int(words[2])))
            elif kind == "reference":
                self.reference = np.array(words[1:], float)

    def draw(self, random):
        self.configurations = []
        for _ in range(CONFIGURATIONS):
            q = self.reference + random.uniform(-1.5, 1.5, self.reference.size)
            for _, kind, _, at in self.joints:
                if kind in (FREE, BALL):
                    start = at + (3 if kind == FREE else 0)
                    direction = random.normal(size=4)
                    q[start:start + 4] = direction / np.linalg.norm(direction)
            self.configurations.append(q)

    def read_places(self, text):
        self.places, self.axes, self.centres, self.lengths, self.accelerations = [], [], [], [], []
        for block in text.split("end\n")[:-1]:
            places, axes, centres, lengths, accelerations = [], [], [], {}, []
            for line in block.splitlines():
                kind, name, rest = (line.split("\t") + ["", ""])[:3]
                words = rest.split()
                if kind == "tendon":
                    lengths[name] = float(words[1])
                elif kind == "acceleration":
                    accelerations.append(float(words[1]))
                elif kind == "place":
                    w, x, y, z = map(float, words[5:9])
                    places.append((np.array(words[1:4], float), np.array([x, y, z, w])))
                    centres.append((np.array(words[10:13], float), np.array(words[14:23], float).reshape(3, 3)))
                elif kind == "axis":
                    axes.append((np.array(words[1:4], float), np.array(words[5:8], float)))
            self.places.append(places)
            self.axes.append(axes)
            self.centres.append(centres)
            self.lengths.append(lengths)
            self.accelerations.append(accelerations)


def combine(parts):
    """Mass, centre and inertia about it of (mass, centre, inertia about its own centre)."""
    mass = sum(part[0] for part in parts)
    centre = sum(part[0] * part[1] for part in parts) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        d = part[1] - centre
        inertia += part[2] + part[0] * (d @ d * np.eye(3) - np.outer(d, d))
    return mass, centre, inertia


def masses_of(world, links):
    """By name of the link: its own body and those between its joints, where they are drawn."""
    found = {}
    for body in world.bodies:
        if body.motion != "dynamic":
            continue
        mass, q = body.mass, body.orientation
        rotation = np.array([turn(q, axis) for axis in np.eye(3)]).T
        part = mass.mass, body.position + rotation @ mass.centre, rotation @ mass.inertia @ rotation.T
        link = body.name if body.name in links else re.sub(r":\d+$", "", body.name)
        found.setdefault(link, []).append(part)
    return {name: combine(parts) for name, parts in found.items()}


def compare_masses(name, world, reference):
    ours = masses_of(world, {body[0] for body in reference.bodies})
    groups = {}
    for index, (_, _, weld, mass, moments) in enumerate(reference.bodies):
        if weld and mass > 0 and reference.bodies[weld][0]:
            centre, axes = reference.centres[0][index]
            groups.setdefault(weld, []).append((mass, centre, axes @ np.diag(moments) @ axes.T))
    compared = 0
    for weld, parts in groups.items():
        link = reference.bodies[weld][0]
        check(link in ours, f"{name}: no body {link}")
        if link not in ours:
            continue
        theirs, own = combine(parts), ours[link]
        scale = np.abs(theirs[2]).max() + theirs[0] * 1e-3
        check(abs(own[0] - theirs[0]) <= TOLERANCE * theirs[0], f"{name}: mass of {link}: {own[0]}, {theirs[0]}")
        check(np.abs(own[1] - theirs[1]).max() <= TOLERANCE * 10, f"{name}: centre of {link}: {own[1]}, {theirs[1]}")
        turned = any(np.abs(np.abs(reference.centres[0][index][1]) - np.eye(3)).max() > 0
                     for index, body in enumerate(reference.bodies) if body[2] == weld)
        check(np.abs(own[2] - theirs[2]).max() <= (EIGEN if turned else TOLERANCE * 100) * scale,
              f"{name}: inertia of {link}: {np.abs(own[2] - theirs[2]).max():.1e} kg m^2 apart")
        compared += 1
    return compared


def motion_of(kind, values, frame):
    """The pose of B's frame in A's."""
    zero, one = np.zeros(3), np.array([0, 0, 0, 1.0])
    if kind == "hinge":
        return zero, about((0, 0, 1), values[0])
    if kind == "slider":
        return np.array([0, 0, values[0]]), one
    if kind == "universal":
        return zero, times(about((1, 0, 0), values[0]), about((0, 1, 0), values[1]))
    if kind == "cylindrical":
        return np.array([0, 0, values[0]]), about((0, 0, 1), values[1])
    if kind == "planar":
        angle = values[2] if len(values) > 2 else 0
        return np.array([values[0], values[1], 0]), about((0, 0, 1), angle)
    assert kind == "ball", kind
    back = inverse((zero, frame[1]))[1]
    return zero, times(times(back, values[0]), frame[1])


def parts_of(name, known):
    """The joints that one joint of the world stands for: their names with + between them, which may have + in them."""
    if name in known:
        return [name]
    for at in (match.start() for match in re.finditer(r"\+", name)):
        if name[:at] in known and (rest := parts_of(name[at + 1:], known)):
            return [name[:at], *rest]
    return []


class Tree:
    """Where bodies are for coordinates, by the frames of the joints of a world."""

    def __init__(self, world, reference):
        self.reference = reference
        self.start = {body.name: (body.position, body.orientation) for body in world.bodies}
        self.joints = []
        self.free = {reference.bodies[body][0]: at for _, kind, body, at in reference.joints if kind == FREE}
        self.at = {name: (kind, at) for name, kind, _, at in reference.joints}
        for joint in world.joints:
            if joint.kind in ("distance", "gear", "rack", "tendon") or not joint.name:  # the last turns a wheel of racks
                continue
            definition = joint.definition
            a, b = joint.bodies
            names = parts_of(joint.name, self.at)
            self.joints.append((joint.kind, names, a.name if a else None, b.name,
                                pose_of(definition.frame_a), pose_of(definition.frame_b)))

    def values(self, names, q):
        found = []
        for name in names:
            kind, at = self.at[name]
            if kind == BALL:
                w, x, y, z = q[at:at + 4]
                found.append(np.array([x, y, z, w]))
            else:
                found.append(q[at] - self.reference.reference[at])
        return found

    def places(self, q):
        found = {}
        for name, place in self.start.items():
            found[name] = place
        for name, at in self.free.items():
            w, x, y, z = q[at + 3:at + 7]
            found[name] = np.array(q[at:at + 3]), np.array([x, y, z, w])
        for kind, names, a, b, frame_a, frame_b in self.joints:
            base = found[a] if a else (np.zeros(3), np.array([0, 0, 0, 1.0]))
            motion = motion_of(kind, self.values(names, q), frame_b)
            found[b] = compose(compose(compose(base, frame_a), motion), inverse(frame_b))
        return found


def compare_places(name, world, reference):
    tree, worst = Tree(world, reference), 0
    for q, places in zip([reference.reference, *reference.configurations], reference.places):
        ours = tree.places(q)
        for index, (body, _, weld, _, _) in enumerate(reference.bodies):
            if index and weld == index and body and body in ours:
                worst = max(worst, distance(ours[body], places[index]))
    check(worst <= TOLERANCE, f"{name}: bodies are up to {worst:.1e} from where MuJoCo has them")
    return worst


def compare_axes(name, world, reference):
    """Hinges and slides by themselves, where the links are drawn."""
    compared = 0
    places = {body.name: (body.position, body.orientation) for body in world.bodies}
    index = {entry[0]: number for number, entry in enumerate(reference.joints) if entry[0]}
    for joint in world.joints:
        if joint.kind not in ("hinge", "slider") or joint.name not in index:
            continue
        frame = compose(places[joint.bodies[1].name], pose_of(joint.definition.frame_b))
        axis, anchor = reference.axes[0][index[joint.name]]
        check(np.abs(turn(frame[1], np.array([0, 0, 1.0])) - axis).max() <= TOLERANCE, f"{name}: axis of {joint.name}")
        if joint.kind == "hinge":
            check(np.abs(np.cross(frame[0] - anchor, axis)).max() <= TOLERANCE, f"{name}: point of {joint.name}")
        compared += 1
    return compared


def compare_tendons(name, world, reference):
    """Lengths of fixed tendons, and, of models that have some, what all joints do from rest within INSTANT, without
    contacts, limits and friction."""
    tendons = [joint for joint in world.joints if joint.kind == "tendon" and joint.name]
    if not tendons:
        return
    tree = Tree(world, reference)
    bodies = {body.name: body for body in world.bodies}
    names = {bytes(joint._id): joint.name for joint in world.joints}
    index = {entry[0]: number for number, entry in enumerate(reference.joints)}
    for joint in world.joints:
        for axis in range(joint.axis_count):
            joint.set_axis(axis, lower=-math.inf, upper=math.inf, friction=0)
    start, length, worst = world.snapshot(), 0, 0
    for q, lengths, accelerations in zip(reference.configurations[:20], reference.lengths[1:],
                                         reference.accelerations[1:]):
        world.restore(start)
        for body, place in tree.places(q).items():
            bodies[body].position, bodies[body].orientation = place
        placed = world.snapshot()
        for tendon in tendons:
            offset = sum(part.coefficient * reference.reference[reference.joints[index[names[bytes(part.joint)]]][3]]
                         for part in tendon.definition.part[:tendon.definition.part_count])
            length = max(length, abs(tendon.coordinates[0] + offset - lengths[tendon.name]))
        ours = np.zeros(len(accelerations))
        for step, share in ((INSTANT, -1), (INSTANT / 2, 2)):  # the error is of first order
            world.restore(placed)
            world.step(step)
            for joint in world.joints:
                if joint.kind != "tendon":
                    ours[index[joint.name]] += share * joint.velocities[0] / step
        worst = max(worst, np.abs(ours - accelerations).max() / np.abs(accelerations).max())
    check(length <= TOLERANCE, f"{name}: tendons are up to {length:.1e} from the length that MuJoCo finds")
    check(worst <= 1e-8, f"{name}: accelerations under tendons differ by {worst:.1e} from those of MuJoCo")
    print(f"{name}: {len(tendons)} tendons, lengths to {length:.1e}, accelerations to {worst:.1e}")


def move(name, path, parameters):
    """It moves, and so does what it is written as."""
    scene = rigor.Scene(path, parameters, lenient=True)
    with tempfile.TemporaryDirectory() as folder:
        written = pathlib.Path(folder, "scene.yaml")
        scene.save(written)
        again = rigor.load(written)
    check(len(again.world.joints) == len(scene.world.joints), f"{name}: joints are lost when it is written")
    for world in (scene.world, again.world):
        world.step(scene.step_size, STEPS)
    apart = np.abs(scene.world.positions - again.world.positions).max()
    check(apart < WRITTEN, f"{name}: written and read it moves in another way, {apart:.1e} m apart")
    certificate = scene.world.summary.certificate
    check(scene.world.summary.passed_through == 0, f"{name}: something passed through")
    return certificate


def inertia_below(world, joint, tree, axis):
    """kg, or kg m^2 about the joint's point: of what hangs from a joint, at most."""
    names, found = [joint.bodies[1].name], []
    while names:
        found.append(names.pop())
        names += tree.get(found[-1], [])
    bodies = [body for body in world.bodies if body.name in found]
    if not joint.axis_is_angle(axis):
        return sum(body.mass.mass for body in bodies)
    at = np.array(joint.bodies[1].position)
    return sum(body.mass.mass * ((np.array(body.position) - at) ** 2).sum() + np.trace(body.mass.inertia)
               for body in bodies)


def hold(world):
    """Motors on all axes, to where they stand."""
    joints = [joint for joint in world.joints if joint.kind not in ("distance", "gear", "rack", "tendon")]
    tree = {}
    for joint in joints:
        a, b = joint.bodies
        tree.setdefault(a.name if a else None, []).append(b.name)
    for joint in joints:
        for axis in range(joint.axis_count):
            limits = joint.definition.axis[axis]
            if limits.lower == limits.upper:
                continue
            inertia = inertia_below(world, joint, tree, axis)
            joint.set_axis(axis, motor="position", target=joint.coordinates[axis], gain=inertia * FREQUENCY ** 2,
                           gain_velocity=2 * inertia * FREQUENCY, max_force=math.inf)


def stand(name, path, parameters):
    """Five seconds under motors; the worst certificate of the run."""
    scene = rigor.Scene(path, parameters, lenient=True)
    hold(scene.world)
    for _ in range(round(HELD / scene.step_size)):
        scene.world.step(scene.step_size)
    certificate = scene.world.summary.certificate
    worst = np.nanmax([0, certificate.complementarity, certificate.cone_violation, certificate.joint_error])
    momentum = np.nanmax([0, certificate.momentum_error])
    check(worst <= CERTIFICATE, f"{name}: a certificate of {worst:.1e} under motors")
    check(momentum <= MOMENTUM.get(path.name, CERTIFICATE), f"{name}: momentum is off by {momentum:.1e} under motors")
    check(scene.world.summary.passed_through == 0, f"{name}: something passed through under motors")
    return max(worst, momentum)


def compare_written(program, name, scene, random):
    """What is written as MJCF is to MuJoCo what it is to us."""
    with tempfile.TemporaryDirectory() as folder:
        written = pathlib.Path(folder, "written.xml")
        written.write_text(scene.to_robot("mjcf", lenient=True))
        reference = Reference(program, written, random)
        check(not reference.error, f"{name}: what is written, MuJoCo refuses: {reference.error}")
        if reference.error:
            return
        again = rigor.Scene(written)
    compare_masses(f"{name}, written", again.world, reference)
    compare_axes(f"{name}, written", again.world, reference)
    compare_places(f"{name}, written", again.world, reference)


def try_model(program, path, random):
    urdf = path.suffix == ".urdf"
    parameters = {"base": "fixed"} if urdf else {}
    name = path.name
    reference = Reference(program, path, random) if program else None
    scene = rigor.Scene(path, parameters, lenient=True)
    certificate = move(name, path, parameters)
    held = stand(name, path, parameters)
    if program:
        compare_written(program, name, scene, random)
    if reference is None or reference.error:
        why = reference.error.splitlines()[0] if reference else "there is no MuJoCo"
        print(f"skipped: {name} is not compared with MuJoCo: {why}")
        return
    bodies = compare_masses(name, scene.world, reference) if name not in HULLS else 0
    axes = compare_axes(name, scene.world, reference)
    worst = compare_places(name, scene.world, reference)
    if name == "tendons.xml":
        compare_tendons(name, scene.world, reference)
    print(f"{name}: {bodies} masses, {axes} axes, places to {worst:.1e}; left out {len(scene.left_out)}; "
          f"joints open by {certificate.joint_error:.1e} m, complementarity {certificate.complementarity:.1e}; "
          f"held: {held:.1e}", flush=True)


def compile_reference(folder):
    program = os.path.join(folder, "mujoco_model")
    done = subprocess.run(["gcc", "-O1", str(SOURCE / "tests" / "scripts" / "mujoco_model.c"), "-o", program, "-lmujoco",
                           "-lm"], text=True, capture_output=True, check=False)
    if done.returncode:
        print("skipped: comparison with MuJoCo:", (done.stderr.strip().splitlines() or ["?"])[-1])
        return None
    return program


def main():
    random = np.random.default_rng(20)
    models = sorted((SOURCE / "tests" / "data" / "robots").glob("*.urdf"))
    models += sorted((SOURCE / "tests" / "data" / "robots").glob("*.xml"))
    shared = SOURCE.parent / "shared" / "data" / "models"
    if shared.is_dir():
        models += sorted(shared.glob("urdf/*.urdf")) + sorted(shared.glob("mjcf/*.xml"))
    else:
        print("skipped: models from elsewhere: there is no folder of them beside the repository")
    fetched = subprocess.run([SOURCE / "tools" / "models"], text=True, capture_output=True, check=False)
    if fetched.returncode == 0:
        found = [path for pattern in FETCHED for path in sorted((SOURCE / "build" / "models").glob(pattern))]
        soft = [path for path in found if "<composite" in path.read_text(errors="replace")]
        print("skipped: models of deformable bodies:", *(path.name for path in soft))
        print("skipped: models that take minutes:", *LONG)
        models += [path for path in found if path not in soft and path.name not in NO_ROBOT | LONG]
    else:
        print("skipped: models that are fetched:", (fetched.stderr.strip().splitlines() or ["?"])[-1])
    check(len(models) >= 3, "hardly any model was found")
    with tempfile.TemporaryDirectory() as folder:
        program = compile_reference(folder)
        for path in models:
            try:
                try_model(program, path, random)
            except rigor.Error as error:
                check(False, f"{path.name}: {error}")
    print(f"{len(models)} models, {len(failures)} failures")
    sys.exit(bool(failures))


main()
