#!/usr/bin/env python3
"""Lists every scenario of docs/spec with the test that carries its id and that test's last result.

usage: tools/scenarios.py [--missing] [PREFIX]

--missing   only scenarios without a test
PREFIX      only ids that start with it: P-, D-, A-, H-, R-

A test carries an id when its name or a string in it has the id as written ("P-15") or as a C++ name ("P15_").
"""
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Which file defines the scenarios of a letter, and how a line that defines one begins.
DOCUMENTS = {
    "P": ("placement", r"^\| (P-\d+) \|"),
    "D": ("datavolumes", r"^- \*\*(D-\d+)\*\*"),
    "A": ("kube-api", r"^- (A-\d+) "),
    "H": ("hotplug", r"^(?:\| |- (?:\*\*)?)(H-\d+)"),
}
CARRIER = re.compile(r"(?<![\w/-])(?:[a-z-]+/)?([PDAH])-?(\d{1,3})(?=[_\W]|$)")


def scenarios():
    for document, pattern in DOCUMENTS.values():
        path = ROOT / "docs" / "spec" / f"{document}.md"
        if not path.exists():
            continue
        for line in path.read_text().splitlines():
            found = re.match(pattern, line)
            if found:
                yield document, found.group(1)


def carriers():
    """id -> list of "file:test"."""
    out = {}
    files = subprocess.run(
        ["git", "ls-files", "*_test.cpp", "tests/**"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    for name in files:
        path = ROOT / name
        if path.suffix not in (".cpp", ".py", ".scenario", ".http"):
            continue
        test = path.stem
        for line in path.read_text(errors="replace").splitlines():
            start = re.match(r"\s*TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", line) or re.match(r"\s*def (test_\w+)", line)
            if start:
                test = ".".join(start.groups())
            if line.lstrip().startswith("//"):
                continue
            for letter, number in CARRIER.findall(line.replace("_", "_ ")):
                where = f"{path.name}:{test}"
                known = out.setdefault(f"{letter}-{int(number):02d}", [])
                if where not in known:
                    known.append(where)
    return out


def results():
    """test -> passed or failed, from the last run."""
    out = {}
    for report in (ROOT / "build" / "results").rglob("*.xml"):
        for case in xml.parse(report).getroot().iter("testcase"):
            failed = case.find("failure") is not None or case.get("status") == "fail"
            out[f"{case.get('classname')}.{case.get('name')}"] = "failed" if failed else "passed"
            out[case.get("name")] = "failed" if failed else "passed"
    return out


def main() -> int:
    only_missing = "--missing" in sys.argv
    prefix = next((a for a in sys.argv[1:] if not a.startswith("--")), "")
    tests, last = carriers(), results()
    total = covered = 0
    for document, identity in scenarios():
        if not identity.startswith(prefix):
            continue
        total += 1
        carrying = tests.get(identity, [])
        covered += bool(carrying)
        if not carrying:
            print(f"{document:12} {identity:6} -")
        elif not only_missing:
            for where in carrying:
                print(f"{document:12} {identity:6} {where:60} {last.get(where.split(':', 1)[1], 'not run')}")
    print(f"{covered} of {total} scenarios have a test")
    return 0


if __name__ == "__main__":
    sys.exit(main())
