"""tally_ctest.py JUNIT CONFIGURATION: a line `pass NAME`, `fail NAME` or `skip NAME` for every test
of a CTest run, from its JUnit file. No file, an unreadable one or one without tests is a failure."""

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


def main():
    path, configuration = sys.argv[1:]
    try:
        cases = ElementTree.parse(path).getroot().findall("testcase")
    except (OSError, ElementTree.ParseError) as error:
        print(f"fail tests in {configuration}: no result ({error})")
        return
    if not cases:
        print(f"fail tests in {configuration}: none found")
    for case in cases:
        print(f"{verdict(case)} {case.get('name')} in {configuration}")


main()
