"""What of Maven's and Gradle's files configures tests, and what is the agent's."""

from collections.abc import Callable
from xml.dom import minidom

import pytest

from nanobench.model.task import Task
from nanobench.verify.invoked import invoked
from nanobench.verify.java_builds import gradle_statements, pom_sections
from nanobench.verify.sections import Versions, restore

SUREFIRE = """<plugin>
  <groupId>org.apache.maven.plugins</groupId>
  <artifactId>maven-surefire-plugin</artifactId>
  <version>3.5.2</version>
</plugin>"""
PLUGIN = "<plugin><artifactId>{name}</artifactId>{rest}</plugin>"
POM = """<?xml version="1.0"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <properties><release>17</release>{properties}</properties>
  <dependencies>{dependencies}</dependencies>
  <build><plugins>{plugins}</plugins></build>
  <profiles><profile><id>ci</id><properties>{profile}</properties></profile></profiles>
</project>
"""


def pom(properties: str = "", dependencies: str = "", plugins: str = "", profile: str = "") -> str:
    return POM.format(
        properties=properties, dependencies=dependencies, plugins=plugins, profile=profile
    )


# Ten entities, each ten times the one before: a gigabyte.
BOMB = (
    '<!DOCTYPE p [<!ENTITY e0 "0123456789">'
    + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))
    + "]><project>&e8;</project>"
)


def after(
    task: Callable[..., Task], path: str, agent: str, base: str | None, golden: str | None = None
) -> tuple[str, tuple[str, ...]]:
    versions = Versions(
        agent.encode(), (base and base.encode()) or None, (golden and golden.encode()) or None
    )
    content, names = restore(path.encode(), versions, invoked(task(test_command="mvn test")))
    return content.decode(), names


def same(one: str, other: str) -> bool:
    """Whether two documents differ in their layout at most."""

    def plain(text: str) -> list[str]:
        return minidom.parseString(text.encode()).toxml().split()

    return plain(one) == plain(other)


def test_plugins_and_properties_of_tests_are_put_back(task: Callable[..., Task]) -> None:
    skipping = PLUGIN.format(name="maven-surefire-plugin", rest="<configuration/>")
    dependency = "<dependency><artifactId>new</artifactId></dependency>"
    agent = pom(
        "<skipTests>true</skipTests>",
        dependency,
        skipping + PLUGIN.format(name="maven-jar-plugin", rest=""),
        "<maven.test.failure.ignore>true</maven.test.failure.ignore>",
    )
    text, names = after(task, "core/pom.xml", agent, pom(plugins=SUREFIRE))
    assert names == (
        "build.plugins.maven-surefire-plugin",
        "profiles.ci.properties.maven.test.failure.ignore",
        "properties.skipTests",
    )
    wanted = pom("", dependency, PLUGIN.format(name="maven-jar-plugin", rest="") + SUREFIRE)
    assert same(text, wanted)


def test_what_the_agent_took_out_comes_back_where_it_was(task: Callable[..., Task]) -> None:
    base = pom("<argLine>-ea</argLine>", plugins=SUREFIRE, profile="<groups>fast</groups>")
    text, names = after(task, "pom.xml", "<project/>", base)
    assert names == (
        "build.plugins.maven-surefire-plugin",
        "profiles.ci.properties.groups",
        "properties.argLine",
    )
    assert pom_sections(text) == pom_sections(base)


def test_layout_and_all_else_are_the_agents(task: Callable[..., Task]) -> None:
    agent = pom("<revision>2</revision>", plugins=SUREFIRE.replace("\n  ", "\n        "))
    text, names = after(task, "pom.xml", agent, pom(plugins=SUREFIRE))
    assert (text, names) == (agent, ())


def test_what_the_golden_patch_changes_is_part_of_the_task(task: Callable[..., Task]) -> None:
    agent, golden = (pom(plugins=SUREFIRE.replace("3.5.2", v)) for v in ("3.5.4", "3.5.3"))
    assert after(task, "pom.xml", agent, pom(plugins=SUREFIRE), golden) == (agent, ())


@pytest.mark.parametrize(
    "name",
    ["maven-<!-- x -->surefire-plugin", " maven-failsafe-plugin\n", "${runner}"],
    ids=["comment", "spaces", "property"],
)
def test_a_plugin_of_tests_does_not_hide(task: Callable[..., Task], name: str) -> None:
    agent = pom(plugins=PLUGIN.format(name=name, rest=""))
    text, names = after(task, "pom.xml", agent, pom())
    assert len(names) == 1
    assert same(text, pom())


def test_two_of_a_name_are_both_put_back(task: Callable[..., Task]) -> None:
    agent = pom(plugins=SUREFIRE + SUREFIRE.replace("3.5.2", "1"))
    text, names = after(task, "pom.xml", agent, pom(plugins=SUREFIRE))
    assert len(names) == 1
    assert same(text, pom(plugins=SUREFIRE))


def test_a_new_file_has_no_configuration_of_tests(task: Callable[..., Task]) -> None:
    text, names = after(task, "sub/pom.xml", pom("<skipTests>true</skipTests>"), None)
    assert names == ("properties.skipTests",)
    assert "skipTests" not in text


@pytest.mark.parametrize("agent", ["<project>", "", BOMB], ids=["no end", "empty", "bomb"])
def test_what_maven_does_not_read_is_left_to_it(task: Callable[..., Task], agent: str) -> None:
    assert after(task, "pom.xml", agent, pom(plugins=SUREFIRE)) == (agent, ())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_no_encoding_hides_a_section(task: Callable[..., Task], encoding: str) -> None:
    agent = pom("<skipTests>true</skipTests>").removeprefix('<?xml version="1.0"?>\n')
    versions = Versions(f"<!DOCTYPE project>{agent}".encode(encoding), pom().encode(), None)
    content, names = restore(b"pom.xml", versions, invoked(task()))
    assert names == ("properties.skipTests",)
    assert b"skipTests" not in content


def test_deep_nesting_hides_nothing(task: Callable[..., Task]) -> None:
    deep = "<a>" * 20_000 + "</a>" * 20_000
    agent = pom(plugins=PLUGIN.format(name="maven-surefire-plugin", rest=deep))
    assert after(task, "pom.xml", agent, pom(plugins=SUREFIRE)) == (
        pom(plugins=SUREFIRE),
        ("all",),
    )


GRADLE = """plugins { id 'java' }
dependencies {
    testImplementation 'junit:junit:4.13' // test
}
test {
    useJUnitPlatform()
    systemProperty "url", "http://x" /* a
    comment */
}
"""


def test_statements_about_tests_are_told() -> None:
    assert gradle_statements(GRADLE) == (
        "test {",
        "useJUnitPlatform()",
        'systemProperty "url", "http://x"',
        "}",
    )


@pytest.mark.parametrize(
    "added",
    [
        "test.enabled = false",
        "tasks.withType(Test) {\n    ignoreFailures = true\n}",
        "tasks.all { enabled = false }",
        "gradle.startParameter.excludedTaskNames += 'x'",
        "apply from: 'other.gradle'",
        'apply(from = "other.gradle.kts")',
        "afterEvaluate {\n  tasks.named('test') { onlyIf { false } }\n}",
        "sourceSets { test { java.srcDirs = [] } }",
    ],
)
@pytest.mark.parametrize("name", ["build.gradle", "sub/build.gradle.kts", "gradle/checks.gradle"])
def test_a_program_with_other_statements_about_tests_is_the_bases(
    task: Callable[..., Task], name: str, added: str
) -> None:
    assert after(task, name, GRADLE + added, GRADLE) == (GRADLE, ("test",))


def test_a_program_with_the_same_statements_about_tests_is_the_agents(
    task: Callable[..., Task],
) -> None:
    agent = GRADLE.replace("4.13'", "4.13'\n    implementation 'a:b:1'").replace(" // test", "")
    agent += "\njar { manifest { attributes 'a': 'b' } }\n"
    assert after(task, "build.gradle", agent, GRADLE) == (agent, ())


@pytest.mark.parametrize(
    ("plain", "odd"),
    [
        ('"1.0"', '"1.0" encoding="Shift_JIS"'),
        ('"1.0"', '"1.0" encoding="IBM-Thai"'),
        ("<properties>", "<name>&copy;</name><properties>"),
    ],
)
def test_a_pom_that_only_maven_can_read_is_taken_from_the_base(
    task: Callable[..., Task], plain: str, odd: str
) -> None:
    agent = pom("<skipTests>true</skipTests>").replace(plain, odd, 1)
    assert after(task, "pom.xml", agent, pom()) == (pom(), ("all",))


def test_prefixes_that_only_xml_namespaces_forbid_hide_nothing(task: Callable[..., Task]) -> None:
    agent = pom("<skipTests>true</skipTests>").replace("<properties>", "<a:b/><properties>", 1)
    text, names = after(task, "pom.xml", agent, pom())
    assert "skipTests" not in text
    assert names == ("properties.skipTests",)


@pytest.mark.parametrize("part", ['\\"', "\\'", "/*", "//", '"', "test{"])
def test_the_work_on_a_gradle_file_stays_linear(part: str) -> None:
    assert gradle_statements("test { }\n" + part * 100_000)[0] == "test { }"


def test_very_many_of_one_plugin_are_all_taken_away(task: Callable[..., Task]) -> None:
    many = [PLUGIN.format(name=name, rest="") for name in ("${x}", "${x}#2", "${x}#2+")]
    text, names = after(task, "pom.xml", pom(plugins="".join(many) * 2_000), pom())
    assert same(text, pom())
    assert len(names) == 6_000
