"""`python -m classay.cli`."""

from . import main

main()
