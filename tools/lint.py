#!/usr/bin/env python3
"""What a tool can check about the sources.

usage: tools/lint.py [--tidy]

Checks format (clang-format 19), lengths, banned words, that every cited scenario or rule id stands in docs/spec, and that
documents link to files that exist. --tidy adds clang-tidy 19 over every file (minutes).
Exit code 1 when something is found; each line says where, what and what to use instead.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE_LINES_MAX = 400
TEST_LINES_MAX = 800

# pattern -> (what to use instead, folders where it is right)
BANS = {
    r"\bstd::thread\b|\bstd::jthread\b": ("TaskGroup, Blocking", ("src/base/async", "src/launcher/edge", "src/image", "src/cli")),
    r"std::this_thread": ("Clock", ()),
    r"\busleep\(|\bnanosleep\(": ("Clock", ("src/image/import_attack_test.cpp",)),
    r"::now\(\)": ("Clock", ("src/base/async/system", "src/image", "src/launcher/edge", "src/sim/core", "bench", "src/cli")),
    r"\bco_spawn\(": ("TaskGroup::spawn", ("src/base/async",)),
    r"\bdetached\b": ("TaskGroup", ("src/base/async",)),
    # The words that tests of a layer share are its testing namespace.
    r"using namespace (?!std::(?:chrono_)?literals|std::chrono_literals|std::string_view_literals|(?:\w+::)*testing;)": (
        "a namespace alias",
        ("bench", "src/solo/rules/kubelet/fixture.hpp"),
    ),
    r'#include "\.\.': ("the path from src/", ()),
    r"\bif \(co_await|switch \(co_await": ("a named result first", ()),
    r"co_await [^;]*\[[^\]]*[&=\w][^\]]*\]\s*(?:\([^)]*\))?\s*(?:mutable)?\s*\{": ("a named function object first", ()),
}
IDS = re.compile(r'(?<![\w/:-])(?:(placement|datavolumes|hotplug|kube-api|reliability)/)?([A-Z])-(\d{2,3})(?![\w-])')
LETTERS = {"P": "placement", "A": "kube-api", "H": "hotplug", "V": "placement", "L": "placement", "K": "placement", "C": "placement"}


def sources(*patterns):
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split() if (ROOT / name).exists()]


def check_format(names):
    done = subprocess.run(["clang-format-19", "--dry-run", "-Werror", *names], cwd=ROOT, capture_output=True, text=True)
    for line in done.stderr.splitlines():
        found = re.match(r"(\S+?):(\d+):.*error: code should be clang-formatted", line)
        if found:
            yield f"{found.group(1)}:{found.group(2)}: not formatted: run ./dev fmt"


def check_text(names):
    for name in names:
        lines = (ROOT / name).read_text().splitlines()
        limit = TEST_LINES_MAX if "_test." in name or name.startswith("tests/") else SOURCE_LINES_MAX
        if len(lines) > limit:
            yield f"{name}: {len(lines)} lines: split it, {limit} is the limit"
        if not lines or not lines[0].startswith(("//", "#")) :
            yield f"{name}:1: says nothing: open with a // line of what the file is for"
        for number, line in enumerate(lines, 1):
            code = line.split("//")[0]
            for pattern, (instead, allowed) in BANS.items():
                if re.search(pattern, code) and not name.startswith(allowed or ("\0",)):
                    yield f"{name}:{number}: {code.strip()[:60]}: use {instead}"


def check_ids(names):
    known = {}
    for document in (ROOT / "docs" / "spec").glob("*.md"):
        known[document.stem] = set(re.findall(r"\b([A-Z]-\d{2,3})\b", document.read_text()))
    everywhere = set().union(*known.values()) if known else set()
    for name in names:
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            for document, letter, digits in IDS.findall(line):
                identity = f"{letter}-{digits}"
                where = known.get(document or LETTERS.get(letter, ""), everywhere)
                if identity not in where and identity not in everywhere:
                    yield f"{name}:{number}: {identity} is not in docs/spec"


def check_links():
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "adr").glob("*.md")]:
        if not document.exists():
            continue
        for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", document.read_text()):
            if not (document.parent / target).exists():
                yield f"{document.relative_to(ROOT)}: links to {target}, which is not there"


def tidy(names):
    command = ["xargs", "-P", str(os.cpu_count() or 2), "-n", "1", "clang-tidy-19", "-p", "build/dev", "--quiet"]
    done = subprocess.run(command, cwd=ROOT, input="\n".join(names), capture_output=True, text=True)
    for line in done.stdout.splitlines():
        if re.search(r"(error|warning): ", line):
            yield line


def main() -> int:
    code = sources("src/*.cpp", "src/*.hpp", "tests/*.cpp", "bench/*.cpp")
    found = [*check_format(code), *check_text(code), *check_ids(code), *check_links()]
    if "--tidy" in sys.argv:
        found += tidy([name for name in code if name.endswith(".cpp")])
    for line in found:
        print(line)
    print(f"{len(found)} findings in {len(code)} files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
