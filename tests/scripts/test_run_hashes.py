"""test_run_hashes.py [--tally FILE] [--update] [--some N] BUILD-DIR...: the same bits everywhere.

Runs built-in scenes with the `rigor` of every build directory (gcc, clang, sanitizers), with 1 and 2
threads, and compares the state hash at the end with the one in data/golden_hashes.txt. A change
there is a change of results: --update writes the new ones, and the commit says why.

Each line of the golden file is a hash and the arguments of `rigor run`. --tally appends a line
`pass NAME` or `fail NAME` per run for ./test. --some tries N of them, from all over the list, for machines
that are slow."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "data" / "golden_hashes.txt"
THREADS = (1, 2)
HEADER = """\
# State hash at the end of a run, and the arguments of `rigor run` that give it: with gcc and clang,
# with sanitizers and without, for any number of threads. Written by tests/scripts/test_run_hashes.py --update.
"""


def read_golden():
    golden = {}
    for line in GOLDEN.read_text().splitlines():
        if line and not line.startswith("#"):
            state_hash, arguments = line.split(maxsplit=1)
            golden[arguments] = state_hash
    return golden


def run(build, threads, arguments):
    """The state hash, or what went wrong."""
    command = [str(pathlib.Path(build).resolve() / "rigor"), "run", *arguments.split(), "--json", "--quiet",
               "--threads", str(threads)]
    done = subprocess.run(command, text=True, capture_output=True, check=False, cwd=ROOT)
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr.strip()}"
    try:
        return json.loads(done.stdout.splitlines()[-1])["state_hash"]
    except (IndexError, ValueError, KeyError) as error:
        return f"no state hash in {done.stdout!r} ({error!r})"


def run_all(builds, scenes):
    """{arguments: {place: hash}}"""
    jobs = [(build, threads, arguments) for arguments in scenes for build in builds
            for threads in THREADS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as executor:
        results = list(executor.map(lambda job: run(*job), jobs))
    found = {arguments: {} for arguments in scenes}
    for (build, threads, arguments), result in zip(jobs, results):
        place = f"{pathlib.Path(build).name} with {threads} thread{'s' if threads > 1 else ''}"
        found[arguments][place] = result
    return found


def judge(found, golden):
    """Yields (arguments, list of differences)."""
    for arguments, places in found.items():
        expected = golden[arguments]
        if len(set(places.values())) == 1 and expected not in places.values():
            result = next(iter(places.values()))
            yield arguments, [f"everywhere: {result}, expected {expected}"]
            continue
        yield arguments, [f"{place}: {result}, expected {expected}"
                          for place, result in places.items() if result != expected]


def update(found):
    lines = []
    for arguments, places in found.items():
        hashes = set(places.values())
        if len(hashes) != 1 or " " in next(iter(hashes)):
            sys.exit(f"{arguments}: no single hash to write: {places}")
        lines.append(f"{hashes.pop()}  {arguments}\n")
    GOLDEN.write_text(HEADER + "".join(lines))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tally")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--some", type=int)
    parser.add_argument("builds", nargs="+")
    options = parser.parse_args()

    golden = read_golden()
    if options.some and options.update:
        parser.error("--update writes all hashes")
    if options.some:
        golden = dict(list(golden.items())[:: max(1, len(golden) // options.some)][:options.some])
    found = run_all(options.builds, golden)
    if options.update:
        update(found)
        return 0
    failed = 0
    tally = ""
    for arguments, differences in judge(found, golden):
        word = "fail" if differences else "pass"
        failed += bool(differences)
        print(f"{word}  {arguments}")
        for difference in differences:
            print(f"      {difference}")
        tally += f"{word} state hash of {arguments}\n"
    if not golden:
        failed, tally = 1, "fail state hashes: the golden file names no scene\n"
    if options.tally:
        with open(options.tally, "a", encoding="utf-8") as file:
            file.write(tally)
    return 1 if failed else 0


sys.exit(main())
