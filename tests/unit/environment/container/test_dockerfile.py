"""Dockerfiles: what cannot be built is told from the text alone, and nothing else is refused."""

import pytest

from nanobench.environment.container.dockerfile import check_dockerfile, trusting
from nanobench.errors import InvalidInputError

FINE = """# syntax=docker/dockerfile:1
ARG BASE=debian
FROM --platform=$BASE $BASE as Tools
RUN echo $((1<<n)) \\
  # RUN --mount=type=cache
  && true
COPY --from=tools --chown=1:1 /a /b
HEALTHCHECK --interval=5s CMD true
"""


@pytest.mark.parametrize("target", [None, "tools", "0"])
def test_what_the_classic_builder_takes_is_not_refused(target: str | None) -> None:
    check_dockerfile(FINE, "Dockerfile", target)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no FROM"),
        ("# FROM a\nRUN x\n", "no FROM"),
        ("FROM a\nRUN --mount=type=cache,target=/c make\n", "RUN --mount"),
        ("FROM a\nrun \\\n  # why\n  --network=none \\\n  make\n", "RUN --network"),
        ("FROM a\nCOPY --from=b --link --chmod=755 x y\n", "COPY --chmod, COPY --link"),
        ("FROM a\nADD --checksum=sha256:0 http://x y\n", "ADD --checksum"),
        ("FROM a\nRUN <<-'END'\nmake\n  END\n", "<<END"),
    ],
)
def test_what_could_not_be_built_is_refused_by_name(text: str, told: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        check_dockerfile(text, "docker/Dockerfile", None)
    assert refused.value.what.endswith(told)
    assert refused.value.where == "docker/Dockerfile"
    assert refused.value.remedy


def test_a_stage_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(InvalidInputError, match="no stage 'dev'") as refused:
        check_dockerfile(FINE, "Dockerfile", "dev")
    assert "tools" in refused.value.remedy


def test_every_stage_trusts_the_machines_certificates() -> None:
    text = "# FROM no\nARG V=1\nFROM a \\\n  AS one\nRUN x\nfrom b\nRUN echo \\\n  FROM c\n"
    lines = trusting(text).splitlines()
    stages = [number for number, line in enumerate(lines) if line.startswith("COPY")]
    assert len(stages) == 2
    assert [lines[number - 1] for number in stages] == ["  AS one", "from b"]
    assert any(line.startswith("ARG PIP_CERT=") for line in lines)
    assert not any(line.startswith("ENV") for line in lines)
