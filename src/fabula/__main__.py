"""``python -m fabula``."""

from fabula.cli import main

if __name__ == "__main__":
    main()
