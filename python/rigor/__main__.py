"""python -m rigor: the command."""

from ._viewer import main

main()
