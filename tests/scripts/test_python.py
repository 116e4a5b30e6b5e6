"""test_python.py SOURCE-DIR BUILD-DIR COMPILER: the Python package.

Every public function is used by the package or listed, with a reason, as left out; structs have the layout
that the compiler gives them; state arrays are views, by address; texts of exceptions are those of the library;
Python and the command give the same bits; steps let other threads run and cost little more than in C."""

import ast
import contextlib
import ctypes
import gc
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest

SOURCE, BUILD, COMPILER = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
sys.path.insert(0, str(BUILD / "python"))

import numpy as np  # noqa: E402

import rigor  # noqa: E402
from rigor import c  # noqa: E402
from rigor._library import lib  # noqa: E402

OVERHEAD = 2e-6  # s: a step through Python above one of C
COMMAND = str(BUILD / "rigor")


def place_of(array):
    return array.__array_interface__["data"][0]


def stack(count=3):
    world = rigor.World()
    world.add_body(rigor.halfspace(), motion="fixed", name="floor")
    for index in range(count):
        world.add_body(rigor.box(1, 1, 1), position=(0, 0, 0.5 + index), name=f"box{index}")
    return world


class Declarations(unittest.TestCase):
    def test_every_function_is_used_or_left_out(self):
        listed = set()
        for line in (SOURCE / "python" / "left_out.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                names, reason = re.fullmatch(r"(rg_\w+(?:, rg_\w+)*) {2,}(\S.*)", line).groups()
                self.assertTrue(reason)
                listed |= set(names.split(", "))
        sources = "".join(path.read_text() for path in (SOURCE / "python" / "rigor").glob("*.py"))
        used = set(re.findall(r"\blib\.(rg_\w+)", sources))
        functions = {name for name in c.FUNCTIONS if not name.startswith("rg_python_")}
        self.assertGreater(len(functions), 300)
        self.assertEqual(functions - used - listed, set(), "neither used nor left out")
        self.assertEqual(listed - functions, set(), "left out, but there is no such function")
        self.assertEqual(listed & used, set(), "left out, and used")

    def test_every_declared_function_of_the_headers_is_read(self):
        """A second, cruder reading of the headers finds the same names."""
        crude = set()
        for path in (SOURCE / "include" / "rigor").glob("*.h"):
            text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
            text = re.sub(r"^static inline.*?^\}", "", text, flags=re.S | re.M)
            if path.name != "viewer.h":  # of rigor-view, which the package does not hold
                crude |= set(re.findall(r"^(?!typedef)[a-z][\w ]*[ *](rg_\w+)\(", text, re.M))
        self.assertEqual(crude, {name for name in c.FUNCTIONS if not name.startswith("rg_python_")})

    def test_layouts(self):
        lines = []
        for struct in c.STRUCTS:
            name = struct.__name__
            lines.append(f'printf("{name} %zu", sizeof({name}));')
            lines += [f'printf(" %zu", offsetof({name}, {field[0]}));' for field in struct._fields_]
            lines.append('puts("");')
        headers = "".join(f'#include "rigor/{path.name}"\n'
                          for path in sorted((SOURCE / "include" / "rigor").glob("*.h")))
        program = (f'#include <stdio.h>\n{headers}#include "rigor_python.h"\n'
                   f'int main(void) {{\n{chr(10).join(lines)}\n}}\n')
        with tempfile.TemporaryDirectory() as folder:
            binary = str(pathlib.Path(folder, "layouts"))
            subprocess.run([COMPILER, "-std=c17", "-x", "c", "-", "-o", binary, "-I", SOURCE / "include", "-I",
                            SOURCE / "python" / "native"], input=program, text=True, check=True)
            out = subprocess.run([binary], text=True, capture_output=True, check=True).stdout
        self.assertEqual(len(out.splitlines()), len(c.STRUCTS))
        for line in out.splitlines():
            name, size, *offsets = line.split()
            struct = getattr(c, name)
            self.assertEqual(ctypes.sizeof(struct), int(size), name)
            self.assertEqual([getattr(struct, field[0]).offset for field in struct._fields_],
                             [int(offset) for offset in offsets], name)

    def test_checkers_see_every_name(self):
        """What a type checker finds without running anything: names bound by import, def, class or assignment at
        the top of a module, and a list __all__ of literals. Every public name is among them, and every
        exception says there of what it is derived."""
        folder, trees = BUILD / "python" / "rigor", {}

        def bound(module):
            """Names at the top of a module, and what binds them."""
            if module not in trees:
                names = {}
                for node in ast.parse((folder / f"{module}.py").read_text()).body:
                    if isinstance(node, ast.ImportFrom):
                        names |= {alias.asname or alias.name: (node, alias.name) for alias in node.names}
                    elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                        names[node.name] = (node, node.name)
                    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                        names |= {target.id: (node, target.id) for target in targets if isinstance(target, ast.Name)}
                trees[module] = names
            return trees[module]

        def find(module, name):
            """The node that makes it, through imports from modules of the package; None: not to be seen."""
            node, original = bound(module).get(name, (None, None))
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                return find(node.module, original) if node.module else node
            return node
        public = find("__init__", "__all__").value
        self.assertTrue(all(isinstance(entry, ast.Constant) for entry in public.elts), "__all__ is computed")
        self.assertEqual(sorted(rigor.__all__), sorted(entry.value for entry in public.elts))
        self.assertEqual([name for name in rigor.__all__ if find("__init__", name) is None], [])
        for status in c.rg_status:
            if status != c.RG_OK:
                name = status.name.removeprefix("RG_").title().replace("_", "")
                made = find("__init__", name)
                self.assertIsInstance(made, ast.ClassDef, name)
                self.assertEqual([base.id for base in made.bases],
                                 [base.__name__ for base in getattr(rigor, name).__bases__])
                self.assertEqual(made.bases[0].id, "Error")
                self.assertEqual(getattr(rigor, name).code, status)
                self.assertIn(name, rigor.__all__)

    def test_hints_and_docstrings(self):
        self.assertTrue((BUILD / "python" / "rigor" / "py.typed").exists())
        missing = []
        for name in rigor.__all__:
            thing = getattr(rigor, name)
            if inspect.ismodule(thing) or not (inspect.isclass(thing) or inspect.isfunction(thing)):
                continue
            if not inspect.getdoc(thing):
                missing.append(name)
            members = vars(thing).items() if inspect.isclass(thing) else [(name, thing)]
            for key, member in members:
                function = member.fget if isinstance(member, property) else member
                if not inspect.isfunction(function) or key.startswith("_"):
                    continue
                if "return" not in function.__annotations__:
                    missing.append(f"{name}.{key}: no hint")
        self.assertEqual(missing, [])


class Views(unittest.TestCase):
    def test_state_is_a_view(self):
        world = stack()
        strided = lib.rg_world_centre_positions(world._pointer)
        positions, velocities = world.positions, world.velocities
        self.assertEqual(place_of(positions), strided.data)
        self.assertEqual(place_of(velocities), lib.rg_world_velocities(world._pointer).data)
        self.assertEqual(place_of(world.orientations), lib.rg_world_centre_orientations(world._pointer).data)
        self.assertEqual(place_of(world.angular_velocities), lib.rg_world_angular_velocities(world._pointer).data)
        before = positions[1].copy()
        world.bodies[1].apply_impulse((1000, 0, 0))
        world.step(1 / 100, 10)
        self.assertNotEqual(positions[1, 0], before[0], "the view does not follow")
        self.assertEqual(place_of(world.positions), place_of(positions))
        self.assertIs(world.positions, positions)
        with self.assertRaises(ValueError):
            positions[0, 0] = 1

    def test_views_outlive_edits_and_worlds(self):
        world = stack()
        seen, copies = [], []
        for index in range(200):
            seen.append(world.positions)
            copies.append(seen[-1].copy())
            world.add_body(rigor.sphere(0.1), position=(10 + index, 0, 1))
        for old, copy in zip(seen, copies):
            np.testing.assert_array_equal(old, copy)
        world.step(1 / 240)
        contacts = world.contacts
        kept = contacts["force"].copy()
        last = world.positions.copy()
        array = world.positions
        world.close()
        np.testing.assert_array_equal(array, last)
        np.testing.assert_array_equal(contacts["force"], kept)
        with self.assertRaises(rigor.InvalidHandle):
            world.step(1 / 240)

    def test_contacts_are_a_view(self):
        world = stack()
        world.step(1 / 240)
        count = ctypes.c_size_t()
        pointer = lib.rg_world_contact_forces(world._pointer, ctypes.byref(count))
        self.assertEqual(place_of(world.contacts), pointer)
        self.assertEqual(len(world.contacts), count.value)
        self.assertGreater(len(world.contacts), 0)
        total = world.contacts["normal_force"][world.contacts["body_b"]["index1"] == 1].sum()
        self.assertAlmostEqual(total, 3 * 1000 * 9.81, delta=1e-6 * total)

    def test_memory_is_given_back(self):
        def live():
            world = stack()
            world.step(1 / 240, 5)
            copy, snapshot, array = world.clone(), world.snapshot(), world.positions
            world.restore(snapshot)
            world.add_force(lambda context: None)
            world.step(1 / 240)
            rigor.Scene("tower", {"count": 2}).world.step(1 / 240)
            return copy.state_hash + len(array)
        gc.collect()
        before = lib.rg_python_block_count()
        live()
        gc.collect()
        self.assertEqual(lib.rg_python_block_count(), before)


class Errors(unittest.TestCase):
    def test_classes_and_texts(self):
        for code, error in rigor._library.ERRORS.items():
            self.assertEqual(str(rigor._library.fail(code)), lib.rg_status_text(code).decode())
            self.assertEqual(error("").status, lib.rg_status_name(code).decode())
            self.assertIs(getattr(rigor, error.__name__), error)

    def test_texts_are_those_of_the_command(self):
        for text in ("bodies:\n  - shape: {box: [1, 1]}\n", "gravity: [0, 0, x]\n", "rigor: 1\nbodies: [{name: 3}]\n",
                     "bodies:\n  - nonsense: 1\n", "{", "rigor: 7\n"):
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                file.write(text)
                file.flush()
                done = subprocess.run([COMMAND, "run", file.name], text=True, capture_output=True, check=False)
                with self.assertRaises(rigor.Error) as caught:
                    rigor.load(file.name)
                self.assertEqual(done.stderr, f"rigor: {caught.exception}\n")
                self.assertRegex(str(caught.exception), rf":{caught.exception.line}:{caught.exception.column}:")

    def test_all_mistakes_of_a_file(self):
        text = "duration: -1\nbodies:\n  - {name: a, mass: 0}\n  - {shape: none}\nforces: [{kind: drag, body: a}]\n"
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            done = subprocess.run([COMMAND, "run", file.name], text=True, capture_output=True, check=False)
            with self.assertRaises(rigor.InvalidSize) as caught:
                rigor.Scene.from_file(file.name)
            self.assertEqual(done.stderr.splitlines(), [f"rigor: {text}" for text in caught.exception.mistakes])
            self.assertEqual(caught.exception.mistakes[0], str(caught.exception))
            self.assertEqual(len(caught.exception.mistakes), 3)
        with self.assertRaises(rigor.FileUnreadable) as caught:
            rigor.load("no-such-scene")
        self.assertEqual(caught.exception.mistakes, [str(caught.exception)])

    def test_handles(self):
        world, other = stack(), stack()
        body, joint = world["box2"], world.add_joint("ball", world["box0"], world["box1"], point=(0, 0, 1))
        body.remove()
        for use in (lambda: body.position, lambda: body.velocity, lambda: body.remove(),
                    lambda: body.apply_force((1, 0, 0)), lambda: setattr(body, "position", (0, 0, 0)),
                    lambda: world.add_force("drag", other["box0"], linear=1),
                    lambda: world.add_joint("ball", None, other["box0"]),
                    lambda: world.add_body(rigor.box(1, 1, 1), material=other.materials[0])):
            with self.assertRaises(rigor.InvalidHandle) as caught:
                use()
            self.assertEqual(str(caught.exception), "the handle names nothing that exists now")
        world["box0"].remove()
        self.assertFalse(joint.exists)
        with self.assertRaises(rigor.InvalidHandle):
            joint.state
        with self.assertRaises(LookupError):
            world["nobody"]

    def test_arguments(self):
        world = stack()
        with self.assertRaises(ValueError):
            rigor.box(0, 1, 1)
        with self.assertRaises(rigor.InvalidSize):
            rigor.sphere(-1)
        with self.assertRaises(rigor.NotFinite):
            world["box0"].velocity = (np.nan, 0, 0)
        with self.assertRaises(rigor.DuplicateName):
            world.add_body(rigor.box(1, 1, 1), name="box0")
        with self.assertRaises(TypeError):
            world.add_force("spring", world["box0"], stifness=1)
        with self.assertRaises(ValueError):
            world.add_joint("hinges", None, world["box0"])
        hash_before = world.state_hash
        with self.assertRaises(rigor.Error):
            world.step(-1)
        self.assertEqual(world.state_hash, hash_before)


class Functions(unittest.TestCase):
    """Functions of the program that the library calls."""

    def test_force(self):
        world = rigor.World(gravity=(0, 0, 0))
        body = world.add_body(rigor.sphere(1), density=1)
        mass = body.mass.mass

        def push(context):
            context.force[body.index] += (mass * 2, 0, 0)
        world.add_force(push)
        world.step(1 / 100, 100)
        np.testing.assert_allclose(body.velocity, (2, 0, 0), rtol=1e-12)

    def test_exceptions_pass_through_a_step(self):
        world = stack()

        def broken(context):
            raise KeyError("mine")
        before = world.state_hash
        force = world.add_force(broken)
        with self.assertRaisesRegex(KeyError, "mine"):
            world.step(1 / 240)
        self.assertEqual(world.state_hash, before)
        force.remove()
        world.step(1 / 240)

    def test_motion(self):
        world = rigor.World()
        body = world.add_body(rigor.box(1, 1, 1), motion="kinematic", function=lambda t: (
            (t * t, 0, 0), (0, 0, 0, 1), (2 * t, 0, 0), (0, 0, 0)))
        world.step(1 / 10, 10)
        np.testing.assert_allclose(body.position, (1, 0, 0), rtol=1e-12)

    def test_motion_without_a_value(self):
        for orientation, words in (((0, 0, 0, 0), "norm 0"), ((0, 0, 0, 1e200), "norm 1e[+]200"),
                                   ((0, 0, 0, float("nan")), "not finite")):
            for method in ("stepping", "analytic"):
                world = rigor.World(method=method)

                def motion(t, wrong=orientation):
                    return (0, 0, 0), wrong if t > 0.15 else (0, 0, 0, 1), (0, 0, 0), (0, 0, 0)
                world.add_body(rigor.box(1, 1, 1), name="plate", motion="kinematic", function=motion)
                world.step(0.1)
                before = world.state_hash
                with self.assertRaisesRegex(rigor.Error, f'"plate".*{words}.* at t = 0.[12]'):
                    world.step(0.1)
                self.assertEqual(world.state_hash, before)

    def test_callbacks_and_busy(self):
        said = []

        def before(world, step):
            said.append(step)
            with self.assertRaises(rigor.Busy):
                world.step(step)
            if len(said) == 1:
                world.add_body(rigor.sphere(1), position=(9, 9, 9))
        world = rigor.World(before_step=before, after_step=lambda world, step: said.append(-step))
        world.step(0.5)
        world.step(0.25)
        self.assertEqual(said, [0.5, -0.5, 0.25, -0.25])
        self.assertEqual(len(world), 1)
        inside = []

        def change(context):
            try:
                world.add_body(rigor.sphere(1))
            except rigor.Busy as error:
                inside.append(str(error))
        world.add_force(change)
        world.step(0.25)
        self.assertIn("the world cannot be changed while it steps", inside[0])

    def test_material(self):
        def slippery(world, touch, law):
            law.friction = law.static_friction = 0
        angle = np.radians(30)
        slope = rigor.quaternion_of_axis_angle((0, 1, 0), angle)
        speeds = []
        for function in (None, slippery):
            world = rigor.World(material=function)
            world.add_body(rigor.box(20, 2, 1), motion="fixed", orientation=slope)
            box = world.add_body(rigor.box(1, 1, 1), orientation=slope, position=(np.sin(angle), 0, np.cos(angle)),
                                 material=world.add_material("rough", friction=4))
            world.step(1 / 200, 100)
            speeds.append(np.linalg.norm(box.velocity))
        self.assertLess(speeds[0], 1e-6)
        self.assertAlmostEqual(speeds[1], 9.81 * np.sin(angle) * 0.5, places=6)


class SameBits(unittest.TestCase):
    STEPS = 12

    def test_builtin_scenes(self):
        names = rigor.builtin_scenes()
        self.assertGreater(len(names), 20)
        for name in names:
            with self.subTest(name):
                scene = rigor.Scene(name)
                duration = self.STEPS * scene.step_size
                done = subprocess.run([COMMAND, "run", name, "--json", "--quiet", "--accept-failures", "--duration",
                                       repr(duration)], text=True, capture_output=True, check=True)
                summary = scene.run(duration)
                self.assertEqual(summary.steps, self.STEPS)
                self.assertEqual(f"{scene.world.state_hash:016x}",
                                 json.loads(done.stdout.splitlines()[-1])["state_hash"])

    def test_copies(self):
        world = rigor.Scene("pile", {"count": 10}).world
        world.step(1 / 240, 30)
        snapshot, clone, text, state = world.snapshot(), world.clone(), world.to_text(), world.save_state()
        world.step(1 / 240, 30)
        expected = world.state_hash
        clone.step(1 / 240, 30)
        self.assertEqual(clone.state_hash, expected)
        world.restore(snapshot)
        world.step(1 / 240, 30)
        self.assertEqual(world.state_hash, expected)
        again = rigor.Scene("pile", {"count": 10}).world
        again.load_state(state)
        again.step(1 / 240, 30)
        self.assertEqual(again.state_hash, expected)
        self.assertIn("rigor: 1", text)

    def test_recording(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.h5")
            scene = rigor.Scene("dominoes", {"count": 3})
            scene.run(0.25, record=path)
            with rigor.Recording(path) as recording:
                self.assertTrue(recording.info.finished)
                self.assertEqual(recording[-1].state_hash, scene.world.state_hash)
                self.assertEqual(recording.names[0], scene.world.bodies[0].name)
                np.testing.assert_array_equal(recording[-1].positions[1], scene.world.bodies[1].position)
                self.assertGreater(len(recording.contacts(-1)), 0)
                self.assertEqual(recording.certificate(-1).passed_through, 0)
                with self.assertRaises(IndexError):
                    recording[len(recording)]
            # A world that a program has built.
            world = stack()
            with rigor.Recorder(world, pathlib.Path(folder, "b.h5")) as recorder:
                for _ in range(4):
                    recorder.step(world.step(1 / 240))
                    recorder.frame()
            with rigor.Recording(pathlib.Path(folder, "b.h5")) as recording:
                self.assertEqual(len(recording), 5)
                self.assertEqual(recording[-1].state_hash, world.state_hash)
            self.assertIn("<iframe", rigor.page(path)._repr_html_()) if has_page() else None

    def test_many_worlds(self):
        alone = [stack(2 + index % 3) for index in range(24)]
        together = [world.clone() for world in alone]
        for world in alone:
            world["box1"].velocity = (1, 0, 0)
        for world in together:
            world["box1"].velocity = (1, 0, 0)
        for world in alone:
            world.step(1 / 240, 20)
        infos = rigor.step_worlds(together, 1 / 240, steps=20, threads=2)
        self.assertEqual([world.state_hash for world in alone], [world.state_hash for world in together])
        self.assertEqual(infos[3].steps, 1)
        with self.assertRaises(ValueError):
            rigor.step_worlds([alone[0], alone[0]], 1 / 240)
        together[5].add_force(lambda context: 1 / 0)
        with self.assertRaises(ZeroDivisionError):
            rigor.step_worlds(together, 1 / 240, threads=2)
        with self.assertRaises(rigor.Error):
            rigor.step_worlds(alone, -1)


def has_page():
    done = subprocess.run([COMMAND, "export", "--help"], text=True, capture_output=True, check=False)
    return done.returncode == 0 and (BUILD.parent / "page" / "index.html").exists()


class Time(unittest.TestCase):
    def test_other_threads_run_during_a_step(self):
        world = rigor.Scene("pyramid", {"base": 12}).world
        counted, stop = [0], threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1
                time.sleep(0)
        thread = threading.Thread(target=count)
        thread.start()
        during = []
        try:
            # On a busy machine the other thread may have no processor in one step: in some of many it has.
            while len(during) < 1000 and max(during, default=0) <= 20:
                before = counted[0]
                world.step(1 / 240)
                during.append(counted[0] - before)
                world.bodies[-1].velocity = [0, 0, -0.01 * len(during)]
        finally:
            stop.set()
            thread.join()
        # With the lock held the other thread would run once before and once after a step, at most.
        self.assertGreater(max(during), 20, f"in {len(during)} steps")

    def test_overhead(self):
        def empty():
            world = rigor.World(certify=False)
            world.add_body(rigor.halfspace(), motion="fixed")
            return world
        ours, theirs, steps = empty(), empty(), 2000
        step = ours.step
        best = [np.inf, np.inf]  # the least of many: what a busy machine adds is no part of it
        for _ in range(50):
            begin = time.perf_counter()
            for _ in range(steps):
                step(1e-3)
            middle = time.perf_counter()
            rigor.step_worlds([theirs], 1e-3, steps=steps)
            end = time.perf_counter()
            best = [min(best[0], middle - begin), min(best[1], end - middle)]
        cost = (best[0] - best[1]) / steps
        print(f"a step through Python costs {1e6 * cost:.2f} us above one of C ({1e6 * best[1] / steps:.2f} us)")
        if os.environ.get("RIGOR_LONG"):  # elsewhere the machine may have better things to do
            self.assertLess(cost, OVERHEAD)


class Rest(unittest.TestCase):
    def test_questions(self):
        world = stack()
        hit = world.cast_ray((0, 0, 10), (0, 0, -1))
        self.assertEqual(hit.body, world["box2"])
        self.assertAlmostEqual(hit.distance, 7, places=12)
        self.assertIsNone(world.cast_ray((9, 0, 1), (0, 0, 1)))
        self.assertEqual({found.body for found in world.overlap(rigor.box(0.5, 0.5, 1), (0, 0, 1))},
                         {world["box0"], world["box1"]})
        self.assertEqual(world.closest(rigor.sphere(0.1), (0, 0, 5)).body, world["box2"])
        self.assertEqual(world.cast_shape(rigor.sphere(0.1), (0, 0, 5), (0, 0, -9)).body, world["box2"])

    def test_joints(self):
        world = rigor.World()
        bodies = [world.add_body(rigor.box(0.2, 0.2, 1), position=(0.01 * index, 0, -index)) for index in range(3)]
        joints = [world.add_joint("hinge", above, below, frame_a=((0, 0, -0.5 if above else 0.5), (0, 0, 0, 1)),
                                  frame_b=((0, 0, 0.5), (0, 0, 0, 1)))
                  for above, below in zip([None, *bodies], bodies)]
        self.assertGreater(max(joint.error for joint in joints), 1e-3)
        self.assertLess(world.assemble(), 1e-10)
        self.assertLess(max(joint.error for joint in joints), 1e-10)
        motor = world.add_joint("hinge", None, world.add_body(rigor.sphere(1), position=(9, 0, 0)), point=(9, 0, 0),
                                motor="velocity", target_of_time="2 * t")
        world.step(1 / 100, 100)
        self.assertAlmostEqual(motor.velocities[0], 2, delta=0.05)
        self.assertEqual(motor.bodies[0], None)
        with self.assertRaises(rigor.Error):
            motor.set_axis(1, damping=1)

    def test_tendons(self):
        world = rigor.World()
        slides = [world.add_joint("slider", None, world.add_body(rigor.box(1, 1, 1), position=(4 * k, 0, 0),
                                                                 density=mass), point=(4 * k, 0, 0))
                  for k, mass in enumerate((1, 2))]
        tendon = world.add_tendon([(slides[0], 1), (slides[1], 2, 0)], name="cord", motor="velocity", target=0)
        self.assertEqual((tendon.kind, tendon.name, tendon.bodies), ("tendon", "cord", (None, None)))
        world.step(1 / 100, 50)
        # m a = -m g + c T with a1 + 2 a2 = 0: T = g.
        self.assertAlmostEqual(tendon.state.motor_force[0], 9.81, delta=1e-8)
        self.assertAlmostEqual(slides[0].velocities[0], 0, delta=1e-9)
        self.assertAlmostEqual(tendon.velocities[0], 0, delta=1e-9)
        with self.assertRaises(rigor.Error) as caught:
            world.add_tendon([(tendon, 1)])
        self.assertEqual(str(caught.exception), "joint: a tendon of a tendon; name its joints")
        slides[0].remove()
        self.assertFalse(tendon.exists)

    def test_tendon_of_a_kinematic_body(self):
        world = rigor.World()
        driver = world.add_body(rigor.box(1, 1, 1), motion="kinematic", velocity=(0, 0, 1.5))
        free = world.add_body(rigor.box(1, 1, 1), position=(4, 0, 0))
        first, second = (world.add_joint("slider", None, body, point=body.position) for body in (driver, free))
        tendon = world.add_tendon([(first, 1), (second, -2)], lower=0, upper=0)
        world.step(1 / 100, 50)
        self.assertAlmostEqual(free.position[2], 0.375, delta=1e-9)
        self.assertAlmostEqual(tendon.state.axis_force[0], -free.mass.mass * 9.81 / 2, delta=1e-3)
        self.assertLess(world.summary.energy.closure_rel, 1e-12)

    def test_robots(self):
        path = SOURCE / "tests" / "data" / "robots" / "walker.xml"
        self.assertEqual(rigor.Scene(path).left_out, [])
        text = "<robot>\n <gazebo/><link name='a'><inertial><mass value='1'/>" \
            "<inertia ixx='1' iyy='1' izz='1'/></inertial></link></robot>"
        with self.assertRaises(rigor.Unsupported) as caught:
            rigor.Scene.from_text(text, name="a.urdf")
        self.assertEqual((caught.exception.line, caught.exception.column), (2, 2))
        scene = rigor.Scene.from_text(text, name="a.urdf", lenient=True)
        self.assertEqual(scene.left_out, ["a.urdf:2:2: gazebo: not understood"])

    def test_shapes(self):
        self.assertEqual(rigor.box(1, 2, 3).volume, 6)
        mass = rigor.box(1, 2, 3).mass(1)
        np.testing.assert_allclose(np.diag(mass.inertia), np.array([13, 10, 5]) / 2, rtol=1e-14)
        self.assertAlmostEqual(rigor.distance(rigor.sphere(1), (0, 0, 0), rigor.sphere(1), (3, 0, 0)).distance, 1)
        vertices, facets = rigor.hull(np.vstack([np.eye(3), -np.eye(3)])).polyhedron()
        self.assertEqual((len(vertices), len(facets)), (6, 8))
        contact = rigor.first_contact(rigor.sphere(1), rigor.Motion(), rigor.sphere(1),
                                      rigor.Motion(position=(4, 0, 0), velocity=(-1, 0, 0)), 0, 5)
        self.assertAlmostEqual(contact.time, 2, places=8)
        with self.assertRaises(TypeError):
            rigor.Shape()
        corners = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]
        for ground in (rigor.terrain(corners, [(0, 1, 2), (0, 2, 3)]), rigor.heights(np.zeros((3, 3)), 1, 1)):
            self.assertEqual(ground.kind, "terrain")
            world = rigor.World()
            world.add_body(ground, motion="fixed")
            ball = world.add_body(rigor.sphere(0.1), position=(0.2, 0.3, 0.2))
            world.step(1 / 240, 240)
            self.assertAlmostEqual(ball.position[2], 0.1, places=6)

    def test_solvers(self):
        matrix, b = np.array([[2.0, 1], [1, 2]]), np.array([-1.0, 1])
        problem = rigor.Problem.linear(matrix, b)
        for name in ("auto", "dantzig", "lemke", "qp"):
            solution = rigor.solve(problem, name)
            self.assertTrue(solution.solved)
            np.testing.assert_allclose(solution.force, (0.5, 0), atol=1e-12)
        self.assertLess(rigor.judge(problem, (0.5, 0)).natural, 1e-15)
        self.assertGreater(rigor.judge(problem, (0.4, 0)).natural, 1e-3)

        def own(matrix, b):
            force = np.zeros(len(b))
            for _ in range(100):
                for row in range(len(b)):
                    force[row] = max(0, force[row] - (matrix[row] @ force + b[row]) / matrix[row, row])
            return force
        self.assertTrue(rigor.solve(problem, rigor.Solver("mine", own)).solved)
        self.assertEqual(rigor.solve(problem, rigor.Solver("wrong", lambda matrix, b: b * 0)).outcome, "inexact")
        contact = rigor.Problem.contact(q=[-1, 0.3, 0], w=np.eye(3), mu=0.5)
        np.testing.assert_allclose(rigor.solve(contact).force, (1, -0.3, 0), atol=1e-12)
        with self.assertRaises(rigor.NotFound):
            rigor.solve(problem, "none")

    def test_environment(self):
        class Push(rigor.Env):
            observation_space, action_space = rigor.Box(-np.inf, np.inf, (3,)), rigor.Box(-1, 1, (1,))
            frame_skip, max_steps = 2, 5

            def build(self, random):
                world = rigor.World()
                world.add_body(rigor.halfspace(), motion="fixed")
                self.body = world.add_body(rigor.box(1, 1, 1), position=(random.uniform(-1, 1), 0, 0.5))
                return world

            def act(self, action):
                self.body.apply_force((20000 * action[0], 0, 0))

            def observe(self):
                return self.body.position

        def run(count, threads):
            vector = rigor.VectorEnv(Push, count, threads)
            vector.reset(seed=3)
            found = [vector.step(np.full((count, 1), 0.5)) for _ in range(7)]
            return found, [env.world.state_hash for env in vector.envs]
        one, two = run(6, 1), run(6, 2)
        self.assertEqual(one[1], two[1])
        self.assertTrue(one[0][4][3].all())
        self.assertIsNotNone(one[0][4][4]["final_observation"][0])
        env = Push()
        with self.assertRaises(RuntimeError):
            env.step([0])
        first, _ = env.reset(seed=3)
        np.testing.assert_array_equal(first, Push().reset(seed=3)[0])
        observation, reward, terminated, truncated, info = env.step([0.5])
        np.testing.assert_array_equal(observation, one[0][0][0][0])
        self.assertEqual((reward, terminated, truncated), (0.0, False, False))
        self.assertTrue(env.action_space.contains(env.action_space.sample()))

    @unittest.skipUnless(has_page(), "there is no page of the viewer")
    def test_viewer(self):
        with stack().view(browser=False) as viewer:
            self.assertRegex(viewer.url, r"^http://127\.0\.0\.1:\d+/")
        with contextlib.ExitStack() as cleanup:
            folder = cleanup.enter_context(tempfile.TemporaryDirectory())
            path = str(pathlib.Path(folder, "a.h5"))
            rigor.Scene("tower", {"count": 2}).run(0.05, record=path)
            with rigor.replay(path, browser=False) as viewer:
                self.assertRegex(viewer.url, r"^http://127\.0\.0\.1:\d+/")
        with self.assertRaises(RuntimeError):
            rigor.replay("there-is-no-such-file.h5", browser=False)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
