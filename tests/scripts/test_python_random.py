"""test_python_random.py BUILD-DIR: sequences of random calls of the Python package.

Bodies, colliders, materials, forces and joints are added, changed and removed, worlds stepped, copied and
restored, handles of what is gone used again, numbers given that are none. Whatever is refused raises an
exception of rigor with a text; the process never ends by itself, views keep their numbers, and in the end no
block of memory is left. In the build with sanitizers this runs under them."""

import gc
import os
import pathlib
import random
import subprocess
import sys

BUILD = pathlib.Path(sys.argv[1])
SEQUENCES = 200
CALLS = 40
# Preloaded, so that the interpreter has its memory from there as well. Leaks are counted by the package's own
# allocator: the interpreter keeps what it likes.
SANITIZED = b"__asan_init" in (BUILD / "python" / "rigor" / "librigor-python.so").read_bytes()


def begin_again_with_sanitizers():
    libraries = [subprocess.run(["gcc", f"-print-file-name={name}"], text=True, capture_output=True,
                                check=True).stdout.strip() for name in ("libasan.so", "libubsan.so")]
    environment = {**os.environ, "LD_PRELOAD": " ".join(libraries), "ASAN_OPTIONS": "detect_leaks=0",
                   "PYTHONMALLOC": "malloc"}
    sys.exit(subprocess.run([sys.executable, "-B", *sys.argv], env=environment, check=False).returncode)


if SANITIZED and "asan" not in os.environ.get("LD_PRELOAD", ""):
    begin_again_with_sanitizers()

sys.path.insert(0, str(BUILD / "python"))
import rigor  # noqa: E402
from rigor._library import lib  # noqa: E402

KINDS = ("ball", "hinge", "slider", "universal", "cylindrical", "planar", "fixed", "distance")


class Sequence:
    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.world = rigor.World(certify=self.draw.random() < 0.5)
        self.bodies, self.joints, self.forces, self.snapshots, self.views = [], [], [], [], []
        self.colliders, self.materials, self.refused = [], [self.world.materials[0]], 0
        self.world.add_body(rigor.halfspace(), motion="fixed")

    def number(self):
        return self.draw.choice((0.0, 1.0, -1.0, float("nan"), float("inf"), 1e300, self.draw.uniform(-2, 2)))

    def vector(self, odd=0.1):
        if self.draw.random() < odd:
            return tuple(self.number() for _ in range(3))
        return tuple(self.draw.uniform(-2, 2) for _ in range(3))

    def shape(self):
        size = [self.draw.uniform(0.1, 1) for _ in range(3)]
        return self.draw.choice((lambda: rigor.box(*size), lambda: rigor.sphere(size[0]),
                                 lambda: rigor.capsule(*size[:2]), lambda: rigor.cylinder(*size[:2]),
                                 lambda: rigor.ellipsoid(*size), lambda: rigor.hull([self.vector(0) for _ in range(8)]),
                                 lambda: rigor.box(self.number(), 1, 1),
                                 lambda: rigor.compound([rigor.box(*size), (rigor.sphere(0.2), (0, 0, 1))])))()

    def some(self, things):
        return self.draw.choice(things) if things else None

    def add_body(self):
        x, y, z = self.vector()
        body = self.world.add_body(
            rigor.Collider(self.shape(), material=self.some(self.materials), sensor=self.draw.random() < 0.1),
            position=(x, y, z + 3), velocity=self.vector(), name=self.draw.choice((None, None, "one", "two")),
            motion=self.draw.choice(("dynamic", "dynamic", "dynamic", "fixed", "kinematic")))
        self.bodies.append(body)

    def remove(self):
        things = [thing for thing in (self.some(self.bodies), self.some(self.joints), self.some(self.forces),
                                      self.some(self.colliders)) if thing is not None]
        if things:
            self.draw.choice(things).remove()

    def add_joint(self):
        kind = self.draw.choice(KINDS)
        a, b = self.some([None, *self.bodies]), self.some(self.bodies)
        joint = self.world.add_joint(kind, a, b, point=self.vector(), axis=self.vector(0.05),
                                     **self.draw.choice(({}, {"lower": -1, "upper": 1}, {"stiffness": 10.0},
                                                         {"motor": "velocity", "target": 1, "max_force": 5})))
        self.joints.append(joint)

    def add_force(self):
        body = self.some([None, *self.bodies])
        self.forces.append(self.draw.choice((
            lambda: self.world.add_force("drag", body, linear=0.1),
            lambda: self.world.add_force("spring", body, other=self.some(self.bodies), stiffness=self.number()),
            lambda: self.world.add_force("field", acceleration=self.vector()),
            lambda: self.world.add_force(lambda context: context.force.__iadd__(0.1))))())

    def use_body(self):
        body = self.some(self.bodies)
        if body is None:
            return
        self.draw.choice((lambda: setattr(body, "position", self.vector()),
                          lambda: setattr(body, "velocity", self.vector()), lambda: body.mass, lambda: body.name,
                          lambda: setattr(body, "orientation", (*self.vector(), self.number())),
                          lambda: body.apply_impulse(self.vector()), lambda: body.apply_torque(self.vector()),
                          lambda: self.colliders.append(body.add_collider(self.shape())),
                          lambda: body.contact_force, lambda: body.touches, lambda: body.colliders,
                          lambda: body.prescription_start, lambda: setattr(body, "state", body.state)))()

    def add_tendon(self):
        parts = [(self.some(self.joints), self.number(), self.draw.randrange(2)) for _ in range(self.draw.randrange(4))]
        if all(joint for joint, _, _ in parts):
            self.joints.append(self.world.add_tendon(parts, upper=self.number(), stiffness=abs(self.number())))

    def use_joint(self):
        joint = self.some(self.joints)
        if joint is None:
            return
        self.draw.choice((lambda: joint.coordinates, lambda: joint.error, lambda: joint.set_target(self.number()),
                          lambda: joint.set_axis(self.draw.randrange(4), damping=self.number()),
                          lambda: setattr(joint, "broken", True), lambda: joint.bodies))()

    def use_material(self):
        self.draw.choice((
            lambda: self.materials.append(self.world.add_material(str(self.draw.randrange(3)), self.number())),
            lambda: setattr(self.some(self.materials), "law", rigor.contact_law(self.number())),
            lambda: self.world.set_pair_law(self.some(self.materials), self.some(self.materials), rigor.contact_law(0.1)),
            lambda: self.world.pair_law(self.some(self.materials), self.some(self.materials)),
            lambda: self.colliders and self.some(self.colliders).set_material(self.some(self.materials))))()

    def look(self):
        self.draw.choice((
            lambda: self.world.cast_ray(self.vector(), self.vector(0.05)), lambda: self.world.touches,
            lambda: self.world.contacts["force"].sum(), lambda: [event.text for event in self.world.events],
            lambda: self.world.find_contacts(0.01), lambda: self.world.overlap(rigor.box(1, 1, 1), (0, 0, 1)),
            lambda: self.world.closest(rigor.sphere(1), (0, 0, 1)), lambda: self.world.summary,
            lambda: self.world.save_state(), lambda: self.world.energy, lambda: self.world["one"],
            lambda: self.world.random.unit(), lambda: setattr(self.world, "gravity", self.vector())))()

    def copy(self):
        self.draw.choice((lambda: self.snapshots.append(self.world.snapshot()),
                          lambda: self.snapshots and self.world.restore(self.some(self.snapshots)),
                          lambda: self.world.clone().step(1 / 240),
                          lambda: self.world.load_state(self.world.save_state()),
                          lambda: self.world.load_state(b"nonsense")))()

    def step(self):
        array = self.world.positions
        self.world.step(self.draw.choice((1 / 240, 1 / 240, 1 / 60, 0, float("nan"))))
        self.views.append((array, array.copy(), self.world.time))

    def call(self):
        self.draw.choice((self.add_body, self.add_body, self.remove, self.add_joint, self.add_tendon, self.add_force, self.use_body,
                          self.use_body, self.use_joint, self.use_material, self.look, self.copy, self.step,
                          self.step))()

    def run(self):
        for _ in range(CALLS):
            try:
                self.call()
            except rigor.Error as error:
                assert str(error), error
                self.refused += 1
            except ValueError as error:  # the package's own checks
                assert str(error), error
                self.refused += 1
        for array, _, _ in self.views:
            array.sum()  # readable, wherever the world has gone
        return self.refused


def main():
    begin, refused = lib.rg_python_block_count(), 0
    count = max(1, SEQUENCES // int(os.environ.get("RIGOR_STRIDE", "1")))
    for seed in range(count):
        refused += Sequence(seed).run()
    gc.collect()
    left = lib.rg_python_block_count() - begin
    print(f"{count} sequences of {CALLS} calls, {refused} refused, {left} blocks left"
          f"{', with sanitizers' if SANITIZED else ''}")
    assert refused > count, "hardly anything was refused: the calls are too tame"
    assert left == 0, "memory was not given back"


main()
