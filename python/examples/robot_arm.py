"""A robot arm from URDF follows a circle with its tip: targets of the motors by inverse kinematics."""

import pathlib

import numpy as np

import rigor

UPPER, LOWER, STEP = 0.5, 0.4, 1 / 500

scene = rigor.Scene(pathlib.Path(__file__).with_suffix(".urdf"))
world = scene.world
shoulder, elbow = world.find_joint("shoulder"), world.find_joint("elbow")
for joint in (shoulder, elbow):
    joint.set_axis(motor="position", gain=4000.0, gain_velocity=200.0, max_force=200.0)
print("bodies", [body.name for body in world.bodies], "joints", [joint.name for joint in world.joints])


def angles_for(x, z):
    """Elbow down; angles counter-clockwise in the x-z plane, from the arm stretched along x."""
    bend = np.arccos((x * x + z * z - UPPER**2 - LOWER**2) / (2 * UPPER * LOWER))
    return np.arctan2(z, x) - np.arctan2(LOWER * np.sin(bend), UPPER + LOWER * np.cos(bend)), bend


def tip():
    a, b = shoulder.coordinates[0], elbow.coordinates[0]
    return np.array([UPPER * np.cos(a) + LOWER * np.cos(a + b), UPPER * np.sin(a) + LOWER * np.sin(a + b)])


worst, torque = 0.0, 0.0
for number in range(1500):
    turn = np.pi * max(0.0, number * STEP - 1)
    wanted = np.array([0.6 + 0.1 * np.cos(turn), 0.1 * np.sin(turn)])
    for joint, target in zip((shoulder, elbow), angles_for(*wanted)):
        joint.set_target(target)
    world.step(STEP)
    if number * STEP > 1:
        worst = max(worst, np.linalg.norm(tip() - wanted))
        torque = max(torque, abs(shoulder.state.motor_force[0]))
print(f"the tip was at most {1000 * worst:.1f} mm from the circle, the shoulder's torque at most {torque:.1f} N m; "
      f"joints open by at most {world.summary.certificate.joint_error:.1e} m")
assert worst < 0.02 and world.summary.certificate.joint_error < 1e-8
