"""Friction identified by optimisation: which mu explains how far a block slid?

A block is thrown over a table with an unknown coefficient and its path is measured, with noise. The coefficient
for which the simulated path is nearest is found by
golden section on the sum of squares."""

import numpy as np

import rigor

TRUE_MU, SPEED, STEP = 0.37, 2.0, 1 / 200


def slide(mu):
    """Positions over the first 0.4 s, every step."""
    world = rigor.World(certify=False)
    world.add_body(rigor.halfspace(), motion="fixed")
    block = world.add_body(rigor.box(0.2, 0.2, 0.05), position=(0, 0, 0.025), velocity=(SPEED, 0, 0))
    world.materials[0].law = rigor.contact_law(friction=mu)
    path = []
    for _ in range(80):
        world.step(STEP)
        path.append(block.position[0])
    return np.array(path)


random = np.random.default_rng(7)
measured = slide(TRUE_MU) + random.normal(scale=0.5e-3, size=80)


def cost(mu):
    return np.sum((slide(mu) - measured) ** 2)


low, high, golden = 0.0, 1.0, (np.sqrt(5) - 1) / 2
points = [high - golden * (high - low), low + golden * (high - low)]
values = [cost(mu) for mu in points]
while high - low > 1e-4:
    if values[0] < values[1]:
        high, points[1], values[1] = points[1], points[0], values[0]
        points[0] = high - golden * (high - low)
        values[0] = cost(points[0])
    else:
        low, points[0], values[0] = points[0], points[1], values[1]
        points[1] = low + golden * (high - low)
        values[1] = cost(points[1])
found = (low + high) / 2
print(f"mu = {found:.4f}, in truth {TRUE_MU}; residual {np.sqrt(cost(found) / 80) * 1e3:.2f} mm, noise 0.50 mm")
assert abs(found - TRUE_MU) < 2e-3
