"""A first world: a tower of boxes comes to rest, and the certificate says that nothing went through anything."""

import rigor

world = rigor.World()
world.add_body(rigor.halfspace(), motion="fixed", name="floor")
wood = world.add_material("wood", friction=0.4)
for level in range(5):
    world.add_body(rigor.box(0.4, 0.2, 0.1), position=(0.02 * (level % 2), 0, 0.06 + 0.12 * level), material=wood,
                   name=f"plank{level}")

summary = world.run(2)
for body in world.bodies[1:]:
    print(f"{body.name}: at {body.position.round(4)}, speed {abs(body.velocity).max():.1e} m/s")
print(f"smallest gap ever {summary.certificate.min_gap:.1e} m, energy unexplained {summary.energy.closure:.1e} J")
assert summary.passed_through == 0 and summary.certificate.min_gap > -1e-6
assert abs(world.velocities).max() < 1e-6
