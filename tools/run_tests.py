#!/usr/bin/env python3
"""Runs every test with ctest and ends with the summary line "N passed, N failed, N skipped".

usage: tools/run_tests.py [--long] [NAME]

NAME      only tests whose name contains it
--long    also tests labelled "long"

Fast tests run from the sanitizer build; tests labelled "root" (real mounts, containers, guests) from the release build.
Results of every single test case are left in build/results/*.xml for `./dev scenarios`.
"""
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "results"


def run(preset: str, arguments: list[str]) -> list[tuple[str, str]]:
    """Runs ctest in one build; returns (test, outcome) pairs."""
    report = RESULTS / f"ctest-{preset}.xml"
    command = ["ctest", "--output-on-failure", "--output-junit", str(report), *arguments]
    environment = dict(os.environ, GTEST_OUTPUT=f"xml:{RESULTS}/cases-{preset}/")
    subprocess.run(command, cwd=ROOT / "build" / preset, env=environment, check=False)
    if not report.exists():
        return [(f"ctest in {preset}", "failed")]
    outcomes = []
    for case in xml.parse(report).getroot().iter("testcase"):
        status = case.get("status")
        outcomes.append((case.get("name"), {"run": "passed", "fail": "failed"}.get(status, "skipped")))
    return outcomes


def main() -> int:
    arguments = [a for a in sys.argv[1:] if a != "--long"]
    label = [] if "--long" in sys.argv else ["-LE", "long"]
    only = ["-R", arguments[0]] if arguments else []
    RESULTS.mkdir(parents=True, exist_ok=True)
    for old in RESULTS.rglob("*.xml"):
        old.unlink()
    outcomes = run("dev", ["-L", "fast", "-j2", "--timeout", "1200", *only])
    outcomes += run("release", ["-L", "root", *label, "--timeout", "1200", *only])
    count = {state: sum(1 for _, outcome in outcomes if outcome == state) for state in ("passed", "failed", "skipped")}
    for name, outcome in outcomes:
        if outcome == "failed":
            print(f"failed: {name}")
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 0 if count["failed"] == 0 and count["passed"] > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
