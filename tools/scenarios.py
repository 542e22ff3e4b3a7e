#!/usr/bin/env python3
"""Lists every scenario of docs/spec with the test that carries its id and that test's last result.

usage: tools/scenarios.py [--missing] [PREFIX]

--missing   only scenarios without a test
PREFIX      only ids that start with it: P-, D-, A-, H-, R-, FZ-, ST-

A test carries an id when its name or a string in it has the id as written ("P-15") or as a C++ name ("P15_"). The R-ids
are hotplug's, and placement has its own: so "hotplug/R-08" in a string, or R08 in the name of a test of a hotplug file.
"""
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Which documents define scenarios, and how a line that defines one begins.
DOCUMENTS = [
    ("placement", r"^\| (P-\d+) \|"),
    ("datavolumes", r"^- \*\*(D-\d+)\*\*"),
    ("kube-api", r"^- (A-\d+) "),
    ("hotplug", r"^\* \*\*([HR]-\d+)\b"),
    ("reliability", r"^\| ((?:FZ|ST)-\d+) \|"),
]
CARRIER = re.compile(r"(?<![\w/-])([PDAH]|FZ|ST)-?(\d{1,3})(?=[_\W]|$)")
QUALIFIED = re.compile(r"\b(placement|datavolumes|kube-api|hotplug|reliability)/([A-Z]+)-(\d{1,3})\b")
OWNERS = {"P": "placement", "D": "datavolumes", "A": "kube-api", "H": "hotplug", "R": "hotplug", "FZ": "reliability", "ST": "reliability"}
HOTPLUG_NAME = re.compile(r"(?:^|[._])R(\d{2})(?=_|$)")


def scenarios():
    for document, pattern in DOCUMENTS:
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
            ids = CARRIER.findall(line.replace("_", "_ "))
            ids += [(letter, number) for document, letter, number in QUALIFIED.findall(line) if OWNERS.get(letter) == document]
            if start and "hotplug" in name:
                ids += [("R", number) for number in HOTPLUG_NAME.findall(test)]
            for letter, number in ids:
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
    try:
        sys.exit(main())
    except BrokenPipeError:
        sys.exit(1)
