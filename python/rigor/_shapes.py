"""Shapes: immutable convex geometry and compounds of it; distances between them; meshes from files."""

from __future__ import annotations

import ctypes
from ctypes import byref
from dataclasses import dataclass
from typing import Any, Iterable, Sequence

import numpy as np

from . import _declarations as c
from ._library import ALLOCATOR, call, check, copy_array, doubles, fill, lib, matrix, numbers, pose, vector, word_of


@dataclass(frozen=True)
class Mass:
    """Mass (kg), centre of mass (m) and inertia about it (kg m^2), in the frame of a shape or body."""

    mass: float
    centre: np.ndarray
    inertia: np.ndarray

    @classmethod
    def _of(cls, mass: c.rg_mass_properties) -> Mass:
        return cls(mass.mass, numbers(mass.centre), numbers(mass.inertia))

    def _struct(self) -> c.rg_mass_properties:
        return c.rg_mass_properties(self.mass, vector(self.centre), matrix(self.inertia))

    def moved(self, position: Sequence[float], orientation: Sequence[float] = (0, 0, 0, 1)) -> Mass:
        """The same body seen from a frame in which its own frame has this pose."""
        return Mass._of(lib.rg_mass_transform(self._struct(), pose(position, orientation)))

    def __add__(self, other: Mass) -> Mass:
        return Mass._of(lib.rg_mass_add(self._struct(), other._struct()))

    def check(self, planar: bool = False) -> None:
        """Raises if no distribution of mass has these properties."""
        call(lib.rg_mass_check, byref(self._struct()), planar)

    def principal_axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Principal moments, and the quaternion from principal to body axes."""
        inertia = matrix(self.inertia)
        axes = lib.rg_mass_principal_axes(byref(inertia))
        return numbers(axes.moments), numbers(axes.axes)


class Shape:
    """A shape; made by box(), sphere(), hull() and others, shared by any number of bodies and worlds."""

    __slots__ = ("_pointer", "__weakref__")
    _pointer: int

    def __init__(self) -> None:
        raise TypeError("shapes are made by box(), sphere(), hull() and others")

    @classmethod
    def _own(cls, pointer: int) -> Shape:
        """Takes over one reference."""
        shape = object.__new__(cls)
        shape._pointer = pointer
        return shape

    @classmethod
    def _borrow(cls, pointer: int) -> Shape:
        return cls._own(lib.rg_shape_retain(pointer))

    @classmethod
    def _make(cls, definition: c.rg_shape_def) -> Shape:
        pointer = ctypes.c_void_p()
        call(lib.rg_shape_create, byref(definition), byref(ALLOCATOR), byref(pointer))
        return cls._own(pointer.value)

    def __del__(self, release: Any = lib.rg_shape_release) -> None:
        if hasattr(self, "_pointer"):
            release(self._pointer)

    def __repr__(self) -> str:
        return f"<rigor.Shape {self.kind}>"

    # It cannot change, so that one does for all copies.

    def __copy__(self) -> Shape:
        return self

    def __deepcopy__(self, _memo: Any) -> Shape:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        d, plain = self.definition, {}
        for name in ("kind", "offset", "radius", "length", "thickness"):
            plain[name] = getattr(d, name)
        for name in ("normal", "size"):
            plain[name] = tuple(numbers(getattr(d, name)).tolist())
        parts = [c.rg_compound_part.from_address(d.parts + index * ctypes.sizeof(c.rg_compound_part))
                 for index in range(d.part_count)]
        return _shape_again, (
            plain, copy_array(d.points, d.point_count, c.rg_vec3).tobytes(),
            ctypes.string_at(d.triangles, 12 * d.triangle_count) if d.triangle_count else b"",
            [(Shape._borrow(part.shape), bytes(part.pose), part.density) for part in parts])

    @property
    def kind(self) -> str:
        """ "box", "sphere", ... as in scene files."""
        return lib.rg_shape_kind_name(lib.rg_shape_get_kind(self._pointer)).decode()

    @property
    def planar(self) -> bool:
        return lib.rg_shape_is_planar(self._pointer)

    @property
    def bounded(self) -> bool:
        return lib.rg_shape_is_bounded(self._pointer)

    @property
    def convex(self) -> bool:
        return lib.rg_shape_is_convex(self._pointer)

    @property
    def definition(self) -> c.rg_shape_def:
        """The struct of C that makes an equal shape; valid as long as this one."""
        return lib.rg_shape_get_def(self._pointer)

    @property
    def centre(self) -> np.ndarray:
        return numbers(lib.rg_shape_centre(self._pointer))

    @property
    def inradius(self) -> float:
        return lib.rg_shape_inradius(self._pointer)

    @property
    def circumradius(self) -> float:
        return lib.rg_shape_circumradius(self._pointer)

    @property
    def volume(self) -> float:
        """m^3; the area, m^2, of planar shapes."""
        return lib.rg_shape_volume(self._pointer)

    def mass(self, density: float = 1000) -> Mass:
        """Mass properties of a homogeneous body of this shape, in its frame."""
        if not self.bounded:
            raise ValueError("a half-space has no mass")
        return Mass._of(lib.rg_shape_mass(self._pointer, density))

    def bounds(self, position: Sequence[float] = (0, 0, 0),
               orientation: Sequence[float] = (0, 0, 0, 1)) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corner of the tight axis-aligned box around it."""
        bounds = lib.rg_shape_bounds(self._pointer, pose(position, orientation))
        return numbers(bounds.lower), numbers(bounds.upper)

    def support(self, direction: Sequence[float]) -> np.ndarray:
        """The point farthest along a direction; of bounded convex shapes."""
        if not (self.bounded and self.convex):
            raise ValueError("only bounded convex shapes have a support point")
        direction = vector(direction)
        if not any(numbers(direction)):
            raise ValueError("the direction is 0")
        return numbers(lib.rg_shape_support(self._pointer, direction, None))

    def polyhedron(self) -> tuple[np.ndarray, list[np.ndarray]] | None:
        """Vertices, and the vertex numbers of each facet, counter-clockwise from outside; None if curved."""
        address = lib.rg_shape_polyhedron(self._pointer)
        if not address:
            return None
        p = c.rg_polyhedron.from_address(address)

        def copied(start: int, count: int, kind: Any) -> np.ndarray:
            return np.frombuffer(ctypes.string_at(start, count * np.dtype(kind).itemsize), kind)
        starts = copied(p.facet_start, p.facet_count + 1, np.uint32)
        loops = copied(p.facet_vertices, int(starts[-1]), np.uint32)
        return (copied(p.vertices, 3 * p.vertex_count, float).reshape(-1, 3),
                [loops[begin:end] for begin, end in zip(starts, starts[1:])])

    def cast_ray(self, origin: Sequence[float], direction: Sequence[float], max_distance: float = np.inf, *,
                 position: Sequence[float] = (0, 0, 0),
                 orientation: Sequence[float] = (0, 0, 0, 1)) -> c.rg_ray_hit | None:
        """The first point on a ray, or None."""
        hit = c.rg_ray_hit()
        found = lib.rg_shape_cast_ray(self._pointer, pose(position, orientation), vector(origin),
                                      vector(direction), max_distance, byref(hit))
        return hit if found else None


def _shape_again(plain: dict[str, Any], points: bytes, triangles: bytes,
                 parts: list[tuple[Shape, bytes, float]]) -> Shape:
    """From a pickle."""
    definition = c.rg_shape_def()
    fill(definition, plain, "a shape")
    array = (c.rg_compound_part * len(parts))(*(
        c.rg_compound_part(shape._pointer, c.rg_pose.from_buffer_copy(place), density)
        for shape, place, density in parts))
    kept = [ctypes.create_string_buffer(data, max(1, len(data))) for data in (points, triangles)]
    definition.points, definition.triangles = (ctypes.addressof(data) for data in kept)
    definition.point_count, definition.triangle_count = len(points) // 24, len(triangles) // 12
    definition.parts, definition.part_count = ctypes.addressof(array), len(parts)
    return Shape._make(definition)


def box(x: float, y: float, z: float) -> Shape:
    """A box with these edges, m."""
    return Shape._make(lib.rg_shape_def_box(x, y, z))


def sphere(radius: float) -> Shape:
    """A ball about the origin."""
    return Shape._make(lib.rg_shape_def_sphere(radius))


def capsule(radius: float, length: float) -> Shape:
    """Along z; `length` is that of the straight part."""
    return Shape._make(lib.rg_shape_def_capsule(radius, length))


def cylinder(radius: float, height: float) -> Shape:
    """Along z."""
    return Shape._make(lib.rg_shape_def_cylinder(radius, height))


def cone(radius: float, height: float) -> Shape:
    """Along z; the origin is the centre of mass, a quarter of the height above the base."""
    return Shape._make(lib.rg_shape_def_cone(radius, height))


def ellipsoid(a: float, b: float, c: float) -> Shape:
    """By its semi-axes."""
    return Shape._make(lib.rg_shape_def_ellipsoid(a, b, c))


def halfspace(normal: Sequence[float] = (0, 0, 1), offset: float = 0) -> Shape:
    """{ p : normal . p <= offset }: by default the ground, up to z = 0."""
    return Shape._make(lib.rg_shape_def_halfspace(vector(normal), offset))


def disc(radius: float) -> Shape:
    """Of planar worlds."""
    return Shape._make(lib.rg_shape_def_disc(radius))


def _points(points: Any) -> tuple[np.ndarray, int, int]:
    array = doubles(points)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"points are an array of shape (n, 3), not {array.shape}")
    return array, array.ctypes.data, len(array)


def hull(points: Any) -> Shape:
    """The convex hull of points, (n, 3)."""
    keep, start, count = _points(points)
    return Shape._make(lib.rg_shape_def_hull(start, count))


def polygon(corners: Any) -> Shape:
    """Of planar worlds: a convex polygon by its corners (n, 3) in order, y = 0."""
    keep, start, count = _points(corners)
    return Shape._make(lib.rg_shape_def_polygon(start, count))


def planar_hull(points: Any) -> Shape:
    """Of planar worlds: the convex hull of points (n, 3), y = 0."""
    keep, start, count = _points(points)
    pointer = ctypes.c_void_p()
    call(lib.rg_shape_create_planar_hull, start, count, byref(ALLOCATOR), byref(pointer))
    return Shape._own(pointer.value)


def terrain(points: Any, triangles: Any, *, thickness: float = 0) -> Shape:
    """Triangles (m, 3) of points (n, 3), counter-clockwise from outside, for fixed bodies: each the top of a prism
    of this thickness (0: the mean length of an edge)."""
    keep, start, count = _points(points)
    numbered = np.ascontiguousarray(triangles, dtype=np.uint32)
    if numbered.ndim != 2 or numbered.shape[1] != 3:
        raise ValueError(f"triangles are an array of shape (m, 3), not {numbered.shape}")
    definition = lib.rg_shape_def_terrain(start, count, numbered.ctypes.data, len(numbered))
    definition.thickness = thickness
    return Shape._make(definition)


def heights(values: Any, dx: float, dy: float, *, thickness: float = 0) -> Shape:
    """A height field about the origin, for fixed bodies: values[row, column] at x = column dx, y = row dy, less
    half of the whole."""
    array = doubles(values)
    if array.ndim != 2:
        raise ValueError(f"heights are an array of rows and columns, not of shape {array.shape}")
    field = c.rg_heights(array.shape[1], array.shape[0], dx, dy, array.ctypes.data, thickness)
    pointer = ctypes.c_void_p()
    call(lib.rg_shape_create_heights, byref(field), byref(ALLOCATOR), byref(pointer))
    return Shape._own(pointer.value)


def compound(parts: Iterable[Any]) -> Shape:
    """Convex shapes that move as one: a list of shape, (shape, position), (shape, position, orientation)
    or (shape, position, orientation, density relative to the others)."""
    parts = [part if isinstance(part, tuple) else (part,) for part in parts]
    array = (c.rg_compound_part * len(parts))()
    for entry, part in zip(array, parts):
        shape, position, orientation, density = (*part, *((0, 0, 0), (0, 0, 0, 1), 1)[len(part) - 1:])
        entry.shape, entry.pose, entry.density = shape._pointer, pose(position, orientation), density
    return Shape._make(lib.rg_shape_def_compound(ctypes.addressof(array), len(parts)))


# --- two shapes -------------------------------------------------------------------------------------

Place = Sequence[Any]


def _place(place: Place) -> c.rg_pose:
    """A position, or a pair of position and orientation."""
    return pose(*place) if len(place) == 2 else pose(place)


def _pair(function: Any, struct: Any, one: Shape, place1: Place, two: Shape, place2: Place, *more: Any) -> Any:
    result = struct()
    check(function(one._pointer, _place(place1), two._pointer, _place(place2), *more, byref(result)))
    return result


def distance(one: Shape, place1: Place, two: Shape, place2: Place) -> c.rg_distance:
    """Euclidean distance of two convex shapes. A place is a position or (position, orientation)."""
    return _pair(lib.rg_distance_between, c.rg_distance, one, place1, two, place2, None)


def growth(one: Shape, place1: Place, two: Shape, place2: Place) -> c.rg_growth:
    """The ratio metric: by what factor both must grow about their centres until they touch."""
    return _pair(lib.rg_growth_between, c.rg_growth, one, place1, two, place2, None)


def depth(one: Shape, place1: Place, two: Shape, place2: Place) -> c.rg_depth:
    """The smallest translation that separates."""
    return _pair(lib.rg_depth_between, c.rg_depth, one, place1, two, place2)


def separation(one: Shape, place1: Place, two: Shape, place2: Place) -> c.rg_growth:
    """The growth, or where they overlap the depth if that is less: what contacts are made of."""
    return _pair(lib.rg_separation_between, c.rg_growth, one, place1, two, place2, None)


@dataclass
class Motion:
    """A pose with a constant velocity of `reference` (a point of the shape) and angular velocity."""

    position: Sequence[float] = (0, 0, 0)
    orientation: Sequence[float] = (0, 0, 0, 1)
    velocity: Sequence[float] = (0, 0, 0)
    angular_velocity: Sequence[float] = (0, 0, 0)
    reference: Sequence[float] = (0, 0, 0)


def first_contact(one: Shape, motion1: Motion, two: Shape, motion2: Motion, begin: float, end: float,
                  tolerance: float = 1e-9) -> c.rg_first_contact:
    """The first time in [begin, end] at which two convex shapes are as near as the tolerance: never late."""
    motions, paths = [], []
    for motion in (motion1, motion2):
        motions.append(c.rg_linear_motion(begin, pose(motion.position, motion.orientation),
                                          vector(motion.reference), vector(motion.velocity),
                                          vector(motion.angular_velocity)))
        paths.append(lib.rg_path_linear(byref(motions[-1])))
    settings = lib.rg_first_contact_settings_default(tolerance)
    result = c.rg_first_contact()
    check(lib.rg_first_contact_between(
        c.rg_moving_shape(one._pointer, ctypes.addressof(paths[0])),
        c.rg_moving_shape(two._pointer, ctypes.addressof(paths[1])), begin, end, byref(settings), byref(result)))
    return result


# --- meshes -----------------------------------------------------------------------------------------

class Mesh:
    """A triangle mesh from a file or bytes (OBJ, STL): vertices (n, 3), triangles (m, 3), what was found."""

    def __init__(self, source: Any, *, weld: float = 0, name: str = "mesh"):
        mesh, self.report = c.rg_mesh(), c.rg_mesh_report()
        options = c.rg_mesh_options(weld=weld)
        arguments = byref(options), byref(mesh), byref(self.report)
        if isinstance(source, bytes):
            call(lib.rg_mesh_read_memory, source, len(source), name.encode(), *arguments)
        else:
            call(lib.rg_mesh_read_file, str(source).encode(), *arguments)
        try:
            self.vertices = np.frombuffer(ctypes.string_at(mesh.vertices, 24 * mesh.vertex_count), float)
            self.triangles = np.frombuffer(ctypes.string_at(mesh.triangles, 12 * mesh.triangle_count), np.uint32)
        finally:
            lib.rg_mesh_destroy(byref(mesh))
        self.vertices, self.triangles = self.vertices.reshape(-1, 3), self.triangles.reshape(-1, 3)

    def mass(self, density: float = 1000) -> Mass:
        """Exact integrals over the enclosed volume; the mesh must be watertight."""
        mass = c.rg_mass_properties()
        mesh = c.rg_mesh(self.vertices.ctypes.data, len(self.vertices), self.triangles.ctypes.data,
                         len(self.triangles))
        call(lib.rg_mesh_mass, byref(mesh), density, byref(mass))
        return Mass._of(mass)

    def hull(self) -> Shape:
        """The convex hull of its vertices."""
        return hull(self.vertices)


def feature_kind(kind: int) -> str:
    """The name of a kind of features in a growth or depth: "face-vertex", "edge-edge", ..."""
    return word_of(c.rg_feature_kind(kind), "RG_FEATURES_")


def growth_gradient(found: c.rg_growth, centre1: Sequence[float], centre2: Sequence[float]) -> c.rg_growth_gradient:
    """Derivatives of a growth's ratio by translations and rotations of both shapes about their centres."""
    return lib.rg_growth_gradient_of(byref(found), vector(centre1), vector(centre2))


def growth_of_features(one: Shape, place1: Place, two: Shape, place2: Place,
                       features: c.rg_feature_pair) -> c.rg_growth:
    """The growth that one pair of features alone would give; of polyhedra and polygons."""
    return _pair(lib.rg_growth_of_features, c.rg_growth, one, place1, two, place2, features)
