"""A vector of worlds, stepped in two threads with the same bits as one by one: how likely is a throw to land flat?"""

import time

import numpy as np

import rigor


def throw(seed):
    random = rigor.Random(seed)
    world = rigor.World(certify=False)
    world.add_body(rigor.halfspace(), motion="fixed")
    world.add_body(rigor.box(0.1, 0.1, 0.04), position=(0, 0, 0.3), orientation=random.rotation(),
                   angular_velocity=10 * random.direction(), velocity=(random.between(0, 1), 0, 0), name="brick")
    return world


worlds = [throw(seed) for seed in range(60)]
copies = [world.clone() for world in worlds]
begin = time.perf_counter()
rigor.step_worlds(worlds, 1 / 240, steps=360, threads=1)
middle = time.perf_counter()
rigor.step_worlds(copies, 1 / 240, steps=360, threads=2)
end = time.perf_counter()
assert [world.state_hash for world in worlds] == [world.state_hash for world in copies]

heights = np.array([world["brick"].position[2] for world in worlds])
flat = np.mean(np.abs(heights - 0.02) < 1e-3)
print(f"{len(worlds)} throws: {100 * flat:.0f} % landed flat")
print(f"one thread {middle - begin:.2f} s, two threads {end - middle:.2f} s")
assert flat > 0.5
