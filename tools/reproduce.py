"""reproduce.py RIGOR DOCS [NAME ...]: the papers' figures and claims, made anew by the command.

Each entry of CLAIMS says what the paper claims and has a function that runs scenes, checks figures
and returns what came out. DOCS/reproduction.md gets claim, figures and pictures of all of them; the
pictures are in DOCS/reproduction. Exit code 1: a check failed, which the page says, too. With names,
only those are made and nothing is written.
"""

import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

CLOSE = 1e-8  # relative: measures beside their closed forms


class Failed(Exception):
    """A figure is not what the paper says."""


class Tools:
    """Runs the command, keeps pictures."""

    def __init__(self, rigor, pictures, scratch):
        self.rigor, self.pictures, self.scratch = os.path.abspath(rigor), pictures, scratch
        self.skipped = []

    def __call__(self, *words):
        done = subprocess.run([self.rigor, *map(str, words)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"rigor {' '.join(map(str, words))}: exit code {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def report(self, *words):
        return json.loads(self("run", *words, "--json", "--quiet"))

    def strip(self, name, *words):
        """A film strip as a JPEG picture; the line that shows it."""
        svg, png = os.path.join(self.scratch, name + ".svg"), os.path.join(self.scratch, name + ".png")
        chromium = os.environ.get("RIGOR_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
        if not chromium or not shutil.which("ffmpeg"):
            self.skipped.append(name)
            return f"(no picture: Chromium or ffmpeg is missing)\n"
        self("strip", *words, "--size", "320x240", "--out", svg)
        with open(svg, encoding="utf-8") as file:
            size = re.search(r'width="(\d+)" height="(\d+)"', file.read(2000)).groups()
        subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                        f"--window-size={size[0]},{size[1]}", f"--screenshot={png}", "file://" + svg],
                       check=True, capture_output=True, timeout=120)
        picture = os.path.join(self.pictures, name + ".jpg")
        subprocess.run(["ffmpeg", "-loglevel", "error", "-y", "-i", png, "-q:v", "5", picture], check=True)
        return f"![{name}](reproduction/{name}.jpg)\n"

    def plot(self, name, columns, rows, *words):
        """A plot of a table as SVG, by `rigor plot`; the line that shows it."""
        if not shutil.which("gnuplot"):
            self.skipped.append(name)
            return "(no plot: gnuplot is missing)\n"
        table = os.path.join(self.scratch, name + ".csv")
        with open(table, "w", encoding="utf-8") as file:
            file.write(",".join(columns) + "\n")
            for row in rows:
                file.write(",".join("" if x is None else str(x) for x in row) + "\n")
        picture = os.path.join(self.pictures, name + ".svg")
        self("plot", table, "--x", columns[0], *words, "--title", "", "--out", picture, "--overwrite")
        with open(picture, encoding="utf-8") as file:
            lines = [line.expandtabs(1).rstrip() for line in file]
        with open(picture, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return f"![{name}](reproduction/{name}.svg)\n"


def near(what, value, expected, tolerance=CLOSE):
    """One line of a table, checked: relative, or absolute where nothing is expected."""
    error = abs(value - expected)
    good = error <= tolerance * max(abs(expected), 1e-300) if expected else error <= tolerance
    if not good:
        raise Failed(f"{what}: {value}, expected {expected}")
    return f"| {what} | {expected:.9g} | {value:.9g} |\n"


def table(*rows):
    return "| | expected | computed |\n|---|---|---|\n" + "".join(rows) + "\n"


def measured(tools, *scene, tolerance=CLOSE, only=None):
    """The measures of a scene that have closed forms, as lines of a table."""
    measures = tools.report(*scene)["measures"]
    rows = []
    for name, value in measures.items():
        if name + "_expected" in measures and (only is None or name in only):
            if isinstance(value, bool):
                if value != measures[name + "_expected"]:
                    raise Failed(f"{' '.join(scene)}: {name} is {value}")
                rows.append(f"| {name} | {measures[name + '_expected']} | {value} |\n")
            else:
                rows.append(near(name, value, measures[name + "_expected"], tolerance))
    if not rows:
        raise Failed(f"{' '.join(scene)} has no measure with a closed form")
    return rows


def slope(points):
    """Of a line through the points in log-log axes, by least squares."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def orders(tools, name, scene, steps, low):
    """Infeasibility in metres and in rho against the step, with fitted slopes over the finer steps."""
    report = json.loads(tools("converge", *scene, "--steps", steps, "--json", "--quiet"))
    rows = [(r["step_s"], r["infeasibility_m"], r["measures"]["infeasibility_rho"]) for r in report["series"][0]["rows"]]
    text = "| step | infeasibility | in rho |\n|---|---|---|\n"
    text += "".join(f"| {h:.4g} s | {m:.3g} m | {rho:.3g} |\n" for h, m, rho in rows)
    fine = [r for r in rows if r[0] <= 0.0101]
    fitted = slope([(h, m) for h, m, _ in fine]), slope([(h, rho) for h, _, rho in fine])
    if min(fitted) < low:
        raise Failed(f"{scene}: slopes {fitted} over the finer steps, at least {low} is claimed")
    picture = tools.plot(name, ("step_s", "metres", "rho"), rows, "--y", "metres,rho", "--log", "xy")
    return picture + "\n" + text + (f"\nFitted slopes for h ≤ 0.01 s: {fitted[0]:.2f} in metres, {fitted[1]:.2f} in rho "
                                   "(claimed: 2).\n")


# ---- Baraff 1989 ----

def figure_2(tools):
    """A light and a heavy box on the same springs, and by constraints."""
    text, depths = "| method | light, 1000 kg | heavy, 4000 kg |\n|---|---|---|\n", {}
    pictures = ""
    for method in ("penalty", "stepping"):
        scene = os.path.join(tools.scratch, f"sink-{method}.yaml")
        with open(scene, "w", encoding="utf-8") as file:
            settings = ", penalty: {stiffness: 49050}" if method == "penalty" else ""
            file.write(f"rigor: 1\nmethod: {{name: {method}{settings}}}\nduration: 5\nbodies:\n"
                       "  - {name: floor, shape: {halfspace: {normal: [0, 0, 1], offset: 0}}, motion: fixed}\n"
                       "  - {name: light, shape: {box: [1, 1, 1]}, position: [-0.8, 0, 0.5]}\n"
                       "  - {name: heavy, shape: {box: [1, 1, 1]}, density: 4000, position: [0.8, 0, 0.5]}\n")
        recording = os.path.join(tools.scratch, f"sink-{method}.h5")
        tools("run", scene, "--out", recording, "--accept-failures", "--quiet")
        lines = [line.split(",") for line in tools("export", recording, "--csv", "-").strip().splitlines()[-2:]]
        depths[method] = {words[2]: 0.5 - float(words[5]) for words in lines}
        text += f"| {method} | {depths[method]['light']:.4g} m | {depths[method]['heavy']:.4g} m |\n"
        pictures += tools.strip(f"sink-{method}", recording, "--at", "0,5")
    near("heavy over light", depths["penalty"]["heavy"] / depths["penalty"]["light"], 4, 1e-3)
    near("by constraints", max(abs(x) for x in depths["stepping"].values()), 0, 1e-9)
    return pictures + "\n" + text


def figures_7_to_9(tools):
    pictures = (tools.strip("point-on-incline", "point-on-incline", "--at", "0.01,0.1,0.2") +
                tools.strip("block-on-floor", "block-on-floor", "--at", "0.1") +
                tools.strip("ledge", "ledge", "--at", "0.01,0.5,0.8"))
    rows = measured(tools, "point-on-incline") + measured(tools, "block-on-floor")
    return pictures + "\n" + table(*rows, *measured(tools, "ledge", tolerance=1e-6))


def figure_10(tools):
    """How often the heuristic is right, over two scenes."""
    text = "| scene | problems | V empty right | prediction right | wrong |\n|---|---|---|---|---|\n"
    for scene in (["brick-stack", "mu=0"], ["brick-stack", "mu=0", "offset=0.3", "count=8"]):
        h = tools.report(*scene, "--method", "analytic", "--solver", "lp")["heuristic"]
        text += (f"| `{' '.join(scene)}` | {h['problems']} | {h['empty_right']} | {h['predicted_right']} | "
                 f"{h['mispredicted']} |\n")
        if h["empty_right"] < 0.75 * h["problems"]:
            raise Failed(f"{scene}: {h}")
    return text


def figures_11_to_13(tools):
    rows = []
    for scene in (["billiard"], ["billiard", "law=propagation"], ["mass-nine"], ["pushed-off"]):
        for row in measured(tools, *scene):
            rows.append(row.replace("| ", f"| `{' '.join(scene)}` ", 1))
    pictures = (tools.strip("billiard", "billiard", "--at", "0,1", "--view", "-y") +
                tools.strip("billiard-propagation", "billiard", "law=propagation", "--at", "0,1", "--view", "-y") +
                tools.strip("mass-nine", "mass-nine", "--at", "0,1", "--view", "-y") +
                tools.strip("pushed-off", "pushed-off", "--at", "0,1", "--view", "-y"))
    return pictures + "\n" + table(*rows)


def figure_14(tools):
    text = tools.strip("brick-stack", "brick-stack", "--method", "analytic", "--at", "0,0.4,0.8,1.2")
    text += tools.strip("dominoes", "dominoes", "count=20", "--at", "0,0.8,1.6,2.4")
    reports = {"brick-stack": tools.report("brick-stack", "--method", "analytic"),
               "dominoes count=20": tools.report("dominoes", "count=20", "--duration", "3")}
    text += "\n| scene | deepest penetration | energy |\n|---|---|---|\n"
    for name, report in reports.items():
        depth, energy = report["certificate"]["max_penetration_m"], report["energy"]
        text += f"| `{name}` | {depth:.2g} m | {energy['initial_J']:.5g} → {energy['final_J']:.5g} J |\n"
        if depth > 1e-3 or energy["final_J"] > energy["initial_J"]:
            raise Failed(f"{name}: {depth} m, {energy}")
    return text


def chains(tools):
    """Linked figures: joints stay closed, nothing penetrates deeply, energy falls."""
    text = ""
    rows = "| scene | joint error | deepest penetration | energy |\n|---|---|---|---|\n"
    for scene, times in (("chain-wrecks", "0,0.5,1,1.5"), ("chain-pivot", "0,0.5,1,2"), ("chain-blocks", "0,0.5,1,2"),
                         ("chain-blocks blocks=8", "0,0.5,1,2")):
        words = scene.split()
        text += tools.strip("-".join(words).replace("=", "-"), *words, "--at", times)
        length = ["--duration", "2"] if "blocks=8" in words else []
        report = tools.report(*words, *length, "--accept-failures")
        joint, depth = report["certificate"]["joint_error_m"], report["certificate"]["max_penetration_m"]
        energy = report["energy"]
        rows += f"| `{scene}` | {joint:.2g} m | {depth:.2g} m | {energy['initial_J']:.5g} → {energy['final_J']:.5g} J |\n"
        if joint > 1e-9 or depth > 0.003 or energy["final_J"] > energy["initial_J"]:
            raise Failed(f"{scene}: joint error {joint} m, penetration {depth} m, {energy}")
    return text + "\n" + rows + "\n"


# ---- the survey of 1994 ----

def particle(tools):
    """A point on an ellipsoid, by an equality and by two inequalities: the same motion."""
    places, heights = [], []
    for words in ([], ["inequalities=1"]):
        recording = os.path.join(tools.scratch, f"particle{len(words)}.h5")
        tools("run", "particle", *words, "--duration", "2", "--out", recording, "--quiet")
        frames = [line.split(",") for line in tools("export", recording, "--csv", "-").strip().splitlines()]
        places.append([float(x) for x in frames[-1][3:6]])
        heights.append([(float(frame[0]), frame[5]) for frame in frames[1:] if frame[2] == frames[-1][2]])
    apart = math.dist(*places)
    if apart > 1e-8:
        raise Failed(f"{apart} m apart after 2 s")
    rows = [(time, held, z if i % 6 == 0 else None) for i, ((time, held), (_, z)) in enumerate(zip(*heights))]
    picture = tools.plot("particle", ("time_s", "z_by_equality_m", "z_by_inequalities_m"), rows, "--y",
                         "z_by_equality_m,z_by_inequalities_m", "--lines", "z_by_equality_m", "--points")
    return picture + f"\nAfter 2 s the two are {apart:.1g} m apart.\n"


def bricks(tools):
    """The ten contacts of the survey's Figure 3, without friction."""
    picture = tools.strip("ten-contacts", "brick-stack", "mu=0", "--method", "analytic", "--at", "0.01,0.4,0.8")
    return picture + "\n" + table(*measured(tools, "brick-stack", "mu=0", "--method", "analytic", "--duration", "0.01"))


def coherence(tools):
    """Boxes that move little from step to step: cost of sorted lists; warm against cold queries."""
    rows = [line.split() for line in tools("bench", "broad").splitlines()[1:]]
    text, points = "| kind | boxes | per box |\n|---|---|---|\n", []
    for kind, boxes, cost, *_ in rows:
        text += f"| {kind} | {boxes} | {cost} µs |\n"
        if kind == "sorted":
            points.append((float(boxes), float(boxes) * float(cost)))
    exponent = slope(points)
    if exponent > 1.35:
        raise Failed(f"sorted lists cost n^{exponent:.2f}")
    text += f"\nSorted lists cost n^{exponent:.2f} (claimed: nearly n).\n\n| vertices | cold | warm |\n|---|---|---|\n"
    rows = [[float(x) for x in line.split()] for line in tools("bench", "narrow").splitlines()[1:]]
    for vertices, cold, warm in rows:
        text += f"| {vertices:.0f} | {cold:.3g} µs | {warm:.3g} µs |\n"
    warm = [row[2] for row in rows]
    if sorted(warm[-3:])[1] > 3 * sorted(warm[:3])[1]:
        raise Failed(f"warm queries cost more for more vertices: {warm}")
    return text + "\n"


def friction(tools):
    return table(*measured(tools, "incline", "mu=0.3", "angle=30"), *measured(tools, "block-stop"),
                 *measured(tools, "slide-to-roll"), *measured(tools, "bead", only=["leaving_cosine"]))


def painleve(tools):
    text = table(*measured(tools, "painleve"))
    words = tools("run", "painleve", "case=indeterminate", "--quiet", "--json")
    texts = json.loads(words)["event_texts"]
    if not any("possible" in t or "policy" in t for t in texts):
        raise Failed(f"two solutions are not reported: {texts}")
    picture = tools.strip("painleve", "painleve", "--at", "0,0.2,0.4")
    return picture + "\n" + text + "".join(f"> {t}\n" for t in texts[:2]) + "\n"


def detection(tools):
    """A bullet against a pane a thousandth of its way in a step."""
    text = "| method | detection | caught |\n|---|---|---|\n"
    for method, kind, expected in (("analytic", "continuous", True), ("stepping", "continuous", True),
                                   ("stepping", "discrete", False)):
        words = ["bullet-pane", "--method", method, "--accept-failures"]
        if method == "stepping":
            words += ["--detection", kind]
        caught = tools.report(*words)["measures"]["caught"]
        text += f"| {method} | {kind} | {caught} |\n"
        if caught != expected:
            raise Failed(f"{method}, {kind}: caught {caught}")
    return text + "\n"


def penalty(tools):
    """A box at rest on four springs sinks by m g / 4 k; steps grow like the root of k."""
    text = "| m g / k | expected depth | depth | steps |\n|---|---|---|---|\n"
    scene = os.path.join(tools.scratch, "penalty.yaml")
    points = []
    for wanted in (1e-5, 1e-6, 1e-7):
        with open(scene, "w", encoding="utf-8") as file:
            file.write(f"rigor: 1\nmethod: {{name: penalty, penalty: {{depth: {wanted}}}}}\nduration: 1\nbodies:\n"
                       "  - {name: floor, shape: {halfspace: {normal: [0, 0, 1], offset: 0}}, motion: fixed}\n"
                       "  - {name: box, shape: {box: [1, 1, 1]}, position: [0, 0, 0.5]}\n")
        report = tools.report(scene, "--accept-failures")
        depth, steps = report["certificate"]["max_penetration_m"], report["substeps"]
        points.append(steps)
        near("depth", depth, wanted / 4, 1e-6)
        text += f"| {wanted:g} m | {wanted / 4:g} m | {depth:.9g} m | {steps} |\n"
    exponent = math.log(points[2] / points[1]) / math.log(10)
    if not 0.4 < exponent < 0.6:
        raise Failed(f"steps grow like k^{exponent:.2f}: {points}")
    return text + f"\nSteps grow like k^{exponent:.2f} (claimed: k^0.5).\n"


# ---- Baraff 1994 ----

def timing(tools):
    """Dantzig's algorithm beside a quadratic program and Lemke's, without friction; n = 12 to 200."""
    rows = {}
    for line in tools("bench", "solve").splitlines():
        words = line.split()
        if words and words[0] == "none" and words[2] in ("dantzig", "qp", "lemke"):
            rows.setdefault(int(words[1]), {})[words[2]] = float(words[-1]), int(words[4])
    text = "| contacts | dantzig | qp | ratio | pivots of dantzig | pivots of lemke |\n|---|---|---|---|---|---|\n"
    for count, row in sorted(rows.items()):
        (fast, pivots), (slow, _) = row["dantzig"], row["qp"]
        text += (f"| {count} | {fast:.1f} µs | {slow:.0f} µs | {slow / fast:.0f} | {pivots} | {row['lemke'][1]} |\n")
        if slow < 5 * fast:
            raise Failed(f"{count} contacts: qp takes {slow / fast:.1f} times as long, 5 are claimed")
        if max(pivots, row["lemke"][1]) > 3 * count:
            raise Failed(f"{count} contacts: {pivots} and {row['lemke'][1]} pivots")
    if max(row["dantzig"][0] for row in rows.values()) > 1e6 / 60:
        raise Failed("not interactive: a solve takes longer than a picture of 60 a second")
    exponents = {name: slope([(n, row[name][0]) for n, row in rows.items()]) for name in ("dantzig", "qp")}
    picture = tools.plot("timing", ("contacts", "dantzig_us", "qp_us"),
                         [(n, row["dantzig"][0], row["qp"][0]) for n, row in sorted(rows.items())],
                         "--y", "dantzig_us,qp_us", "--log", "xy")
    return picture + "\n" + text + (f"\nTimes grow like n^{exponents['dantzig']:.1f} (dantzig) and "
                                   f"n^{exponents['qp']:.1f} (qp).\n")


# ---- Hart and Anitescu 2010 ----

def gammas(tools):
    """Infeasibility of a pivoting rod: C h^2 / gamma, and first order for gamma = 0 (Figure 5)."""
    report = json.loads(tools("converge", "scenes/pivoting-rod.yaml", "--steps", "0.02,0.01,0.005,0.0025",
                              "--gammas", "0,0.25,0.5,0.75,1", "--json", "--quiet"))
    text, finest = "| gamma | infeasibility at h = 0.0025 s | order | ratio to gamma = 1 |\n|---|---|---|---|\n", {}
    for series in report["series"]:
        row = series["rows"][-1]
        finest[series["gamma"]] = row["infeasibility_m"], row["infeasibility_order"]
    for gamma, (value, order) in finest.items():
        ratio = value / finest[1][0]
        text += f"| {gamma:g} | {value:.3g} m | {order:.3f} | {ratio:.2f} |\n"
        expected = 1 if gamma == 0 else 2
        if abs(order - expected) > 0.1 or (gamma and abs(ratio * gamma - 1) > 0.2):
            raise Failed(f"gamma {gamma}: order {order}, ratio {ratio}")
    return text + "\n"


def figure_5(tools):
    """Balance2 with the paper's steps and gammas."""
    report = json.loads(tools("converge", "balance2", "--steps", "0.1,0.05,0.02,0.01", "--gammas", "0,0.25,0.5,0.75,1",
                              "--json", "--quiet"))
    rows, text = [], "| gamma | h = 0.1 s | 0.05 s | 0.02 s | 0.01 s |\n|---|---|---|---|---|\n"
    before, coarse = None, []
    for series in report["series"]:
        values = [row["infeasibility_m"] for row in series["rows"]]
        rhos = [row["measures"]["infeasibility_rho"] for row in series["rows"]]
        text += f"| {series['gamma']:g} | " + " | ".join(f"{m:.3g} m, rho {r:.3g}" for m, r in zip(values, rhos)) + " |\n"
        rows += [(row["step_s"], series["gamma"], m, r) for row, m, r in zip(series["rows"], values, rhos)]
        if any(a <= b for a, b in zip(values, values[1:])):
            raise Failed(f"gamma {series['gamma']}: infeasibility does not grow with the step: {values}")
        if before and any(now >= then for now, then in zip(values[1:], before[1:])):
            raise Failed(f"gamma {series['gamma']}: more infeasibility than with a smaller gamma: {values}, {before}")
        before = values
        coarse.append(values[0])
    text += f"\nAt h = 0.1 s the largest and the smallest differ by {100 * (max(coarse) / min(coarse) - 1):.1f} %.\n"
    return tools.plot("gammas", ("step_s", "gamma", "metres", "rho"), rows, "--y", "metres", "--by", "gamma", "--log",
                      "xy") + "\n" + text + "\n"


def balance2(tools):
    return (tools.strip("balance2", "balance2", "--at", "0,2,3,5,6,12", "--columns", "3") +
            orders(tools, "balance2-infeasibility", ["balance2"], "0.1,0.02,0.01,0.002,0.001", 1.8))


def pyramid1(tools):
    return (tools.strip("pyramid1", "pyramid1", "--at", "0,1,2,3,4,10", "--columns", "3") +
            orders(tools, "pyramid1-infeasibility", ["pyramid1"], "0.1,0.02,0.01,0.002,0.001", 1.8))


def dice3(tools):
    text = tools.strip("dice3", "dice3", "--at", "0,1,2,3")
    depth = tools.report("dice3", "--step", "0.1")["certificate"]["max_penetration_m"]
    if depth > 1e-12:
        raise Failed(f"dice3 with a step of 0.1 s: {depth} m")
    return (text + f"With the paper's start infeasibility is rounding even at h = 0.1 s ({depth:.1g} m). With a spin of "
            "1 rad/s (`dice3 spin=1`):\n\n" + orders(tools, "dice3-infeasibility", ["dice3", "spin=1"], "0.1,0.05,0.01,0.005,0.0025", 1.8))


def metric(tools):
    """Cost of the ratio metric against facets, beside exact depths of the Minkowski difference."""
    rows = []
    for line in tools("bench", "depth", "--most", 1000000).splitlines()[1:]:
        words = line.split()
        if not words[0].isdigit():
            break
        rows.append([None if word == "nan" else float(word) for word in words])
    text = "| facets | ratio metric | exact, search | exact, hull of differences |\n|---|---|---|---|\n"
    for facets, fast, search, hull, _ in rows:
        text += f"| {facets:.0f} | {fast:.3g} µs | {search:.4g} µs | " + (f"{hull:.4g} µs |\n" if hull else "– |\n")
        if facets > 100 and fast > search:
            raise Failed(f"{facets:.0f} facets: the metric takes {fast} µs, the exact depth {search} µs")
    large = [row for row in rows if row[0] > 1000]
    exponents = slope([row[:2] for row in large]), slope([(row[0], row[2]) for row in large])
    if exponents[0] > 1:
        raise Failed(f"the metric costs n^{exponents[0]:.2f}")
    picture = tools.plot("metric", ("facets", "metric_us", "search_us", "hull_us"), [row[:4] for row in rows],
                         "--y", "metric_us,search_us,hull_us", "--log", "xy")
    return picture + "\n" + text + (f"\nFrom 1000 facets on the metric costs n^{exponents[0]:.2f} (the linear program's "
                                   f"bound: n), the exact depth n^{exponents[1]:.2f}; there is no crossover.\n")


# ---- Giang 2003 ----

def reduction(tools):
    """All contact points against four of a pair of parts: bunnies on ramps, or a pile where they are missing."""
    pictures, scene = "", ["pile", "count=20", "--duration", "3"]
    if os.path.exists("build/meshes/bunny.obj"):
        scene = ["scenes/meshes/bunnies-on-ramps.yaml"]
        pictures = tools.strip("bunnies", *scene, "--at", "0,0.4,0.8,1.2,2,4")
    else:
        tools.skipped.append("bunnies (tools/meshes could not fetch the mesh)")
    text = f"`{scene[0]}`:\n\n| points | contacts | deepest penetration | energy at the end | failed solves |\n"
    text += "|---|---|---|---|---|\n"
    most, energy = {}, {}
    for points in ("all", "4"):
        report = tools.report(*scene, "--points", points)
        most[points], energy[points] = report["contacts_max"], report["energy"]["final_J"]
        depth = report["certificate"]["max_penetration_m"]
        text += (f"| {points} | {most[points]} | {depth:.2g} m | {energy[points]:.4g} J | "
                 f"{report['solver_failures']} of {report['solves']} |\n")
        if depth > 5e-3 or report["solver_failures"]:
            raise Failed(f"{points} points: {depth} m deep, {report['solver_failures']} solves failed")
    if most["4"] > most["all"]:
        raise Failed(f"contacts: {most}")
    if abs(energy["4"] - energy["all"]) > 0.1 * abs(energy["all"]):
        raise Failed(f"the bodies come to rest elsewhere: {energy}")
    return pictures + "\n" + text + "\n"


# Name, paper, what it claims, function, what is not as in the paper and why.
CLAIMS = (
    ("figure-2", "Baraff 1989, Figure 2", "A penalty method lets bodies sink in, a heavy one deeper than a light one.",
     figure_2, "The paper gives no masses or stiffness; springs are so soft here that the depth can be seen."),
    ("figures-7-9", "Baraff 1989, Figures 7 to 9", "Contact forces in closed form: a point on a slope, a block on "
     "two supports, a brick past a ledge, one of whose contacts vanishes.", figures_7_to_9,
     "None; the paper has symbols, these are numbers for one case of each."),
    ("figure-10", "Baraff 1989, Figure 10 and section 6", "No contact vanishes in the vast majority of instants; a "
     "linear program predicts which ones do in the others, and can be wrong.", figure_10,
     "The paper gives no counts. Where a contact does vanish, the prediction is often wrong in the second scene; that is "
     "noticed, and the exact solver's answer taken."),
    ("figures-11-13", "Baraff 1989, Figures 11 to 13", "Impacts solved at once or handed on; a heavy ball against a "
     "light one at a wall in one solve; a neighbour that feels nothing.", figures_11_to_13, "None."),
    ("figure-14", "Baraff 1989, Figures 1 and 14a, b", "Bricks and dominoes fall without penetrating, and energy "
     "never grows.", figure_14, "Dimensions are ours. The dominoes are run by fixed steps, whose penetration falls with "
     "the square of the step; the bricks by the analytic method, which has none."),
    ("chains", "Baraff 1989, Figures 14c to f", "Chains swing into a wall, run over a pivot and catch two blocks and "
     "many: joints hold, bodies do not pass through each other, energy falls.", chains,
     "Dimensions are ours. By fixed steps: the penetration is that of impacts within a step of 1/240 s; the analytic "
     "method takes minutes for these scenes."),
    ("particle", "Baraff 1994 survey, section 2.1", "A constraint C = 0 is C ≥ 0 and −C ≥ 0.", particle, "None."),
    ("bricks", "Baraff 1994 survey, Figure 3", "Which of the ten contacts of a stack of bricks break is not obvious.",
     bricks, "None; the case is ours: bricks of 2 × 1 m, each 0.7 m out over the one below. Contacts 3 and 10 break."),
    ("friction", "Baraff 1994 survey, sections 2 and 5", "Coulomb friction and curvature in closed form.", friction,
     "None."),
    ("painleve", "Baraff 1994 survey, section 7", "A rod pushed like chalk: no force exists and an impulse is the way "
     "out; or two motions are possible, and both are reported.", painleve, "None."),
    ("detection", "Baraff 1994 survey, section 3", "Continuous detection never misses what discrete detection steps "
     "over.", detection, "None."),
    ("coherence", "Baraff 1994 survey, section 3.2", "Motion is small from step to step: sorted lists of boxes are "
     "updated in nearly linear time, and a query that starts from the last answer costs the same for any number of "
     "vertices.", coherence, "Time per box rises a little with the number of boxes, as caches hold fewer of them. The "
     "survey has no figures."),
    ("penalty", "Baraff 1994 survey, section 4.2", "Penalty forces let bodies sink, less with stiffer springs, at the "
     "price of steps that grow like the root of the stiffness.", penalty, "None."),
    ("timing", "Baraff 1994, results", "Pivoting is 5 to 10 times as fast as a quadratic program up to n = 150, the "
     "number of pivots is about n, and simulation is interactive.", timing,
     "The ratio is larger than the paper's, and there are fewer pivots than n for many contacts: the solver begins with "
     "the guess that all contacts hold, factors them at once and pivots only where that is wrong. Lemke's algorithm, "
     "which has no such start, shows the paper's growth."),
    ("gammas", "Hart and Anitescu 2010, Figure 5 on a model", "Infeasibility falls with the square of the step for "
     "gamma > 0 and is inversely proportional to gamma; for gamma = 0 it is of first order.", gammas,
     "A pivoting rod instead of Balance2: without impacts the law is exact."),
    ("figure-5", "Hart and Anitescu 2010, Figure 5", "Infeasibility grows with the step and falls with gamma, for "
     "gamma = 0 to 1 and h = 0.01 to 0.1 s in Balance2.", figure_5,
     "The paper gives no dimensions, so that values differ. At h = 0.1 s one impact within a step makes the deepest "
     "overlap, and gamma hardly matters: that infeasibility falls with gamma is checked for h = 0.05 s and less."),
    ("balance2", "Hart and Anitescu 2010, Figures 4 and 6: Balance2", "A dropped square upsets a plank in the balance, "
     "frames at 0, 2, 3, 5, 6 and 12 s; infeasibility is of second order.", balance2,
     "Dimensions are ours, chosen so that the events are spread over the paper's frames."),
    ("pyramid1", "Hart and Anitescu 2010, Figures 7 and 8: Pyramid1", "A triangle starts nine rectangles falling like "
     "dominoes, frames at 0, 1, 2, 3, 4 and 10 s, all at rest at the end; infeasibility is of second order.", pyramid1,
     "Dimensions are ours."),
    ("dice3", "Hart and Anitescu 2010, Figures 9 and 10: Dice3", "A cube tips over the edge of another, frames at 0, 1, "
     "2 and 3 s, both on the floor at the end; infeasibility is of second order.", dice3,
     "Dimensions are ours. Normals chosen for the motion over a step leave rounding only in the paper's start, "
     "so that the slope is shown with a spin."),
    ("metric", "Hart and Anitescu 2010, section 2.3", "The metric is a linear program of cost O(m + n), where exact "
     "depth costs O(m² + n²).", metric, "The metric costs less than its bound, as a walk on the hulls visits few of their "
     "facets. The exact search leaves out pairs of edges that cannot be the answer, and grows more slowly than the "
     "square; the hull of all differences is not tried beyond 520 facets."),
    ("reduction", "Giang 2003, Figures 4 and 5", "Bunnies fall onto ramps; about four of the many contact points of a "
     "pair carry as well as all of them.", reduction, "Convex parts of the mesh instead of the paper's sphere trees: "
     "four points of each pair of parts, not of each pair of bodies."),
)

HEAD = """# The papers, reproduced

Made by `./reproduce`: each figure and claim of the papers that the command shows, with what came out, a check that
fails where it is not as claimed, and what differs from the paper and why. [claims.md](claims.md) lists all claims and
the tests that show them. Times are of the machine that it was run on.

"""


def main():
    rigor, docs, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    unknown = set(names) - {claim[0] for claim in CLAIMS}
    if unknown:
        sys.exit(f"reproduce: there is no {', '.join(sorted(unknown))}; known are "
                 f"{', '.join(claim[0] for claim in CLAIMS)}")
    failures, page = [], HEAD
    with tempfile.TemporaryDirectory(prefix="rigor-reproduce-") as scratch:
        pictures = os.path.join(scratch if names else docs, "" if names else "reproduction")
        os.makedirs(pictures, exist_ok=True)
        tools = Tools(rigor, pictures, scratch)
        for name, paper, claim, function, deviation in CLAIMS:
            if names and name not in names:
                continue
            start = time.time()
            try:
                outcome, word = function(tools), "as claimed"
            except Failed as failure:
                outcome, word = f"**Not as claimed**: {failure}\n", "NOT AS CLAIMED"
                failures.append(name)
            print(f"{name}: {word} ({time.time() - start:.0f} s)", flush=True)
            if names:
                print(outcome)
            page += f"## {paper}\n\n**Claim.** {claim}\n\n{outcome.strip()}\n\n**Deviation.** {deviation}\n\n"
    if not names:
        with open(os.path.join(docs, "reproduction.md"), "w", encoding="utf-8") as file:
            file.write(page.rstrip() + "\n")
    if tools.skipped:
        print(f"skipped pictures: {', '.join(tools.skipped)}")
    sys.exit(f"not as claimed: {', '.join(failures)}" if failures else 0)


if __name__ == "__main__":
    main()
