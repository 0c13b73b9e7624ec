"""What holds for all tests."""

import os
import signal

from hypothesis import settings

# No test asserts wall-clock; in CI the examples are the same each time.
settings.register_profile("nanobench", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("nanobench")

# What the tests start is stopped by signals, although whoever started the tests may ignore them.
for _number, _default in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGTERM, signal.SIG_DFL),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _default)
