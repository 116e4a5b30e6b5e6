"""Bodies, and the shapes that are attached to them."""

from __future__ import annotations

import ctypes
import math
from ctypes import byref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _declarations as c
from ._library import call, check, fail, lib, numbers, owned, pose, vector, word_of
from ._shapes import Mass, Shape

if TYPE_CHECKING:
    from ._world import Material, World

Vector = Sequence[float]


def _check_finite_place(mass: float) -> float:
    """A total mass of 0 would be taken as none given."""
    if not (math.isfinite(mass) and mass > 0):
        raise fail(c.RG_INVALID_SIZE)
    return mass


@dataclass
class Collider:
    """A shape to be attached to a body, at a place in the body's frame. A density or material that is None
    is that of the body's call; `category` and `mask` are bits: two colliders meet if each has the other's
    category in its mask. `surface_velocity`, in the body's frame, is that of a conveyor belt: the surface
    runs while the body stays."""

    shape: Shape
    position: Vector = (0, 0, 0)
    orientation: Vector = (0, 0, 0, 1)
    density: float | None = None
    material: Material | None = None
    sensor: bool = False
    category: int = 1
    mask: int = 2**64 - 1
    surface_velocity: Vector = (0, 0, 0)

    def _struct(self, world: World, density: float | None, material: Material | None) -> c.rg_collider_def:
        made = lib.rg_collider_def_default()
        made.shape, made.pose = self.shape._pointer, pose(self.position, self.orientation)
        for value in (self.density, density):
            if value is not None:
                made.density = value
                break
        material = self.material if self.material is not None else material
        if material is not None:
            made.material = world._own(material)._alive()
        made.sensor, made.category, made.mask = self.sensor, self.category, self.mask
        made.surface_velocity = vector(self.surface_velocity)
        return made


class ColliderHandle:
    """A shape that is attached to a body of a world."""

    __slots__ = ("world", "_id")

    def __init__(self, world: World, identifier: c.rg_collider_id):
        self.world, self._id = world, identifier

    def _alive(self) -> c.rg_collider_id:
        if not lib.rg_collider_exists(self.world._pointer, self._id):
            raise fail(c.RG_INVALID_HANDLE)
        return self._id

    @property
    def exists(self) -> bool:
        return not self.world.closed and lib.rg_collider_exists(self.world._pointer, self._id)

    @property
    def definition(self) -> c.rg_collider_def:
        return lib.rg_collider_get_def(self.world._pointer, self._alive())

    @property
    def shape(self) -> Shape:
        return Shape._borrow(self.definition.shape)

    @property
    def body(self) -> Body:
        return Body(self.world, lib.rg_collider_body(self.world._pointer, self._alive()))

    def set_material(self, material: Material) -> None:
        self.world._edit()
        check(lib.rg_collider_set_material(self.world._pointer, self._id, self.world._own(material)._alive()))

    def set_filter(self, category: int, mask: int) -> None:
        self.world._edit()
        check(lib.rg_collider_set_filter(self.world._pointer, self._id, category, mask))

    def set_surface_velocity(self, velocity: Vector) -> None:
        """Runs the surface like a belt; (0, 0, 0) stops it."""
        self.world._edit()
        check(lib.rg_collider_set_surface_velocity(self.world._pointer, self._id, vector(velocity)))

    def remove(self) -> None:
        self.world._edit()
        check(lib.rg_world_remove_collider(self.world._pointer, self._id))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColliderHandle) and self.world is other.world and bytes(self._id) == bytes(other._id)

    def __hash__(self) -> int:
        return hash((id(self.world), bytes(self._id)))


class Body:
    """A body of a world. Places and velocities can be set; a handle of a body that was removed raises
    InvalidHandle."""

    __slots__ = ("world", "_id")

    def __init__(self, world: World, identifier: c.rg_body_id):
        self.world, self._id = world, identifier

    def _alive(self) -> c.rg_body_id:
        if not lib.rg_body_exists(self.world._pointer, self._id):
            raise fail(c.RG_INVALID_HANDLE)
        return self._id

    def _get(self, function: Any) -> Any:
        return function(self.world._pointer, self._alive())

    def _set(self, function: Any, *values: Any) -> None:
        self.world._edit()
        check(function(self.world._pointer, self._id, *values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Body) and self.world is other.world and bytes(self._id) == bytes(other._id)

    def __hash__(self) -> int:
        return hash((id(self.world), bytes(self._id)))

    def __repr__(self) -> str:
        return f"<rigor.Body {self.name or self.index}>" if self.exists else "<rigor.Body, removed>"

    @property
    def exists(self) -> bool:
        return not self.world.closed and lib.rg_body_exists(self.world._pointer, self._id)

    @property
    def index(self) -> int:
        """Its row in the arrays of the world."""
        return self._get(lib.rg_body_index)

    @property
    def name(self) -> str:
        return self._get(lib.rg_body_name).decode()

    @property
    def motion(self) -> str:
        return word_of(c.rg_motion(self._get(lib.rg_body_motion)), "RG_MOTION_")

    @property
    def position(self) -> np.ndarray:
        """Of the origin frame."""
        return numbers(self._get(lib.rg_body_pose).position)

    @position.setter
    def position(self, position: Vector) -> None:
        place = self._get(lib.rg_body_pose)
        place.position = vector(position)
        self._set(lib.rg_body_set_pose, place)

    @property
    def orientation(self) -> np.ndarray:
        """Of the origin frame, x y z w."""
        return numbers(self._get(lib.rg_body_pose).orientation)

    @orientation.setter
    def orientation(self, orientation: Vector) -> None:
        self._set(lib.rg_body_set_pose, pose(self.position, orientation))

    @property
    def angle(self) -> float:
        """Planar worlds: radians from x towards z, turns counted."""
        return self._get(lib.rg_body_angle)

    @angle.setter
    def angle(self, angle: float) -> None:
        self._set(lib.rg_body_set_angle, angle)

    @property
    def spin(self) -> float:
        """Planar worlds: the rate of `angle`."""
        return self._get(lib.rg_body_spin)

    @property
    def velocity(self) -> np.ndarray:
        """Of the centre of mass."""
        return numbers(self._get(lib.rg_body_velocity))

    @velocity.setter
    def velocity(self, velocity: Vector) -> None:
        self._set(lib.rg_body_set_velocity, vector(velocity))

    @property
    def angular_velocity(self) -> np.ndarray:
        """In world axes."""
        return numbers(self._get(lib.rg_body_angular_velocity))

    @angular_velocity.setter
    def angular_velocity(self, angular_velocity: Vector) -> None:
        self._set(lib.rg_body_set_angular_velocity, vector(angular_velocity))

    @property
    def state(self) -> c.rg_body_state:
        """Pose, angle and velocities; assigned, they change together or not at all."""
        return self._get(lib.rg_body_get_state)

    @state.setter
    def state(self, state: c.rg_body_state) -> None:
        self._set(lib.rg_body_set_state, byref(state))

    @property
    def centre(self) -> np.ndarray:
        """The centre of mass."""
        return numbers(self._get(lib.rg_body_centre_pose).position)

    @property
    def local_centre(self) -> tuple[np.ndarray, np.ndarray]:
        """The centre-of-mass frame in the origin frame: position and orientation."""
        place = self._get(lib.rg_body_local_centre)
        return numbers(place.position), numbers(place.orientation)

    @property
    def momentum(self) -> np.ndarray:
        return numbers(self._get(lib.rg_body_momentum))

    @property
    def angular_momentum(self) -> np.ndarray:
        """About its centre of mass."""
        return numbers(self._get(lib.rg_body_angular_momentum))

    @property
    def mass(self) -> Mass:
        """In its origin frame."""
        return Mass._of(self._get(lib.rg_body_mass))

    @property
    def gravity_scale(self) -> float:
        return self._get(lib.rg_body_gravity_scale)

    @gravity_scale.setter
    def gravity_scale(self, scale: float) -> None:
        self._set(lib.rg_body_set_gravity_scale, scale)

    @property
    def prescription(self) -> c.rg_prescription:
        """How a kinematic body moves."""
        return owned(self._get(lib.rg_body_prescription))

    @property
    def prescription_start(self) -> tuple[c.rg_prescribed_state, float, float]:
        """Kinematic bodies: the state and time from which the prescription starts, and the angle in the
        plane."""
        time = ctypes.c_double()
        if self.motion != "kinematic":
            raise fail(c.RG_INVALID_ARGUMENT)
        state = lib.rg_body_prescription_start(self.world._pointer, self._id, byref(time))
        return state, time.value, self._get(lib.rg_body_prescription_start_angle)

    def apply_force(self, force: Vector, point: Vector | None = None) -> None:
        """N, in the next step; at a point of the world or at the centre of mass."""
        if point is None:
            self._set(lib.rg_body_apply_central_force, vector(force))
        else:
            self._set(lib.rg_body_apply_force, vector(force), vector(point))

    def apply_torque(self, torque: Vector) -> None:
        """N m, in the next step."""
        self._set(lib.rg_body_apply_torque, vector(torque))

    def apply_impulse(self, impulse: Vector, point: Vector | None = None) -> None:
        """N s, at once."""
        self._set(lib.rg_body_apply_impulse, vector(impulse), vector(self.centre if point is None else point))

    @property
    def contact_force(self) -> tuple[np.ndarray, np.ndarray]:
        """Sum of the contact forces on it in the last step, and their moment about its centre of mass."""
        force, torque = c.rg_vec3(), c.rg_vec3()
        lib.rg_body_contact_force(self.world._pointer, self._alive(), byref(force), byref(torque))
        return numbers(force), numbers(torque)

    @property
    def touches(self) -> np.ndarray:
        """Rows of World.touches that it takes part in."""
        collision = lib.rg_world_collision(self.world._pointer)
        if not collision:
            return np.zeros(0, np.uint32)
        count = lib.rg_collision_of_body(collision, self._alive(), None, 0)
        found = np.zeros(count, np.uint32)
        lib.rg_collision_of_body(collision, self._id, found.ctypes.data, count)
        return found

    @property
    def colliders(self) -> list[ColliderHandle]:
        count = self._get(lib.rg_body_collider_count)
        return [ColliderHandle(self.world, lib.rg_body_collider_at(self.world._pointer, self._id, index))
                for index in range(count)]

    def add_collider(self, collider: Shape | Collider) -> ColliderHandle:
        """Attaches another shape; its density changes the body's mass."""
        self.world._edit()
        if isinstance(collider, Shape):
            collider = Collider(collider)
        definition, found = collider._struct(self.world, None, None), c.rg_collider_id()
        call(lib.rg_world_add_collider, self.world._pointer, self._id, byref(definition), byref(found))
        return ColliderHandle(self.world, found)

    def remove(self) -> None:
        """With its colliders, and the forces and joints that name it."""
        self.world._edit(moves=True)
        check(lib.rg_world_remove_body(self.world._pointer, self._id))
