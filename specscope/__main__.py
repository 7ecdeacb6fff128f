"""``python -m specscope``."""

from specscope.cli import main

if __name__ == "__main__":
    main(prog_name="specscope")
