"""Many worlds side by side, stepped by several threads."""

from __future__ import annotations

import copy
import ctypes
from ctypes import byref
from threading import get_ident
from typing import Any, Iterable, Sequence

import numpy as np

from . import _declarations as c
from ._library import ALLOCATOR, NotCopied, address, check, fail, lib
from ._world import StepInfo, World


class Batch(NotCopied):
    """Worlds that are stepped together: the same bits as one by one, for any number of threads.

        batch = rigor.Batch.of_clones(world, 1000, threads=2)
        for index, world in enumerate(batch.worlds):
            world["box"].velocity = (0.01 * index, 0, 0)
        batch.step(1 / 240, steps=100)
        batch.state[:, 1, :3]   # centres of body 1 in all worlds"""

    __slots__ = ("_worlds", "_threads", "_pointer")
    _instead = "copy its worlds, and make another of the copies"

    def __init__(self, worlds: Iterable[World], threads: int = 1):
        self._worlds, self._threads = list(worlds), threads
        if len({id(world) for world in self._worlds}) < len(self._worlds):
            raise ValueError("a world is in the list twice")
        if threads < 1:
            raise ValueError("threads must be positive")
        pointers = np.array([world._pointer for world in self._worlds], dtype=np.uintp)
        pointer, error = ctypes.c_void_p(), c.rg_error()
        check(lib.rg_batch_of_worlds(address(pointers), len(pointers), threads, byref(ALLOCATOR), byref(pointer),
                                     byref(error)), error)
        self._pointer = pointer.value

    @classmethod
    def of_clones(cls, world: World, count: int, threads: int = 1) -> Batch:
        """Copies of one world, to be given parameters of their own."""
        return cls((world.clone() for _ in range(count)), threads)

    def __del__(self, destroy: Any = lib.rg_batch_destroy) -> None:
        if hasattr(self, "_pointer"):
            destroy(self._pointer)

    def __copy__(self) -> Batch:
        return Batch(self._worlds, self._threads)

    def __deepcopy__(self, memo: dict[int, Any]) -> Batch:
        return Batch(copy.deepcopy(self._worlds, memo), self._threads)

    def __len__(self) -> int:
        return len(self._worlds)

    def _check_open(self) -> None:
        for world in self._worlds:
            world._pointer  # raises if it is closed

    @property
    def worlds(self) -> tuple[World, ...]:
        return tuple(self._worlds)

    def replace(self, index: int, world: World) -> None:
        """Another world in this place, such as that of a new episode."""
        before = self._worlds[index]
        self._worlds[index] = world
        try:
            if any(world is other for place, other in enumerate(self._worlds) if place != index % len(self._worlds)):
                raise ValueError("a world is in the list twice")
            world._pointer  # raises if it is closed
        except Exception:
            self._worlds[index] = before
            raise
        lib.rg_batch_replace(self._pointer, range(len(self._worlds))[index], world._pointer)

    def step(self, step: float, steps: int = 1) -> list[StepInfo]:
        """Steps every world so often. If a world fails, the others go on, and the first failure is raised."""
        if steps < 0:
            raise ValueError("steps must not be negative")
        self._check_open()
        if any(world._stepping for world in self._worlds):
            raise fail(c.RG_BUSY)
        infos, error, me = (StepInfo * len(self._worlds))(), c.rg_error(), get_ident()
        plan = c.rg_batch_steps(step=step, steps=steps, infos=ctypes.addressof(infos))
        for world in self._worlds:
            world._stepping = me
        try:
            status = lib.rg_batch_step(self._pointer, byref(plan), byref(error))
        finally:
            for world in self._worlds:
                world._stepping = 0
        for world in self._worlds:
            if world._raised:
                world._fail(0)
        check(status, error)
        return list(infos)

    @property
    def state(self) -> np.ndarray:
        """Of all bodies of all worlds: centre of mass, orientation x y z w, velocity, angular velocity. An array
        [world, body, 13]; if worlds differ in their number of bodies, [body, 13] with world after world."""
        self._check_open()
        found = c.rg_strided()
        check(lib.rg_batch_state(self._pointer, byref(found)))
        width = c.RG_BATCH_NUMBERS
        bytes_ = ctypes.string_at(found.data, 8 * width * found.count) if found.count else b""
        rows = np.frombuffer(bytes_).reshape(found.count, width)
        counts = {lib.rg_world_body_count(world._pointer) for world in self._worlds}
        return rows.reshape(len(self._worlds), -1, width) if len(counts) == 1 and found.count else rows


def step_worlds(worlds: Sequence[World], step: float, *, steps: int = 1, threads: int = 1) -> list[StepInfo]:
    """Steps many worlds once, as a Batch does; who steps them again and again keeps a Batch."""
    return Batch(worlds, threads).step(step, steps)


__all__ = ["Batch", "step_worlds"]
