"""What cells share is computed once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from nanobench.errors import EnvironmentSetupError
from nanobench.pipeline.bench import Once


def test_a_value_is_computed_once_however_many_ask() -> None:
    once, computed, gate = Once(), [], threading.Event()

    def compute() -> int:
        computed.append(threading.get_ident())
        gate.wait(30)
        return 7

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(once.get, "key", compute) for _ in range(4)]
        gate.set()
        assert [future.result(30) for future in asked] == [7] * 4
    assert len(computed) == 1


def test_another_key_does_not_wait() -> None:
    once = Once()
    assert once.get("outer", lambda: once.get("inner", lambda: 1) + 1) == 2


def test_an_error_is_kept_too_so_that_a_failed_install_is_not_repeated() -> None:
    once, calls = Once(), []

    def fail() -> None:
        calls.append(1)
        raise EnvironmentSetupError("npm failed")

    for _ in range(3):
        with pytest.raises(EnvironmentSetupError, match="npm failed"):
            once.get("key", fail)
    assert len(calls) == 1


def test_an_interruption_is_not_kept() -> None:
    once = Once()

    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        once.get("key", interrupted)
    assert once.get("key", lambda: 1) == 1
