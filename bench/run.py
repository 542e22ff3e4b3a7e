#!/usr/bin/env python3
"""Runs the benchmarks of the release build and prints their figures.

usage: bench/run.py [NAME]      NAME: only benchmarks whose name contains it
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main() -> int:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    programs = sorted(p for p in (ROOT / "build" / "release" / "bench").glob("*_bench") if wanted in p.name)
    scripts = [p for p in [ROOT / "bench" / "up.py", ROOT / "bench" / "hotplug.py"] if wanted in p.name]
    if not programs and not scripts:
        print("no benchmark of that name is built: ./dev bench builds them first")
        return 1
    for program in programs:
        print(f"== {program.name}", flush=True)
        with tempfile.TemporaryDirectory(prefix="berth-bench-") as folder:
            if subprocess.run([str(program), folder], check=False).returncode != 0:
                return 1
    for script in scripts:
        print(f"== {script.name}", flush=True)
        if subprocess.run([str(script)], check=False).returncode != 0:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
