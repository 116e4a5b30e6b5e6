"""Scenes: a world and how to run it, from a file, from text, or built in."""

from __future__ import annotations

import ctypes
import math
import pathlib
import weakref
from ctypes import byref
from dataclasses import dataclass
from typing import Any

from . import _declarations as c
from ._library import ALLOCATOR, Error, Memory, NotCopied, call, check, fail, lib, word
from ._world import StepInfo, World


@dataclass
class Measure:
    """What a built-in scene was made to show; `expected` is the closed form, where there is one."""

    name: str
    value: float | bool
    expected: float | None


def builtin_scenes() -> dict[str, str]:
    """The built-in scenes: name and one line about each."""
    infos = (lib.rg_builtin_at(index) for index in range(lib.rg_builtin_count()))
    return {info.name.decode(): info.summary.decode() for info in infos}


def builtin_parameters(name: str) -> dict[str, tuple[str, str]]:
    """The parameters of a built-in scene: default value and one line about each."""
    for index in range(lib.rg_builtin_count()):
        info = lib.rg_builtin_at(index)
        if info.name.decode() == name:
            size = ctypes.sizeof(c.rg_builtin_parameter)
            found = (c.rg_builtin_parameter.from_address(info.parameters + k * size)
                     for k in range(info.parameter_count))
            return {p.name.decode(): (p.default_value.decode(), p.summary.decode()) for p in found}
    raise fail(c.RG_NOT_FOUND)


def round_half_away(value: float) -> int:
    """As round() of C."""
    return math.floor(value + 0.5)


def _text(value: Any) -> bytes:
    return (repr(value) if isinstance(value, float) else str(value)).encode()


class _Options(NotCopied):
    """rg_scene_options, and what it points to."""

    WORDS = "method solver friction detection points impact integrator root_finder".split()

    def __init__(self, parameters: dict[str, Any], options: dict[str, Any]):
        self.struct = c.rg_scene_options()
        self.array = (c.rg_scene_parameter * len(parameters))()
        for entry, (name, value) in zip(self.array, parameters.items()):
            entry.name, entry.value = name.encode(), _text(value)
        self.struct.parameters, self.struct.parameter_count = ctypes.addressof(self.array), len(self.array)
        self.struct.allocator = ctypes.addressof(ALLOCATOR)
        self.mistakes: list[str] = []
        self.mistake = c.rg_scene_mistake_function(self._take_mistake)
        self.struct.mistake = ctypes.cast(self.mistake, ctypes.c_void_p).value
        for name, value in options.items():
            if value is None:
                continue
            if name == "gamma":
                self.gamma = ctypes.c_double(value)
                value = ctypes.addressof(self.gamma)
            elif name in self.WORDS:
                value = _text(value)
            elif name not in ("step", "threads", "no_memory", "solver_tolerance", "lenient"):
                raise TypeError(f"scenes have no option {name!r}")
            setattr(self.struct, name, value)

    def _take_mistake(self, _user: Any, mistake: Any) -> None:
        error = ctypes.cast(mistake, ctypes.POINTER(c.rg_error)).contents
        self.mistakes.append(error.text.decode(errors="replace"))

    def make(self, function: Any, *arguments: Any) -> int:
        """The scene of one of the functions that make one."""
        pointer = ctypes.c_void_p()
        try:
            call(function, *arguments, byref(self.struct), byref(pointer))
        except Error as error:
            error.mistakes = self.mistakes or error.mistakes
            raise
        return pointer.value or 0


class Scene:
    """A scene by the name of a built-in one or by the path of a file: YAML, JSON, or a robot (URDF, MJCF, SDF).

    `parameters` are those of a built-in scene (name=value of the command); `options` those of rg_scene_options
    (rigor/scene.h): method, step, threads, solver, friction, ... instead of what the scene says."""

    def __init__(self, name: Any, parameters: dict[str, Any] | None = None, **options: Any):
        self._take(_Options(parameters or {}, options).make(lib.rg_scene_create, str(name).encode()), options)

    @classmethod
    def _own(cls, pointer: int, options: dict[str, Any] | None = None) -> Scene:
        scene = cls.__new__(cls)
        scene._take(pointer, options or {})
        return scene

    def _take(self, pointer: int, options: dict[str, Any]) -> None:
        self._memory = Memory(lib.rg_scene_world(pointer), pointer)
        self._options = options
        self._world: Any = None

    @property
    def _pointer(self) -> int:
        return self._memory.scene

    @classmethod
    def from_text(cls, text: str, *, name: str = "text", directory: Any = None,
                  parameters: dict[str, Any] | None = None, **options: Any) -> Scene:
        """From YAML or JSON; `name` stands for the file in messages."""
        data = text.encode()
        return cls._own(_Options(parameters or {}, options).make(
            lib.rg_scene_read_text, data, len(data), name.encode(),
            None if directory is None else str(directory).encode()))

    @classmethod
    def from_file(cls, path: Any, parameters: dict[str, Any] | None = None, **options: Any) -> Scene:
        """From a file, even if a built-in scene has its name."""
        return cls._own(_Options(parameters or {}, options).make(lib.rg_scene_read_file, str(path).encode()))

    @classmethod
    def builtin(cls, name: str, parameters: dict[str, Any] | None = None, **options: Any) -> Scene:
        """A built-in scene, even if there is a file of its name."""
        return cls._own(_Options(parameters or {}, options).make(lib.rg_scene_create_builtin, name.encode()), options)

    def __del__(self) -> None:
        if hasattr(self, "_memory"):
            self._memory.let_go()

    def __reduce__(self) -> tuple[Any, ...]:
        """A built-in scene by its name, which brings its measures back, any other by its text; with the state."""
        name, parameters = self.origin
        try:
            text, state = self.to_text(), self.world.save_state()
        except Error as error:
            raise TypeError(f"this scene can be neither copied nor pickled: {error}") from error
        if name is None:
            return _scene_again, (text, self.name, state)
        made = name, parameters, self._options, state, self.save_observations()
        try:
            same = _builtin_again(*made).to_text() == text
        except Error:
            same = False
        if not same:
            raise TypeError("this scene was changed, so that its name and parameters do not make it: pickle to_text() "
                            "and read it with Scene.from_text(), which has no measures")
        return _builtin_again, made

    def __repr__(self) -> str:
        return f"<rigor.Scene {self.name} at {self.world.time:g} s>"

    @property
    def world(self) -> World:
        """Belongs to the scene, which lives as long as its world is used."""
        world = self._world() if self._world is not None else None
        if world is None:
            world = World._of(self._memory.share(), self)
            self._world = weakref.ref(world)
        return world

    @property
    def name(self) -> str:
        return lib.rg_scene_name(self._pointer).decode()

    @property
    def step_size(self) -> float:
        """s; what run() passes to World.step."""
        return lib.rg_scene_step_size(self._pointer)

    @step_size.setter
    def step_size(self, step: float) -> None:
        call(lib.rg_scene_set_step_size, self._pointer, step)

    @property
    def duration(self) -> float:
        return lib.rg_scene_duration(self._pointer)

    @property
    def record_every(self) -> float:
        return lib.rg_scene_record_every(self._pointer)

    @property
    def origin(self) -> tuple[str | None, dict[str, str]]:
        """The name of the built-in scene, if it is one, and the parameters that were given."""
        origin = lib.rg_scene_get_origin(self._pointer)
        size = ctypes.sizeof(c.rg_scene_parameter)
        found = (c.rg_scene_parameter.from_address(origin.parameters + index * size)
                 for index in range(origin.parameter_count))
        return (origin.builtin.decode() if origin.builtin else None,
                {entry.name.decode(): entry.value.decode() for entry in found})

    @property
    def left_out(self) -> list[str]:
        """What was left out of a robot description that was read with lenient=True, each with its place."""
        return [lib.rg_scene_left_out_at(self._pointer, index).decode()
                for index in range(lib.rg_scene_left_out_count(self._pointer))]

    def to_text(self) -> str:
        """A scene file that reads back to the same world, bit for bit."""
        return self.world.to_text()

    def save(self, path: Any) -> None:
        self.world.save(path)

    def to_robot(self, form: str = "mjcf", lenient: bool = False) -> str:
        """Bodies and joints as a robot description, "mjcf", "urdf" or "sdf". What it cannot hold is an error;
        leniently it is left out and added to left_out."""
        options = c.rg_robot_options(word(form, c.rg_robot_format, "RG_ROBOT_"), lenient)
        text, size = ctypes.c_void_p(), ctypes.c_size_t()
        call(lib.rg_scene_write_robot, self._pointer, byref(options), byref(ALLOCATOR), byref(text), byref(size))
        try:
            return ctypes.string_at(text.value, size.value).decode()
        finally:
            lib.rg_python_release(text)

    def observe(self) -> None:
        """After a step, for what measures() tells; run() does it."""
        lib.rg_scene_observe(self._pointer)

    def measures(self) -> list[Measure]:
        """What the scene was made to show, as far as it has gone."""
        count = lib.rg_scene_measures(self._pointer, None, 0)
        array = (c.rg_measure * count)()
        lib.rg_scene_measures(self._pointer, array, count)
        return [Measure(m.name.decode(), bool(m.value) if m.is_truth else m.value,
                        m.expected if m.has_expected else None) for m in array]

    def save_observations(self) -> bytes:
        """What observe() has gathered, for a scene that is built in the same way."""
        size = ctypes.c_size_t()
        check(lib.rg_scene_save_observations(self._pointer, None, 0, byref(size)))
        buffer = ctypes.create_string_buffer(max(size.value, 1))
        check(lib.rg_scene_save_observations(self._pointer, buffer, size.value, byref(size)))
        return buffer.raw[:size.value]

    def load_observations(self, data: bytes) -> None:
        call(lib.rg_scene_load_observations, self._pointer, data, len(data))

    def run(self, duration: float | None = None, *, record: Any = None, overwrite: bool = False) -> StepInfo:
        """Runs the scene for its duration, or another one, as the command `rigor run` does; `record` is the
        path of a recording to be made of it. Returns the summary of the run."""
        from ._recording import Recorder
        duration = self.duration if duration is None else duration
        world, step = self.world, self.step_size
        recorder = Recorder(world, record, overwrite=overwrite, duration=duration) if record is not None else None
        total, every = max(1, round_half_away(duration / step)), max(1, round_half_away(self.record_every / step))
        finished = False
        try:
            for number in range(world.step_count + 1, total + 1):
                info = world.step(step)
                self.observe()
                if recorder:
                    recorder.step(info)
                    if number % every == 0 or number == total:
                        recorder.frame()
            finished = True
        finally:
            if recorder:
                recorder.close(finished)
        return world.summary

    def view(self, **options: Any) -> Any:
        """Opens the viewer on this scene; see rigor.view."""
        return self.world.view(**options)


def _scene_again(text: str, name: str, state: bytes) -> Scene:
    """From a pickle."""
    scene = Scene.from_text(text, name=name)
    scene.world.load_state(state)
    return scene


def _builtin_again(name: str, parameters: dict[str, Any], options: dict[str, Any], state: bytes,
                   observations: bytes) -> Scene:
    scene = Scene.builtin(name, parameters, **options)
    scene.world.load_state(state)
    if observations:
        scene.load_observations(observations)
    return scene


def load(path: Any, **options: Any) -> Scene:
    """A scene from a file."""
    return Scene.from_file(pathlib.Path(path), **options)
