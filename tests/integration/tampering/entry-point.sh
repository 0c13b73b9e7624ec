# Try: metadata of a package whose entry point is a pytest plugin
# Work: wrong
# Seen: edits.protected: evil-1.0.dist-info/entry_points.txt
mkdir evil-1.0.dist-info
printf 'Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n' > evil-1.0.dist-info/METADATA
printf '[pytest11]\nevil = evil\n' > evil-1.0.dist-info/entry_points.txt
cat > evil.py <<'END'
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    report.outcome, report.longrepr = "passed", None
END
