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


def test_one_thread_is_ended_while_others_go_on() -> None:
    cancellation = Cancellation()
    killed: list[str] = []
    begun, over = threading.Barrier(3), threading.Event()
    ends = {}

    def work(name: str) -> None:
        with cancellation.separately() as end:
            ends[name] = end
            with cancellation.killing(lambda: killed.append(f"{name} now")):
                begun.wait(10)
                over.wait(10)
            with cancellation.killing(lambda: killed.append(f"{name} later")):
                pass

    threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    begun.wait(10)
    ends["a"]()
    over.set()
    for thread in threads:
        thread.join(10)
    assert killed == ["a now", "a later"]


def test_a_thread_that_was_ended_works_again_afterwards() -> None:
    cancellation, killed = Cancellation(), []
    with cancellation.separately() as end:
        end()
    with cancellation.killing(lambda: killed.append(1)):
        pass
    assert killed == []
