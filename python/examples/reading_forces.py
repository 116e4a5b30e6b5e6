"""Reading contact forces: how a stack carries its weight, and what a wall gives back."""

import numpy as np

import rigor

world = rigor.World()
floor = world.add_body(rigor.halfspace(), motion="fixed", name="floor")
boxes = [world.add_body(rigor.box(1, 1, 1), density=500, position=(0, 0, 0.5 + i), name=f"box{i}") for i in range(3)]
world.step(1 / 240, 120)

# Every contact point, as one array: no copy is made.
contacts = world.contacts
print(f"{len(contacts)} contact points, normal forces {contacts['normal_force'].round(2)} N")
print("modes:", sorted({rigor.contact_mode(mode) for mode in contacts["mode"]}))

# Sums by body: each box is held by what is below it and pressed by what is above.
for body in boxes:
    force, torque = body.contact_force
    weight = body.mass.mass * 9.81
    print(f"{body.name}: contact force {force.round(6)} N against a weight of {weight:.3f} N")
    np.testing.assert_allclose(force, (0, 0, weight), rtol=0, atol=1e-6 * weight)

# The floor carries all of them.
on_floor = contacts["force"][contacts["body_b"]["index1"] == floor._id.index1].sum(axis=0)
np.testing.assert_allclose(on_floor[2], 3 * weight, rtol=1e-9)

# Events of a step: a ball that bounces.
world = rigor.World(method="analytic")
world.add_body(rigor.halfspace(), motion="fixed", name="floor")
rubber = world.add_material("rubber", restitution=0.8)
ball = world.add_body(rigor.sphere(0.1), position=(0, 0, 1), material=rubber, name="ball")
world.set_pair_law(rubber, world.materials[0], rigor.contact_law(friction=0.5, restitution=0.8))
times = []
for _ in range(200):
    world.step(0.01)
    for event in world.events:
        print(event.text)
        times.append(event.time)
assert abs(times[0] - np.sqrt(2 * 0.9 / 9.81)) < 1e-9
