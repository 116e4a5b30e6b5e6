"""rigor: rigid bodies that never pass through each other, with the proof in the numbers.

    import rigor

    world = rigor.World()
    world.add_body(rigor.halfspace(), motion="fixed")
    box = world.add_body(rigor.box(1, 1, 1), position=(0, 0, 2))
    info = world.run(2)
    print(box.position, info.certificate.min_gap)

SI units, z up, quaternions (x, y, z, w). What is not said here is in the C headers, whose structs and names
this package shows as they are; docs/python.md tells the rest."""

from . import _declarations as c
from ._batch import Batch, step_worlds
from ._body import Body, Collider, ColliderHandle
from ._environment import Box, Env, VectorEnv
from ._joint import Joint
from ._library import (Busy, DegenerateGeometry, DuplicateName, Error, FileDamaged, FileUnreadable, Interrupted,
                      InvalidArgument, InvalidHandle, InvalidInertia, InvalidSize, IterationLimit, LimitExceeded,
                      NotConvex, NotFinite, NotFound, NotWatertight, OutOfMemory, Singular, StepTooSmall, Syntax,
                      ThreadFailed, UnknownKey, Unsupported, VersionMismatch, WriteFailed, WrongType, lib)
from ._recording import Frame, Recorder, Recording, summary_of
from ._scene import Measure, Scene, builtin_parameters, builtin_scenes, load
from ._shapes import (Mass, Mesh, Motion, Shape, box, capsule, compound, cone, cylinder, depth, disc, distance,
                      ellipsoid, feature_kind, first_contact, growth, growth_gradient, growth_of_features, halfspace, heights,
                      hull, planar_hull, polygon, separation, sphere, terrain)
from ._solve import (Problem, Solution, Solver, explain_friction, feasible, force_ranges, impact_laws, judge, lp_heuristic,
                     relax_joints, resolve_impact, solve, solve_all, solve_given, solvers, uniqueness)
from ._viewer import Page, Viewer, command, page, replay, view
from ._world import (Event, Force, ForceContext, Hit, Material, Random, Snapshot, StepInfo, World, contact_law,
                     contact_mode, methods, quaternion_of_axis_angle, quaternion_of_matrix,
                     quaternion_of_planar_angle, quaternion_of_rotation_vector)

__version__: str = lib.rg_version_text().decode()

__all__ = [
    "Batch", "Body", "Box", "Busy", "Collider", "ColliderHandle", "DegenerateGeometry", "DuplicateName", "Env",
    "Error", "Event", "FileDamaged", "FileUnreadable", "Force", "ForceContext", "Frame", "Hit", "Interrupted",
    "InvalidArgument", "InvalidHandle", "InvalidInertia", "InvalidSize", "IterationLimit", "Joint",
    "LimitExceeded", "Mass", "Material", "Measure", "Mesh", "Motion", "NotConvex", "NotFinite", "NotFound",
    "NotWatertight", "OutOfMemory", "Page", "Problem", "Random", "Recorder", "Recording", "Scene", "Shape",
    "Singular", "Snapshot", "Solution", "Solver", "StepInfo", "StepTooSmall", "Syntax", "ThreadFailed",
    "UnknownKey", "Unsupported", "VectorEnv", "VersionMismatch", "Viewer", "World", "WriteFailed", "WrongType",
    "box", "builtin_parameters", "builtin_scenes", "c", "capsule", "command", "compound", "cone", "contact_law",
    "contact_mode", "cylinder", "depth", "disc", "distance", "ellipsoid", "explain_friction", "feasible",
    "feature_kind", "first_contact", "force_ranges", "growth", "growth_gradient", "growth_of_features",
    "halfspace", "heights", "hull", "impact_laws", "judge", "load", "lp_heuristic", "methods", "page",
    "planar_hull", "polygon", "quaternion_of_axis_angle", "quaternion_of_matrix", "quaternion_of_planar_angle",
    "quaternion_of_rotation_vector", "relax_joints", "replay", "resolve_impact", "separation", "solve",
    "solve_all", "solve_given", "solvers", "sphere", "step_worlds", "summary_of", "terrain", "uniqueness", "view",
]
