"""Recordings: what happened, written to HDF5 files and read from them."""

from __future__ import annotations

import ctypes
import os
from ctypes import byref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _declarations as c
from ._library import ALLOCATOR, NotCopied, call, closed, copy_array, fail, lib, owned
from ._world import StepInfo, World

if TYPE_CHECKING:
    from ._scene import Scene


class Recorder(NotCopied):
    """Records a world: `step(info)` after every step, `frame()` when a frame is wanted, `close()` at the end.
    As a context manager it closes itself: finished, unless an exception ended it."""

    _instead = "a file has one recorder; open another file for another world"

    def __init__(self, world: World, path: Any, *, overwrite: bool = False, checkpoint_every: float = 2,
                 duration: float = 0, contacts: bool = True, name: str = "world"):
        options = lib.rg_recorder_options_default()
        options.overwrite, options.checkpoint_every, options.duration = overwrite, checkpoint_every, duration
        options.leave_out_contacts, options.allocator = not contacts, ctypes.addressof(ALLOCATOR)
        pointer = ctypes.c_void_p()
        call(lib.rg_recorder_open, world._scene(name), str(path).encode(), byref(options), byref(pointer))
        self._take(world, pointer.value)

    def _take(self, world: World, pointer: int) -> None:
        self._world, self._memory, self._pointer = world, world._memory.share(), pointer

    @classmethod
    def resume(cls, path: Any, duration: float = 0) -> tuple[Scene, Recorder]:
        """Goes on with an unfinished recording: its scene at the last checkpoint, and the recorder."""
        from ._scene import Scene
        options, made = lib.rg_recorder_options_default(), c.rg_scene_options()
        options.duration, made.allocator = duration, ctypes.addressof(ALLOCATOR)
        scene, recorder = ctypes.c_void_p(), ctypes.c_void_p()
        call(lib.rg_recorder_resume, str(path).encode(), byref(options), byref(made), byref(scene),
             byref(recorder))
        self = cls.__new__(cls)
        owner = Scene._own(scene.value)
        self._take(owner.world, recorder.value)
        return owner, self

    def _open(self) -> int:
        if self._pointer is None:
            raise closed("recorder")
        return self._pointer

    def _recording(self) -> int:
        self._world._pointer  # raises if it is closed
        return self._open()

    @property
    def duration(self) -> float:
        """s that the run is meant to last."""
        return lib.rg_recorder_duration(self._open())

    def step(self, info: StepInfo) -> None:
        """To be told of every step."""
        lib.rg_recorder_step(self._recording(), byref(info))

    def frame(self) -> None:
        """Appends the world's state and the contacts of its last step."""
        call(lib.rg_recorder_frame, self._recording(), None)

    def checkpoint(self) -> None:
        """Makes the state up to now resumable."""
        call(lib.rg_recorder_checkpoint, self._recording())

    def close(self, finished: bool = True) -> None:
        pointer, self._pointer = self._pointer, None
        if pointer is not None:
            try:
                call(lib.rg_recorder_close, pointer, finished)
            finally:
                self._memory.let_go()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        self.close(kind is None)

    def __del__(self) -> None:
        if getattr(self, "_pointer", None) is not None:
            lib.rg_recorder_close(self._pointer, False, None)
            self._memory.let_go()


@dataclass
class Frame:
    """One frame of a recording: poses of the origin frames, velocities of the centres of mass."""

    time: float
    step: int
    state_hash: int
    energy: float
    positions: np.ndarray
    orientations: np.ndarray
    velocities: np.ndarray
    angular_velocities: np.ndarray


class Recording:
    """A recording, finished or not; len() is its number of frames, indexing gives a Frame."""

    def __init__(self, path: Any):
        self.path, pointer = str(path), ctypes.c_void_p()
        call(lib.rg_recording_open, self.path.encode(), byref(pointer))
        self._pointer: int | None = pointer.value
        self.info = owned(lib.rg_recording_get_info(self._pointer))

    def __reduce__(self) -> tuple[Any, ...]:
        """The file, opened once more."""
        self._open()
        return Recording, (os.path.abspath(self.path),)

    def close(self) -> None:
        pointer, self._pointer = self._pointer, None
        if pointer:
            lib.rg_recording_close(pointer)

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            self.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _open(self) -> int:
        if self._pointer is None:
            raise closed("recording")
        return self._pointer

    def __len__(self) -> int:
        self._open()
        return self.info.frame_count

    @property
    def scene_text(self) -> str:
        """The scene file that the recorded world began as."""
        self._open()
        return self.info.scene_text.decode()

    @property
    def names(self) -> list[str]:
        """Of the bodies."""
        pointer = self._open()
        return [lib.rg_recording_body_name(pointer, body).decode() for body in range(self.info.body_count)]

    def _index(self, index: int) -> int:
        count = len(self)
        if not -count <= index < count:
            raise IndexError(f"frame {index} of {count}")
        return index % count

    def __getitem__(self, index: int) -> Frame:
        count, frame = self.info.body_count, c.rg_frame()
        arrays = [np.zeros((count, width)) for width in (3, 4, 3, 3)]
        frame.position, frame.orientation, frame.velocity, frame.angular_velocity = (
            array.ctypes.data for array in arrays)
        call(lib.rg_recording_read, self._open(), self._index(index), byref(frame))
        return Frame(frame.time, frame.step, frame.state_hash, frame.energy, *arrays)

    def certificate(self, index: int) -> StepInfo:
        """Of the steps since the frame before."""
        info = StepInfo()
        call(lib.rg_recording_read_certificate, self._open(), self._index(index), byref(info))
        return info

    def _list(self, function: Any, index: int, struct: Any) -> np.ndarray:
        pointer, count = ctypes.c_void_p(), ctypes.c_size_t()
        call(function, self._open(), self._index(index), byref(pointer), byref(count))
        return copy_array(pointer.value, count.value, struct)

    def contacts(self, index: int) -> np.ndarray:
        """Of the last step up to a frame, with the fields of rg_recorded_contact."""
        return self._list(lib.rg_recording_read_contacts, index, c.rg_recorded_contact)

    def events(self, index: int) -> np.ndarray:
        """Of the steps since the frame before, with the fields of rg_recorded_event."""
        return self._list(lib.rg_recording_read_events, index, c.rg_recorded_event)

    def impulses(self, index: int) -> np.ndarray:
        """Of the steps since the frame before, with the fields of rg_recorded_impulse."""
        return self._list(lib.rg_recording_read_impulses, index, c.rg_recorded_impulse)

    def loads(self, index: int) -> np.ndarray:
        """Forces besides gravity, contact and joints, of a frame: one row for each body they act on."""
        return self._list(lib.rg_recording_read_loads, index, c.rg_recorded_load)

    def joints(self, index: int) -> np.ndarray:
        """Of a frame, with the fields of rg_recorded_joint."""
        return self._list(lib.rg_recording_read_joints, index, c.rg_recorded_joint)

    def export_csv(self, path: Any, what: str = "bodies") -> None:
        """A table of "bodies", "contacts", "certificate", "events", "impulses", "joints" or "loads"."""
        functions = {"bodies": lib.rg_recording_export_csv, "contacts": lib.rg_recording_export_contacts_csv,
                     "certificate": lib.rg_recording_export_certificate_csv,
                     "events": lib.rg_recording_export_events_csv,
                     "impulses": lib.rg_recording_export_impulses_csv,
                     "joints": lib.rg_recording_export_joints_csv,
                     "loads": lib.rg_recording_export_loads_csv}
        if what not in functions:
            raise ValueError(f"there is no table of {what!r}; there are: {', '.join(functions)}")
        call(functions[what], self._open(), str(path).encode())

    def export_gltf(self, path: Any, frames_per_second: float = 0) -> None:
        """Binary glTF 2.0 with the motion as an animation."""
        options = c.rg_gltf_options(frames_per_second)
        call(lib.rg_view_export_gltf, self._open(), byref(options), str(path).encode())

    def export_usda(self, path: Any, frames_per_second: float = 0) -> None:
        """USD text, for Omniverse, Blender and others; 0: as recorded."""
        options = c.rg_gltf_options(frames_per_second)
        call(lib.rg_view_export_usda, self._open(), byref(options), str(path).encode())

    def event_text(self, event: Any) -> str:
        """A recorded event in plain words."""
        names = [self.names[event[key]] if event[key] != c.RG_RECORDED_NONE else "" for key in ("body_a", "body_b")]
        plain = c.rg_step_event(time=event["time"], kind=int(event["kind"]), contacts=int(event["contacts"]),
                                value=event["value"], friction=event["friction"],
                                restitution=event["restitution"])
        buffer = ctypes.create_string_buffer(1024)
        lib.rg_step_event_words(byref(plain), names[0].encode(), names[1].encode(), buffer, len(buffer))
        return buffer.value.decode(errors="replace")


def summary_of(steps: Any) -> StepInfo:
    """What several steps say together: the worst certificate, the sums."""
    total = lib.rg_step_info_nothing()
    for step in steps:
        lib.rg_step_info_add(byref(total), byref(step))
    return total


__all__ = ["Frame", "Recorder", "Recording", "fail", "summary_of"]
