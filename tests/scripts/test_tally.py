#!/usr/bin/python3
"""test_tally.py SOURCE-DIR: what ./test counts: CTest runs tests that pass, fail, skip all or a part and are
not there at all, and tools/tally_ctest.py says so. The last lines of ./test come from that."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TESTS = """
add_test([=[good]=] "sh" "-c" "echo fine")
add_test([=[bad]=] "sh" "-c" "echo 'skipped: a part of it'; exit 1")
add_test([=[partly]=] "sh" "-c" "seq 20000; echo 'skipped: one: no disk'; seq 20000; echo 'skipped: two: no tape'")
add_test([=[mentions]=] "sh" "-c" "echo 'nothing was skipped: fine'")
add_test([=[skips]=] "sh" "-c" "echo 'skipped: no sun'; exit 77")
set_tests_properties([=[skips]=] PROPERTIES SKIP_RETURN_CODE 77)
add_test([=[silent]=] "sh" "-c" "exit 77")
set_tests_properties([=[silent]=] PROPERTIES SKIP_RETURN_CODE 77)
add_test([=[missing]=] "/no/such/program")
"""
EXPECTED = """\
pass good in here
fail bad in here
skip bad in here: a part of it
pass partly in here
skip partly in here: one: no disk
skip partly in here: two: no tape
pass mentions in here
skip skips in here: no sun
skip silent in here: it does not say why
fail missing in here
"""
SEVERAL = """\
pass a in test
skip a in test: no sun
skip b in test: no disk
skip programs: no tape
pass a in clang
skip a in clang: no sun
skip b in clang: no tape
fail c in clang
"""
EXPECTED_SKIPS = """\
skip a in test, clang: no sun
skip b in test: no disk
skip programs: no tape
skip b in clang: no tape
"""


def tally(source, *arguments):
    return subprocess.run([sys.executable, source / "tools/tally_ctest.py", *arguments], check=True,
                          stdout=subprocess.PIPE, universal_newlines=True).stdout


def options_of_test(source):
    """Those of CTest that decide how much of what tests say is kept."""
    text = (source / "test").read_text(encoding="utf-8")
    return [word for option in re.findall(r"--test-output-\S+ \d+", text) for word in option.split()]


def expect(actual, expected):
    if actual != expected:
        sys.exit(f"FAILED:\n{actual}\nexpected:\n{expected}")


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "CTestTestfile.cmake").write_text(TESTS, encoding="utf-8")
        subprocess.run(["ctest", "--test-dir", folder, *options_of_test(source), "--output-junit",
                        folder / "result.xml"], check=False, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env={**os.environ, "CTEST_PARALLEL_LEVEL": "1"})
        expect(tally(source, folder / "result.xml", "here"), EXPECTED)
        (folder / "empty.xml").write_text("<testsuite/>", encoding="utf-8")
        expect(tally(source, folder / "empty.xml", "here"), "fail tests in here: none found\n")
        (folder / "cut.xml").write_text("<testsuite", encoding="utf-8")
        if not tally(source, folder / "cut.xml", "here").startswith("fail tests in here: no result ("):
            sys.exit("FAILED: a file that was cut")
        (folder / "tally").write_text(SEVERAL, encoding="utf-8")
        expect(tally(source, "--skips", folder / "tally"), EXPECTED_SKIPS)


main()
