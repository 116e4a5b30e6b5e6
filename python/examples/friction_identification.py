"""Friction identified by simulation: which mu explains how far a block slid?

A block is thrown over a table with an unknown coefficient and its path is measured, with noise. A batch of worlds
tries 16 coefficients at once; around the one whose path is nearest the next 16 are tried, ever closer."""

import numpy as np

import rigor

TRUE_MU, SPEED, STEP, STEPS, TRIES = 0.37, 2.0, 1 / 200, 80, 16

world = rigor.World(certify=False)
world.add_body(rigor.halfspace(), motion="fixed")
world.add_body(rigor.box(0.2, 0.2, 0.05), position=(0, 0, 0.025), velocity=(SPEED, 0, 0), name="block")


def slide(coefficients):
    """Positions over the first 0.4 s, every step, a column for each coefficient."""
    batch = rigor.Batch.of_clones(world, len(coefficients), threads=2)
    for one, mu in zip(batch.worlds, coefficients):
        one.materials[0].law = rigor.contact_law(friction=mu)
    path = []
    for _ in range(STEPS):
        batch.step(STEP)
        path.append(batch.state[:, 1, 0])
    return np.array(path)


random = np.random.default_rng(7)
measured = slide([TRUE_MU])[:, 0] + random.normal(scale=0.5e-3, size=STEPS)

low, high = 0.0, 1.0
while high - low > 1e-4:
    tried = np.linspace(low, high, TRIES)
    costs = np.sum((slide(tried) - measured[:, None]) ** 2, axis=0)
    best = int(np.argmin(costs))
    low, high = tried[max(best - 1, 0)], tried[min(best + 1, TRIES - 1)]
found = (low + high) / 2
residual = np.sqrt(np.mean((slide([found])[:, 0] - measured) ** 2))
print(f"mu = {found:.4f}, in truth {TRUE_MU}; residual {residual * 1e3:.2f} mm, noise 0.50 mm")
assert abs(found - TRUE_MU) < 2e-3
