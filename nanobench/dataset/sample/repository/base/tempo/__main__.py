"""`python -m tempo SECONDS` prints a duration."""

import sys

from tempo.notation import format_duration

if __name__ == "__main__":
    print(format_duration(int(sys.argv[1])))
