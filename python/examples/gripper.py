"""A gripper: two fingers on sliders close on a box with a force, lift it, and friction holds it."""

import rigor

world = rigor.World()
world.add_body(rigor.halfspace(), motion="fixed", name="table")
rubber = world.add_material("rubber", friction=0.8)
box = world.add_body(rigor.box(0.06, 0.06, 0.06), position=(0, 0, 0.03), density=800, material=rubber, name="box")
palm = world.add_body(rigor.Collider(rigor.box(0.2, 0.04, 0.02)), position=(0, 0, 0.15), name="palm")
lift = world.add_joint("slider", None, palm, point=(0, 0, 0.15), axis=(0, 0, 1), motor="position", target=0,
                       gain=5000, gain_velocity=500)
fingers = []
for side in (-1, 1):
    finger = world.add_body(rigor.box(0.01, 0.04, 0.1), position=(0.06 * side, 0, 0.07), material=rubber)
    fingers.append(world.add_joint("slider", palm, finger, point=(0.06 * side, 0, 0.12), axis=(-side, 0, 0),
                                   motor="velocity", target=0, max_force=20))

world.step(1 / 500, 50)
for finger in fingers:  # close, with at most 20 N each
    finger.set_target(0.1)
world.step(1 / 500, 300)
pinch = [abs(finger.state.motor_force[0]) for finger in fingers]
for number in range(500):  # lift by 0.1 m in 1 s
    lift.set_target(0.1 * (number + 1) / 500)
    world.step(1 / 500)
world.step(1 / 500, 500)
print(f"pinched with {pinch[0]:.2f} N and {pinch[1]:.2f} N; the box is {box.position[2] - 0.03:.4f} m above the table")
assert box.position[2] > 0.12 and abs(box.velocity).max() < 1e-3
assert world.summary.passed_through == 0

for finger in fingers:  # let go
    finger.set_target(-0.1)
world.step(1 / 500, 500)
print(f"let go: at {box.position[2]:.4f} m")
assert box.position[2] < 0.05
