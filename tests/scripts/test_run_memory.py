#!/usr/bin/python3
"""test_run_memory.py RIGOR: commands with little address space. They end by themselves and say what is
missing; nothing that starts threads is loaded unasked (Clp brings BLAS, and OpenBLAS hangs at the
end of a program whose threads found no memory)."""
import os
import resource
import subprocess
import sys

from record_script_support import check, check_equal, scratch_directory

LITTLE = 200_000 * 1024  # bytes, as `ulimit -v 200000` has it
LCP = "2\n0\n2\n2\n2\t2\n2 1\n1 2\n-5 -6\n"


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (LITTLE, LITTLE))


def run(rigor, *arguments):
    result = subprocess.run([rigor, *arguments], capture_output=True, text=True, timeout=60,
                            preexec_fn=limit, check=False)
    return result.returncode, result.stdout, result.stderr


def test_nothing_loaded_unasked(rigor):
    environment = {**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"}  # as ldd does it
    loaded = subprocess.run([rigor], capture_output=True, text=True, env=environment, timeout=60,
                            check=True).stdout
    check("libc.so" in loaded, f"what the loader says: {loaded!r}")
    for name in ("Clp", "blas", "lapack"):
        check(name not in loaded, f"{name} is loaded at the start:\n{loaded}")


def test_commands_end(rigor, folder):
    problem = os.path.join(folder, "a.dat")
    with open(problem, "w", encoding="ascii") as stream:
        stream.write(LCP)
    for arguments in (["--version"], ["scenes"], ["run", "tower", "count=3", "--duration", "0.1"],
                      ["solve", problem]):
        code, out, error = run(rigor, *arguments)
        check_equal(code, 0, f"rigor {' '.join(arguments)}: exit code ({error.strip()})")
        check(out, f"rigor {' '.join(arguments)} prints nothing")
    code, out, error = run(rigor, "solve", problem, "--solver", "lp")
    check(code == 0 and "solved" in out or code in (2, 3) and ("Clp" in error), f"{code}: {error}")


def main():
    rigor = sys.argv[1]
    test_nothing_loaded_unasked(rigor)
    if "sanitize" in rigor:
        print("skipped: test_commands_end: sanitizers need address space")
        return
    with scratch_directory() as folder:
        test_commands_end(rigor, folder)


if __name__ == "__main__":
    main()
