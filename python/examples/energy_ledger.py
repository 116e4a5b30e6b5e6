"""Plotting the energy ledger of a run with matplotlib: where the energy of falling dominoes goes."""

import matplotlib.pyplot as plt
import numpy as np

import rigor

scene = rigor.Scene("dominoes", {"count": 6})
world, step = scene.world, scene.step_size
rows = []
for _ in range(round(1.5 / step)):
    info = world.step(step)
    ledger = info.energy
    rows.append((info.time, ledger.final, ledger.friction_work, ledger.impact_loss, ledger.closure))
time, energy, friction, impacts, closure = np.array(rows).T

figure, (above, below) = plt.subplots(2, 1, sharex=True)
above.plot(time, energy, label="energy")
above.plot(time, energy[0] + np.cumsum(friction + impacts), "--", label="what friction and impacts leave")
above.set_ylabel("J")
above.legend()
below.plot(time, np.cumsum(closure))
below.set_ylabel("unexplained, J")
below.set_xlabel("s")
figure.savefig("ledger.png")
print(f"from {energy[0]:.4f} J to {energy[-1]:.4f} J; friction {friction.sum():.4f} J, impacts {impacts.sum():.4f} J; "
      f"unexplained {abs(closure).sum():.1e} J")
assert abs(closure).sum() < 1e-9 * energy[0]
