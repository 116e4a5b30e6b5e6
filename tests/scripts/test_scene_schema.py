#!/usr/bin/python3
"""The JSON Schema of scene files against the reader.

Every good scene passes the schema; every broken scene is refused by it, but for those whose mistake
no schema can see, which are listed here; and the keys of the schema are exactly those of the
reader's tables, which `test_scene_keys --keys` prints.

    test_scene_schema.py ROOT TEST_SCENE_KEYS
"""
import json
import pathlib
import subprocess
import sys

import jsonschema
import yaml

# Mistakes that only the reader sees: in the text before it is data, in names and what they refer to,
# in expressions, files, geometry, numbers that YAML has and JSON has not, and sums of many counts.
SEMANTIC = {
    "duplicate-key", "duplicate-name", "repeat-one-name",
    "no-such-shape", "no-such-body", "no-such-material",
    "expression-syntax", "expression-name", "expression-zero", "word-for-number", "unit",
    "mesh-missing", "mesh-open", "mesh-not-convex", "flat-hull", "compound-in-compound",
    "impossible-inertia", "massless", "quaternion", "friction-order",
    "halfspace-moves", "fixed-velocity", "planar-sphere", "planar-orientation", "too-few-numbers",
    "nan", "infinity", "too-large", "million-of-million",
    "joint-no-body", "joint-itself", "joint-nothing", "joint-zero-axis", "joint-limits", "joint-nan-gain",
    "joint-apart", "joint-axes", "joint-place", "joint-gear-ratio", "joint-hinge-ratio",
    "joint-tendon-sum", "joint-tendon-bodies",
    "joint-surface-missing", "joint-surface-limits", "joint-target-name", "joint-target-zero",
    "force-table", "force-point-of-time", "parameter-t",
    "not-a-truth",  # YAML 1.1 readers take yes for true
    "empty",  # no document at all
}
# Not readable by a plain YAML reader: refused before any schema.
UNREADABLE = {"malformed", "not-utf8", "two-documents", "tag", "tab", "unquoted-expression"}
# Would be expanded, or walked forever, by a reader without limits.
NOT_LOADED = {"billion-laughs", "self-alias"}

failures = []


def check(condition, message):
    if not condition:
        failures.append(message)


def load(path):
    # 1e-3 is a number in YAML 1.2 and to the reader; to this YAML 1.1 reader it is a text, which the
    # schema takes for an expression.
    return yaml.safe_load(path.read_bytes())


def check_good(validator, root):
    paths = sorted((root / "scenes").glob("**/*.yaml"))
    paths += sorted(p for p in (root / "tests/data/scenes/good").iterdir()
                    if p.suffix in (".yaml", ".json"))
    check(len(paths) >= 8, "fewer than 8 good scenes")
    for path in paths:
        for error in validator.iter_errors(load(path)):
            where = ".".join(str(part) for part in error.absolute_path)
            check(False, f"{path.name}: {where}: {error.message}")
    return len(paths)


def check_broken(validator, root):
    paths = sorted((root / "tests/data/scenes/broken").glob("*.yaml"))
    names = {path.stem for path in paths}
    for listed in (SEMANTIC, UNREADABLE, NOT_LOADED):
        check(listed <= names, f"no such broken scenes: {sorted(listed - names)}")
    refused = 0
    for path in paths:
        if path.stem in NOT_LOADED:
            continue
        try:
            data = load(path)
        except (yaml.YAMLError, UnicodeDecodeError):
            check(path.stem in UNREADABLE, f"{path.name}: unexpectedly unreadable")
            continue
        check(path.stem not in UNREADABLE, f"{path.name}: unexpectedly readable")
        valid = validator.is_valid(data) if data is not None else True
        check(valid == (path.stem in SEMANTIC),
              f"{path.name}: the schema {'takes' if valid else 'refuses'} it")
        refused += not valid
    check(refused >= 15, f"only {refused} broken scenes are refused by the schema")
    return refused


def check_keys(schema, program):
    output = subprocess.run([program, "--keys"], check=True, capture_output=True, text=True).stdout
    tables = {}
    for line in output.splitlines():
        name, keys = line.split(":")
        tables[name] = set(keys.split())
    for name, keys in tables.items():
        where = schema if name == "scene" else schema["$defs"].get(name)
        check(where is not None, f"the schema has no $defs/{name}")
        if where is not None:
            known = set(where["properties"])
            check(known == keys, f"{name}: only the reader has {sorted(keys - known)}, "
                                 f"only the schema has {sorted(known - keys)}")
            check(where.get("additionalProperties") is False, f"{name}: lets other keys pass")
    for name, where in schema["$defs"].items():
        check("properties" not in where or name in tables, f"the reader has no table {name}")
    return sum(len(keys) for keys in tables.values())


def main():
    root, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    schema = json.loads((root / "docs/scene.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    good = check_good(validator, root)
    refused = check_broken(validator, root)
    keys = check_keys(schema, program)
    for failure in failures:
        print(failure)
    print(f"{good} good scenes, {refused} broken ones refused, {keys} keys: "
          f"{'failed' if failures else 'passed'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
