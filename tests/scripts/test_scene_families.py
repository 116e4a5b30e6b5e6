"""test_scene_families.py RIGOR [--tally FILE]: no built-in scene ends the program, whatever its parameters.

Every built-in scene runs by both methods with a `rigor` that was built with sanitizers: small and for a
moment; with RIGOR_LONG=1 (`./test --long`) with 20 draws of its parameters, larger and longer. A run may
end badly, by the certificate or because a step has no answer (exit code 1), and a draw may be refused in
words (3); a signal or a finding of a sanitizer is a failure. A run that takes longer than its share is
stopped by SIGTERM, and has to heed it.

--tally appends a line `pass NAME` or `fail NAME` per method for ./test."""

import argparse
import concurrent.futures
import math
import os
import pathlib
import random
import re
import signal
import subprocess
import sys

LONG = os.environ.get("RIGOR_LONG", "0") not in ("", "0")
METHODS = ("stepping", "analytic")
DRAWS = 20 if LONG else 1  # the first is that of the defaults, but small
# Of what is counted. The matrices of the method analytic are dense: memory grows with the square.
LARGEST = {"stepping": 200, "analytic": 40} if LONG else {"stepping": 12, "analytic": 12}
DURATION = 2.5 if LONG else 0.05  # s, simulated
SHARE = 30 if LONG else 10  # s of a run; it is then told to stop
GRACE = 60  # s that a run has to stop, on a busy machine and with sanitizers
FINDING = re.compile(r"Sanitizer|runtime error:|[Aa]ssert")
WHOLE = {"count", "base", "levels", "links", "blocks", "stones", "bricks", "storeys", "courses", "segments",
         "balls", "boxes", "columns", "rows", "turns", "moving", "norm", "inequalities"}
SIDES = {"base", "columns", "rows"}  # the number of bodies is the square


def scenes_of(rigor):
    text = subprocess.run([rigor, "scenes"], text=True, capture_output=True, check=True).stdout
    return re.findall(r"^([a-z][\w-]*)", text, re.M)


def parameters_of(rigor, scene):
    """[(name, default, (low, high) or words or None)]"""
    text = subprocess.run([rigor, "scenes", scene], text=True, capture_output=True, check=True).stdout
    text = text[text.find("Parameters"):] if "\nParameters" in text else ""
    found = []
    for entry in re.split(r"\n(?=  [a-z_]+=)", text)[1:]:
        entry = " ".join(entry.split())
        name, default = re.match(r"([a-z_]+)=(\S+)", entry).groups()
        bounds = re.search(r"\((-?[\d.e+-]+) to (-?[\d.e+-]+)\)", entry)
        words = re.findall(r"(?<=[ :])([a-z]+)(?=[,:]|$| or)", entry) if not bounds else None
        found.append((name, default, tuple(map(float, bounds.groups())) if bounds else words))
    return found


def largest(name, method):
    return int(2 * math.sqrt(LARGEST[method])) if name in SIDES else LARGEST[method]


def drawn(name, default, allowed, draw, method):
    if isinstance(allowed, list):
        return draw.choice(allowed or [default])
    low, high = allowed
    if name == "seed":
        return str(draw.randrange(1, 1_000_000))
    if name in WHOLE:
        high = max(low, min(high, largest(name, method)))
        return str(round(math.exp(draw.uniform(math.log(max(low, 0.6)), math.log(high))) if low > 0 else
                         draw.randint(int(low), int(high))))
    if draw.random() < 0.2:
        return repr(draw.choice((low, high)))
    if low > 0 and high > 100 * low:
        near = draw.random() < 0.7
        value = float(default) * math.exp(draw.uniform(-1, 1)) if near else \
            math.exp(draw.uniform(math.log(low), math.log(high)))
    else:
        value = draw.uniform(max(low, -10 - 3 * abs(float(default))), min(high, 10 + 3 * abs(float(default))))
    return f"{min(max(value, low), high):.6g}"


def cases_of(rigor, scene, method):
    parameters = parameters_of(rigor, scene)
    yield [f"{name}={max(int(allowed[0]), min(int(default), largest(name, method)))}"
           for name, default, allowed in parameters if name in WHOLE]
    for number in range(1, DRAWS if parameters else 1):
        draw = random.Random(f"{scene} {number}")
        yield [f"{name}={drawn(name, default, allowed, draw, method)}" for name, default, allowed in parameters]


def run(rigor, method, words):
    """None, "refused", "stopped", or what went wrong."""
    command = [rigor, "run", *words, "--method", method, "--duration", str(DURATION), "--quiet"]
    with subprocess.Popen(command, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        stopped = False
        try:
            stderr = process.communicate(timeout=SHARE)[1]
        except subprocess.TimeoutExpired:
            stopped = True
            process.send_signal(signal.SIGTERM)
            try:
                stderr = process.communicate(timeout=GRACE)[1]
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                return f"goes on for {GRACE} s after SIGTERM"
    code = process.returncode
    if FINDING.search(stderr) or code not in (0, 1, 3, 128 + signal.SIGTERM):
        return f"exit code {code}: {stderr.strip()[:3000]}"
    if code == 128 + signal.SIGTERM and not stopped:
        return "stopped by nobody"
    return "stopped" if stopped else "refused" if code == 3 else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tally")
    parser.add_argument("--only", help="scenes, with commas")
    parser.add_argument("rigor")
    options = parser.parse_args()
    rigor = str(pathlib.Path(options.rigor).resolve())
    scenes = options.only.split(",") if options.only else scenes_of(rigor)
    assert len(scenes) > 0
    jobs = [(method, [scene, *words]) for scene in scenes for method in METHODS
            for words in cases_of(rigor, scene, method)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as executor:
        results = list(executor.map(lambda job: run(rigor, *job), jobs))
    failed = {method: [] for method in METHODS}
    accepted, stopped = set(), 0
    for (method, words), result in zip(jobs, results):
        stopped += result == "stopped"
        if result in (None, "stopped"):
            accepted.add(words[0])
        elif result != "refused":
            failed[method].append(words)
            print(f"FAILED: rigor run {' '.join(words)} --method {method} --duration {DURATION}\n{result}")
    for scene in set(scenes) - accepted:
        failed[METHODS[0]].append(scene)
        print(f"FAILED: {scene}: every draw of its parameters is refused")
    print(f"{len(jobs)} runs, {results.count('refused')} refused, {stopped} stopped after {SHARE} s, "
          f"{sum(map(len, failed.values()))} failed")
    if not LONG:
        print("skipped: draws of the parameters of built-in scenes: 20 of each only with RIGOR_LONG=1")
    if options.tally:
        with open(options.tally, "a", encoding="utf-8") as file:
            for method in METHODS:
                file.write(f"{'fail' if failed[method] else 'pass'} built-in scenes by {method} with sanitizers\n")
    return 1 if any(failed.values()) else 0


sys.exit(main())
