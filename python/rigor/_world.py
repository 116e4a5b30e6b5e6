"""Worlds: bodies, materials, forces and joints, and the step that moves them."""

from __future__ import annotations

import ctypes
import math
import weakref
from ctypes import byref
from dataclasses import dataclass
from threading import get_ident
from typing import Any, Callable, Iterable, Sequence

import numpy as np

from . import _declarations as c
from ._body import Body, Collider, ColliderHandle, _check_finite_place
from ._joint import Joint, fill_axes
from ._library import (ALLOCATOR, ERRORS, Memory, NotCopied, address, call, check, closed, copy_array, fail, fill,
                       lib, matrix, numbers, owned, pose, vector, view_of, view_of_structs, word, word_of)
from ._shapes import Mass, Shape

_step = lib.rg_world_step
StepInfo = c.rg_step_info
Vector = Sequence[float]


class Material:
    """What contact with a surface is like; World.add_material makes it."""

    __slots__ = ("world", "_id")

    def __init__(self, world: World, index1: int):
        self.world, self._id = world, c.rg_material_id(index1 or 1)  # 0 and 1 are the default

    def _alive(self) -> c.rg_material_id:
        if self._id.index1 > lib.rg_world_material_count(self.world._pointer):
            raise fail(c.RG_INVALID_HANDLE)
        return self._id

    @property
    def name(self) -> str:
        return lib.rg_world_material_name(self.world._pointer, self._alive()).decode()

    @property
    def law(self) -> c.rg_contact_law:
        """As it was given; a law assigned to it acts from the next step on."""
        return lib.rg_world_material_law(self.world._pointer, self._alive())

    @law.setter
    def law(self, law: c.rg_contact_law) -> None:
        self.world._edit()
        call(lib.rg_world_set_material_law, self.world._pointer, self._alive(), byref(law))

    def __repr__(self) -> str:
        return "<rigor.Material, of a closed world>" if self.world.closed else f"<rigor.Material {self.name}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Material) and self.world is other.world and self._id.index1 == other._id.index1

    def __hash__(self) -> int:
        return hash((id(self.world), self._id.index1))


def contact_law(friction: float = 0.5, restitution: float = 0, static_friction: float = 0,
                impact: str | None = None, rolling_friction: float = 0,
                torsional_friction: float = 0) -> c.rg_contact_law:
    """The law of a material or of a pair of materials. `impact` names a law of collisions. Rolling and
    torsional friction are in metres: the torque about the contact point over the normal force."""
    law = lib.rg_contact_law_default()
    law.friction, law.static_friction, law.restitution = friction, static_friction, restitution
    law.rolling_friction, law.torsional_friction = rolling_friction, torsional_friction
    if impact is not None:
        law.impact = lib.rg_impact_law_find(impact.encode())
        if not law.impact:
            raise ERRORS[c.RG_NOT_FOUND](f"there is no impact law {impact!r}")
    return law


class Force:
    """A force besides gravity and contact; World.add_force makes it."""

    __slots__ = ("world", "_id")

    def __init__(self, world: World, identifier: c.rg_force_id):
        self.world, self._id = world, identifier

    def _index(self) -> int:
        for index in range(lib.rg_world_force_count(self.world._pointer)):
            found = lib.rg_world_force_at(self.world._pointer, index)
            if (found.index1, found.generation) == (self._id.index1, self._id.generation):
                return index
        raise fail(c.RG_INVALID_HANDLE)

    @property
    def definition(self) -> c.rg_force_def:
        self._index()
        return owned(lib.rg_force_get_def(self.world._pointer, self._id))

    @property
    def kind(self) -> str:
        return lib.rg_force_kind_name(self.definition.kind).decode()

    def remove(self) -> None:
        self.world._edit()
        check(lib.rg_world_remove_force(self.world._pointer, self._id))


@dataclass
class ForceContext:
    """What a force function sees: arrays over all bodies in the order of World.bodies. It adds to force (N)
    and torque (N m) at the centres of mass. The arrays are the library's, valid during the call."""

    time: float
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    force: np.ndarray
    torque: np.ndarray

    @classmethod
    def _of(cls, address: int) -> ForceContext:
        context = c.rg_force_context.from_address(address)

        def array(start: int, width: int) -> np.ndarray:
            if not context.body_count:
                return np.zeros((0, width))
            numbers_there = (ctypes.c_double * (context.body_count * width)).from_address(start)
            return np.frombuffer(numbers_there).reshape(-1, width)
        return cls(context.time, array(context.position, 3), array(context.orientation, 4),
                   array(context.velocity, 3), array(context.angular_velocity, 3), array(context.force, 3),
                   array(context.torque, 3))


@dataclass
class Hit:
    """What a question to a world found."""

    body: Body
    collider: ColliderHandle
    distance: float
    point: np.ndarray
    normal: np.ndarray
    part: int


class Snapshot(NotCopied):
    """The whole world at an instant, in memory."""

    __slots__ = ("_pointer", "_keep")
    _instead = "World.save_state() gives bytes, World.to_text() a scene file"

    def __init__(self, world: World):
        pointer = ctypes.c_void_p()
        check(lib.rg_snapshot_create(world._pointer, byref(pointer)))
        self._pointer, self._keep = pointer.value, world._keep

    def __del__(self, destroy: Any = lib.rg_snapshot_destroy) -> None:
        if hasattr(self, "_pointer"):
            destroy(self._pointer)

    # It cannot change, so that one does for all copies.

    def __copy__(self) -> Snapshot:
        return self

    def __deepcopy__(self, _memo: Any) -> Snapshot:
        return self


def _settings(values: dict[str, Any], settings: c.rg_method_settings) -> c.rg_method_settings:
    """Settings of the step methods by the names of rg_method_settings; solvers and laws by name."""
    values = dict(values)
    if "solver" in values and isinstance(values["solver"], str):
        solver = lib.rg_solver_find(values["solver"].encode())
        if not solver:
            raise ERRORS[c.RG_NOT_FOUND](f"there is no solver {values['solver']!r}")
        values["solver"] = solver
    if "impact" in values and isinstance(values["impact"], str):
        values["impact"] = contact_law(impact=values["impact"]).impact
    for name, enum, prefix in (("integrator", c.rg_integrator, "RG_INTEGRATOR_"),
                               ("root_finder", c.rg_root_method, "RG_ROOT_"),
                               ("policy", c.rg_solution_policy, "RG_POLICY_")):
        if isinstance(values.get(name), str):
            values[name] = word(values[name], enum, prefix)
    fill(settings, values, "the settings")
    return settings


def _method(name: str) -> int:
    method = lib.rg_method_find(name.encode())
    if not method:
        names = ", ".join(methods())
        raise ERRORS[c.RG_NOT_FOUND](f'there is no method "{name}"; the methods are: {names}')
    return method


def methods() -> dict[str, str]:
    """The step methods: name and one line about each."""
    found = (lib.rg_method_at(index) for index in range(lib.rg_method_count()))
    return {lib.rg_method_name(m).decode(): lib.rg_method_summary(m).decode() for m in found}


class World(NotCopied):
    """A world of rigid bodies. Used by one thread at a time; any number of worlds may live side by side.

    `settings` are those of the step method by the names of rg_method_settings (rigor/method.h), such as
    {"solver": "newton", "gamma": 0.5}. `before_step(world, step)` and `after_step(world, step)` may change
    the world; `material(world, touch, law)` may change the law of a pair that touches."""

    _instead = "World.to_text() gives a scene file for Scene.from_text(), World.save_state() the state alone"

    def __init__(self, *, gravity: Vector = (0, 0, -9.81), planar: bool = False, method: str = "stepping",
                 settings: dict[str, Any] | None = None, seed: int = 1, threads: int = 1, certify: bool = True,
                 before_step: Callable[[World, float], Any] | None = None,
                 after_step: Callable[[World, float], Any] | None = None,
                 material: Callable[[World, c.rg_touch, c.rg_contact_law], Any] | None = None):
        self._begin(None)
        definition = lib.rg_world_def_default()
        definition.gravity, definition.planar, definition.seed = vector(gravity), planar, seed
        definition.method, definition.threads, definition.certify = _method(method), threads, certify
        _settings(settings or {}, definition.settings)
        definition.allocator = ALLOCATOR
        if before_step:
            definition.before_step = self._callback(c.rg_step_callback, self._step_callback(before_step))
        if after_step:
            definition.after_step = self._callback(c.rg_step_callback, self._step_callback(after_step))
        if material:
            definition.collision.material = self._callback(c.rg_material_function, self._material(material))
        pointer = ctypes.c_void_p()
        call(lib.rg_world_create, byref(definition), byref(pointer))
        self._memory = Memory(pointer.value)

    def _begin(self, owner: Any) -> None:
        self._memory: Memory | None = None  # None: closed
        self._owner = owner  # the Scene to which it belongs, if any
        self._stepping = 0  # the thread that steps it now
        self._views: dict[str, np.ndarray] = {}
        self._keep: list[Any] = []  # functions that the world, its snapshots or its clones may call
        self._raised: list[BaseException] = []
        self._error = c.rg_error()
        self._error_reference = byref(self._error)

    @classmethod
    def _of(cls, memory: Memory, owner: Any = None) -> World:
        world = cls.__new__(cls)
        world._begin(owner)
        world._memory = memory
        return world

    @property
    def _pointer(self) -> int:
        if self._memory is None:
            raise closed("world")
        return self._memory.world

    @property
    def closed(self) -> bool:
        """After close(): every other call then raises InvalidHandle."""
        return self._memory is None

    def close(self) -> None:
        """Frees the world now. Its arrays stay as they are, its recorders can still be closed; everything else
        of it is gone."""
        if self._stepping:
            raise fail(c.RG_BUSY)
        if self._owner is not None:
            raise ValueError("a world of a scene is closed with its scene")
        self._free()

    def _free(self) -> None:
        self._views = {}
        memory, self._memory = self._memory, None
        if memory is not None:
            memory.let_go()

    def __del__(self) -> None:
        if getattr(self, "_memory", None) is not None:
            self._free()

    def __copy__(self) -> World:
        return self.clone()

    def __deepcopy__(self, _memo: Any) -> World:
        """A clone; handles that are copied along are handles of it."""
        if self._owner is not None:
            raise TypeError("this world belongs to a scene: copy the scene, or take World.clone()")
        return self.clone()

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return "<rigor.World, closed>"
        return f"<rigor.World of {len(self)} bodies at {self.time:g} s>"

    # --- functions of the program that the library calls ----------------------------------------

    def _callback(self, kind: Any, function: Any) -> int:
        made = kind(function)
        self._keep.append(made)
        return ctypes.cast(made, ctypes.c_void_p).value

    def _note(self, error: BaseException) -> None:
        """What a function of the program raised; the step raises it when it ends."""
        self._raised.append(error)

    def _step_callback(self, function: Callable[[World, float], Any]) -> Any:
        reference = weakref.ref(self)

        def called(_user: Any, _world: Any, step: float) -> None:
            world = reference()
            try:
                function(world, step)
            except BaseException as error:  # raised by the step
                world._note(error)
        return called

    def _material(self, function: Callable[[World, c.rg_touch, c.rg_contact_law], Any]) -> Any:
        reference = weakref.ref(self)

        def called(_user: Any, _world: Any, touch: int, law: int) -> None:
            world = reference()
            try:
                function(world, c.rg_touch.from_address(touch), c.rg_contact_law.from_address(law))
            except BaseException as error:  # raised by the step
                world._note(error)
        return called

    def _force_function(self, function: Callable[[ForceContext], Any]) -> Any:
        reference = weakref.ref(self)

        def called(_user: Any, context: int) -> None:
            seen = ForceContext._of(context)
            try:
                function(seen)
            except BaseException as error:  # no step is made of numbers that are none
                seen.force[:] = math.nan
                world = reference()
                if world is not None:
                    world._note(error)
        return called

    def _motion_function(self, function: Callable[[float], Any]) -> Any:
        reference = weakref.ref(self)

        def called(_user: Any, time: float, state: int) -> None:
            state = c.rg_prescribed_state.from_address(state)
            try:
                position, orientation, velocity, angular_velocity = function(time)
                state.pose = pose(position, orientation)
                state.velocity, state.angular_velocity = vector(velocity), vector(angular_velocity)
            except BaseException as error:
                state.pose = pose((math.nan, math.nan, math.nan))
                world = reference()
                if world is not None:
                    world._note(error)
        return called

    # --- stepping -------------------------------------------------------------------------------

    def step(self, step: float, count: int = 1) -> StepInfo:
        """Moves the world by `step` seconds, `count` times, and returns what the last step says about
        itself (rigor/certificate.h). On an error the world is as it was before that step. Other threads
        of Python run meanwhile."""
        if self._stepping:
            raise fail(c.RG_BUSY)
        info = StepInfo()
        reference, error = byref(info), self._error_reference
        pointer = self._pointer
        self._stepping = get_ident()
        try:
            while count > 0:
                status = _step(pointer, step, reference, error)
                if status or self._raised:
                    self._fail(status)
                count -= 1
        finally:
            self._stepping = 0
        return info

    def _fail(self, status: int) -> None:
        if self._raised:
            first, self._raised = self._raised[0], []
            raise first
        raise fail(status, self._error)

    def run(self, duration: float, step: float = 1 / 240) -> StepInfo:
        """Steps until `duration` has passed (to the nearest step); returns the summary since the world was
        made."""
        self.step(step, round(duration / step))
        return self.summary

    def _edit(self, moves: bool = False) -> None:
        """Before every change. `moves`: the arrays of the state may be elsewhere afterwards; those that
        programs have then keep the numbers of this instant."""
        if self._stepping and self._stepping != get_ident():
            raise fail(c.RG_BUSY)
        if self._memory is None:
            raise closed("world")
        if moves:
            self._views.clear()

    # --- the state ------------------------------------------------------------------------------

    def _view(self, name: str, function: Any, width: int) -> np.ndarray:
        found = self._views.get(name)
        if found is None:
            found = self._views[name] = view_of(function(self._pointer), width)
        return found

    @property
    def positions(self) -> np.ndarray:
        """Centres of mass of all bodies, (n, 3), in the order of `bodies`. The library's own numbers, read
        only; the array shows every step until something is added, removed or restored, and the numbers of
        that time from then on."""
        return self._view("positions", lib.rg_world_centre_positions, 3)

    @property
    def orientations(self) -> np.ndarray:
        """Of the centre-of-mass frames, quaternions (n, 4), x y z w; as `positions`."""
        return self._view("orientations", lib.rg_world_centre_orientations, 4)

    @property
    def velocities(self) -> np.ndarray:
        """Of the centres of mass, (n, 3); as `positions`."""
        return self._view("velocities", lib.rg_world_velocities, 3)

    @property
    def angular_velocities(self) -> np.ndarray:
        """In world axes, (n, 3); as `positions`."""
        return self._view("angular_velocities", lib.rg_world_angular_velocities, 3)

    @property
    def time(self) -> float:
        """s. Can be set; kinematic bodies go to where they are at that time."""
        return lib.rg_world_time(self._pointer)

    @time.setter
    def time(self, time: float) -> None:
        self._edit()
        check(lib.rg_world_set_time(self._pointer, time))

    @property
    def step_count(self) -> int:
        return lib.rg_world_step_count(self._pointer)

    @property
    def planar(self) -> bool:
        return lib.rg_world_is_planar(self._pointer)

    @property
    def degrees_of_freedom(self) -> int:
        """Of a body: 6, or 3 in the plane."""
        return lib.rg_world_degrees_of_freedom(self._pointer)

    @property
    def gravity(self) -> np.ndarray:
        return numbers(lib.rg_world_gravity(self._pointer))

    @gravity.setter
    def gravity(self, gravity: Vector) -> None:
        self._edit()
        check(lib.rg_world_set_gravity(self._pointer, vector(gravity)))

    @property
    def method(self) -> str:
        return lib.rg_method_name(lib.rg_world_method(self._pointer)).decode()

    @property
    def settings(self) -> c.rg_method_settings:
        return lib.rg_world_settings(self._pointer)

    def set_method(self, method: str | None = None, **settings: Any) -> None:
        """Another step method, or other settings of it, from the next step on."""
        self._edit()
        values = _settings(settings, self.settings)
        call(lib.rg_world_set_method, self._pointer, _method(method or self.method), byref(values))

    @property
    def collision_definition(self) -> c.rg_collision_def:
        return lib.rg_world_collision_def(self._pointer)

    def set_threads(self, threads: int) -> None:
        """Threads of a step; results do not depend on it."""
        self._edit()
        check(lib.rg_world_set_threads(self._pointer, threads))

    @property
    def seed(self) -> int:
        return lib.rg_world_seed(self._pointer)

    @property
    def random(self) -> Random:
        """The world's generator: part of its state."""
        self._edit()
        return Random._of(self)

    @property
    def summary(self) -> StepInfo:
        """Over all steps since the world was made: the worst and the sums."""
        return lib.rg_world_summary(self._pointer)

    @property
    def deepest_overlap(self) -> c.rg_overlap:
        """Of two bodies, relative to the size of the smaller one, that came about in a step since the world
        was made; its depth is 0 if there is none of more than 5 %."""
        return lib.rg_world_deepest_overlap(self._pointer)

    @property
    def last_overlap(self) -> c.rg_overlap:
        """The same at the end of the last step, whenever it came about."""
        return lib.rg_world_last_overlap(self._pointer)

    def check_prescribed(self, step: float, duration: float) -> None:
        """Raises an error if prescribed motions cannot be followed in such steps: if they jump."""
        error = c.rg_error()
        check(lib.rg_world_check_prescribed(self._pointer, step, duration, byref(error)), error)

    @property
    def profile(self) -> dict[str, float]:
        """Seconds of wall time in each stage of the steps so far, and in all of them ("step")."""
        profile = lib.rg_world_profile(self._pointer)
        stages = {lib.rg_stage_name(stage).decode(): profile.stage[stage]
                  for stage in range(c.RG_STAGE_COUNT)}
        return {"steps": profile.steps, "step": profile.step, **stages}

    @property
    def energy(self) -> float:
        """Kinetic energy plus gravity's potential of the dynamic bodies, J."""
        return lib.rg_world_energy(self._pointer)

    @property
    def momentum(self) -> np.ndarray:
        return numbers(lib.rg_world_momentum(self._pointer))

    @property
    def angular_momentum(self) -> np.ndarray:
        """About the world's origin."""
        return numbers(lib.rg_world_angular_momentum(self._pointer))

    @property
    def state_hash(self) -> int:
        """64 bits over time, poses, velocities and momenta: equal if every bit of the state is."""
        return lib.rg_world_state_hash(self._pointer)

    # --- copies ---------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """The whole world at this instant."""
        self._edit()
        return Snapshot(self)

    def restore(self, snapshot: Snapshot) -> None:
        """Back to a snapshot of this world, or of one that it was cloned from; it goes on with the same
        bits."""
        if snapshot._keep is not self._keep:
            raise fail(c.RG_INVALID_ARGUMENT)
        self._edit(moves=True)
        if self._stepping:
            raise fail(c.RG_BUSY)
        check(lib.rg_world_restore(self._pointer, snapshot._pointer))

    def clone(self) -> World:
        """Another world in the same state. Its functions are those of this one."""
        self._edit()
        pointer = ctypes.c_void_p()
        check(lib.rg_world_clone(self._pointer, byref(pointer)))
        world = World._of(Memory(pointer.value))
        world._keep = self._keep
        return world

    def save_state(self) -> bytes:
        """The state alone, to be read into a world with the same bodies."""
        size = ctypes.c_size_t()
        check(lib.rg_world_save_state(self._pointer, None, 0, byref(size)))
        buffer = ctypes.create_string_buffer(size.value)
        check(lib.rg_world_save_state(self._pointer, buffer, size.value, byref(size)))
        return buffer.raw[:size.value]

    def load_state(self, state: bytes) -> None:
        self._edit(moves=True)
        call(lib.rg_world_load_state, self._pointer, state, len(state))

    # --- bodies ---------------------------------------------------------------------------------

    def __len__(self) -> int:
        return lib.rg_world_body_count(self._pointer)

    def __getitem__(self, name: str) -> Body:
        """A body by name."""
        found = c.rg_body_id()
        status = lib.rg_world_find_body(self._pointer, name.encode(), byref(found))
        if status:
            raise fail(status)
        return Body(self, found)

    @property
    def bodies(self) -> list[Body]:
        """In the order of the arrays. Removing a body moves the last one to its place."""
        return [Body(self, lib.rg_world_body_at(self._pointer, index)) for index in range(len(self))]

    def add_body(self, *colliders: Shape | Collider, name: str | None = None, motion: str = "dynamic",
                 position: Vector = (0, 0, 0), orientation: Vector = (0, 0, 0, 1), angle: float = 0,
                 velocity: Vector = (0, 0, 0), angular_velocity: Vector = (0, 0, 0),
                 density: float | None = None, material: Material | None = None, mass: float | Mass | None = None,
                 gravity_scale: float = 1, oscillation: dict[str, Any] | None = None,
                 function: Callable[[float], Any] | None = None, move: Sequence[str | float] | None = None,
                 turn: Sequence[str | float] | None = None) -> Body:
        """Adds a body of some shapes (or Colliders, with places of their own).

        `motion` is "dynamic", "fixed" or "kinematic". `density` and `material` are for the shapes that do
        not say their own; `mass` is a number to scale to, or a Mass in the body's frame instead of what
        follows from densities. A kinematic body moves with its velocities; or by `oscillation`, a dict of
        amplitude, rotation_amplitude, frequency and phase; or by function(time), which returns position,
        orientation, velocity and angular velocity; or by `move` and `turn`, three expressions of the time t
        each, such as ("0.2*sin(3*t)", 0, "spline(t, 0, 0, 1, 0.5)"): metres and a rotation vector."""
        self._edit(moves=True)
        definition = lib.rg_body_def_default()
        definition.name = name.encode() if name is not None else None
        definition.motion = word(motion, c.rg_motion, "RG_MOTION_")
        definition.pose, definition.angle = pose(position, orientation), angle
        definition.velocity, definition.angular_velocity = vector(velocity), vector(angular_velocity)
        definition.gravity_scale = gravity_scale
        array = self._colliders(colliders, density, material)
        definition.colliders, definition.collider_count = ctypes.addressof(array), len(array)
        if isinstance(mass, Mass):
            definition.has_mass, definition.mass = True, mass._struct()
        elif mass is not None:
            definition.total_mass = _check_finite_place(mass)
        if oscillation is not None:
            definition.prescription.kind = c.RG_PRESCRIBED_OSCILLATION
            fill(definition.prescription, oscillation, "an oscillation")
        if function is not None:
            definition.prescription.kind = c.RG_PRESCRIBED_FUNCTION
            definition.prescription.function = self._callback(c.rg_prescribed_function,
                                                              self._motion_function(function))
        if move is not None or turn is not None:
            definition.prescription.kind = c.RG_PRESCRIBED_OF_TIME
            for index, text in enumerate((*(move or (0, 0, 0)), *(turn or (0, 0, 0)))):
                definition.prescription.of_time[index] = str(text).encode()
        found = c.rg_body_id()
        self._call(lib.rg_world_add_body, byref(definition), byref(found))
        return Body(self, found)

    def _call(self, function: Any, *arguments: Any) -> None:
        """A function of this world whose last parameter is an rg_error; what a callback raised comes first."""
        error = c.rg_error()
        status = function(self._pointer, *arguments, byref(error))
        if self._raised:
            self._fail(status)
        if status:
            raise fail(status, error)

    def _colliders(self, colliders: Iterable[Shape | Collider], density: float | None,
                   material: Material | None) -> Any:
        colliders = [part if isinstance(part, Collider) else Collider(part) for part in colliders]
        array = (c.rg_collider_def * len(colliders))()
        for index, collider in enumerate(colliders):
            array[index] = collider._struct(self, density, material)
        return array

    # --- materials ------------------------------------------------------------------------------

    def add_material(self, name: str, friction: float = 0.5, restitution: float = 0,
                     static_friction: float = 0, impact: str | None = None, rolling_friction: float = 0,
                     torsional_friction: float = 0) -> Material:
        """A material by its coefficient of friction (while slipping), restitution (0 ... 1) and static
        coefficient (0: the same); `impact` names a law of collisions of the method analytic; rolling and
        torsional friction are lengths: torque about the contact point over normal force."""
        self._edit()
        found = c.rg_material_id()
        law = contact_law(friction, restitution, static_friction, impact, rolling_friction, torsional_friction)
        self._call(lib.rg_world_add_material, name.encode(), byref(law), byref(found))
        return Material(self, found.index1)

    @property
    def materials(self) -> list[Material]:
        """The first one is called "default" and always exists."""
        return [Material(self, index + 1) for index in range(lib.rg_world_material_count(self._pointer))]

    def find_material(self, name: str) -> Material:
        found = c.rg_material_id()
        check(lib.rg_world_find_material(self._pointer, name.encode(), byref(found)))
        return Material(self, found.index1)

    def set_pair_law(self, a: Material, b: Material, law: c.rg_contact_law) -> None:
        """The law by which two materials meet, instead of their mixture (contact_law makes one)."""
        self._edit()
        self._call(lib.rg_world_set_pair_law, self._own(a)._alive(), self._own(b)._alive(), byref(law))

    def pair_law(self, a: Material, b: Material) -> c.rg_contact_law:
        return lib.rg_world_pair_law(self._pointer, self._own(a)._alive(), self._own(b)._alive())

    @property
    def pair_laws(self) -> list[tuple[Material, Material, c.rg_contact_law]]:
        """The pairs that have a law of their own."""
        found = []
        for index in range(lib.rg_world_pair_count(self._pointer)):
            a, b, law = c.rg_material_id(), c.rg_material_id(), c.rg_contact_law()
            lib.rg_world_pair_at(self._pointer, index, byref(a), byref(b), byref(law))
            found.append((Material(self, a.index1), Material(self, b.index1), law))
        return found

    def _own(self, thing: Any) -> Any:
        """A body, material, joint or force of this world; a handle of another names nothing here."""
        if thing.world is not self:
            raise fail(c.RG_INVALID_HANDLE)
        return thing

    # --- forces ---------------------------------------------------------------------------------

    def add_force(self, kind: str | Callable[[ForceContext], Any], body: Body | None = None, *,
                  other: Body | None = None, **values: Any) -> Force:
        """Adds a force: "constant", "spring", "drag", "field", "central", or a function of a ForceContext.

        `body` None means every dynamic body, for a spring's `other` the world. Values are those of
        rg_force_def (rigor/force.h): point, other_point, stiffness, damping, rest_length, force, torque,
        linear, quadratic, angular, acceleration, centre, strength, start_time, stop_time."""
        self._edit()
        if callable(kind):
            definition = lib.rg_force_def_default(c.RG_FORCE_FUNCTION)
            definition.function = self._callback(c.rg_force_function, self._force_function(kind))
        else:
            definition = lib.rg_force_def_default(word(kind, c.rg_force_kind, "RG_FORCE_"))
        if body is not None:
            definition.body = self._own(body)._id
        if other is not None:
            definition.other = self._own(other)._id
        fill(definition, values, "a force")
        found = c.rg_force_id()
        self._call(lib.rg_world_add_force, byref(definition), byref(found))
        return Force(self, found)

    @property
    def forces(self) -> list[Force]:
        return [Force(self, lib.rg_world_force_at(self._pointer, index))
                for index in range(lib.rg_world_force_count(self._pointer))]

    # --- joints ---------------------------------------------------------------------------------

    def add_joint(self, kind: str, a: Body | None, b: Body | None, *, point: Vector | None = None,
                  axis: Vector = (0, 0, 1), frame_a: Any = None, frame_b: Any = None, name: str | None = None,
                  collide: bool = False, break_force: float = math.inf, break_torque: float = math.inf,
                  axes: Sequence[dict[str, Any]] | None = None, **first_axis: Any) -> Joint:
        """Joins two bodies, or a body and the world (None).

        Where: by `point` and `axis` in the world, from where the bodies are; or by frames
        (position, orientation) on each. `axes` are dicts of the fields of rg_joint_axis (rigor/joint.h),
        such as {"lower": -1, "upper": 1, "motor": "velocity", "target": 2}; those of the first axis can be
        given as arguments."""
        self._edit()
        definition = lib.rg_joint_def_default(word(kind, c.rg_joint_kind, "RG_JOINT_"))
        definition.name = name.encode() if name is not None else None
        for field, body in (("body_a", a), ("body_b", b)):
            if body is not None:
                setattr(definition, field, self._own(body)._alive())
        if point is not None:
            check(lib.rg_joint_def_place(self._pointer, byref(definition), vector(point), vector(axis)))
        if frame_a is not None:
            definition.frame_a = pose(*frame_a)
        if frame_b is not None:
            definition.frame_b = pose(*frame_b)
        definition.collide, definition.break_force, definition.break_torque = collide, break_force, break_torque
        fill_axes(definition, list(axes or [{}]), first_axis)
        found = c.rg_joint_id()
        self._call(lib.rg_world_add_joint, byref(definition), byref(found))
        return Joint(self, found)

    def add_tendon(self, parts: Sequence[tuple[Joint, float] | tuple[Joint, float, int]], *,
                   name: str | None = None, **axis: Any) -> Joint:
        """A joint whose coordinate is a sum: of (joint, coefficient) or (joint, coefficient, axis). Its limits,
        spring, motor, friction and armature are fields of rg_joint_axis (rigor/joint.h); with lower equal to
        upper the joints move together."""
        self._edit()
        if len(parts) > c.RG_TENDON_PARTS_MOST:
            raise fail(c.RG_INVALID_ARGUMENT)
        definition = lib.rg_joint_def_default(c.RG_JOINT_TENDON)
        definition.name = name.encode() if name is not None else None
        definition.part_count = len(parts)
        for part, (joint, coefficient, *which) in zip(definition.part, parts):
            if joint.world is not self:
                raise fail(c.RG_INVALID_HANDLE)
            part.joint, part.coefficient = joint._alive(), coefficient
            part.axis = which[0] if which else 0
        fill_axes(definition, [{}], axis)
        found = c.rg_joint_id()
        self._call(lib.rg_world_add_joint, byref(definition), byref(found))
        return Joint(self, found)

    @property
    def joints(self) -> list[Joint]:
        return [Joint(self, lib.rg_world_joint_at(self._pointer, index))
                for index in range(lib.rg_world_joint_count(self._pointer))]

    def find_joint(self, name: str) -> Joint:
        found = c.rg_joint_id()
        check(lib.rg_world_find_joint(self._pointer, name.encode(), byref(found)))
        return Joint(self, found)

    def assemble(self) -> float:
        """Moves bodies, by little, until joints are closed: for mechanisms that are drawn loosely. Returns the
        largest error that is left, m."""
        self._edit()
        left = ctypes.c_double()
        self._call(lib.rg_world_assemble, byref(left))
        return left.value

    def joint_forces_open(self) -> np.ndarray:
        """Which forces of joints are not determined, because other joints hold the same: (joints, 9) of bool, the
        force along x, y, z of A's frame, the torque about them, and the axes whose limits are equal."""
        open_bits = np.zeros(max(1, lib.rg_world_joint_count(self._pointer)), np.uint16)
        self._call(lib.rg_world_joint_forces_open, open_bits.ctypes.data_as(ctypes.POINTER(ctypes.c_uint16)))
        bits = open_bits[:lib.rg_world_joint_count(self._pointer)]
        return (bits[:, None] >> np.arange(9) & 1).astype(bool)

    # --- what the last step did -----------------------------------------------------------------

    @property
    def contacts(self) -> np.ndarray:
        """The contact points of the last step with their forces: a structured array with the fields of
        rg_contact_force (rigor/contact_force.h), such as contacts["force"] (n, 3). The library's own
        memory, read-only, until the next step."""
        count = ctypes.c_size_t()
        pointer = lib.rg_world_contact_forces(self._pointer, byref(count))
        return view_of_structs(pointer, count.value, c.rg_contact_force)

    @property
    def touches(self) -> np.ndarray:
        """Pairs of colliders near each other in the last step: a copy, with the fields of rg_touch."""
        view = lib.rg_collision_get(lib.rg_world_collision(self._pointer))
        return copy_array(view.touches, view.touch_count, c.rg_touch)

    @property
    def ended(self) -> np.ndarray:
        """Pairs of colliders that touched in the step before and no longer do: a copy."""
        view = lib.rg_collision_get(lib.rg_world_collision(self._pointer))
        return copy_array(view.ended, view.ended_count, c.rg_touch_end)

    def find_contacts(self, ahead: float = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Contacts at the current poses, without a step: touches, manifolds and points, as copies. `ahead`
        > 0 looks that many seconds ahead."""
        definition, pointer = self.collision_definition, ctypes.c_void_p()
        call(lib.rg_collision_create, byref(definition), byref(ALLOCATOR), byref(pointer))
        try:
            call(lib.rg_collision_update, pointer, self._pointer, ahead)
            view = lib.rg_collision_get(pointer)
            return (copy_array(view.touches, view.touch_count, c.rg_touch),
                    copy_array(view.manifolds, view.manifold_count, c.rg_manifold),
                    copy_array(view.points, view.point_count, c.rg_contact_point))
        finally:
            lib.rg_collision_destroy(pointer)

    @property
    def events(self) -> list[Event]:
        """What happened in the last step, in the order in which it did."""
        kept, count = ctypes.c_size_t(), ctypes.c_size_t()
        pointer = lib.rg_world_step_events(self._pointer, byref(kept), byref(count))
        size = ctypes.sizeof(c.rg_step_event)
        return [Event._of(self, pointer + index * size) for index in range(kept.value)]

    @property
    def impulses(self) -> np.ndarray:
        """Of the impacts of the last step, round by round: a copy, with the fields of rg_step_impulse."""
        kept, count = ctypes.c_size_t(), ctypes.c_size_t()
        pointer = lib.rg_world_step_impulses(self._pointer, byref(kept), byref(count))
        return copy_array(pointer, kept.value, c.rg_step_impulse)

    def observe_problems(self, function: Callable[[int, int, c.rg_problem], Any] | None) -> None:
        """function(step, island, problem) is shown every contact problem before it is solved; None: no
        longer."""
        self._edit()
        if function is None:
            check(lib.rg_world_observe_problems(self._pointer, None, None))
            return
        reference = weakref.ref(self)

        def called(_user: Any, step: int, island: int, problem: int) -> None:
            try:
                function(step, island, c.rg_problem.from_address(problem))
            except BaseException as error:  # raised by the step
                reference()._note(error)
        check(lib.rg_world_observe_problems(
            self._pointer, self._callback(c.rg_problem_observer, called), None))

    # --- questions ------------------------------------------------------------------------------

    def _filter(self, mask: int, sensors: bool, ignore: Body | None) -> Any:
        made = lib.rg_query_filter_default()
        made.mask, made.sensors = mask, sensors
        if ignore is not None:
            made.ignore = self._own(ignore)._id
        return byref(made)

    def _hit(self, found: bool, hit: c.rg_world_hit) -> Hit | None:
        if not found:
            return None
        return Hit(Body(self, hit.body), ColliderHandle(self, hit.collider), hit.distance, numbers(hit.point),
                   numbers(hit.normal), hit.part)

    def cast_ray(self, origin: Vector, direction: Vector, max_distance: float = math.inf, *, mask: int = 0,
                 sensors: bool = False, ignore: Body | None = None) -> Hit | None:
        """The first collider on a ray."""
        hit, seen = c.rg_world_hit(), self._filter(mask, sensors, ignore)
        along = vector(direction)
        if not any(numbers(along)):
            raise fail(c.RG_INVALID_ARGUMENT)
        return self._hit(lib.rg_world_cast_ray(self._pointer, vector(origin), along, max_distance, seen,
                                               byref(hit)), hit)

    def cast_shape(self, shape: Shape, position: Vector, translation: Vector, *,
                   orientation: Vector = (0, 0, 0, 1), tolerance: float = 1e-6, mask: int = 0,
                   sensors: bool = False, ignore: Body | None = None) -> Hit | None:
        """The first collider that a convex shape comes to within the tolerance of, moved in a straight line."""
        cast = c.rg_shape_cast(shape._pointer, pose(position, orientation), vector(translation), tolerance)
        found, hit = ctypes.c_bool(), c.rg_world_hit()
        check(lib.rg_world_cast_shape(self._pointer, byref(cast), self._filter(mask, sensors, ignore),
                                      byref(found), byref(hit)))
        return self._hit(found.value, hit)

    def overlap(self, shape: Shape, position: Vector, orientation: Vector = (0, 0, 0, 1), *, mask: int = 0,
                sensors: bool = False, ignore: Body | None = None) -> list[ColliderHandle]:
        """Colliders that overlap a convex shape."""
        place, seen, count = pose(position, orientation), self._filter(mask, sensors, ignore), ctypes.c_size_t()
        capacity = 16
        while True:
            array = (c.rg_collider_id * capacity)()
            check(lib.rg_world_overlap(self._pointer, shape._pointer, place, seen, array, capacity,
                                       byref(count)))
            if count.value <= capacity:
                return [ColliderHandle(self, c.rg_collider_id(found.index1, found.generation))
                        for found in array[:count.value]]
            capacity = count.value

    def closest(self, shape: Shape, position: Vector, orientation: Vector = (0, 0, 0, 1), *,
                max_distance: float = math.inf, mask: int = 0, sensors: bool = False,
                ignore: Body | None = None) -> Hit | None:
        """The collider nearest to a convex shape; distance 0 if they overlap."""
        found, hit = ctypes.c_bool(), c.rg_world_hit()
        check(lib.rg_world_closest(self._pointer, shape._pointer, pose(position, orientation), max_distance,
                                   self._filter(mask, sensors, ignore), byref(found), byref(hit)))
        return self._hit(found.value, hit)

    # --- out ------------------------------------------------------------------------------------

    def _scene(self, name: str = "world") -> int:
        """The scene of C that this world is part of; made if there is none."""
        world = self._pointer
        if not self._memory.scene:
            self._edit()
            pointer = ctypes.c_void_p()
            call(lib.rg_scene_adopt, world, name.encode(), byref(pointer))
            self._memory.scene = pointer.value
        return self._memory.scene

    def to_text(self) -> str:
        """A scene file that reads back to the same world, bit for bit."""
        text, size = ctypes.c_void_p(), ctypes.c_size_t()
        call(lib.rg_scene_write_text, self._scene(), byref(ALLOCATOR), byref(text), byref(size))
        try:
            return ctypes.string_at(text.value, size.value).decode()
        finally:
            lib.rg_python_release(text)

    def save(self, path: Any) -> None:
        """Writes a scene file."""
        call(lib.rg_scene_write_file, self._scene(), str(path).encode())

    def view(self, **options: Any) -> Any:
        """Opens the viewer on this world as it is now, to go on living there; see rigor.view."""
        from ._viewer import view
        return view(self, **options)


@dataclass
class Event:
    """Something that happened in a step (rigor/event.h)."""

    kind: str
    time: float
    body_a: Body | None
    body_b: Body | None
    contacts: int
    value: float
    friction: float
    restitution: float
    text: str

    @classmethod
    def _of(cls, world: World, address: int) -> Event:
        event = c.rg_step_event.from_address(address)
        length = lib.rg_step_event_text(world._pointer, address, None, 0)
        buffer = ctypes.create_string_buffer(length + 1)
        lib.rg_step_event_text(world._pointer, address, buffer, length + 1)

        def body(handle: c.rg_body_id) -> Body | None:
            return Body(world, c.rg_body_id(handle.index1, handle.generation)) if handle.index1 else None
        return cls(lib.rg_step_event_name(event.kind).decode(), event.time, body(event.body_a),
                   body(event.body_b), event.contacts, event.value, event.friction, event.restitution,
                   buffer.value.decode(errors="replace"))


class Random:
    """The library's seeded generator: the same seed gives the same numbers on every machine."""

    __slots__ = ("_state", "_world")

    def __init__(self, seed: int):
        self._state, self._world = lib.rg_random_make(seed), None

    @classmethod
    def _of(cls, world: World) -> Random:
        random = cls.__new__(cls)
        random._state, random._world = None, world
        return random

    def _at(self) -> Any:
        if self._world is None:
            return byref(self._state)
        self._world._edit()
        return lib.rg_world_random(self._world._pointer)

    def integer(self, bound: int | None = None) -> int:
        """In [0, bound), without bias; 64 bits without a bound."""
        if bound is None:
            return lib.rg_random_next(self._at())
        if not 0 < bound < 2**64:
            raise ValueError(f"a bound of {bound}; from 1 to 2^64 - 1 will do")
        return lib.rg_random_below(self._at(), bound)

    def unit(self) -> float:
        """Uniform in [0, 1)."""
        return lib.rg_random_unit(self._at())

    def between(self, low: float, high: float) -> float:
        return lib.rg_random_between(self._at(), low, high)

    def normal(self) -> float:
        return lib.rg_random_normal(self._at())

    def direction(self) -> np.ndarray:
        """Uniform on the unit sphere."""
        return numbers(lib.rg_random_direction(self._at()))

    def rotation(self) -> np.ndarray:
        """Uniform over all rotations, a quaternion x y z w."""
        return numbers(lib.rg_random_rotation(self._at()))


def contact_mode(mode: int) -> str:
    """The name of the mode of a contact: "separating", "stick", "slip", "roll"."""
    return lib.rg_contact_mode_name(mode).decode()


def quaternion_of_axis_angle(axis: Vector, angle: float) -> np.ndarray:
    """The rotation by `angle` about `axis`, x y z w; the same bits on every machine."""
    return numbers(lib.rg_quat_of_axis_angle(vector(axis), angle))


def quaternion_of_rotation_vector(rotation: Vector) -> np.ndarray:
    """The rotation by |v| about v."""
    return numbers(lib.rg_quat_of_rotation_vector(vector(rotation)))


def quaternion_of_planar_angle(angle: float) -> np.ndarray:
    """Planar worlds: from x towards z, which is a turn about -y."""
    return numbers(lib.rg_quat_of_planar_angle(angle))


def quaternion_of_matrix(rotation: Any) -> np.ndarray:
    """Of a rotation matrix, 3 x 3."""
    made = matrix(rotation)
    return numbers(lib.rg_quat_of_mat3(byref(made)))


__all__ = ["Event", "Force", "ForceContext", "Hit", "Material", "Random", "Snapshot", "StepInfo", "World",
           "contact_law", "contact_mode", "methods", "quaternion_of_axis_angle", "quaternion_of_matrix",
           "quaternion_of_planar_angle", "quaternion_of_rotation_vector", "word_of"]
