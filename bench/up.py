#!/usr/bin/env python3
"""Figures of a real `berth up`: time to ready and memory, empty and with 10 000 objects; a VM applied → its QEMU started.

usage: bench/up.py [--objects N]
"""
import concurrent.futures
import json
import os
import pathlib
import re
import ssl
import statistics
import http.client
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "tests" / "clients"), str(ROOT / "tests" / "up")]
from berth_up import Up, fetch_kubectl  # noqa: E402
from crash_test import Images, disk, machine, processes  # noqa: E402


def rss(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1)) / 1024


def ready(up):
    return float(re.search(r"in ([0-9.]+) s", up.ready_line).group(1))


def restarted(up, count=5):
    """Median time to ready and the memory after it, of `count` starts."""
    times = []
    for _ in range(count):
        up.kill()
        up.start()
        times.append(ready(up))
    time.sleep(2)  # what it does right after it is ready belongs to the figure
    return statistics.median(times), rss(up.process.pid)


def fill(up, count):
    """Creates ConfigMaps of 1 kB over 16 connections; creates a second."""
    config = pathlib.Path(up.kubeconfig).read_text()
    data = {key: re.search(key + r": *(\S+)", config).group(1) for key in ("client-certificate-data", "client-key-data", "certificate-authority-data")}
    import base64

    names = {}
    for key, text in data.items():
        names[key] = f"{up.folder}/{key}.pem"
        pathlib.Path(names[key]).write_bytes(base64.b64decode(text))
    tls = ssl.create_default_context(cafile=names["certificate-authority-data"])
    tls.load_cert_chain(names["client-certificate-data"], names["client-key-data"])
    host, port = up.server.removeprefix("https://").split(":")

    def some(first):
        connection = http.client.HTTPSConnection(host, int(port), context=tls)
        for i in range(first, count, 16):
            body = json.dumps({"metadata": {"name": f"c{i}"}, "data": {"a": "x" * 1000}})
            connection.request("POST", "/api/v1/namespaces/default/configmaps", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            if answer.status != 201:
                raise SystemExit(f"create: {answer.status}")

    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(some, range(16)))
    return count / (time.monotonic() - begin)


def to_qemu(up, name, document):
    """Seconds from the answer to `kubectl create` until the machine's QEMU runs."""
    done = up.kubectl("create", "-f", "-", input=json.dumps(document))
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    begin = time.monotonic()
    while not processes(f"guest=default_{name}"):
        if time.monotonic() - begin > 60:
            raise SystemExit(f"no guest of {name} after 60 s")
        time.sleep(0.01)
    return time.monotonic() - begin


def main():
    count = int(sys.argv[2]) if sys.argv[1:2] == ["--objects"] else 10_000
    fetch_kubectl()
    up = Up()
    try:
        up.start()
        seconds, memory = restarted(up)
        print(f"ready, empty:            {seconds:.2f} s   RSS {memory:.0f} MiB")
        images = Images()
        first = to_qemu(up, "b0", machine("b0", images.url))
        later = [to_qemu(up, f"b{i}", machine(f"b{i}", images.url)) for i in range(1, 4)]
        print(f"VM (http 24 MiB + blank) applied -> QEMU: first {first:.2f} s, then {statistics.median(later):.2f} s (median of 3)")
        blank = machine("e", images.url)
        blank["spec"]["dataVolumeTemplates"] = [disk("e-root", {"blank": {}}), disk("e-data", {"blank": {}})]
        print(f"VM (two blank disks) applied -> QEMU:     {to_qemu(up, 'e', blank):.2f} s")
        up.kubectl("delete", "vm", "--all", "--timeout=60s")
        rate = fill(up, count)
        print(f"creates over TLS, 16 connections:         {rate:.0f} /s (one Python process sends them)")
        seconds, memory = restarted(up, 3)
        print(f"ready, {count} objects:    {seconds:.2f} s   RSS {memory:.0f} MiB")
    finally:
        up.close()


if __name__ == "__main__":
    os.environ.setdefault("BERTH", str(ROOT / "build" / "berth"))
    main()
