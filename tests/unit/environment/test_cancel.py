import threading

import pytest

from nanobench.environment.cancel import Cancellation
from nanobench.errors import InterruptedRunError


def test_setting_kills_what_runs_and_only_that() -> None:
    cancellation, killed = Cancellation(), []
    with cancellation.killing(lambda: killed.append("ended")):
        pass
    with (
        pytest.raises(InterruptedRunError),
        cancellation.killing(lambda: killed.append("running")),
    ):
        cancellation.set()
    assert killed == ["running"]


def test_what_starts_after_the_cancellation_is_killed_at_once() -> None:
    cancellation, killed = Cancellation(), []
    cancellation.set()
    with pytest.raises(InterruptedRunError), cancellation.killing(lambda: killed.append(1)):
        assert killed == [1]


def test_signal_handler_may_set_it_while_its_own_thread_holds_the_lock() -> None:
    cancellation = Cancellation()

    def interrupted() -> None:
        with cancellation._guard:
            cancellation.set()

    worker = threading.Thread(target=interrupted, daemon=True)
    worker.start()
    worker.join(10)
    assert cancellation.is_set()
    assert not worker.is_alive()


def test_error_of_the_block_is_not_hidden() -> None:
    with pytest.raises(ValueError, match="own"), Cancellation().killing(lambda: None):
        raise ValueError("own")
