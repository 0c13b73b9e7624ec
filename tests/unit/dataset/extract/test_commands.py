"""The first test commands, from nothing but names and manifests."""

from typing import Any, cast

import pytest

from nanobench.dataset.clone import Clone
from nanobench.dataset.extract.commands import Commands, first_commands
from nanobench.dataset.extract.tree import Tree
from nanobench.verify.adapters import adapt

NODE = "node --test --test-force-exit --test-timeout=120000"


class Contents:
    """Stands for a clone whose blobs are named by their own text."""

    def blobs(self, shas: list[str]) -> list[bytes]:
        return [sha.encode() for sha in shas]


def commands(tests: list[str], **files: str) -> Commands:
    """`files`: manifests, with `__` for a slash and `_dot_` for a point."""
    named = {name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()}
    tree = Tree(cast(Clone, Contents()), {**dict.fromkeys(tests, ""), **named})
    return first_commands(tests, tree)


def told(found: Commands) -> list[tuple[str, str, str, str]]:
    return [(suite.name, suite.language, suite.cwd, suite.command) for suite in found.suites]


def test_pytest_runs_in_its_project_and_finds_the_environment_of_the_workspace() -> None:
    found = commands(
        ["libs/a/tests/test_x.py", "libs/a/tests/conftest.py"],
        uv_dot_lock="",
        pyproject_dot_toml="[tool.uv.workspace]\nmembers = ['libs/*']\n",
        libs__a__pyproject_dot_toml="[dependency-groups]\ntest = []\n",
    )
    assert told(found) == [
        ("pytest", "Python", "libs/a", "../../.venv/bin/python -m pytest tests/test_x.py")
    ]
    assert found.environment.install == (
        "uv sync -q --frozen --inexact --project libs/a --group test",
    )
    assert found.not_run == ("libs/a/tests/conftest.py",)


@pytest.mark.parametrize(
    "workspace", ["", "members = 'libs/a'\n", "members = ['libs/*']\nexclude = ['libs/a']\n"]
)
def test_a_lock_above_is_not_that_of_a_project_outside_its_workspace(workspace: str) -> None:
    found = commands(
        ["libs/a/test_x.py"],
        uv_dot_lock="",
        pyproject_dot_toml=f"[tool.uv.workspace]\n{workspace}",
        libs__a__pyproject_dot_toml="",
    )
    assert told(found) == [("pytest", "Python", "libs/a", ".venv/bin/python -m pytest test_x.py")]
    assert found.environment.install[0].startswith("cd libs/a && uv venv")


def test_a_directory_without_a_build_is_not_installed() -> None:
    (install,) = commands(["test_x.py"], tox_dot_ini="").environment.install
    assert install.endswith(" .venv/bin/python pytest")


def test_a_lock_installs_the_extra_that_is_named_after_tests() -> None:
    manifest = "[project.optional-dependencies]\ntests = []\n[dependency-groups]\ndev = []\n"
    found = commands(["test_x.py"], pyproject_dot_toml=manifest, uv_dot_lock="")
    assert found.environment.install == ("uv sync -q --frozen --extra tests --group dev",)


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({"setup_dot_cfg": "[options.extras_require]\ntesting =\n  x\n"}, "-e '.[testing]'"),
        (
            {"setup_dot_cfg": "no section", "requirements-dev_dot_txt": ""},
            "-e . -r requirements-dev.txt",
        ),
        (
            {"test-requirements_dot_txt": "", "requirements__dev_dot_txt": ""},
            "-e . -r test-requirements.txt",
        ),
        ({"requirements__tests_dot_txt": ""}, "-e . -r requirements/tests.txt"),
        (
            {"pyproject_dot_toml": "[dependency-groups]\ndev = []", "dev-requirements_dot_txt": ""},
            "-e . --group dev",
        ),
    ],
)
def test_older_projects_say_what_tests_need_in_files_of_their_own(
    files: dict[str, Any], what: str
) -> None:
    (install,) = commands(["test_x.py"], setup_dot_py="", **files).environment.install
    assert install.endswith(f" {what} pytest")


@pytest.mark.parametrize(
    ("manifest", "what"),
    [
        ("", "-e ."),
        ("not toml [", "-e ."),
        ("project = 1\ntool = []\n", "-e ."),
        ("[tool.poetry.dev-dependencies]\n'pytest-x;id' = '*'\n", "-e ."),
        ("[project.optional-dependencies]\ndev = []\n", "-e '.[dev]'"),
        ("[dependency-groups]\ntests = []\n", "-e . --group tests"),
    ],
)
def test_without_a_lock_the_project_is_installed(manifest: str, what: str) -> None:
    found = commands(["test_x.py"], pyproject_dot_toml=manifest)
    assert found.environment.install == (
        f"uv venv -q .venv && uv pip install -q --python .venv/bin/python {what} pytest",
    )


@pytest.mark.parametrize(
    "manifest",
    [
        "[tool.poetry.group.dev.dependencies]\npytest = '*'\npytest-asyncio = '*'\nblack = '*'\n",
        "[tool.poetry.dev-dependencies]\npytest-asyncio = '*'\n",
    ],
)
def test_a_project_of_poetry_gets_its_plug_ins_though_a_lock_of_uv_lies_beside_it(
    manifest: str,
) -> None:
    found = commands(["test_x.py"], pyproject_dot_toml=manifest, uv_dot_lock="version = 1\n")
    (install,) = found.environment.install
    assert install.endswith(" -e . pytest pytest-asyncio")


@pytest.mark.parametrize(
    ("manifest", "name", "start"),
    [
        ('{"devDependencies": {"vitest": "1", "jest": "1"}}', "vitest", "npx vitest run"),
        ('{"dependencies": {"jest": "1"}}', "jest", "npx jest"),
        ('{"devDependencies": {"mocha": "1"}}', "mocha", "npx mocha"),
        (
            '{"devDependencies": {"ava": "1", "tsx": "1"}, "scripts": {"test": "ava"}}',
            "ava",
            "npx ava",
        ),
        (
            '{"scripts": {"test": "npm run unit", "unit": "borp"}}',
            "node",
            NODE,
        ),
        ('{"devDependencies": {"tsx": "1"}}', "node", f"npx tsx{NODE.removeprefix('node')}"),
        ("{}", "node", NODE),
        ("[]", "node", NODE),
        ("not json", "node", NODE),
    ],
)
def test_the_manifest_names_the_runner(manifest: str, name: str, start: str) -> None:
    found = commands(["src/a.test.ts"], package_dot_json=manifest)
    assert told(found) == [(name, "TypeScript", ".", f"{start} src/a.test.ts")]


def test_a_runner_that_is_not_known_is_not_guessed() -> None:
    found = commands(["test/a.test.js"], package_dot_json='{"scripts": {"test": "karma start"}}')
    assert found == Commands((), commands([]).environment, ("test/a.test.js",))


def test_a_runner_without_a_habit_for_names_takes_the_files_of_a_test_directory() -> None:
    tests = ["test/app.js", "test/acceptance/mvc.js", "test/fixtures/a.js", "test/helpers.js"]
    mocha, jest = (
        commands(tests, package_dot_json=f'{{"devDependencies": {{"{name}": "1"}}}}')
        for name in ("mocha", "jest")
    )
    assert [suite.command for suite in mocha.suites] == [
        "npx mocha test/acceptance/mvc.js test/app.js"
    ]
    assert mocha.not_run == ("test/fixtures/a.js", "test/helpers.js")
    assert not jest.suites
    assert not jest.environment.install


def test_a_runner_starts_where_its_configuration_lies() -> None:
    found = commands(
        ["packages/a/a.spec.ts", "packages/b/b.spec.ts", "packages/c/c.spec.ts", "root.spec.ts"],
        package_dot_json='{"devDependencies": {"ava": "1"}, "ava": {"extensions": ["ts"]}}',
        packages__a__package_dot_json="{}",
        packages__b__package_dot_json='{"scripts": {"test": "pnpm -w test"}}',
        packages__c__package_dot_json="{}",
        packages__c__ava_dot_config_dot_mjs="",
    )
    assert told(found) == [
        (
            "ava",
            "TypeScript",
            ".",
            "npx ava packages/a/a.spec.ts packages/b/b.spec.ts root.spec.ts",
        ),
        ("ava-2", "TypeScript", "packages/c", "npx ava c.spec.ts"),
    ]


@pytest.mark.parametrize(
    "root",
    [
        {"vitest_dot_config_dot_ts": "export default { test: { projects: ['packages/*'] } }"},
        {"vitest_dot_workspace_dot_json": "[]"},
    ],
)
def test_vitest_starts_where_packages_are_its_projects(root: dict[str, Any]) -> None:
    found = commands(
        ["packages/a/a.test.ts"],
        package_dot_json='{"devDependencies": {"vitest": "1"}}',
        packages__a__package_dot_json="{}",
        packages__a__vitest_dot_config_dot_ts="",
        **root,
    )
    assert told(found) == [("vitest", "TypeScript", ".", "npx vitest run packages/a/a.test.ts")]


def test_a_package_takes_runner_and_lock_from_above() -> None:
    found = commands(
        ["packages/a/a.test.ts", "packages/b/b.spec.js"],
        package_dot_json='{"devDependencies": {"vitest": "1"}}',
        packages__a__package_dot_json="{}",
        packages__b__package_dot_json='{"devDependencies": {"vitest": "1"}}',
        **{"pnpm-lock_dot_yaml": ""},
    )
    assert told(found) == [
        ("vitest", "TypeScript", "packages/a", "npx vitest run a.test.ts"),
        ("vitest-2", "JavaScript", "packages/b", "npx vitest run b.spec.js"),
    ]
    assert found.environment.install == ("pnpm install --frozen-lockfile --ignore-scripts",)


def test_go_tests_run_by_package_and_module() -> None:
    found = commands(
        ["a/x_test.go", "a/y_test.go", "root_test.go", "sub/b/z_test.go"],
        go_dot_mod="module m\n\ngo 1.25.1\n",
        sub__go_dot_mod="module s\n",
    )
    assert told(found) == [
        ("go", "Go", ".", "go test . ./a"),
        ("go-2", "Go", "sub", "go test ./b"),
    ]
    assert found.environment.runtimes == {"go": ">=1.25"}
    assert found.environment.install[1] == ("cd sub && go mod download && go test -run '^$' ./b")


def test_go_data_is_run_by_the_package_that_it_lies_in() -> None:
    found = commands(
        ["a/testdata/golden/x.json", "b/testdata/y.json", "testdata/z.json", "c/data.json"],
        go_dot_mod="module m\n",
        a__x_test_dot_go="",
        z_test_dot_go="",
    )
    assert told(found) == [("go", "Go", ".", "go test . ./a")]
    assert found.not_run == ("b/testdata/y.json", "c/data.json")


def test_cargo_runs_integration_tests_by_name() -> None:
    found = commands(
        ["crates/a/tests/flow.rs", "crates/a/tests/common/mod.rs", "crates/b/src/tests.rs"],
        crates__a__Cargo_dot_toml="",
        crates__b__Cargo_dot_toml="",
        crates__b__src__lib_dot_rs="",
    )
    assert told(found) == [
        ("cargo", "Rust", "crates/a", "cargo test --test flow --tests"),
        ("cargo-2", "Rust", "crates/b", "cargo test --lib"),
    ]


def test_the_manifest_of_a_crate_names_its_programs_and_their_features() -> None:
    manifest = """
        [package]
        autotests = false
        [[test]]
        name = "integration"
        path = "tests/tests.rs"
        required-features = ["a", "b c"]
        """
    found = commands(["tests/tests.rs", "tests/feature.rs"], Cargo_dot_toml=manifest)
    assert told(found) == [
        ("cargo", "Rust", ".", "cargo test --test integration --features 'a,b c'")
    ]
    beside = manifest.replace("autotests = false", "")
    found = commands(["tests/tests.rs", "tests/feature.rs"], Cargo_dot_toml=beside)
    assert found.suites[0].command.startswith("cargo test --test feature --test integration ")


def test_a_folder_of_a_named_program_is_part_of_it() -> None:
    manifest = "[[test]]\nname = 'it'\npath = 'tests/all/main.rs'\n"
    found = commands(["tests/all/deep/x.rs"], Cargo_dot_toml=manifest)
    assert found.suites[0].command == "cargo test --test it"


def test_a_crate_without_a_library_has_its_tests_in_its_programs() -> None:
    found = commands(["src/tests.rs"], Cargo_dot_toml="", src__main_dot_rs="")
    assert told(found) == [("cargo", "Rust", ".", "cargo test --bins")]


def test_gradle_runs_classes_of_a_module() -> None:
    found = commands(
        ["core/src/test/java/io/grpc/ATest.java", "core/src/test/java/io/grpc/Helper.java"],
        settings_dot_gradle="",
        gradlew="",
        core__build_dot_gradle="",
    )
    assert told(found) == [("gradle", "Java", ".", "./gradlew -p core test --tests io.grpc.ATest")]
    assert found.not_run == ("core/src/test/java/io/grpc/Helper.java",)


def test_gradle_runs_other_sets_of_tests_by_their_own_tasks() -> None:
    found = commands(
        [
            "src/test/java/a/OneTest.java",
            "src/integrationTest/kotlin/a/TwoTest.kt",
            "src/androidTest/java/a/ThreeTest.java",
            "src/testFixtures/java/a/FourTest.java",
        ],
        settings_dot_gradle="",
        build_dot_gradle="",
    )
    assert told(found) == [
        (
            "gradle",
            "Java",
            ".",
            "gradle integrationTest --tests a.TwoTest test --tests a.OneTest",
        )
    ]
    assert found.environment.install == (
        f"gradle integrationTestClasses testClasses && {{ {found.suites[0].command} || true; }}"
        " && gradle clean",
    )
    assert len(found.not_run) == 2


def test_maven_runs_from_the_outermost_project() -> None:
    found = commands(
        ["java/core/src/test/java/a/BTest.java"],
        java__pom_dot_xml="",
        java__core__pom_dot_xml="",
    )
    assert told(found) == [
        (
            "maven",
            "Java",
            "java",
            "mvn -B -pl core -am test -Dtest=a.BTest -Dsurefire.failIfNoSpecifiedTests=false",
        )
    ]


@pytest.mark.parametrize(
    ("tests", "files", "runtimes"),
    [
        (["a.test.js"], {"package_dot_json": "{}"}, {}),
        (
            ["a.test.js"],
            {
                "package_dot_json": '{"packageManager": "pnpm@10.12.1+sha512.00"}',
                "pnpm-lock_dot_yaml": "",
            },
            {"pnpm": "10.12.1"},
        ),
        (
            ["p/a.test.js"],
            {
                "package_dot_json": "[]",
                "p__package_dot_json": "{}",
                "pnpm-lock_dot_yaml": "lockfileVersion: '6.0'\n",
            },
            {"pnpm": "8"},
        ),
        (
            ["a.test.js"],
            {"package_dot_json": "{}", "pnpm-lock_dot_yaml": "lockfileVersion: '9.0'\n"},
            {"pnpm": "10"},
        ),
        (["a.test.js"], {"package_dot_json": "{}", "yarn_dot_lock": "# v1\n"}, {"yarn": "1.22.22"}),
        (
            ["a.test.js"],
            {"package_dot_json": "{}", "yarn_dot_lock": "__metadata:\n  version: 8\n"},
            {"yarn": "4"},
        ),
        (["tests/a.rs"], {"Cargo_dot_toml": ""}, {"rust": ">=1"}),
        (
            ["c/tests/a.rs"],
            {
                "Cargo_dot_toml": '[workspace.package]\nrust-version = "1.85"\n',
                "c__Cargo_dot_toml": '[dependencies]\nx = "1.2"\n[package]\nversion = "1.3.0"\n',
            },
            {"rust": ">=1.85"},
        ),
        (
            ["tests/a.rs"],
            {
                "Cargo_dot_toml": 'rust-version = "1.70"\n',
                "rust-toolchain_dot_toml": '[toolchain]\nchannel = "1.91.0"\n',
            },
            {"rust": ">=1.91.0"},
        ),
        (["tests/a.rs"], {"Cargo_dot_toml": "", "rust-toolchain": "nightly\n"}, {"rust": ">=1"}),
        (
            ["m/src/test/java/ATest.java"],
            {
                "m__build_dot_gradle": "",
                "build_dot_gradle": "languageVersion = JavaLanguageVersion.of(17)",
                "settings_dot_gradle": "",
            },
            {"java": ">=17"},
        ),
        (
            ["src/test/java/ATest.java"],
            {"pom_dot_xml": "<maven.compiler.source>1.8</maven.compiler.source>"},
            {"java": ">=8"},
        ),
        (["src/test/java/ATest.java"], {"pom_dot_xml": ""}, {"java": ">=8"}),
        (
            ["test_x.py"],
            {"pyproject_dot_toml": "[project]\nrequires-python = '>=3.13,<4'\n"},
            {"python": "3.13"},
        ),
        (
            ["test_x.py"],
            {"pyproject_dot_toml": "[project]\nrequires-python = '>=3.9'\n"},
            {},
        ),
    ],
)
def test_the_runtimes_that_no_machine_has_by_itself_are_named(
    tests: list[str], files: dict[str, Any], runtimes: dict[str, str]
) -> None:
    assert commands(tests, **files).environment.runtimes == runtimes


def test_another_yarn_has_other_options() -> None:
    files = {"package_dot_json": "{}", "yarn_dot_lock": "__metadata:\n"}
    (install,) = commands(["a.test.js"], **files).environment.install
    assert install == "yarn install --immutable --mode=skip-build"


def test_maven_leaves_nothing_built_behind() -> None:
    found = commands(["core/src/test/java/ATest.java"], pom_dot_xml="", core__pom_dot_xml="")
    assert found.environment.install == (
        f"mvn -B -q -pl core -am test-compile && {{ {found.suites[0].command} || true; }}"
        " && mvn -B -q clean",
    )


def test_two_ecosystems_give_two_suites() -> None:
    found = commands(
        ["tests/test_x.py", "ui/a.test.ts"], pyproject_dot_toml="", ui__package_dot_json="{}"
    )
    assert [suite.language for suite in found.suites] == ["Python", "TypeScript"]


def test_names_that_a_shell_would_read_are_quoted() -> None:
    found = commands(["tests/test_$(touch x).py"], pyproject_dot_toml="")
    assert found.suites[0].command == (".venv/bin/python -m pytest 'tests/test_$(touch x).py'")


def test_what_no_ecosystem_knows_is_told() -> None:
    assert commands(["spec/a_spec.rb"]) == Commands(
        (), commands([]).environment, ("spec/a_spec.rb",)
    )


@pytest.mark.parametrize(
    ("tests", "files"),
    [
        (["test_x.py"], {}),
        (["a.test.ts"], {"package_dot_json": "{}"}),
        (["a.test.ts"], {"package_dot_json": '{"devDependencies": {"tsx": "1"}}'}),
        (["a.test.ts"], {"package_dot_json": '{"devDependencies": {"ava": "1"}}'}),
        (["a.test.js"], {"package_dot_json": '{"devDependencies": {"tape": "1"}}'}),
        (["a_test.go"], {"go_dot_mod": ""}),
        (["tests/a.rs"], {"Cargo_dot_toml": ""}),
        (["src/test/java/ATest.java"], {"pom_dot_xml": ""}),
        (["src/test/java/ATest.java"], {"settings_dot_gradle": "", "build_dot_gradle": ""}),
    ],
)
def test_every_command_is_one_whose_results_can_be_read(
    tests: list[str], files: dict[str, Any]
) -> None:
    (suite,) = commands(tests, **files).suites
    assert adapt(suite, "/tmp/results").format is not None
