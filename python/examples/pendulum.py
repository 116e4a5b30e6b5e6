"""A pendulum against its closed form: the period of a rod of finite swing, by the complete elliptic integral."""

import numpy as np

import rigor

LENGTH, ANGLE, STEP = 1.0, np.radians(60), 1 / 1000


def closed_form():
    """T = 4 sqrt(L / g) K(sin(angle / 2)), K by the arithmetic-geometric mean; L = 2/3 length for a rod."""
    a, b = 1.0, np.cos(ANGLE / 2)
    for _ in range(8):
        a, b = (a + b) / 2, np.sqrt(a * b)
    return 2 * np.pi / a * np.sqrt(2 / 3 * LENGTH / 9.81)


world = rigor.World()
thin = rigor.Mass(1.0, (0, 0, 0), np.diag([LENGTH**2 / 12, LENGTH**2 / 12, 1e-4]))
turn = rigor.quaternion_of_axis_angle((0, 1, 0), ANGLE)
down = np.array([-np.sin(ANGLE), 0, -np.cos(ANGLE)])
rod = world.add_body(rigor.Collider(rigor.box(0.02, 0.02, LENGTH), density=0), mass=thin, orientation=turn,
                     position=down * LENGTH / 2)
hinge = world.add_joint("hinge", None, rod, point=(0, 0, 0), axis=(0, 1, 0))

start, energy = hinge.coordinates[0], world.energy
crossings, last, angles = [], None, []
for number in range(8000):
    world.step(STEP)
    angle = hinge.coordinates[0] - start + ANGLE  # from the vertical
    if last is not None and last > 0 >= angle:
        crossings.append(world.time - STEP * angle / (angle - last))
    last = angle
    angles.append(angle)
period = np.diff(crossings).mean()
print(f"period {period:.6f} s, closed form {closed_form():.6f} s")
print(f"energy changed by {world.energy - energy:.1e} J in {world.time:.0f} s; the joint is open by {hinge.error:.1e} m")
assert abs(period - closed_form()) < 1e-3 * closed_form()
assert abs(max(angles[1000:]) - ANGLE) < 2e-3
