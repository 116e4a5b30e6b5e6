"""tally_ctest.py JUNIT CONFIGURATION: a line `pass NAME`, `fail NAME` or `skip NAME: REASON` for every
test of a CTest run, from its JUnit file. No file, an unreadable one or one without tests is a failure.

What a test leaves out, it says in a line `skipped: WHAT AND WHY`. Each such line is a line `skip` here,
also beside the `pass` or `fail` of the rest of the test.

tally_ctest.py --skips TALLY: the lines `skip` of a tally; those that differ in the configuration alone as
one line, `skip NAME in ONE, ANOTHER: REASON`."""

import re
import sys
import xml.etree.ElementTree as ElementTree


def verdict(case):
    if case.get("status") == "run":
        return "pass"
    skipped = case.find("skipped")
    # CTest also calls a test "skipped" whose program is not there. That is a failure.
    if skipped is not None and skipped.get("message", "").startswith("SKIP_RETURN_CODE"):
        return "skip"
    return "fail"


def left_out(case):
    output = case.findtext("system-out") or ""
    return re.findall(r"^skipped: (.*\S)", output, re.MULTILINE)


def merge_skips(lines):
    configurations = {}
    for line in lines:
        match = re.match(r"skip (.*?) in (\w+): (.*)", line)
        if match:
            name, configuration, reason = match.groups()
            configurations.setdefault((name, reason), []).append(configuration)
        elif line.startswith("skip "):
            configurations[line] = None
    for key, where in configurations.items():
        yield key if where is None else f"skip {key[0]} in {', '.join(where)}: {key[1]}"


def main():
    if sys.argv[1] == "--skips":
        with open(sys.argv[2], encoding="utf-8") as file:
            for line in merge_skips(file.read().splitlines()):
                print(line)
        return
    path, configuration = sys.argv[1:]
    try:
        cases = ElementTree.parse(path).getroot().findall("testcase")
    except (OSError, ElementTree.ParseError) as error:
        print(f"fail tests in {configuration}: no result ({error})")
        return
    if not cases:
        print(f"fail tests in {configuration}: none found")
    for case in cases:
        name = f"{case.get('name')} in {configuration}"
        result, reasons = verdict(case), left_out(case)
        if result != "skip":
            print(f"{result} {name}")
        elif not reasons:
            print(f"skip {name}: it does not say why")
        for reason in reasons:
            print(f"skip {name}: {reason}")


main()
