"""``python -m tooldecoding``: the command line."""

from tooldecoding.cli.app import main

if __name__ == "__main__":
    main()
