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


def orders(tools, scene, steps, low, *words):
    """Infeasibility against the step, with its order at the finest pair."""
    report = json.loads(tools("converge", scene, *words, "--steps", steps, "--json", "--quiet"))
    text = "| step | infeasibility | order |\n|---|---|---|\n"
    last = None
    for row in report["series"][0]["rows"]:
        last = row["infeasibility_order"] or last
        order = f"{row['infeasibility_order']:.2f}" if row["infeasibility_order"] else ""
        text += f"| {row['step_s']:.4g} s | {row['infeasibility_m']:.3g} m | {order} |\n"
    if last is None or last < low:
        raise Failed(f"{scene}: order {last} at the finest steps, at least {low} is claimed")
    return text + "\n"


# ---- Baraff 1989 ----

def figures_7_to_9(tools):
    rows = measured(tools, "point-on-incline") + measured(tools, "block-on-floor")
    return table(*rows, *measured(tools, "ledge", tolerance=1e-6))


def figure_10(tools):
    """How often the heuristic is right, over two scenes."""
    text = "| scene | problems | V empty right | prediction right | wrong |\n|---|---|---|---|---|\n"
    for scene in (["brick-stack", "mu=0"], ["brick-stack", "mu=0", "offset=0.3", "count=8"]):
        h = tools.report(*scene, "--method", "analytic", "--solver", "lp")["heuristic"]
        text += (f"| `{' '.join(scene)}` | {h['problems']} | {h['empty_right']} | {h['predicted_right']} | "
                 f"{h['mispredicted']} |\n")
        if h["empty_right"] < 0.75 * h["problems"]:
            raise Failed(f"{scene}: {h}")
    return text + ("\nWhere a contact does vanish, the prediction is often wrong in the second scene; that is noticed, "
                   "and the exact solver's answer taken.\n")


def figures_11_to_13(tools):
    rows = []
    for scene in (["billiard"], ["billiard", "law=propagation"], ["mass-nine"], ["pushed-off"]):
        for row in measured(tools, *scene):
            rows.append(row.replace("| ", f"| `{' '.join(scene)}` ", 1))
    return table(*rows)


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
    for scene, times in (("chain-wrecks", "0,0.5,1,1.5"), ("chain-pivot", "0,0.5,1,2"), ("chain-blocks", "0,0.5,1,2")):
        text += tools.strip(scene, scene, "--at", times)
        report = tools.report(scene, "--accept-failures")
        joint, depth = report["certificate"]["joint_error_m"], report["certificate"]["max_penetration_m"]
        energy = report["energy"]
        rows += f"| `{scene}` | {joint:.2g} m | {depth:.2g} m | {energy['initial_J']:.5g} → {energy['final_J']:.5g} J |\n"
        if joint > 1e-9 or depth > 0.02 or energy["final_J"] > energy["initial_J"]:
            raise Failed(f"{scene}: joint error {joint} m, penetration {depth} m, {energy}")
    return text + "\n" + rows + "\n"


# ---- the survey of 1994 ----

def particle(tools):
    """A point on an ellipsoid, by an equality and by two inequalities: the same motion."""
    places = []
    for words in ([], ["inequalities=1"]):
        recording = os.path.join(tools.scratch, f"particle{len(words)}.h5")
        tools("run", "particle", *words, "--duration", "2", "--out", recording, "--quiet")
        last = tools("export", recording, "--csv", "-").strip().splitlines()[-1].split(",")
        places.append([float(x) for x in last[3:6]])
    apart = math.dist(*places)
    if apart > 1e-8:
        raise Failed(f"{apart} m apart after 2 s")
    return f"After 2 s the two are {apart:.1g} m apart.\n"



def friction(tools):
    return table(*measured(tools, "incline", "mu=0.3", "angle=30"), *measured(tools, "block-stop"),
                 *measured(tools, "slide-to-roll"), *measured(tools, "bead", only=["leaving_cosine"]))


def painleve(tools):
    text = table(*measured(tools, "painleve"))
    words = tools("run", "painleve", "case=indeterminate", "--quiet", "--json")
    texts = json.loads(words)["event_texts"]
    if not any("possible" in t or "policy" in t for t in texts):
        raise Failed(f"two solutions are not reported: {texts}")
    return text + "".join(f"> {t}\n" for t in texts[:2]) + "\n"


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
    slope = math.log(points[2] / points[1]) / math.log(10)
    if not 0.4 < slope < 0.6:
        raise Failed(f"steps grow like k^{slope:.2f}: {points}")
    return text + f"\nSteps grow like k^{slope:.2f} (claimed: k^0.5).\n"


# ---- Baraff 1994 ----

def timing(tools):
    """Dantzig's algorithm beside a quadratic program, without friction."""
    rows = {}
    for line in tools("bench", "solve").splitlines():
        words = line.split()
        if words and words[0] == "none" and words[2] in ("dantzig", "qp"):
            rows.setdefault(int(words[1]), {})[words[2]] = float(words[-1])
    text = "| contacts | dantzig | qp | ratio |\n|---|---|---|---|\n"
    for count, row in sorted(rows.items()):
        text += f"| {count} | {row['dantzig']:.0f} µs | {row['qp']:.0f} µs | {row['qp'] / row['dantzig']:.0f} |\n"
        if row["qp"] < 5 * row["dantzig"]:
            raise Failed(f"{count} contacts: qp takes {row['qp'] / row['dantzig']:.1f} times as long, 5 are claimed")
    if max(row["dantzig"] for row in rows.values()) > 1e6 / 60:
        raise Failed("not interactive")
    return text + "\n"


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


def balance2(tools):
    return (tools.strip("balance2", "balance2", "--at", "0,2,3,5,6,12", "--columns", "3") +
            orders(tools, "balance2", "0.02,0.01,0.002,0.001", 1.8))


def pyramid1(tools):
    return (tools.strip("pyramid1", "pyramid1", "--at", "0,1,2,3,4,10", "--columns", "3") +
            orders(tools, "pyramid1", "0.02,0.01,0.002,0.001", 1.8))


def dice3(tools):
    text = tools.strip("dice3", "dice3", "--at", "0,1,2,3")
    depth = tools.report("dice3", "--step", "0.1")["certificate"]["max_penetration_m"]
    if depth > 1e-12:
        raise Failed(f"dice3 with a step of 0.1 s: {depth} m")
    return (text + f"With the paper's start infeasibility is rounding even at h = 0.1 s ({depth:.1g} m). With a spin of "
            "1 rad/s (`dice3 spin=1`):\n\n" + orders(tools, "dice3", "0.02,0.01,0.005,0.0025", 1.8, "spin=1"))


def metric(tools):
    """Cost of the ratio metric against the number of vertices."""
    rows = [line.split() for line in tools("bench", "narrow").splitlines()[1:]]
    text = "| vertices | cold | warm |\n|---|---|---|\n"
    for vertices, cold, warm in rows:
        text += f"| {vertices} | {cold} µs | {warm} µs |\n"
    slope = math.log(float(rows[-1][1]) / float(rows[0][1])) / math.log(float(rows[-1][0]) / float(rows[0][0]))
    if slope > 1:
        raise Failed(f"cold queries cost n^{slope:.2f}")
    return text + f"\nCold queries cost n^{slope:.2f}; the linear program's bound is n.\n"


# ---- Giang 2003 ----

def reduction(tools):
    """All contact points against four at most: a pile at rest."""
    text = "| points | contacts | deepest penetration | failed solves |\n|---|---|---|---|\n"
    most = {}
    for points in ("all", "4"):
        report = tools.report("pile", "count=20", "--points", points, "--duration", "3")
        most[points] = report["contacts_max"]
        text += (f"| {points} | {most[points]} | {report['certificate']['max_penetration_m']:.2g} m | "
                 f"{report['solver_failures']} of {report['solves']} |\n")
    if most["4"] > most["all"]:
        raise Failed(f"contacts: {most}")
    return text + "\n"


CLAIMS = (
    ("figures-7-9", "Baraff 1989, Figures 7 to 9", "Contact forces in closed form: a point on a slope, a block on "
     "two supports, a brick past a ledge, one of whose contacts vanishes.", figures_7_to_9),
    ("figure-10", "Baraff 1989, section 6", "No contact vanishes in the vast majority of instants; a linear program "
     "predicts which ones do in the others, and can be wrong.", figure_10),
    ("figures-11-13", "Baraff 1989, Figures 11 to 13", "Impacts solved at once or handed on; a heavy ball against a "
     "light one at a wall in one solve; a neighbour that feels nothing.", figures_11_to_13),
    ("figure-14", "Baraff 1989, Figures 1 and 14a, b", "Bricks and dominoes fall without penetrating, and energy "
     "never grows.", figure_14),
    ("chains", "Baraff 1989, Figures 14c to f", "Chains swing into a wall, run over a pivot and catch blocks: joints "
     "hold, bodies do not pass through each other, energy falls.", chains),
    ("particle", "Baraff 1994 survey, section 2.1", "A constraint C = 0 is C ≥ 0 and −C ≥ 0.", particle),
    ("friction", "Baraff 1994 survey, sections 2 and 5", "Coulomb friction and curvature in closed form.", friction),
    ("painleve", "Baraff 1994 survey, section 7", "A rod pushed like chalk: no force exists and an impulse is the way "
     "out; or two motions are possible, and both are reported.", painleve),
    ("detection", "Baraff 1994 survey, section 3", "Continuous detection never misses what discrete detection steps "
     "over.", detection),
    ("penalty", "Baraff 1994 survey, section 4.2", "Penalty forces let bodies sink, less with stiffer springs, at the "
     "price of steps that grow like the root of the stiffness.", penalty),
    ("timing", "Baraff 1994, results", "Pivoting is several times as fast as a quadratic program, and interactive.",
     timing),
    ("gammas", "Hart and Anitescu 2010, Figure 5", "Infeasibility falls with the square of the step for gamma > 0 and "
     "is inversely proportional to gamma; for gamma = 0 it is of first order.", gammas),
    ("balance2", "Hart and Anitescu 2010, Balance2", "The story of the figure, and infeasibility of second order.",
     balance2),
    ("pyramid1", "Hart and Anitescu 2010, Pyramid1", "The story of the figure, and infeasibility of second order.",
     pyramid1),
    ("dice3", "Hart and Anitescu 2010, Dice3", "The story of the figure, and infeasibility of second order.", dice3),
    ("metric", "Hart and Anitescu 2010, section 2", "The metric is a linear program of cost O(m + n).", metric),
    ("reduction", "Giang 2003, Figures 4 and 5", "Fewer contact points carry as well.", reduction),
)

HEAD = """# The papers, reproduced

Made by `./reproduce`: each figure and claim of the papers that the command shows, with what came out and a check
that fails where it is not as claimed. [claims.md](claims.md) lists all claims and the tests that show them.
Times are of the machine that it was run on.

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
        for name, paper, claim, function in CLAIMS:
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
            page += f"## {paper}\n\n{claim}\n\n{outcome.rstrip()}\n\n"
    if not names:
        with open(os.path.join(docs, "reproduction.md"), "w", encoding="utf-8") as file:
            file.write(page.rstrip() + "\n")
    if tools.skipped:
        print(f"skipped pictures: {', '.join(tools.skipped)}")
    sys.exit(f"not as claimed: {', '.join(failures)}" if failures else 0)


if __name__ == "__main__":
    main()
