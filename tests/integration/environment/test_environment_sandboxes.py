"""What a sandbox promises, held against every sandbox that works on this machine."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from nanobench.environment.cancel import cancelled
from nanobench.environment.process import Running
from nanobench.environment.sandbox import Mount, Sandbox
from nanobench.errors import InterruptedRunError, StateError

pytestmark = pytest.mark.real

DAEMON = "setsid sh -c 'trap \"\" TERM HUP INT; sleep {0} & sleep {0}' >/dev/null 2>&1 &"
CONNECT = "python3 -c \"import socket; socket.create_connection(('127.0.0.1', {0}), 3)\""


def test_exit_code_is_the_command_s_own(sandbox: Sandbox, shell: Any) -> None:
    result, output = shell(sandbox, "echo out; exit 3")
    assert (result.exit_code, result.timed_out, result.launched) == (3, False, True)
    assert output == "out\n"


def test_death_by_signal_is_a_negative_code(sandbox: Sandbox, shell: Any) -> None:
    result, _ = shell(sandbox, "kill -KILL $$")
    assert result.exit_code == -9


def test_output_over_the_size_of_a_pipe_is_whole(sandbox: Sandbox, shell: Any) -> None:
    result, output = shell(sandbox, "yes 0123456789 | head -c 300000")
    assert result.exit_code == 0
    assert len(output) == 300_000


def test_daemon_dies_with_its_command(
    sandbox: Sandbox, shell: Any, marker: str, processes_with: Any
) -> None:
    result, _ = shell(sandbox, DAEMON.format(marker) + " sleep 0.2; exit 0")
    assert result.exit_code == 0
    assert processes_with(marker) == []


def test_timeout_kills_the_whole_tree(
    sandbox: Sandbox, shell: Any, marker: str, processes_with: Any
) -> None:
    script = f"{DAEMON.format(marker)} trap '' TERM; sleep {marker}"
    result, _ = shell(sandbox, script, seconds=0.7)
    assert result.timed_out
    assert result.launched
    assert processes_with(marker) == []


def test_processes_that_keep_forking_are_all_killed(
    sandbox: Sandbox, shell: Any, marker: str, processes_with: Any
) -> None:
    script = f"while :; do sleep {marker} & sleep 0.01; done"
    result, _ = shell(sandbox, script, seconds=1.0)
    assert result.timed_out
    assert processes_with(marker) == []


def test_output_file_in_a_missing_directory_is_a_state_error(
    sandbox: Sandbox, shell: Any, tmp_path: Path
) -> None:
    shell.stdout = tmp_path / "gone" / "stdout"
    with pytest.raises(StateError, match="No such file"):
        shell(sandbox, "true")


def test_output_never_goes_through_a_link_that_a_command_planted(
    sandbox: Sandbox, shell: Any, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    shell.stdout.symlink_to(precious)
    os.mkfifo(shell.stderr)
    _, output = shell(sandbox, "echo out")
    assert output == "out\n"
    assert precious.read_text() == "kept"
    assert shell.stderr.is_file()


def test_host_variables_do_not_reach_a_command(
    sandbox: Sandbox, shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NANOBENCH_CANARY", "sk-canary")
    result, output = shell(sandbox, "env; tr '\\0' '\\n' < /proc/self/environ")
    assert result.exit_code == 0
    assert "canary" not in output.lower()
    assert "HOME=/nowhere" in output


def test_no_process_shows_a_variable_of_the_host(
    isolating: Sandbox, shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NANOBENCH_CANARY", "sk-canary")
    result, output = shell(isolating, "cat /proc/1/environ /proc/[0-9]*/environ | tr '\\0' '\\n'")
    assert "canary" not in output.lower()
    assert result.launched


def test_only_processes_of_the_command_are_visible(isolating: Sandbox, shell: Any) -> None:
    _, output = shell(isolating, "ls /proc")
    assert len([name for name in output.split() if name.isdigit()]) <= 6
    _, output = shell(isolating, f"cat /proc/{os.getpid()}/cmdline")
    assert output == ""


def test_open_descriptors_are_not_inherited(sandbox: Sandbox, shell: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("canary")
    with secret.open() as stream:
        os.set_inheritable(stream.fileno(), True)
        _, output = shell(sandbox, "ls -l /proc/self/fd; cat /proc/self/fd/* </dev/null")
    assert "secret" not in output
    assert "canary" not in output


def test_command_has_no_capability(isolating: Sandbox, shell: Any) -> None:
    _, output = shell(isolating, "grep Cap /proc/self/status")
    assert {line.split()[1] for line in output.splitlines()} == {"0" * 16}


@pytest.fixture
def host_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_network_none_reaches_no_port_of_the_host(
    isolating: Sandbox, shell: Any, host_port: int
) -> None:
    result, _ = shell(isolating, CONNECT.format(host_port))
    assert result.exit_code == 1
    assert b"ConnectionRefusedError" in shell.stderr.read_bytes()
    result, _ = shell(isolating, CONNECT.format(host_port), network="host")
    assert result.exit_code == 0


def test_network_none_still_has_a_loopback(isolating: Sandbox, shell: Any) -> None:
    script = (
        "import socket as s; a = s.create_server(('127.0.0.1', 0));"
        "s.create_connection(('localhost', a.getsockname()[1]), 3)"
    )
    result, _ = shell(isolating, f'python3 -c "{script}"')
    assert result.exit_code == 0, shell.stderr.read_text()


def test_sandbox_that_cannot_cut_the_network_says_so(
    sandbox: Sandbox, host_port: int, shell: Any
) -> None:
    result, _ = shell(sandbox, CONNECT.format(host_port))
    assert (result.exit_code != 0) == sandbox.isolates_network


def test_cancellation_kills_what_runs(
    sandbox: Sandbox, shell: Any, marker: str, processes_with: Any, eventually: Any
) -> None:
    def cancel_when_it_runs() -> None:
        eventually(lambda: bool(processes_with(marker)))
        cancelled.set()

    helper = threading.Thread(target=cancel_when_it_runs)
    helper.start()
    try:
        with pytest.raises(InterruptedRunError):
            shell(sandbox, f"{DAEMON.format(marker)} sleep {marker}")
        assert processes_with(marker) == []
        with pytest.raises(InterruptedRunError):
            shell(sandbox, "true")
    finally:
        helper.join()
        cancelled.clear()


RUNNER = """
import sys
from pathlib import Path
from nanobench.environment.sandbox import Command, probe_sandboxes
sandbox = next(p.sandbox for p in probe_sandboxes() if p.name == sys.argv[1])
sandbox.run(Command(("/bin/sh", "-c", sys.argv[2]), "/", {"PATH": "/usr/bin:/bin"}, 60,
                    Path(sys.argv[3], "out"), Path(sys.argv[3], "err"), "none"), ())
"""


def test_killed_harness_takes_its_commands_along(
    sandbox: Sandbox, tmp_path: Path, marker: str, processes_with: Any, eventually: Any
) -> None:
    script = f"{DAEMON.format(marker)} sleep {marker}"
    harness = subprocess.Popen([sys.executable, "-c", RUNNER, sandbox.name, script, str(tmp_path)])
    try:
        assert eventually(lambda: len(processes_with(marker)) >= 2)
    finally:
        harness.kill()
        harness.wait()
    assert eventually(lambda: processes_with(marker) == [])


def test_no_command_starts_if_the_harness_dies_while_its_sandbox_starts(
    isolating: Sandbox, shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(running: Any) -> None:  # as the kernel does for the dead
        running._held.close()
        running._held = None

    monkeypatch.setattr(Running, "_let_go", die)
    _, output = shell(isolating, "echo ran")
    assert output == ""


def test_commands_run_where_python_knows_no_pidfd(
    sandbox: Sandbox, shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    result, output = shell(sandbox, "echo out; exit 3")
    assert (result.exit_code, output) == (3, "out\n")


def test_standard_input_is_empty(sandbox: Sandbox, shell: Any) -> None:
    _, output = shell(sandbox, "cat; readlink /proc/self/fd/0")
    assert output == "/dev/null\n"


def test_interrupt_of_a_terminal_does_not_reach_commands(
    sandbox: Sandbox, shell: Any, marker: str
) -> None:
    """The harness decides what Ctrl-C means; commands are in sessions of their own."""
    _, output = shell(sandbox, "ps -o sid= -p $$ 2>/dev/null || cut -d' ' -f6 /proc/self/stat")
    own = os.getsid(0)
    assert output.strip() not in ("", str(own))


def test_system_and_home_are_out_of_reach(
    bubblewrap: Sandbox, shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probes = [f"touch {place}/nb-probe" for place in ("/usr", "/etc", "/usr/bin", "/proc", "/sys")]
    for probe in probes:
        result, _ = shell(bubblewrap, probe)
        assert result.exit_code != 0, probe
    _, output = shell(bubblewrap, f"ls -a {Path.home()} {tmp_path} /home /root /mnt /srv; true")
    assert output == ""
    _, output = shell(bubblewrap, "cat /etc/shadow /etc/hostname /etc/ssl/private/* ; true")
    assert output == ""


def test_command_line_and_environment_of_init_name_nothing_of_the_host(
    bubblewrap: Sandbox, shell: Any, tmp_path: Path
) -> None:
    (tmp_path / "tree").mkdir()
    command = shell.command("cat /proc/1/cmdline /proc/1/environ | tr '\\0' ' '")
    bubblewrap.run(command, [Mount(tmp_path / "tree", "/ws", writable=True)])
    output = shell.stdout.read_text()
    assert str(tmp_path) not in output
    assert "HOME" not in output


def test_mounts_are_writable_only_if_they_say_so(
    bubblewrap: Sandbox, shell: Any, tmp_path: Path
) -> None:
    for name in ("tree", "dependencies"):
        (tmp_path / name).mkdir()
    (tmp_path / "tree" / "modules").mkdir()
    (tmp_path / "dependencies" / "cache").mkdir()
    mounts = [
        Mount(tmp_path / "tree", "/ws", writable=True),
        Mount(tmp_path / "dependencies", "/ws/modules"),
        Mount(tmp_path / "dependencies", "/ws/modules/cache", kind="tmpfs"),
    ]
    script = "cd /ws; echo a >a; echo b >modules/b; echo c >modules/cache/c; cat modules/cache/c"
    bubblewrap.run(shell.command(script), mounts)
    assert shell.stdout.read_text() == "c\n"
    assert (tmp_path / "tree" / "a").read_text() == "a\n"
    assert not (tmp_path / "dependencies" / "b").exists()
    assert list((tmp_path / "dependencies" / "cache").iterdir()) == []


def test_missing_mount_is_not_taken_for_the_command_s_failure(
    bubblewrap: Sandbox, shell: Any, tmp_path: Path
) -> None:
    result = bubblewrap.run(shell.command("true"), [Mount(tmp_path / "gone", "/ws")])
    assert not result.launched
    assert result.exit_code is None


def test_nothing_of_the_wrapper_is_left(sandbox: Sandbox, shell: Any) -> None:
    before = {child.pid for child in psutil.Process().children()}
    descriptors = psutil.Process().num_fds()
    shell(sandbox, "true")
    shell(sandbox, "sleep 30", seconds=0.2)
    assert {child.pid for child in psutil.Process().children()} <= before
    assert psutil.Process().num_fds() == descriptors
