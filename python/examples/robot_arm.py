"""A robot arm of two links follows a circle with its tip: targets of the motors by inverse kinematics."""

import numpy as np

import rigor

UPPER, LOWER, STEP = 0.5, 0.4, 1 / 500


def build():
    world = rigor.World()
    first = world.add_body(rigor.capsule(0.03, UPPER - 0.1), density=2000, position=(UPPER / 2, 0, 1),
                           orientation=rigor.quaternion_of_axis_angle((0, 1, 0), np.pi / 2), name="upper")
    second = world.add_body(rigor.capsule(0.03, LOWER - 0.1), density=2000, position=(UPPER + LOWER / 2, 0, 1),
                            orientation=rigor.quaternion_of_axis_angle((0, 1, 0), np.pi / 2), name="lower")
    motor = {"motor": "position", "gain": 4000.0, "gain_velocity": 200.0}
    shoulder = world.add_joint("hinge", None, first, point=(0, 0, 1), axis=(0, -1, 0), **motor)
    elbow = world.add_joint("hinge", first, second, point=(UPPER, 0, 1), axis=(0, -1, 0), **motor)
    return world, shoulder, elbow


def angles_for(x, z):
    """Elbow down; angles counter-clockwise in the x-z plane, from the arm stretched along x."""
    bend = np.arccos((x * x + z * z - UPPER**2 - LOWER**2) / (2 * UPPER * LOWER))
    return np.arctan2(z, x) - np.arctan2(LOWER * np.sin(bend), UPPER + LOWER * np.cos(bend)), bend


def tip(shoulder, elbow):
    a, b = shoulder.coordinates[0], elbow.coordinates[0]
    return np.array([UPPER * np.cos(a) + LOWER * np.cos(a + b), UPPER * np.sin(a) + LOWER * np.sin(a + b)])


world, shoulder, elbow = build()
zero = shoulder.coordinates[0], elbow.coordinates[0]
assert max(map(abs, zero)) < 1e-9
worst = 0.0
for number in range(1500):
    turn = 2 * np.pi * max(0.0, number * STEP - 1) / 2
    wanted = np.array([0.6 + 0.1 * np.cos(turn), 0.1 * np.sin(turn)])
    for joint, target in zip((shoulder, elbow), angles_for(*wanted)):
        joint.set_target(target)
    world.step(STEP)
    if number * STEP > 1:
        worst = max(worst, np.linalg.norm(tip(shoulder, elbow) - wanted))
print(f"the tip was at most {1000 * worst:.1f} mm from the circle; joints open by at most "
      f"{world.summary.certificate.joint_error:.1e} m")
assert worst < 0.02 and world.summary.certificate.joint_error < 1e-8
