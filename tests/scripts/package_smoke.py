"""package_smoke.py RECORDING: the installed Python package makes the steps that the installed command recorded."""

import sys

import rigor

world = rigor.Scene("tower", {"count": 3}).world
world.step(1 / 240, 24)
with rigor.Recording(sys.argv[1]) as recording:
    assert recording[-1].state_hash == world.state_hash, "another hash than the command's"
print(f"{rigor.__file__}: the same bits as the command")
