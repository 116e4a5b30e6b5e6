"""Solvers of contact problems on plain arrays, and the judge of their answers."""

from __future__ import annotations

import ctypes
import math
from ctypes import byref
from dataclasses import dataclass
from typing import Any, Callable, Sequence

import numpy as np

from . import _declarations as c
from ._library import (ALLOCATOR, ERRORS, HAVE_LP, NotCopied, address, call, check, doubles, fail, lib, owned, word,
                       word_of)

_ROWS = {word_of(kind, "RG_ROW_"): int(kind) for kind in c.rg_row_kind}


class Problem:
    """A contact problem: linear(...), contact(...) or from a file. It keeps the arrays that it is made of."""

    def __init__(self) -> None:
        self._struct = c.rg_problem()
        self._arrays: list[Any] = []
        self._file: Any = None

    def _keep(self, value: Any, dtype: Any = float, size: int | None = None) -> int | None:
        if value is None:
            return None
        array = np.ascontiguousarray(value, dtype=dtype)
        if size is not None and array.size != size:
            raise ValueError(f"{size} numbers are needed, not {array.size}")
        self._arrays.append(array)
        return address(array)

    def __copy__(self) -> Problem:
        """Another problem of the same arrays."""
        return self._with(self._arrays)

    def __deepcopy__(self, _memo: Any) -> Problem:
        return self._with([array.copy() for array in self._arrays])

    def _with(self, arrays: list[np.ndarray]) -> Problem:
        made = Problem()
        made._struct = c.rg_problem.from_buffer_copy(self._struct)
        made._arrays, made._file = arrays, self._file
        words = np.frombuffer(made._struct, np.uintp)  # a struct of pointers and doubles is one of whole words
        for offset, index in self._places():
            words[offset] = address(arrays[index])
        return made

    def _places(self) -> list[tuple[int, int]]:
        """Which words of the struct are addresses of which arrays."""
        places = {address(array): index for index, array in enumerate(self._arrays)}
        words = np.frombuffer(self._struct, np.uintp)
        return [(offset, places[words[offset]]) for offset in _pointers_in(c.rg_problem)
                if words[offset] in places]

    def __reduce__(self) -> tuple[Any, ...]:
        if self._file:
            raise TypeError("a problem from a file is not pickled: pickle the file's name for Problem.from_file()")
        data, places = bytearray(self._struct), self._places()
        for offset, _ in places:
            data[8 * offset:8 * offset + 8] = bytes(8)
        return _problem_again, (bytes(data), self._arrays, places)

    @classmethod
    def linear(cls, matrix: Any, b: Any, kinds: Sequence[str] | None = None, *, lower: Any = None,
               upper: Any = None, normal: Any = None, mu: Any = None) -> Problem:
        """a = A f + b with a law per row: "unilateral" (the default), "free", "bounded" (lower, upper),
        "static" or "dynamic" friction (normal: row of the normal force; mu)."""
        self, b = cls(), doubles(b)
        size = b.size
        self._struct.kind = c.RG_PROBLEM_LINEAR
        rows = self._struct.linear
        rows.size, rows.b = size, self._keep(b, size=size)
        rows.matrix = self._keep(doubles(matrix, (size, size)))
        if kinds is not None:
            unknown = set(kinds) - set(_ROWS)
            if unknown:
                raise ValueError(f"there are no rows of the kind {sorted(unknown)}; kinds are: {', '.join(_ROWS)}")
            rows.kinds = self._keep([_ROWS[kind] for kind in kinds], np.uint8, size)
        rows.lower, rows.upper = self._keep(lower, size=size), self._keep(upper, size=size)
        rows.normal, rows.mu = self._keep(normal, np.uint32, size), self._keep(mu, size=size)
        if kinds is not None:
            self._complete(kinds, lower, upper, normal, mu)
        return self

    @staticmethod
    def _complete(kinds: Sequence[str], lower: Any, upper: Any, normal: Any, mu: Any) -> None:
        """Arrays that the library reads for these kinds must be there."""
        if "bounded" in kinds and (lower is None or upper is None):
            raise ValueError("bounded rows need lower and upper")
        if {"static", "dynamic"} & set(kinds) and (normal is None or mu is None):
            raise ValueError("friction rows need normal and mu")

    @classmethod
    def contact(cls, *, q: Any, dimension: int = 3, mu: Any = None, w: Any = None, csr: Any = None,
                mass: Any = None, free_velocity: Any = None, contact_blocks: Any = None,
                contact_jacobian: Any = None, joint_blocks: Any = None, joint_jacobian: Any = None,
                lower: Any = None, upper: Any = None, compliance: Any = None, directions: int = 0,
                joints: int = 0) -> Problem:
        """Contacts of `dimension` rows each under Coulomb's law, then `joints` rows.

        Local form: u = W r + q, by `w` (dense) or `csr`, a tuple of row starts, columns and values. Global
        form: M (v - v_free) = J' r, u = J v + q, by `mass` (blocks, freedom, freedom), `free_velocity`
        (blocks, freedom), `contact_blocks` (contacts, 2; -1: none), `contact_jacobian` (contacts, 2,
        dimension, freedom) and the same for joints (joints, 2), (joints, 2, freedom)."""
        self, q = cls(), doubles(q)
        self._struct.kind = c.RG_PROBLEM_CONTACT
        p = self._struct.contact
        contacts, rest = divmod(q.size - joints, dimension)
        if rest or contacts < 0:
            raise ValueError(f"{q.size} rows are no whole number of contacts of {dimension} and {joints} joints")
        p.dimension, p.contacts, p.joints, p.directions = dimension, contacts, joints, directions
        p.q, p.mu = self._keep(q), self._keep(mu if mu is None else np.broadcast_to(mu, contacts))
        p.lower, p.upper = self._keep(lower, size=joints), self._keep(upper, size=joints)
        p.compliance = self._keep(compliance, size=joints)
        if mass is None:
            self._local(p, w, csr, q.size)
        else:
            blocks = (contact_blocks, joint_blocks)
            self._global(p, mass, free_velocity, blocks, (contact_jacobian, joint_jacobian))
        return self

    def _local(self, p: c.rg_contact_problem, w: Any, csr: Any, rows: int) -> None:
        p.form, p.w.rows, p.w.columns = c.RG_FORM_LOCAL, rows, rows
        if csr is None:
            if w is None:
                raise ValueError("a problem in local form needs w or csr")
            p.w.dense = self._keep(doubles(w, (rows, rows)))
            return
        starts, columns, values = csr
        starts = np.asarray(starts)
        if starts.size != rows + 1 or starts[0] != 0 or np.any(np.diff(starts.astype(np.int64)) < 0):
            raise ValueError(f"row starts must be {rows + 1} numbers that do not fall, from 0")
        p.w.starts = self._keep(starts, np.uintp)
        p.w.indices = self._keep(columns, np.uint32, int(starts[-1]))
        p.w.values = self._keep(values, float, int(starts[-1]))

    def _global(self, p: c.rg_contact_problem, mass: Any, free: Any, blocks: Any, jacobians: Any) -> None:
        mass = doubles(mass)
        if mass.ndim != 3 or mass.shape[1] != mass.shape[2] or not 1 <= mass.shape[1] <= 6:
            raise ValueError("mass is an array (blocks, freedom, freedom), freedom 1 to 6")
        count, freedom = mass.shape[:2]
        g = getattr(p, "global")
        p.form, g.blocks, g.freedom = c.RG_FORM_GLOBAL, count, freedom
        g.mass, g.free_velocity = self._keep(mass), self._keep(free, size=count * freedom)
        if free is None:
            g.free_velocity = self._keep(np.zeros(count * freedom))

        def numbered(values: Any, rows: int) -> int | None:
            numbers = np.asarray(np.zeros((0, 2)) if values is None else values, dtype=np.int64)
            return self._keep(numbers & 0xffffffff, np.uint32, 2 * rows)
        zero = np.zeros(0)
        g.contact_blocks = numbered(blocks[0], p.contacts)
        g.contact_jacobian = self._keep(zero if jacobians[0] is None else jacobians[0],
                                        size=p.contacts * 2 * p.dimension * freedom)
        g.joint_blocks = numbered(blocks[1], p.joints)
        g.joint_jacobian = self._keep(zero if jacobians[1] is None else jacobians[1],
                                      size=p.joints * 2 * freedom)

    @classmethod
    def from_file(cls, path: Any, format: str = "auto") -> Problem:
        """Problems of other programs: Siconos, rigidfc3d, FCLIB (docs/problem-files.md)."""
        kind, pointer = ctypes.c_uint(), ctypes.c_void_p()
        if not lib.rg_problem_format_find(format.encode(), byref(kind)):
            names = (lib.rg_problem_format_name(index).decode() for index in range(c.RG_FORMATS))
            raise ValueError(f"there is no format {format!r}; there are: {', '.join(names)}")
        if isinstance(path, bytes):
            call(lib.rg_problem_file_read_memory, path, len(path), b"problem", kind.value, byref(ALLOCATOR), byref(pointer))
        else:
            call(lib.rg_problem_file_read, str(path).encode(), kind.value, byref(ALLOCATOR), byref(pointer))
        self = cls()
        self._file = _File(pointer.value)
        self._struct = c.rg_problem.from_buffer_copy(
            c.rg_problem.from_address(lib.rg_problem_file_problem(pointer)))
        return self

    @property
    def file_info(self) -> c.rg_problem_file_info | None:
        """Of a problem from a file: format, title, what it says about its best known answer."""
        return owned(lib.rg_problem_file_get_info(self._file.pointer)) if self._file else None

    def write_fclib(self, path: Any, title: str = "", description: str = "") -> None:
        """In FCLIB's form, an HDF5 file."""
        text = c.rg_problem_text(title.encode(), description.encode(), None)
        call(lib.rg_problem_write_fclib, str(path).encode(), byref(self._struct), byref(text), None)

    def __len__(self) -> int:
        """Rows: the length of forces and velocities."""
        return lib.rg_problem_rows(byref(self._struct))

    def check(self) -> None:
        """Raises, with the row or contact, if the problem is none."""
        call(lib.rg_problem_check, byref(self._struct))

    @property
    def scale(self) -> float:
        """What residuals are relative to."""
        return lib.rg_problem_scale(byref(self._struct))

    @scale.setter
    def scale(self, scale: float) -> None:
        self._struct.scale = scale


def _pointers_in(kind: Any, start: int = 0) -> list[int]:
    """Words of a struct that are addresses."""
    found = []
    for field in kind._fields_:
        offset = start + getattr(kind, field[0]).offset
        if field[1] is ctypes.c_void_p:
            found.append(offset // ctypes.sizeof(ctypes.c_void_p))
        elif issubclass(field[1], ctypes.Structure):
            found += _pointers_in(field[1], offset)
    return found


def _problem_again(data: bytes, arrays: list[np.ndarray], places: list[tuple[int, int]]) -> Problem:
    """From a pickle."""
    made = Problem()
    made._struct, made._arrays = c.rg_problem.from_buffer_copy(data), arrays
    words = np.frombuffer(made._struct, np.uintp)
    for offset, index in places:
        words[offset] = address(arrays[index])
    return made


class _File(NotCopied):
    def __init__(self, pointer: int):
        self.pointer = pointer

    def __del__(self, destroy: Any = lib.rg_problem_file_destroy) -> None:
        destroy(self.pointer)


def solvers() -> dict[str, str]:
    """The solvers: name and one line about each."""
    found = [lib.rg_solver_at(index) for index in range(lib.rg_solver_count())]
    if HAVE_LP:
        found.append(lib.rg_solver_lp())
    return {lib.rg_solver_name(s).decode(): lib.rg_solver_summary(s).decode() for s in found}


def _solver(name: str | Solver) -> int:
    if isinstance(name, Solver):
        return ctypes.addressof(name._struct)
    found = lib.rg_solver_find(name.encode())
    if not found and name == "lp" and HAVE_LP:
        found = lib.rg_solver_lp()
    if not found:
        raise ERRORS[c.RG_NOT_FOUND](f'there is no solver "{name}"; the solvers are: {", ".join(solvers())}')
    return found


class Solver(NotCopied):
    """A solver of the program's own, for linear problems: function(A, b) returns forces. The driver judges
    them like any other solver's."""

    _instead = "pickle the function, and make a Solver of it there"

    def __init__(self, name: str, function: Callable[[np.ndarray, np.ndarray], Any]):
        self._struct, self._raised = c.rg_solver(), None

        def solve(_context: Any, problem: int, _settings: Any, solution: int, report: int, _error: Any) -> int:
            try:
                linear = c.rg_problem.from_address(problem).linear
                size, stride = linear.size, linear.stride or linear.size
                matrix = np.frombuffer((ctypes.c_double * (size * stride)).from_address(linear.matrix))
                b = np.frombuffer((ctypes.c_double * size).from_address(linear.b))
                force = doubles(function(matrix.reshape(size, stride)[:, :size].copy(), b.copy()), (size,))
                ctypes.memmove(c.rg_solution.from_address(solution).force, address(force), 8 * size)
                c.rg_solve_report.from_address(report).outcome = c.RG_SOLVED
            except BaseException as error:  # raised by solve()
                self._raised = error
                c.rg_solve_report.from_address(report).outcome = c.RG_SOLVE_STALLED
            return c.RG_OK
        kind = ctypes.CFUNCTYPE(ctypes.c_uint, *[ctypes.c_void_p] * 6)
        self._function = kind(solve)
        self._struct.name, self._struct.summary = name.encode(), b"a solver of the program"
        self._struct.accepts = c.RG_ACCEPT_LINEAR
        self._struct.solve = ctypes.cast(self._function, ctypes.c_void_p)

    # It does not change, so that one does for all copies.

    def __copy__(self) -> Solver:
        return self

    def __deepcopy__(self, _memo: Any) -> Solver:
        return self


class _Context(NotCopied):
    def __init__(self) -> None:
        pointer = ctypes.c_void_p()
        check(lib.rg_solve_context_create(byref(ALLOCATOR), byref(pointer)))
        self.pointer = pointer.value

    def __del__(self, destroy: Any = lib.rg_solve_context_destroy) -> None:
        if hasattr(self, "pointer"):
            destroy(self.pointer)


@dataclass
class Solution:
    """Forces, the velocities (or accelerations) that they give, and how the solve ended, by the judge."""

    force: np.ndarray
    velocity: np.ndarray
    ray: np.ndarray
    outcome: str
    solver: str
    iterations: int
    residual: c.rg_residual
    text: str
    attempts: list[tuple[str, str, float]]

    @property
    def solved(self) -> bool:
        return self.outcome == "solved"


def _settings(values: dict[str, Any]) -> c.rg_solve_settings:
    settings = lib.rg_solve_settings_default()
    if isinstance(values.get("policy"), str):
        values["policy"] = word(values["policy"] + "-force", c.rg_solution_policy, "RG_POLICY_")
    names = [field[0] for field in c.rg_solve_settings._fields_]
    for name, value in values.items():
        if name not in names or name in ("warm", "reference_normal"):
            raise TypeError(f"a solve has no setting {name!r}")
        setattr(settings, name, value)
    return settings


def _outcome(value: int) -> str:
    return lib.rg_solve_outcome_name(value).decode()


def solve(problem: Problem, solver: str | Solver = "auto", *, warm: Any = None, **settings: Any) -> Solution:
    """Checks, solves and judges a problem. `warm`: forces to start from. Settings are those of
    rg_solve_settings (rigor/solver.h): tolerance, iteration_limit, policy, ..."""
    rows = len(problem)
    force, velocity, ray = np.zeros(rows), np.zeros(rows), np.zeros(rows)
    values = _settings(settings)
    if warm is not None:
        force[:], values.warm = warm, True
    arrays = c.rg_solution(address(force), address(velocity), address(ray))
    info, context = c.rg_solve_info(), _Context()
    call(lib.rg_solve, context.pointer, _solver(solver), byref(problem._struct), byref(values), byref(arrays),
         byref(info))
    if isinstance(solver, Solver) and solver._raised is not None:
        raised, solver._raised = solver._raised, None
        raise raised
    tried = [(lib.rg_solver_name(a.solver).decode(), _outcome(a.outcome), a.residual)
             for a in info.chain[:min(info.attempts, c.RG_SOLVE_CHAIN_MAX)] if a.solver]
    name = lib.rg_solver_name(info.solver).decode() if info.solver else ""
    return Solution(force, velocity, ray, _outcome(info.outcome), name, info.iterations, info.residual,
                    info.text.decode(), tried)


def judge(problem: Problem, force: Any, velocity: Any = None) -> c.rg_residual:
    """Residuals of any forces as an answer to a problem."""
    rows, residual = len(problem), c.rg_residual()
    force = doubles(force, (rows,))
    velocity = None if velocity is None else doubles(velocity, (rows,))
    call(lib.rg_judge, byref(problem._struct), address(force), address(velocity), byref(ALLOCATOR), byref(residual))
    return residual


def uniqueness(problem: Problem, force: Any) -> tuple[c.rg_uniqueness, np.ndarray]:
    """Are these forces the only ones? And which of them could be others."""
    rows, found, context = len(problem), c.rg_uniqueness(), _Context()
    force, marked = doubles(force, (rows,)), np.zeros(rows, np.uint8)
    call(lib.rg_solution_uniqueness, context.pointer, byref(problem._struct), address(force), byref(found),
         address(marked))
    return found, marked.astype(bool)


def solve_all(problem: Problem, tolerance: float = 1e-9, most: int = 64) -> tuple[np.ndarray, c.rg_solution_set]:
    """All solutions of a small problem, (count, rows), by trying every mode."""
    rows, found, context = len(problem), c.rg_solution_set(), _Context()
    forces = np.zeros((most, rows))
    call(lib.rg_solve_all, context.pointer, byref(problem._struct), tolerance, address(forces), most, byref(found))
    return forces[:min(found.count, most)].copy(), found


def explain_friction(problem: Problem, **settings: Any) -> tuple[str, str]:
    """Whether friction leaves one motion, none (Painleve) or several: the verdict, and it in plain words."""
    values, report, context = _settings(settings), c.rg_friction_report(), _Context()
    call(lib.rg_friction_explain, context.pointer, byref(problem._struct), byref(values), byref(report))
    return word_of(c.rg_friction_verdict(report.verdict), "RG_FRICTION_"), report.text.decode()


def impact_laws() -> dict[str, str]:
    """The laws of impact: name and one line about each."""
    found = (lib.rg_impact_law_at(index) for index in range(lib.rg_impact_law_count()))
    return {lib.rg_impact_law_name(law).decode(): lib.rg_impact_law_summary(law).decode() for law in found}


def resolve_impact(problem: Problem, restitution: Any = 0, law: str = "simultaneous", *, still: float = 0,
                   along_ray: Any = False) -> tuple[np.ndarray, np.ndarray, c.rg_impact_info]:
    """Impulses, velocities after and what happened, of a contact problem whose velocities without impulses are
    those before the impact. `along_ray`: the impulse out of Painleve's inconsistency instead, along the
    direction that is given (True: found)."""
    if problem._struct.kind != c.RG_PROBLEM_CONTACT:
        raise fail(c.RG_INVALID_ARGUMENT)
    rows, contacts, context = len(problem), problem._struct.contact.contacts, _Context()
    impulse, velocity, info = np.zeros(rows), np.zeros(rows), c.rg_impact_info()
    coefficients = doubles(np.broadcast_to(restitution, contacts))
    impact = c.rg_impact_problem(contact=problem._struct, restitution=address(coefficients), still=still)
    out = address(impulse), address(velocity), byref(info)
    if along_ray is False:
        found = lib.rg_impact_law_find(law.encode())
        if not found:
            raise ERRORS[c.RG_NOT_FOUND](f"there is no impact law {law!r}; there are: {', '.join(impact_laws())}")
        call(lib.rg_impact_resolve, context.pointer, found, byref(impact), *out)
    else:
        ray = None if along_ray is True else doubles(along_ray, (rows,))
        call(lib.rg_impact_along_ray, context.pointer, byref(impact), address(ray), *out)
    return impulse, velocity, info


# --- linear programs --------------------------------------------------------------------------------

def _needs_lp() -> None:
    if not HAVE_LP:
        raise ERRORS[c.RG_UNSUPPORTED]("this build has no linear programs (rigor-lp, which needs Clp)")


def feasible(problem: Problem) -> tuple[bool, np.ndarray]:
    """Are there forces at all? With them, or with the certificate that there are none."""
    _needs_lp()
    rows, found, context = len(problem), c.rg_feasibility(), _Context()
    force, certificate = np.zeros(rows), np.zeros(rows)
    call(lib.rg_lp_feasible, context.pointer, byref(problem._struct), address(force), address(certificate),
         byref(found))
    return found.feasible, force if found.feasible else certificate


def force_ranges(problem: Problem, force: Any) -> np.ndarray:
    """The least and the most that each force can be with the same motion, (rows, 2)."""
    _needs_lp()
    rows, context = len(problem), _Context()
    force, ranges = doubles(force, (rows,)), np.full((rows, 2), math.nan)
    call(lib.rg_force_ranges, context.pointer, byref(problem._struct), address(force), address(ranges))
    return ranges


def relax_joints(problem: Problem, norm: str = "one") -> tuple[np.ndarray, np.ndarray, float]:
    """Forces, smallest violation of free rows that contradict each other, and its size."""
    _needs_lp()
    rows, size, context = len(problem), ctypes.c_double(), _Context()
    force, violation = np.zeros(rows), np.zeros(rows)
    call(lib.rg_joint_relax, context.pointer, byref(problem._struct), word(norm, c.rg_joint_norm, "RG_NORM_"),
         address(force), address(violation), byref(size))
    return force, violation, size.value


def solve_given(problem: Problem, vanishing: Any) -> tuple[np.ndarray, bool]:
    """Forces if it is known which contacts break (True in `vanishing`), and whether there are such forces."""
    _needs_lp()
    rows, right, context = len(problem), ctypes.c_bool(), _Context()
    marked = np.ascontiguousarray(vanishing, dtype=np.uint8)
    if marked.shape != (rows,):
        raise ValueError(f"{rows} marks are needed, not {marked.shape}")
    force, velocity = np.zeros(rows), np.zeros(rows)
    solution = c.rg_solution(address(force), address(velocity), None)
    call(lib.rg_lp_given, context.pointer, byref(problem._struct), address(marked), byref(solution), byref(right))
    return force, right.value


def lp_heuristic(problem: Problem) -> tuple[np.ndarray, dict[str, np.ndarray], c.rg_lp_details]:
    """Baraff's heuristic of 1989: forces, the arrays of what it saw (guess, approximate, residual, vanishing)
    and how it went (rigor/lp.h)."""
    _needs_lp()
    rows, context = len(problem), _Context()
    force, velocity = np.zeros(rows), np.zeros(rows)
    seen = {"guess": np.zeros(rows), "approximate": np.zeros(rows), "residual": np.zeros(rows),
            "vanishing": np.zeros(rows, np.uint8)}
    details = c.rg_lp_details(**{name: address(array) for name, array in seen.items()})
    solution = c.rg_solution(address(force), address(velocity), None)
    call(lib.rg_lp_heuristic, context.pointer, byref(problem._struct), byref(solution), byref(details))
    return force, seen, details
