import json
import sys
from pathlib import Path
from typing import Any

import pytest

from nanobench.agent.providers import config_directory, find_provider
from nanobench.errors import InvalidInputError


def provider(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "baseUrl": "http://127.0.0.1:1/v1", "models": ["m"], **more}


def write(path: Path, *providers: dict[str, Any], wrapped: bool = True) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    document: Any = {"providers": list(providers)}
    path.write_text(json.dumps({"nanocoder": document} if wrapped else document))
    return path


def test_the_environment_beats_the_directory_and_that_the_users_configuration(
    tmp_path: Path,
) -> None:
    cwd, config = tmp_path / "cwd", tmp_path / "config"
    write(cwd / "agents.config.json", provider("a", from_="cwd"), provider("b", from_="cwd"))
    write(config / "agents.config.json", provider("b", from_="user"), provider("c", from_="user"))
    environ = {
        "NANOCODER_CONFIG_DIR": str(config),
        "NANOCODER_PROVIDERS": json.dumps([provider("a", from_="environment")]),
    }
    found = {name: find_provider(name, environ, cwd)["from_"] for name in "abc"}
    assert found == {"a": "environment", "b": "cwd", "c": "user"}


def test_the_variable_beats_the_file_that_another_variable_names(tmp_path: Path) -> None:
    listed = write(tmp_path / "p.json", provider("a", from_="file"), wrapped=False)
    environ = {"NANOCODER_PROVIDERS_FILE": str(listed)}
    assert find_provider("a", environ, tmp_path)["from_"] == "file"
    environ["NANOCODER_PROVIDERS"] = json.dumps({"providers": [provider("a", from_="variable")]})
    assert find_provider("a", environ, tmp_path)["from_"] == "variable"


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has one fixed place")
def test_the_users_configuration_is_found_by_xdg_and_by_home() -> None:
    assert config_directory({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}) == Path("/x/nanocoder")
    assert config_directory({"HOME": "/h"}) == Path("/h/.config/nanocoder")
    assert config_directory({}) is None


def test_variables_are_substituted_everywhere_in_the_provider(tmp_path: Path) -> None:
    write(
        tmp_path / "agents.config.json",
        provider("a", apiKey="$KEY", headers={"X": ["${KEY}-${ZONE:-eu}", 1, None]}),
    )
    found = find_provider("A", {"KEY": "k$KEY"}, tmp_path)
    assert found["apiKey"] == "k$KEY"
    assert found["headers"] == {"X": ["k$KEY-eu", 1, None]}


def test_a_missing_variable_is_named_and_no_value_is_shown(tmp_path: Path) -> None:
    write(tmp_path / "agents.config.json", provider("a", apiKey="sk-secret-$MISSING_KEY"))
    with pytest.raises(InvalidInputError) as caught:
        find_provider("a", {}, tmp_path)
    assert "MISSING_KEY is not set" in str(caught.value)
    assert "sk-secret" not in str(caught.value)


def test_a_missing_variable_of_another_provider_is_no_trouble(tmp_path: Path) -> None:
    write(tmp_path / "agents.config.json", provider("a"), provider("b", apiKey="$NOT_SET"))
    assert find_provider("a", {}, tmp_path)["name"] == "a"


def test_an_unknown_provider_lists_the_known_ones_and_the_places(tmp_path: Path) -> None:
    write(tmp_path / "agents.config.json", provider("b"), provider("a", apiKey="sk-secret"))
    with pytest.raises(InvalidInputError) as caught:
        find_provider("zzz", {"HOME": "/nowhere"}, tmp_path)
    text = str(caught.value)
    assert "use one of: a, b" in text
    assert str(tmp_path / "agents.config.json") in text
    assert "NANOCODER_PROVIDERS" in text
    assert "sk-secret" not in text


def test_malformed_json_names_file_line_and_column_but_no_content(tmp_path: Path) -> None:
    (tmp_path / "agents.config.json").write_text('{"nanocoder":\n  {"apiKey": "sk-secret",}}')
    with pytest.raises(InvalidInputError) as caught:
        find_provider("a", {}, tmp_path)
    text = str(caught.value)
    assert f"{tmp_path}/agents.config.json, line 2, column" in text
    assert "sk-secret" not in text


def test_a_broken_file_of_lower_precedence_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "agents.config.json").write_text("{")
    environ = {"NANOCODER_PROVIDERS": json.dumps([provider("a")])}
    assert find_provider("a", environ, tmp_path)["name"] == "a"


@pytest.mark.parametrize(
    "text",
    [
        '{"providers": 3}',
        '["a"]',
        '[{"name": 3}]',
        '[{"baseUrl": "x"}]',
        "3",
        "[" * 100_000,
    ],
)
def test_a_wrong_shape_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInputError):
        find_provider("a", {"NANOCODER_PROVIDERS": text}, tmp_path)


def test_two_providers_that_differ_in_case_only_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "agents.config.json", provider("Ollama"), provider("ollama"))
    with pytest.raises(InvalidInputError, match="ambiguous"):
        find_provider("ollama", {}, tmp_path)


def test_a_directory_or_bytes_in_the_place_of_the_file_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "agents.config.json").mkdir()
    with pytest.raises(InvalidInputError, match="cannot read"):
        find_provider("a", {}, tmp_path)
    (tmp_path / "agents.config.json").rmdir()
    (tmp_path / "agents.config.json").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInputError, match="UTF-8"):
        find_provider("a", {}, tmp_path)
