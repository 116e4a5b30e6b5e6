"""The C library: loaded, declared as its headers say, its statuses turned into exceptions."""

from __future__ import annotations

import ctypes
import os
import pathlib
from typing import Any, Sequence

import numpy as np

from . import _declarations as c

HERE = pathlib.Path(__file__).parent
# Another build of the same version: the tests name one with sanitizers.
lib = ctypes.CDLL(os.environ.get("RIGOR_PYTHON_LIBRARY") or str(HERE / "librigor-python.so"))
HAVE_LP = hasattr(lib, "rg_lp_feasible")


def _declare() -> None:
    for name, (result, parameters, _, note) in c.FUNCTIONS.items():
        function = getattr(lib, name, None)
        if function is None:  # of rigor-lp, which can be built without
            continue
        function.restype, function.argtypes = result, parameters
        function.__doc__ = note


_declare()
if lib.rg_version_api() != c.RG_API_VERSION:
    raise ImportError(f"{lib._name} has the interface {lib.rg_version_api()}, not {c.RG_API_VERSION}")


class Error(Exception):
    """A call of the library failed. The text is the library's.

    status: its name ("not-found"); line, column: of a file, counted from 1, or 0; mistakes: the texts of all
    mistakes of a scene file, in the order of the lines, this one first."""

    code = -1

    def __init__(self, text: str, line: int = 0, column: int = 0):
        super().__init__(text)
        self.line, self.column = line, column
        self.mistakes = [text]

    @property
    def status(self) -> str:
        return lib.rg_status_name(self.code).decode()


# One for each status, and what else it is in Python's own terms. Written out, so that type checkers and editors
# see them; their texts are the library's.

class OutOfMemory(Error, MemoryError):
    code = int(c.RG_OUT_OF_MEMORY)


class InvalidArgument(Error, ValueError):
    code = int(c.RG_INVALID_ARGUMENT)


class InvalidHandle(Error, ValueError):
    code = int(c.RG_INVALID_HANDLE)


class NotFound(Error, LookupError):
    code = int(c.RG_NOT_FOUND)


class DuplicateName(Error, ValueError):
    code = int(c.RG_DUPLICATE_NAME)


class NotFinite(Error, ValueError):
    code = int(c.RG_NOT_FINITE)


class InvalidSize(Error, ValueError):
    code = int(c.RG_INVALID_SIZE)


class InvalidInertia(Error, ValueError):
    code = int(c.RG_INVALID_INERTIA)


class DegenerateGeometry(Error, ValueError):
    code = int(c.RG_DEGENERATE_GEOMETRY)


class NotWatertight(Error, ValueError):
    code = int(c.RG_NOT_WATERTIGHT)


class NotConvex(Error, ValueError):
    code = int(c.RG_NOT_CONVEX)


class Syntax(Error):
    code = int(c.RG_SYNTAX)


class UnknownKey(Error):
    code = int(c.RG_UNKNOWN_KEY)


class WrongType(Error):
    code = int(c.RG_WRONG_TYPE)


class LimitExceeded(Error):
    code = int(c.RG_LIMIT_EXCEEDED)


class FileUnreadable(Error):
    code = int(c.RG_FILE_UNREADABLE)


class FileDamaged(Error):
    code = int(c.RG_FILE_DAMAGED)


class WriteFailed(Error):
    code = int(c.RG_WRITE_FAILED)


class Unsupported(Error):
    code = int(c.RG_UNSUPPORTED)


class StepTooSmall(Error):
    code = int(c.RG_STEP_TOO_SMALL)


class IterationLimit(Error):
    code = int(c.RG_ITERATION_LIMIT)


class Singular(Error):
    code = int(c.RG_SINGULAR)


class Busy(Error):
    code = int(c.RG_BUSY)


class VersionMismatch(Error):
    code = int(c.RG_VERSION_MISMATCH)


class ThreadFailed(Error):
    code = int(c.RG_THREAD_FAILED)


class Interrupted(Error):
    code = int(c.RG_INTERRUPTED)


ERRORS: dict[int, type[Error]] = {error.code: error for error in Error.__subclasses__()}
for _error in ERRORS.values():
    _text = lib.rg_status_text(_error.code).decode()
    _error.__doc__, _error.__module__ = _text[0].upper() + _text[1:] + ".", "rigor"


def fail(status: int, error: c.rg_error | None = None) -> Error:
    """The exception for a status that is not RG_OK."""
    text = error.text.decode(errors="replace") if error is not None else ""
    if not text:
        return ERRORS[status](lib.rg_status_text(status).decode())
    return ERRORS[status](text, error.line, error.column)


def closed(what: str) -> Error:
    """The exception for a call after close()."""
    return ERRORS[c.RG_INVALID_HANDLE](f"the {what} is closed")


def check(status: int, error: c.rg_error | None = None) -> None:
    if status:
        raise fail(status, error)


def call(function: Any, *arguments: Any) -> None:
    """A function whose last parameter is an rg_error."""
    error = c.rg_error()
    status = function(*arguments, ctypes.byref(error))
    if status:
        raise fail(status, error)


class NotCopied:
    """What has memory of the library and no way to be made again: copy, deepcopy and pickle say so."""

    __slots__ = ()
    _instead = "make another one"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"an object of {type(self).__name__} holds memory of the library, which copy and pickle "
                        f"do not reach: {self._instead}")


class Memory(NotCopied):
    """A world of C, and the scene of C to which it belongs, if any. Worlds, scenes and recorders of Python
    share it, and the last of them that lets go frees it: a count of our own, since Python finalises what is
    in a cycle in any order."""

    __slots__ = ("world", "scene", "_users")

    def __init__(self, world: int, scene: int | None = None):
        self.world, self.scene, self._users = world, scene, 1

    def share(self) -> Memory:
        self._users += 1
        return self

    def let_go(self, destroy_world: Any = lib.rg_world_destroy, destroy_scene: Any = lib.rg_scene_destroy) -> None:
        self._users -= 1
        if self._users == 0:
            if self.scene:
                destroy_scene(self.scene)
            else:
                destroy_world(self.world)


# --- values -----------------------------------------------------------------------------------------

def vector(value: Sequence[float]) -> c.rg_vec3:
    x, y, z = value
    return c.rg_vec3(x, y, z)


def quaternion(value: Sequence[float]) -> c.rg_quat:
    x, y, z, w = value
    return c.rg_quat(x, y, z, w)


def pose(position: Sequence[float], orientation: Sequence[float] = (0, 0, 0, 1)) -> c.rg_pose:
    return c.rg_pose(vector(position), quaternion(orientation))


def matrix(value: Any) -> c.rg_mat3:
    rows = np.asarray(value, dtype=float)
    if rows.shape == (3,):
        rows = np.diag(rows)
    if rows.shape != (3, 3):
        raise ValueError(f"an inertia is 3 x 3, or its 3 principal moments; not {rows.shape}")
    return c.rg_mat3.from_buffer_copy(np.ascontiguousarray(rows))


_ARRAYS = {c.rg_vec3: (3,), c.rg_quat: (4,), c.rg_mat3: (3, 3)}


def numbers(struct: ctypes.Structure) -> np.ndarray:
    """A vector, quaternion or matrix as an array of its own."""
    return np.frombuffer(bytes(struct), dtype=float).reshape(_ARRAYS[type(struct)])


def _field_dtype(kind: Any) -> Any:
    if kind in _ARRAYS:
        return np.dtype((float, _ARRAYS[kind]))
    if issubclass(kind, ctypes.Structure):
        return dtype_of(kind)
    return np.dtype(kind)


_DTYPES: dict[type, np.dtype] = {}


def dtype_of(struct: type[ctypes.Structure]) -> np.dtype:
    """A struct of C as a structured type of numpy; vectors are arrays of three numbers."""
    if struct not in _DTYPES:
        names = [field[0] for field in struct._fields_]
        _DTYPES[struct] = np.dtype({
            "names": names, "formats": [_field_dtype(field[1]) for field in struct._fields_],
            "offsets": [getattr(struct, name).offset for name in names],
            "itemsize": ctypes.sizeof(struct)})
    return _DTYPES[struct]


def copy_array(pointer: int | None, count: int, struct: type[ctypes.Structure]) -> np.ndarray:
    """`count` structs at an address, as an array of its own."""
    if not pointer or not count:
        return np.zeros(0, dtype_of(struct))
    return np.frombuffer(ctypes.string_at(pointer, count * ctypes.sizeof(struct)), dtype_of(struct))


_TEXTS: dict[type, list[tuple[Any, ...]]] = {}


def _texts_in(kind: Any) -> list[tuple[Any, ...]]:
    """Where strings are in a struct or array: names of fields and numbers of elements on the way there."""
    if kind is ctypes.c_char_p:
        return [()]
    if kind not in _TEXTS:
        steps = []
        if issubclass(kind, ctypes.Array):
            steps = [(index, kind._type_) for index in range(kind._length_)]
        elif issubclass(kind, ctypes.Structure):
            steps = [(field[0], field[1]) for field in kind._fields_]
        _TEXTS[kind] = [(step, *rest) for step, inner in steps for rest in _texts_in(inner)]
    return _TEXTS[kind]


def owned(struct: Any) -> Any:
    """The struct with copies of the strings to which it points: they last as long as it does."""
    for *way, last in _texts_in(type(struct)):
        place = struct
        for step in way:
            place = place[step] if isinstance(step, int) else getattr(place, step)
        text = place[last] if isinstance(last, int) else getattr(place, last)
        if text is None:
            continue
        if isinstance(last, int):
            place[last] = text
        else:
            setattr(place, last, text)
    return struct


class _Held(NotCopied):
    """A block of the library that stays while a numpy array looks at it (native/rigor_python.h)."""

    __slots__ = ("__array_interface__", "_pointer")
    _instead = "copy the array that looks at it"

    def __init__(self, pointer: int, shape: tuple[int, ...], strides: tuple[int, ...] | None, dtype: np.dtype):
        self._pointer = pointer
        lib.rg_python_hold(pointer)
        self.__array_interface__ = {
            "version": 3, "data": (pointer, True), "shape": shape, "strides": strides,
            "typestr": dtype.str, "descr": [("", dtype.str)]}

    def __del__(self, let_go: Any = lib.rg_python_let_go) -> None:
        let_go(self._pointer)


def view_of(strided: c.rg_strided, width: int) -> np.ndarray:
    """The library's own numbers, read-only: no copy."""
    if not strided.count:
        return np.zeros((0, width))
    held = _Held(strided.data, (strided.count, width), (8 * strided.stride, 8), np.dtype(float))
    return np.asarray(held)


def view_of_structs(pointer: int | None, count: int, struct: type[ctypes.Structure]) -> np.ndarray:
    """An array of structs where it is, read-only: no copy."""
    if not pointer or not count:
        return np.zeros(0, dtype_of(struct))
    size = ctypes.sizeof(struct)
    held = _Held(pointer, (count * size,), None, np.dtype(np.uint8))
    return np.asarray(held).view(dtype_of(struct))


ALLOCATOR = lib.rg_python_allocator()


def doubles(value: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Contiguous doubles; not copied if they are that already."""
    array = np.ascontiguousarray(value, dtype=float)
    if shape is not None and array.shape != shape:
        raise ValueError(f"an array of shape {shape} is needed, not {array.shape}")
    return array


def address(array: np.ndarray | None) -> int | None:
    return None if array is None else array.ctypes.data


def word(kind: str, enum: Any, prefix: str) -> int:
    """A value of an enum by its name: "hinge" is RG_JOINT_HINGE."""
    try:
        return enum[prefix + kind.upper().replace("-", "_")]
    except KeyError:
        words = ", ".join(word_of(value, prefix) for value in enum if not value.name.endswith("_COUNT"))
        raise ValueError(f"there is no {kind!r}; there are: {words}") from None


def word_of(value: Any, prefix: str) -> str:
    return value.name.removeprefix(prefix).lower().replace("_", "-")


def fill(struct: ctypes.Structure, values: dict[str, Any], what: str) -> None:
    """Fields of a struct by name; a name that it does not have is an error."""
    names = {field[0]: field[1] for field in struct._fields_}
    for name, value in values.items():
        if name not in names:
            raise TypeError(f"{what} has no {name!r}; it has: {', '.join(names)}")
        if names[name] is c.rg_vec3:
            value = vector(value)
        elif names[name] is c.rg_quat:
            value = quaternion(value)
        elif isinstance(value, str):
            value = value.encode()
        elif isinstance(value, dict):
            fill(getattr(struct, name), value, f"{name} of {what}")
            continue
        setattr(struct, name, value)
