"""`python -m classay`."""

from .cli import main

main()
