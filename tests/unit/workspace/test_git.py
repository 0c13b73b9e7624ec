from pathlib import Path

import pytest

from nanobench.workspace.git import GitError, git_words, hardened_environment, run_git


def test_nothing_of_the_users_environment_reaches_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("API_KEY", "secret")
    assert not {"GIT_DIR", "GIT_CONFIG_COUNT", "API_KEY"} & hardened_environment().keys()


def test_user_settings_count_only_where_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "nanobench.probe")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "seen")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert run_git("config", "nanobench.probe", user_config=True) == b"seen\n"
    with pytest.raises(GitError):
        run_git("config", "nanobench.probe")


def test_an_error_holds_gits_own_words_and_no_password(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="not a git repository") as caught:
        run_git("log", git_dir=tmp_path)
    assert caught.value.exit_code == 4
    stderr = b"warning: x\nfatal: unable to access 'https://me:secret@host/r/': refused\n"
    assert git_words(stderr) == "fatal: unable to access 'https://host/r/': refused"
    assert git_words(b"hint: only this\n\n") == "hint: only this"


def test_a_machine_without_git_is_told_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="not installed") as caught:
        run_git("version")
    assert "install git" in caught.value.remedy
