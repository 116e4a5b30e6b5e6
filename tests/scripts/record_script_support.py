"""What the script tests of the command share."""
import json
import os
import subprocess
import sys
import tempfile


def scratch_directory():
    """In memory if possible: the tests write a lot."""
    return tempfile.TemporaryDirectory(
        prefix="rigor-test-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)


class Command:
    def __init__(self, path):
        self.path = os.path.abspath(path)

    def __call__(self, *arguments, **options):
        """Runs it to the end; the result has returncode, stdout and stderr."""
        return subprocess.run([self.path, *map(str, arguments)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=300,
                              **options)

    def start(self, *arguments, **options):
        return subprocess.Popen([self.path, *map(str, arguments)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, universal_newlines=True, **options)

    def report(self, *arguments, **options):
        """The JSON object of a run that must succeed."""
        result = self(*arguments, "--json", **options)
        check(result.returncode == 0, f"{arguments}: exit {result.returncode}: {result.stderr}")
        check(result.stdout.count("\n") == 1, f"more than one line: {result.stdout}")
        return json.loads(result.stdout)


def check(condition, message):
    if not condition:
        print(f"FAILED: {message}")
        sys.exit(1)


def check_equal(value, expected, what):
    check(value == expected, f"{what}: {value!r}, expected {expected!r}")


def expect(rigor, arguments, code, stderr=None, stdout=None, **options):
    """Exit code, and texts that must occur in what was printed ("" for nothing)."""
    result = rigor(*arguments, **options)
    what = f"rigor {' '.join(map(str, arguments))}"
    check_equal(result.returncode, code, f"{what}: exit code ({result.stderr.strip()})")
    for text, got, name in ((stderr, result.stderr, "stderr"), (stdout, result.stdout, "stdout")):
        if text == "":
            check_equal(got, "", f"{what}: {name}")
        elif text is not None:
            check(text in got, f"{what}: {name} is {got!r}, without {text!r}")
    return result
