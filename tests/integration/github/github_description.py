"""GitHub's own description of its interface: does an exchange keep to it, and what fits it."""

import json
import re
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

FILE = Path(__file__).with_name("openapi.json")
# Statuses that any request can get, although the description seldom lists them.
ERRORS = {400, 401, 403, 404, 410, 422, 429, *range(500, 600)}
_EXAMPLES = {"string": "x", "integer": 1, "number": 1, "boolean": False, "array": []}


@dataclass(frozen=True)
class Operation:
    """What the description says of a method on a path."""

    path: str
    method: str
    content: dict[str, Any]
    values: dict[str, str]


class Description:
    """The committed part of the OpenAPI document."""

    def __init__(self) -> None:
        self.document = _modern(json.loads(FILE.read_bytes()))
        # The literal segment wins: `releases/latest` before `releases/{release_id}`.
        self.paths = sorted(self.document["paths"], key=lambda path: (path.count("{"), path))

    def find(self, method: str, path: str) -> Operation | None:
        for template in self.paths:
            pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(template))
            match = re.fullmatch(pattern, path)
            if match and method.lower() in self.document["paths"][template]:
                content = self.document["paths"][template][method.lower()]
                return Operation(template, method, content, match.groupdict())
        return None

    def request_problems(self, operation: Operation, query: dict[str, str], body: Any) -> list[str]:
        """What a request says that the description does not know, or says otherwise."""
        listed = [self._resolved(found) for found in operation.content.get("parameters", [])]
        known = {found["name"]: found["schema"] for found in listed if found["in"] == "query"}
        problems = [f"unknown query {name}" for name in query if name not in known]
        for name, value in query.items():
            if "enum" in known.get(name, {}) and value not in known[name]["enum"]:
                problems.append(f"query {name}={value}")
        content = self._resolved(operation.content.get("requestBody", {})).get("content", {})
        schema = content.get("application/json", {}).get("schema")
        if isinstance(body, bytes) or (body is None and schema is None):
            return problems
        if schema is None:
            return [*problems, "a body where none is described"]
        problems += [f"unknown field {name}" for name in body if name not in schema["properties"]]
        return problems + self._problems(schema, body)

    def response_problems(self, operation: Operation, status: int, body: Any) -> list[str]:
        described = operation.content["responses"].get(str(status))
        if described is None:
            if status in ERRORS:
                return [] if isinstance(body, dict) and "message" in body else ["no message"]
            return [f"status {status} is not described"]
        content = self._resolved(described).get("content", {})
        schema = content.get("application/json", {}).get("schema")
        if schema is None or isinstance(body, bytes) or status in ERRORS:
            return []
        return self._problems(schema, body)

    @cache  # noqa: B019 - one description per process
    def example(self, name: str) -> Any:
        """The smallest content that fits a schema; change it only through `overlaid`."""
        return self._example(self.document["components"]["schemas"][name])

    def overlaid(self, name: str, /, **values: Any) -> dict[str, Any]:
        """An example with values of its own."""
        return _overlay(deepcopy(self.example(name)), values)

    def _example(self, schema: dict[str, Any]) -> Any:
        schema = self._resolved(schema)
        if "anyOf" in schema or "oneOf" in schema:
            options = schema.get("anyOf") or schema["oneOf"]
            if {"type": "null"} in options:
                return None
            return self._example(options[0])
        if "allOf" in schema:
            return {k: v for part in schema["allOf"] for k, v in self._example(part).items()}
        if "enum" in schema:
            return schema["enum"][0]
        if schema.get("format") == "date-time":
            return "2026-05-01T00:00:00Z"
        kind = schema.get("type", "object")
        if kind == "object":
            known = schema.get("properties", {})
            return {name: self._example(known.get(name, {})) for name in schema.get("required", [])}
        return _EXAMPLES[kind]

    def _problems(self, schema: dict[str, Any], content: Any) -> list[str]:
        whole = {**schema, "components": self.document["components"]}
        return [
            f"{'.'.join(map(str, found.absolute_path))}: {found.message[:200]}"
            for found in Draft202012Validator(whole).iter_errors(content)
        ]

    def _resolved(self, node: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in node:
            _, _, kind, name = node["$ref"].split("/")
            node = self.document["components"][kind][name]
        return node


def _modern(node: Any) -> Any:
    """OpenAPI 3.0 says `nullable`, JSON Schema an alternative."""
    if isinstance(node, list):
        return [_modern(item) for item in node]
    if not isinstance(node, dict):
        return node
    changed = {key: _modern(value) for key, value in node.items() if key != "nullable"}
    if node.get("nullable") is True:
        return {"anyOf": [changed, {"type": "null"}]}
    return changed


def _overlay(base: Any, values: dict[str, Any]) -> Any:
    for name, value in values.items():
        inner = base.get(name)
        nested = isinstance(value, dict) and isinstance(inner, dict)
        base[name] = _overlay(inner, value) if nested else value
    return base
