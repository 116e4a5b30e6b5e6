"""test_python_copies.py BUILD-DIR: copies, pickles and use after close() of everything in the Python package.

Every class of the package, found by looking, is copied, deep-copied and pickled; either that works, and the
copy is as good as the original and outlives it, or it is a TypeError whose text says what to do instead. Every
public method and property of what can be closed, and of the handles of a closed world, is called after
close() and raises an exception of rigor. All of it in processes of their own: a crash has a name."""

import copy
import enum
import gc
import inspect
import itertools
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(BUILD / "python"))

import numpy as np  # noqa: E402

import rigor  # noqa: E402
from rigor import (_batch, _body, _environment, _joint, _library, _recording, _scene, _shapes, _solve,  # noqa: E402
                   _viewer, _world, c)

MODULES = (_batch, _body, _environment, _joint, _library, _recording, _scene, _shapes, _solve, _viewer, _world)
FOLDER = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else tempfile.mkdtemp())


def classes():
    """Every class that the package defines itself, structs and statuses apart."""
    found = {}
    for module in MODULES:
        for name, thing in vars(module).items():
            if inspect.isclass(thing) and thing.__module__ == module.__name__ and not issubclass(thing, enum.Enum):
                found[name] = thing
    return found


def world_of_all():
    """A world with one of everything."""
    world = rigor.World()
    steel = world.add_material("steel", friction=0.3)
    floor = world.add_body(rigor.halfspace(), motion="fixed", name="floor", material=steel)
    boxes = [world.add_body(rigor.box(1, 1, 1), position=(0, 0, 0.5 + k), name=f"box{k}") for k in range(2)]
    force = world.add_force("constant", boxes[0], force=(0, 0, 1))
    joint = world.add_joint("hinge", boxes[0], boxes[1], point=(0, 0, 1), name="hinge")
    world.step(1 / 240)
    return world, floor, boxes, force, joint, steel


def recording_path():
    path = FOLDER / "recording.h5"
    if not path.exists():
        rigor.Scene("tower", {"count": 2}).run(0.05, record=path)
    return path


class Push(rigor.Env):
    observation_space, action_space = rigor.Box(-1, 1, (1,)), rigor.Box(-1, 1, (1,))

    def build(self, random):
        self.made = world_of_all()
        return self.made[0]

    def observe(self):
        return self.world.positions[1, :1].copy()


CUBE = b"".join(b"v %d %d %d\n" % (x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)) + b"".join(
    b"f %d %d %d\n" % face for face in ((1, 2, 4), (1, 4, 3), (5, 7, 8), (5, 8, 6), (1, 5, 6), (1, 6, 2), (3, 4, 8),
                                        (3, 8, 7), (1, 3, 7), (1, 7, 5), (2, 6, 8), (2, 8, 4)))


def environment():
    env = Push()
    env.reset(seed=1)
    return env


def vector_environment():
    found = rigor.VectorEnv(Push, 2)
    found.reset(seed=1)
    return found


def recorder(number=itertools.count()):
    return rigor.Recorder(world_of_all()[0], FOLDER / f"recorder{next(number)}.h5")


def context_seen():
    seen, world = [], world_of_all()[0]
    world.add_force(lambda context: seen.append(copy.deepcopy(context)))
    world.step(1 / 240)
    return seen[0]


def touching():
    world = rigor.World(method="analytic")
    world.add_body(rigor.halfspace(), motion="fixed")
    world.add_body(rigor.sphere(0.5), position=(0, 0, 0.501), velocity=(0, 0, -1))
    while not world.events:
        world.step(1 / 240)
    return world.events[0]


class FakeViewer(rigor.Viewer):
    def __init__(self):
        self.url, self._files = "http://127.0.0.1:1/", None
        self._process = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE, text=True)


LINEAR = (np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-1.0, -3.0]))

# An example of every class, and of the private ones that hold memory of the library.
EXAMPLES = {
    "Batch": lambda: rigor.Batch.of_clones(world_of_all()[0], 2),
    "Body": lambda: world_of_all()[2][0],
    "Box": lambda: rigor.Box(-1, 1, (2,)),
    "Collider": lambda: rigor.Collider(rigor.box(1, 2, 3)),
    "ColliderHandle": lambda: world_of_all()[2][0].colliders[0],
    "Env": environment,
    "Error": lambda: rigor.NotFound("text", 3, 4),
    "Event": touching,
    "Force": lambda: world_of_all()[3],
    "ForceContext": context_seen,
    "Frame": lambda: rigor.Recording(recording_path())[0],
    "Hit": lambda: world_of_all()[0].cast_ray((0, 0, 9), (0, 0, -1)),
    "Joint": lambda: world_of_all()[4],
    "Mass": lambda: rigor.box(1, 2, 3).mass(),
    "Material": lambda: world_of_all()[5],
    "Measure": lambda: rigor.Measure("name", 1.0, None),
    "Mesh": lambda: rigor.Mesh(CUBE, name="cube.obj"),
    "Motion": rigor.Motion,
    "Page": lambda: rigor.Page("<p>"),
    "Problem": lambda: rigor.Problem.linear(*LINEAR, ["unilateral", "bounded"], lower=[0, -1], upper=[0, 1]),
    "Random": lambda: rigor.Random(7),
    "Recorder": recorder,
    "Recording": lambda: rigor.Recording(recording_path()),
    "Scene": lambda: rigor.Scene("tower", {"count": 2}),
    "Shape": lambda: rigor.box(1, 2, 3),
    "Snapshot": lambda: world_of_all()[0].snapshot(),
    "Solution": lambda: rigor.solve(rigor.Problem.linear(*LINEAR)),
    "Solver": lambda: rigor.Solver("mine", np.linalg.solve),
    "VectorEnv": vector_environment,
    "Viewer": FakeViewer,
    "World": lambda: world_of_all()[0],
    "Memory": lambda: _library.Memory(world_of_all()[0].clone()._pointer),
    "_Context": _solve._Context,
    "_File": lambda: rigor.Problem.from_file(problem_file())._file,
    "_Held": lambda: world_of_all()[0].positions.base,
    "_Options": lambda: _scene._Options({}, {}),
}
# Which of them can be copied, and pickled; the others say why not.
COPIED = set(EXAMPLES) - {"Memory", "Recorder", "Viewer", "_Context", "_File", "_Held", "_Options"}
PICKLED = COPIED - {"Batch", "Body", "ColliderHandle", "Env", "Event", "Force", "Hit", "Joint", "Material", "Snapshot", "Solver",
                    "VectorEnv", "World"}


def problem_file():
    path = FOLDER / "problem.h5"
    if not path.exists():
        rigor.Problem.contact(q=[-1, 0.3, 0], w=np.eye(3), mu=0.5).write_fclib(path)
    return path


def use(thing):
    """Looks at everything that needs no arguments."""
    repr(thing)
    for name, member in inspect.getmembers(type(thing)):
        if isinstance(member, property) and not name.startswith("_"):
            try:
                getattr(thing, name)
            except (rigor.Error, ValueError):  # such as a prescription of a body that has none
                pass


def every_class():
    for name in sorted(EXAMPLES):
        print(name, flush=True)  # the last one is that of a crash
        three_ways(name)


def three_ways(name):
    """Copies the example in each way and uses copy and original after the other one is gone."""
    ways = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda thing: pickle.loads(pickle.dumps(thing))}
    for way, function in ways.items():
        can = name in {"copy": COPIED, "deepcopy": COPIED, "pickle": PICKLED}[way]
        thing = EXAMPLES[name]()
        try:
            made = function(thing)
        except TypeError as error:
            assert not can, f"{way} of {name}: {error}"
            assert len(str(error)) > 30 and ":" in str(error), f"{way} of {name}: no word of what to do: {error}"
            del error
        else:
            assert can, f"{way} of {name} is meant to be refused"
            use(made)
            del made
            gc.collect()
            use(thing)
            made = function(thing)
            del thing
            gc.collect()
            use(made)
            del made
        gc.collect()


# --- after close() ------------------------------------------------------------------------------------

def arguments_by_name(world, things):
    floor, boxes, force, joint, steel = things
    law = rigor.contact_law()
    return {
        "step": 1 / 240, "count": 1, "duration": 0.01, "name": "box0", "body": boxes[0], "a": steel, "b": steel,
        "law": law, "kind": "hinge", "body_a": boxes[0], "body_b": boxes[1], "parts": [(joint, 1.0)],
        "function": None, "origin": (0, 0, 9), "direction": (0, 0, -1), "shape": rigor.sphere(0.1),
        "position": (0, 0, 3), "translation": (0, 0, -1), "path": str(FOLDER / "after.yaml"), "state": b"", "state =": c.rg_body_state(),
        "snapshot": things_snapshot(world), "threads": 1, "friction": 0.5, "force": (0, 0, 1), "torque": (0, 0, 1),
        "impulse": (0, 0, 1), "collider": rigor.sphere(0.1), "material": steel, "category": 1, "mask": 1,
        "velocity": (0, 0, 0), "target": 0.0, "info": rigor.StepInfo(), "index": 0, "what": "bodies",
        "event": None, "low": 0, "high": 1, "matrix": np.eye(2), "height": 1.0, "world": world,
    }


def things_snapshot(world, kept={}):
    if id(world) not in kept:
        kept[id(world)] = world.snapshot()
    return kept[id(world)]


def call_everything(thing, known, allowed):
    """Calls what is public, assigns what can be assigned; returns what did not raise an exception of rigor."""
    wrong = []

    def attempt(name, function, *values, **named):
        try:
            function(*values, **named)
        except rigor.Error as error:
            if "closed" not in str(error):
                wrong.append(f"{name}: does not say that it is closed: {error}")
        except Exception as error:  # not of rigor
            wrong.append(f"{name}: {type(error).__name__}: {error}")
        else:
            if name not in allowed:
                wrong.append(f"{name}: no exception")
    for name, member in inspect.getmembers(type(thing)):
        if name.startswith("_") and name not in ("__len__", "__getitem__"):
            continue
        if isinstance(member, property):
            attempt(name, lambda: getattr(thing, name))
            if member.fset:
                attempt(f"{name} =", lambda: setattr(thing, name, known.get(f"{name} =", known.get(name, (0, 0, 0)))))
        elif inspect.isfunction(member):
            needed = [parameter for parameter in list(inspect.signature(member).parameters.values())[1:]
                      if parameter.default is parameter.empty
                      and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
            missing = [parameter.name for parameter in needed if parameter.name not in known]
            assert not missing, f"{type(thing).__name__}.{name}: this test knows no value of {missing}"
            attempt(name, getattr(thing, name), *(known[parameter.name] for parameter in needed))
    return [f"{type(thing).__name__}.{line}" for line in wrong]


def after_close():
    allowed = {"close", "closed", "exists"}
    world, *things = world_of_all()
    floor, boxes, force, joint, steel = things
    known = arguments_by_name(world, things)
    handles = [*boxes, force, joint, steel, boxes[0].colliders[0], world.random]
    definitions = [joint.definition, force.definition, boxes[0].prescription]
    names = [definitions[0].name]
    batch = rigor.Batch([world])
    snapshot = things_snapshot(world)
    positions = world.positions
    seen = positions.copy()
    with world:
        pass
    wrong = call_everything(world, known, allowed)
    for handle in handles:
        repr(handle), hash(handle), handle == handle
        wrong += call_everything(handle, known, allowed)
    for name in ("step", "state"):
        try:
            batch.step(1 / 240) if name == "step" else batch.state
            wrong.append(f"Batch.{name}: no exception")
        except rigor.Error:
            pass
    gc.collect()
    np.testing.assert_array_equal(positions, seen)
    assert [definition.name for definition in definitions[:1]] == names
    assert repr(world) == "<rigor.World, closed>"
    for way in (copy.copy, copy.deepcopy):
        try:
            way(world)
            wrong.append(f"{way}: no exception")
        except rigor.Error:
            pass
    assert type(snapshot) is rigor.Snapshot
    return wrong


def recordings_after_close():
    wrong = []
    world, *things = world_of_all()
    known = arguments_by_name(world, things)
    recorder = rigor.Recorder(world, FOLDER / "open.h5")
    things[1][0].velocity = (0, 0, 1)
    recorder.step(world.step(1 / 240))
    recorder.frame()
    world.close()  # the recorder keeps what it needs to end
    for call in (recorder.frame, recorder.checkpoint, lambda: recorder.step(rigor.StepInfo())):
        try:
            call()
            wrong.append("Recorder of a closed world: no exception")
        except rigor.Error as error:
            assert "closed" in str(error), error
    recorder.close()
    wrong += call_everything(recorder, known, {"close"})
    assert len(rigor.Recording(FOLDER / "open.h5")) == 2  # the beginning is one
    recording = rigor.Recording(FOLDER / "open.h5")
    known["event"] = np.zeros(1, _library.dtype_of(c.rg_recorded_event))[0]
    text, info = recording.scene_text, recording.info
    recording.close()
    wrong += call_everything(recording, known, {"close"})
    gc.collect()
    assert info.scene_text.decode() == text
    return wrong


def hulls_and_others():
    """Shapes of every kind are the same after a pickle, bit for bit."""
    points = np.random.default_rng(1).normal(size=(20, 3))
    grid = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.3]], float)
    shapes = [rigor.box(1, 2, 3), rigor.sphere(0.3), rigor.capsule(0.1, 2), rigor.cylinder(1, 2), rigor.cone(1, 2),
              rigor.ellipsoid(1, 2, 3), rigor.halfspace((1, 2, 3), 0.7), rigor.disc(0.2), rigor.hull(points),
              rigor.polygon([(0, 0, 0), (1, 0, 0), (0, 0, 1)]),
              rigor.planar_hull([(0, 0, 0), (1, 0, 0), (0, 0, 1), (0.1, 0, 0.1)]),
              rigor.terrain(grid, [[0, 1, 2], [1, 3, 2]]), rigor.heights(np.arange(12.0).reshape(3, 4), 0.5, 0.5),
              rigor.compound([rigor.box(1, 1, 1), (rigor.hull(points), (2, 0, 0), (0, 0, 1, 0), 3.0)])]
    assert {shape.kind for shape in shapes} == {
        _library.lib.rg_shape_kind_name(kind).decode() for kind in c.rg_shape_kind
        if not kind.name.endswith("COUNT")}, "a kind has no example"

    def seen(shape):
        parts = [np.concatenate(shape.bounds((1, 2, 3), (0.5, 0.5, 0.5, 0.5))).tobytes(), shape.kind, shape.volume,
                 shape.circumradius, shape.inradius, shape.centre.tobytes()]
        polyhedron = shape.polyhedron()
        if polyhedron:
            parts += [polyhedron[0].tobytes(), *(facet.tobytes() for facet in polyhedron[1])]
        if shape.kind == "terrain":
            hits = [shape.cast_ray((x, y, 99), (0.01, 0, -1)) for x in (-0.4, 0.1, 0.6) for y in (-0.3, 0.2, 0.7)]
            parts += [bytes(hit) if hit else None for hit in hits]
        return parts
    for shape in shapes:
        before = seen(shape)
        again = pickle.loads(pickle.dumps(shape))
        assert again is not shape and copy.copy(shape) is shape and copy.deepcopy(shape) is shape
        del shape
        gc.collect()
        assert seen(again) == before, again.kind


def hashes(scene):
    world = scene.world
    return [world.state_hash] + [world.step(scene.step_size) and world.state_hash for _ in range(20)]


def scenes_and_worlds():
    """Copies go on with the same bits, from the middle of a run, too."""
    scene = rigor.Scene("tower", {"count": 3})
    other = pickle.loads(pickle.dumps(scene))
    assert other.origin == scene.origin and [m.name for m in other.measures()] == [m.name for m in scene.measures()]
    assert hashes(copy.deepcopy(scene)) == hashes(other) == hashes(scene)
    assert hashes(pickle.loads(pickle.dumps(scene))) == hashes(scene)  # it has run
    scene = rigor.Scene("bounce")
    for _ in range(200):
        scene.world.step(scene.step_size)
        scene.observe()
    assert pickle.loads(pickle.dumps(scene)).measures() == scene.measures() != rigor.Scene("bounce").measures()
    scene.world.add_body(rigor.sphere(0.1), position=(9, 9, 9))
    try:
        pickle.dumps(scene)  # what its name makes is not what it is
        raise AssertionError("pickled, though it was changed")
    except TypeError as error:
        assert "to_text()" in str(error), error
    read = rigor.Scene.from_text(rigor.Scene("tower", {"count": 3}).to_text())
    for _ in range(30):
        read.world.step(read.step_size)
    other = pickle.loads(pickle.dumps(read))
    assert (other.name, other.step_size, other.duration) == (read.name, read.step_size, read.duration)
    assert hashes(other) == hashes(read)
    world, floor, boxes, *_ = world_of_all()
    both = copy.deepcopy({"world": world, "box": boxes[0]})
    assert both["box"].world is both["world"] is not world and both["box"].name == "box0"
    boxes[0].velocity = (1, 0, 0)
    assert not both["box"].velocity[0]
    problem = EXAMPLES["Problem"]()
    expected = rigor.solve(problem).force
    for function in (copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))):
        made = function(problem)
        np.testing.assert_array_equal(rigor.solve(made).force, expected)
    del problem
    gc.collect()
    np.testing.assert_array_equal(rigor.solve(made).force, expected)


def volume_of(shape):
    return shape.volume


def pool():
    with multiprocessing.get_context("fork").Pool(2) as workers:
        found = workers.map(volume_of, [rigor.box(1, 1, k + 1) for k in range(8)])
    assert found == [k + 1 for k in range(8)]


class Copies(unittest.TestCase):
    def run_apart(self, what):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-B", "-X", "faulthandler", __file__, str(BUILD), what, folder],
                                  text=True, capture_output=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, f"{what}: {done.stdout}{done.stderr}")

    def test_every_class_has_an_example(self):
        structs = {"NotCopied"}  # the base of those that hold memory of the library
        self.assertEqual(set(EXAMPLES), set(classes()) - structs)

    def test_every_class_three_ways(self):
        self.run_apart("every_class")

    def test_structs(self):
        """A struct that holds addresses is refused with a word of what to do, any other is as it was."""
        for struct in c.STRUCTS:
            try:
                made = pickle.loads(pickle.dumps(struct()))
                self.assertEqual(bytes(made), bytes(struct()))
            except TypeError as error:
                self.assertIn("as_dict()", str(error))
                with self.assertRaises(TypeError):
                    copy.copy(struct())
        info = rigor.Scene("tower", {"count": 2}).run(0.02)
        self.assertEqual(bytes(pickle.loads(pickle.dumps(info))), bytes(info))

    def test_shapes(self):
        self.run_apart("hulls_and_others")

    def test_scenes_and_worlds(self):
        self.run_apart("scenes_and_worlds")

    def test_pool(self):
        self.run_apart("pool")

    def test_after_close(self):
        self.run_apart("after_close")

    def test_recordings_after_close(self):
        self.run_apart("recordings_after_close")


def main(what):
    os.makedirs(FOLDER, exist_ok=True)
    wrong = globals()[what]()
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        main(sys.argv[2])
    else:
        unittest.main(argv=sys.argv[:1])
