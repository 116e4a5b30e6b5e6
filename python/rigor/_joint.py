"""Joints of a world."""

from __future__ import annotations

from ctypes import byref
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _declarations as c
from ._library import call, check, fail, fill, lib, owned, word

if TYPE_CHECKING:
    from ._body import Body
    from ._world import World


def fill_axis(axis: c.rg_joint_axis, values: dict[str, Any]) -> None:
    values = dict(values)
    if isinstance(values.get("motor"), str):
        values["motor"] = word(values["motor"], c.rg_motor_kind, "RG_MOTOR_")
    fill(axis, values, "an axis of a joint")


def fill_axes(definition: c.rg_joint_def, axes: list[dict[str, Any]], first: dict[str, Any]) -> None:
    axes[0] = {**axes[0], **first}
    if len(axes) > c.RG_JOINT_AXES_MOST:
        raise fail(c.RG_INVALID_ARGUMENT)
    for axis, values in zip(definition.axis, axes):
        fill_axis(axis, values)


class Joint:
    """A joint of a world; World.add_joint makes it."""

    __slots__ = ("world", "_id")

    def __init__(self, world: World, identifier: c.rg_joint_id):
        self.world, self._id = world, identifier

    def _alive(self) -> c.rg_joint_id:
        if not lib.rg_joint_exists(self.world._pointer, self._id):
            raise fail(c.RG_INVALID_HANDLE)
        return self._id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Joint) and self.world is other.world and bytes(self._id) == bytes(other._id)

    def __hash__(self) -> int:
        return hash((id(self.world), bytes(self._id)))

    def __repr__(self) -> str:
        return f"<rigor.Joint {self.kind} {self.name}>" if self.exists else "<rigor.Joint, removed>"

    @property
    def exists(self) -> bool:
        return not self.world.closed and lib.rg_joint_exists(self.world._pointer, self._id)

    @property
    def definition(self) -> c.rg_joint_def:
        return owned(lib.rg_joint_get_def(self.world._pointer, self._alive()))

    @property
    def kind(self) -> str:
        return lib.rg_joint_kind_name(self.definition.kind).decode()

    @property
    def name(self) -> str:
        return (self.definition.name or b"").decode()

    @property
    def bodies(self) -> tuple[Body | None, Body | None]:
        """A and B; None is the world."""
        from ._body import Body
        definition = self.definition
        return tuple(Body(self.world, c.rg_body_id(handle.index1, handle.generation)) if handle.index1 else None
                     for handle in (definition.body_a, definition.body_b))

    @property
    def axis_count(self) -> int:
        return lib.rg_joint_axis_count(self.definition.kind)

    def axis_is_angle(self, axis: int = 0) -> bool:
        self._check_axis(axis)
        return lib.rg_joint_axis_is_angle(self.definition.kind, axis)

    def _check_axis(self, axis: int) -> None:
        if not 0 <= axis < self.axis_count:
            raise fail(c.RG_INVALID_ARGUMENT)

    @property
    def state(self) -> c.rg_joint_state:
        """Coordinates, velocities, and the forces of the last step (rigor/joint.h)."""
        return lib.rg_joint_get_state(self.world._pointer, self._alive())

    @property
    def coordinates(self) -> np.ndarray:
        """m or rad, one per axis; angles with turns counted."""
        return np.array(self.state.coordinate[:self.axis_count])

    @property
    def velocities(self) -> np.ndarray:
        return np.array(self.state.velocity[:self.axis_count])

    @property
    def error(self) -> float:
        """How far the joint is from being closed, m."""
        return lib.rg_joint_error(self.world._pointer, self._alive())

    def set_axis(self, axis: int = 0, **values: Any) -> None:
        """Changes fields of an axis: limits, spring, motor, friction, armature."""
        self._check_axis(axis)
        self.world._edit()
        changed = self.definition.axis[axis]
        fill_axis(changed, values)
        call(lib.rg_joint_set_axis, self.world._pointer, self._id, axis, byref(changed))

    def set_target(self, target: float, axis: int = 0) -> None:
        """The target of the motor of an axis."""
        self._check_axis(axis)
        self.world._edit()
        check(lib.rg_joint_set_target(self.world._pointer, self._id, axis, target))

    @property
    def broken(self) -> bool:
        return self.state.broken

    @broken.setter
    def broken(self, broken: bool) -> None:
        self.world._edit()
        check(lib.rg_joint_set_broken(self.world._pointer, self._alive(), broken))

    def remove(self) -> None:
        self.world._edit()
        check(lib.rg_world_remove_joint(self.world._pointer, self._id))
