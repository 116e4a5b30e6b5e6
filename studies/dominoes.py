#!/usr/bin/python3
"""Writes studies/dominoes-table.csv: gaps between dominoes, and the speed of the wave after van Leeuwen, The domino
effect, American Journal of Physics 78 (2010) 721, in units of sqrt(g h).

A domino that has been hit leans on the next one for good, without friction; it turns about its lower edge. So all
angles behind the front follow from that of the front, h sin(a - b) = (s + d) cos b - d for a domino at a that leans
on one at b; the energy of the row is conserved until the front meets the next domino; and in that collision the
impulses act along the constraints that hold after it. In the steady wave the front begins each time with the same
angular velocity."""
import math
import os

THICKNESS, BEHIND, GRID = 0.1, 60, 2000  # d / h; dominoes behind the front; points of the integral over a fall
GAPS = [0.05 * k for k in range(2, 16)]


def chain(front, gap):
    """Sums over the row: of (d angle / d front)^2, of heights of the centres; the rate of the second domino."""
    angle, rate, second, squares, heights = front, 1.0, None, 0.0, 0.0
    for _ in range(BEHIND + 1):
        squares += rate * rate
        heights += math.cos(angle) / 2 + THICKNESS / 2 * math.sin(angle)
        sine = (gap + THICKNESS) * math.cos(angle) - THICKNESS
        rate *= 1 - (gap + THICKNESS) * math.sin(angle) / math.sqrt(1 - sine * sine)
        second = rate if second is None else second
        angle += math.asin(sine)
    return squares, heights, second


def speed(gap):
    inertia, end = (1 + THICKNESS**2) / 3, math.asin(gap)
    angles = [end * k / (GRID - 1) for k in range(GRID)]
    sums = [chain(angle, gap) for angle in angles]
    first, last, rate = sums[0][0], sums[-1][0], sums[0][2]
    passed_on = rate * last / (1 + rate * rate * last)  # angular velocity of the new front over that of the old one

    def square(omega, k):
        return (first * omega**2 + 2 / inertia * (sums[0][1] - sums[k][1])) / sums[k][0]
    omega = 1.0
    for _ in range(200):
        omega = passed_on * math.sqrt(square(omega, GRID - 1))
    slowness = [1 / math.sqrt(square(omega, k)) for k in range(GRID)]
    time = sum((a + b) / 2 for a, b in zip(slowness, slowness[1:])) * end / (GRID - 1)
    return (gap + THICKNESS) / time


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dominoes-table.csv")
    with open(path, "w", encoding="ascii") as file:
        file.write("gap,predicted\n")
        for gap in GAPS:
            file.write(f"{gap:.2f},{speed(gap):.6f}\n")


if __name__ == "__main__":
    main()
