"""test_python_examples.py SOURCE-DIR BUILD-DIR: runs the programs in docs/python.md and every file of
python/examples, notebooks too, each by itself in an empty folder; they check their own results."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SOURCE, BUILD = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()


def run(name, text):
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": str(BUILD / "python"), "MPLBACKEND": "Agg",
                       "MPLCONFIGDIR": folder}
        begin = time.perf_counter()
        done = subprocess.run([sys.executable, "-B", "-W", "error", "-c", text], text=True, capture_output=True,
                              check=False, cwd=folder, env=environment)
        print(f"{name}: {time.perf_counter() - begin:.1f} s")
        if done.returncode:
            print(done.stdout + done.stderr)
        return done.returncode == 0


def main():
    page = (SOURCE / "docs" / "python.md").read_text()
    programs = [(f"docs/python.md, program {number}", text)
                for number, text in enumerate(re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S), 1)]
    for path in sorted((SOURCE / "python" / "examples").glob("*.py")):
        programs.append((f"python/examples/{path.name}", f"import runpy; runpy.run_path({str(path)!r})"))
    for path in sorted((SOURCE / "python" / "examples").glob("*.ipynb")):
        cells = json.loads(path.read_text())["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        programs.append((f"python/examples/{path.name}", text))
    failed = [name for name, text in programs if not run(name, text)]
    if len(programs) < 15:
        failed.append("hardly any program was found")
    for name in failed:
        print(f"failed: {name}")
    sys.exit(bool(failed))


main()
