#!/usr/bin/env python3
"""What plugging costs, on a real guest: one node, one machine, claims that are ready.

usage: bench/hotplug.py [BERTH] [--rounds N] [--many N] [--seconds S]      needs root

addvolume -> guest    from the request until the guest's kernel shows the disk (its console says so)
addvolume -> Ready    until the API says so
removevolume -> let go, -> free    until the disk is gone from the guest; until the claim can be used elsewhere
All for file system and block volumes in turns, so that the machine's load is the same for both; the columns are p50 and
p95 in seconds. Then many volumes at once, and a steady stream of plugs and unplugs.
"""
import argparse
import base64
import concurrent.futures
import json
import http.client
import os
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
VMI = "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances"
VERB = "/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/bench/"
DISKS = "/apis/cdi.kubevirt.io/v1beta1/namespaces/default/datavolumes"
PATIENCE = 300  # seconds for one step, whatever the load


class Api:
    """The API server of a kubeconfig; a connection a thread."""

    def __init__(self, kubeconfig, folder):
        text = kubeconfig.read_text()
        self.address = re.search(r'server: "?https://([0-9.:]+)', text).group(1)
        self.tls = ssl.create_default_context(cadata=self.secret(text, "certificate-authority-data").decode())
        pair = folder / "client.pem"
        pair.write_bytes(self.secret(text, "client-certificate-data") + self.secret(text, "client-key-data"))
        self.tls.load_cert_chain(pair)
        self.local = threading.local()

    @staticmethod
    def secret(text, key):
        return base64.b64decode(re.search(key + r': "?([A-Za-z0-9+/=]+)', text).group(1))

    def connect(self):
        return http.client.HTTPSConnection(self.address, context=self.tls, timeout=PATIENCE)

    def call(self, method, path, body=None):
        if not hasattr(self.local, "link"):
            self.local.link = self.connect()
        self.local.link.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"})
        answer = self.local.link.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else {}

    def must(self, method, path, body=None):
        code, answer = self.call(method, path, body)
        if code >= 300:
            raise RuntimeError(f"{method} {path}: {code} {answer.get('message')}")
        return answer


class Sightings:
    """Who was seen when: notes made by readers of their own, waited for by the bench."""

    def __init__(self):
        self.changed = threading.Condition()
        self.seen = {}

    def note(self, what):
        with self.changed:
            self.seen[what] = time.monotonic()
            self.changed.notify_all()

    def forget(self, what):
        with self.changed:
            self.seen.pop(what, None)

    def wait(self, what):
        with self.changed:
            if not self.changed.wait_for(lambda: what in self.seen, PATIENCE):
                raise RuntimeError(f"not seen within {PATIENCE} s: {what}")
            return self.seen[what]


def watch(api, sightings):
    """Ready volumes of the machine, and those that are gone from its spec and status."""
    link = api.connect()
    link.request("GET", VMI + "?watch=true&fieldSelector=metadata.name%3Dbench")
    answer = link.getresponse()
    known = set()
    while line := answer.readline():
        event = json.loads(line)
        machine = event["object"]
        if event["type"] not in ("ADDED", "MODIFIED"):
            continue
        if machine.get("status", {}).get("phase") == "Running":
            sightings.note("running")
        entries = {e["name"]: e for e in machine.get("status", {}).get("volumeStatus", []) if "hotplugVolume" in e}
        for name, entry in entries.items():
            if entry.get("phase") == "Ready" and entry.get("target") and entry.get("reason") != "DetachPending":
                sightings.note(("ready", name))
        for name in known - entries.keys():
            sightings.note(("free", name))
        known = set(entries)


def listen(console, sightings):
    """Disks that the guest's kernel shows and loses, by the serial in the link's name; and its shell."""
    serial_of = {}
    for line in console.stdout:
        if "GUEST-READY" in line:
            sightings.note("guest")
        if found := re.search(r"BLK add (\w+) .*scsi-0QEMU_QEMU_HARDDISK_(\S+)", line):
            serial_of[found.group(1)] = found.group(2)
            sightings.note(("guest", found.group(2)))
        if found := re.search(r"BLK remove (\w+)", line):
            sightings.note(("let go", serial_of.pop(found.group(1), "")))


def machine():
    return {
        "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance", "metadata": {"name": "bench"},
        "spec": {
            "terminationGracePeriodSeconds": 5,
            "domain": {"memory": {"guest": "192Mi"}, "devices": {"disks": [{"name": "root", "disk": {"bus": "virtio"}}]}},
            "volumes": [{"name": "root", "containerDisk": {"image": "berth.local/guest"}}],
        },
    }


def disk(name, mode):
    storage = {"storageClassName": "local-immediate", "volumeMode": mode, "resources": {"requests": {"storage": "16Mi"}}}
    return {
        "apiVersion": "cdi.kubevirt.io/v1beta1", "kind": "DataVolume", "metadata": {"name": name},
        "spec": {"source": {"blank": {}}, "storage": storage},
    }


class Bench:
    def __init__(self, api, sightings):
        self.api, self.sightings = api, sightings

    def make_disks(self, names, mode):
        for name in names:
            self.api.must("POST", DISKS, disk(name, mode))
        deadline = time.monotonic() + PATIENCE
        for name in names:
            while self.api.must("GET", f"{DISKS}/{name}").get("status", {}).get("phase") != "Succeeded":
                if time.monotonic() > deadline:
                    raise RuntimeError(f"DataVolume {name} is not filled")
                time.sleep(0.1)

    def put(self, verb, body):
        """As the command line does it: again when somebody else changed the machine at the same moment."""
        for _ in range(15):
            code, answer = self.api.call("PUT", VERB + verb, body)
            if code != 422 or "rejected our request" not in answer.get("message", ""):
                break
        if code >= 300:
            raise RuntimeError(f"{verb} {body['name']}: {code} {answer.get('message')}")

    def plug(self, name):
        for what in ("guest", "ready"):
            self.sightings.forget((what, name))
        asked = time.monotonic()
        source = {"dataVolume": {"name": name, "hotpluggable": True}}
        self.put("addvolume", {"name": name, "disk": {"disk": {"bus": "scsi"}, "serial": name}, "volumeSource": source})
        return asked

    def unplug(self, name):
        for what in ("let go", "free"):
            self.sightings.forget((what, name))
        asked = time.monotonic()
        self.put("removevolume", {"name": name})
        return asked

    def round(self, name):
        asked = self.plug(name)
        guest, ready = (self.sightings.wait((what, name)) - asked for what in ("guest", "ready"))
        asked = self.unplug(name)
        gone, free = (self.sightings.wait((what, name)) - asked for what in ("let go", "free"))
        return guest, ready, gone, free


def at(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def print_rounds(rounds):
    print(f"{'':28}{'Filesystem':>18}{'Block':>18}{'block / file':>14}")
    for index, what in enumerate(("addvolume -> guest", "addvolume -> Ready", "removevolume -> let go", "removevolume -> free")):
        cells, medians = "", []
        for mode in ("Filesystem", "Block"):
            values = [r[index] for r in rounds[mode]]
            medians.append(at(values, 0.5))
            cells += f"{at(values, 0.5):9.3f}{at(values, 0.95):9.3f}"
        print(f"{what:28}{cells}{medians[1] / medians[0]:14.2f}")


def many(bench, count, one):
    names = [f"many-{i}" for i in range(count)]
    bench.make_disks(names, "Block")
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        began = time.monotonic()
        list(pool.map(bench.plug, names))
        asked = time.monotonic()
        seen = max(bench.sightings.wait(("guest", name)) for name in names)
        ready = max(bench.sightings.wait(("ready", name)) for name in names)
        print(f"{count} at once: accepted {asked - began:.2f} s, all in the guest {seen - began:.2f} s, all Ready {ready - began:.2f} s")
        print(f"  of {count} times one plug: {(ready - began) / (count * one):.2f}")
        began = time.monotonic()
        list(pool.map(bench.unplug, names))
        free = max(bench.sightings.wait(("free", name)) for name in names)
        print(f"  all out again: {free - began:.2f} s")


def stream(bench, seconds):
    names = [f"stream-{i}" for i in range(4)]
    bench.make_disks(names, "Filesystem")
    rounds, deadline = [], time.monotonic() + seconds

    def run(name):
        while time.monotonic() < deadline:
            rounds.append(bench.round(name))

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(run, names))
    plugs = [r[1] for r in rounds]
    print(
        f"4 in turns for {seconds} s: {len(rounds) / seconds:.2f} plugs and unplugs a second; "
        f"addvolume -> Ready p50 {at(plugs, 0.5):.3f} s, p95 {at(plugs, 0.95):.3f} s"
    )


def run(flags, folder):
    up = subprocess.Popen(
        [flags.berth, "up", "--data-dir", folder / "data", "--listen", "127.0.0.1:0", "--nodes", "1"],
        stdout=subprocess.PIPE, stderr=open(folder / "up.log", "w"), text=True,
    )
    console = None
    try:
        while "ready in" not in (line := up.stdout.readline()):
            if not line:
                raise RuntimeError("berth up ended:\n" + (folder / "up.log").read_text()[-2000:])
        kubeconfig = folder / "data" / "kubeconfig"
        api, sightings = Api(kubeconfig, folder), Sightings()
        api.must("POST", VMI, machine())
        threading.Thread(target=watch, args=(api, sightings), daemon=True).start()
        sightings.wait("running")
        console = subprocess.Popen(
            [flags.berth, "console", "vmi/bench", "--kubeconfig", kubeconfig],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace",
        )
        threading.Thread(target=listen, args=(console, sightings), daemon=True).start()
        sightings.wait("guest")
        bench = Bench(api, sightings)
        disks = {"Filesystem": "files", "Block": "block"}
        for mode, name in disks.items():
            bench.make_disks([name], mode)
            bench.round(name)  # the first of each warms up
        rounds = {mode: [] for mode in disks}
        for _ in range(flags.rounds):
            for mode, name in disks.items():
                rounds[mode].append(bench.round(name))
        print_rounds(rounds)
        stream(bench, flags.seconds)
        many(bench, flags.many, at([r[1] for r in rounds["Block"]], 0.5))
    finally:
        if console:
            console.kill()
        up.terminate()
        up.wait()
        subprocess.run([flags.berth, "down", "--data-dir", folder / "data", "--purge"], stdout=subprocess.DEVNULL, check=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("berth", nargs="?", default=ROOT / "build" / "berth", help="the program (default: build/berth)")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--many", type=int, default=75)
    parser.add_argument("--seconds", type=int, default=20)
    flags = parser.parse_args()
    if os.geteuid() != 0:
        print("bench/hotplug.py: must run as root: it starts guests")
        return 2
    with tempfile.TemporaryDirectory(prefix="berth-bench-", dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        run(flags, pathlib.Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
