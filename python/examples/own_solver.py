"""A solver of your own on plain arrays: projected Gauss-Seidel against the library's, judged by the same judge.

The problems are those of a run: an observer is shown every one before it is solved."""

import numpy as np

import rigor


def gauss_seidel(matrix, b, sweeps=2000):
    """f >= 0, A f + b >= 0, perpendicular."""
    force = np.zeros(len(b))
    for _ in range(sweeps):
        for row in range(len(b)):
            force[row] = max(0.0, force[row] - (matrix[row] @ force + b[row]) / matrix[row, row])
    return force


# A random problem with as many rows as a small heap has contacts.
random = np.random.default_rng(1)
jacobian = random.normal(size=(12, 18))
matrix, b = jacobian @ jacobian.T, random.normal(size=12)
problem = rigor.Problem.linear(matrix, b)
for name, solver in (("dantzig", "dantzig"), ("lemke", "lemke"), ("own", rigor.Solver("own", gauss_seidel))):
    solution = rigor.solve(problem, solver)
    print(f"{name:8s} {solution.outcome:8s} residual {solution.residual.natural:.1e}")
    assert solution.solved
assert rigor.judge(problem, np.zeros(12)).natural > 1e-3  # the judge is not easily pleased

# With friction: one contact, pushed beyond its cone.
contact = rigor.Problem.contact(q=[-1.0, 0.8, 0.0], w=np.eye(3), mu=0.5)
solution = rigor.solve(contact)
print("force", solution.force, "velocity", solution.velocity)
np.testing.assert_allclose(solution.force, (1, -0.5, 0), atol=1e-9)

# What the solvers are given in a step.
sizes = []
world = rigor.World()
world.add_body(rigor.halfspace(), motion="fixed")
world.add_body(rigor.box(1, 1, 1), position=(0, 0, 0.5))
world.observe_problems(lambda step, island, seen: sizes.append((step, island, seen.contact.contacts)))
world.step(1 / 240)
print("problems of a step (step, island, contacts):", sizes)
assert sizes == [(0, 0, 4)]
