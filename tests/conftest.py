"""What holds for all tests."""

import os

from hypothesis import settings

# No test asserts wall-clock; in CI the examples are the same each time.
settings.register_profile("nanobench", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("nanobench")
