#!/usr/bin/env python3
"""`berth up` with a real guest, killed at several moments: nothing acknowledged is lost, the guest does not notice.

docs/spec/reliability.md 1 and design §3.9: kill -9 of any process at any instruction loses nothing.
"""
import functools
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "clients"))
from berth_up import BERTH, ROOT, Up, berth, eventually, fetch_kubectl, main  # noqa: E402  the folder beside

IMAGE_DIR = os.environ.get("BERTH_GUEST_DIR", str(ROOT / "build" / "guest"))


class Images(http.server.ThreadingHTTPServer):
    """Serves the guest's image; while `go` is not set, an answer stops in its middle."""

    daemon_threads = True

    def __init__(self):
        self.go = threading.Event()
        self.go.set()
        self.asked = threading.Event()
        super().__init__(("127.0.0.1", 0), functools.partial(Sender, directory=IMAGE_DIR))
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/guest.raw"

    def handle_error(self, request, address):
        pass  # a worker that was killed reads no further


class Sender(http.server.SimpleHTTPRequestHandler):
    def copyfile(self, source, out):
        out.write(source.read(1 << 20))
        self.server.asked.set()
        self.server.go.wait()
        super().copyfile(source, out)

    def log_message(self, *_):
        pass


def disk(name, source):
    storage = {"storageClassName": "local", "resources": {"requests": {"storage": "64Mi"}}}
    return {"metadata": {"name": name}, "spec": {"source": source, "storage": storage}}


def machine(name, url):
    disks = [
        {"name": "root", "bootOrder": 1, "disk": {"bus": "virtio"}},
        {"name": "data", "serial": "data-1", "disk": {"bus": "scsi"}},
    ]
    volumes = [{"name": d, "dataVolume": {"name": f"{name}-{d}"}} for d in ("root", "data")]
    spec = {"domain": {"memory": {"guest": "128Mi"}, "devices": {"disks": disks}}, "volumes": volumes}
    spec["terminationGracePeriodSeconds"] = 30
    templates = [disk(f"{name}-root", {"http": {"url": url}}), disk(f"{name}-data", {"blank": {}})]
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name},
        "spec": {"runStrategy": "Always", "dataVolumeTemplates": templates, "template": {"spec": spec}},
    }


def processes(word):
    """pid → command line, of processes whose command line has the word."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                text = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if word in text and int(entry.name) != os.getpid():
                found[int(entry.name)] = text
    return found


def traces(up):
    """What is left on the machine of a data directory: processes, mounts, loop devices, control groups."""
    left = [f"process {pid}: {text[:120]}" for pid, text in processes(up.data_dir).items()]
    left += [line for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines() if up.data_dir in line]
    loops = subprocess.run(["losetup", "--list", "--noheadings", "--output", "BACK-FILE"], capture_output=True, text=True)
    left += [line for line in loops.stdout.splitlines() if up.data_dir in line]
    return left


class Crash(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        fetch_kubectl()

    def start(self, *arguments):
        up = Up(*arguments)
        self.addCleanup(up.close)
        return up.start()

    def get(self, up, kind, name, path):
        return up.kubectl("get", kind, name, "-o", f"jsonpath={{{path}}}").stdout

    def create(self, up, document):
        done = up.kubectl("create", "-f", "-", input=json.dumps(document))
        self.assertEqual(done.returncode, 0, done.stderr)

    def running(self, up, name):
        is_running = lambda: self.get(up, "vm", name, ".status.printableStatus") == "Running"
        eventually(is_running, 120)
        uid = self.get(up, "vmi", name, ".metadata.uid")
        return uid, self.guest_of(up, name)

    def guest_of(self, up, name):
        """The one QEMU of a machine."""
        root = os.path.realpath(up.data_dir)
        mine = []
        for pid in processes(f"guest=default_{name}"):
            # The pod's volumes are mounted from this data directory: guests of others have other mounts.
            mounts = pathlib.Path(f"/proc/{pid}/mountinfo").read_text()
            if root in mounts or root.removeprefix("/tmp") in mounts:
                mine.append(pid)
        self.assertEqual(len(mine), 1, mine)
        return mine[0]

    def uptime(self, up, name):
        """Seconds since the guest booted, as it says itself."""
        return int(up.ask_guest(name, "cut -d. -f1 /proc/uptime"))

    def ends_clean(self, up):
        if up.process:
            up.stop()
        done = up.purge()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(traces(up), [])
        left = os.listdir(up.data_dir) if os.path.exists(up.data_dir) else []
        self.assertIn(left, ([], ["images"]), "images/ is the user's")

    def test_kill_while_running(self):
        images = Images()
        self.addCleanup(images.shutdown)
        up = self.start()
        self.create(up, machine("web", images.url))
        uid, guest = self.running(up, "web")
        before = self.uptime(up, "web")
        for i in range(3):
            # The last thing that was acknowledged before the kill.
            self.create(up, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"before-{i}"}})
            up.kill()
            self.assertTrue(os.path.exists(f"/proc/{guest}"), "the guest goes on without us")
            up.start()
            self.assertEqual(self.get(up, "cm", f"before-{i}", ".metadata.name"), f"before-{i}")
            self.assertEqual(self.running(up, "web"), (uid, guest), "same machine, same QEMU")
        self.assertGreaterEqual(self.uptime(up, "web"), before, "it has not booted again")
        self.assertEqual(self.get(up, "vmi", "web", ".status.phase"), "Running")
        self.ends_clean(up)
        self.assertFalse(os.path.exists(f"/proc/{guest}"))

    def test_kill_before_placed_and_while_importing(self):
        images = Images()
        self.addCleanup(images.shutdown)
        images.go.clear()
        self.addCleanup(images.go.set)
        up = self.start()
        self.create(up, machine("web", images.url))
        up.kill()  # right behind the answer: nothing is placed yet
        up.start()
        uid = eventually(lambda: self.get(up, "vm", "web", ".metadata.uid"))
        self.assertTrue(images.asked.wait(60), "the worker asks for the image")
        claim = self.get(up, "pvc", "web-root", ".metadata.uid")
        up.kill()  # the worker has a part of it
        images.go.set()
        up.start()
        vmi, guest = self.running(up, "web")
        self.assertEqual(self.get(up, "vm", "web", ".metadata.uid"), uid)
        self.assertEqual(self.get(up, "pvc", "web-root", ".metadata.uid"), claim, "the disk is not made anew")
        self.assertEqual(self.get(up, "dv", "web-root", ".status.phase"), "Succeeded")
        pods = up.kubectl("get", "pods", "-l", "kubevirt.io=virt-launcher", "-o", "name").stdout.split()
        self.assertEqual(len(pods), 1)
        self.assertGreaterEqual(self.uptime(up, "web"), 0)
        self.ends_clean(up)

    def test_kill_at_many_moments(self):
        images = Images()
        self.addCleanup(images.shutdown)
        up = self.start()
        for round_number, pause in enumerate((0.05, 0.3, 0.6, 1.0, 1.5, 2.5)):
            name = f"m{round_number}"
            self.create(up, machine(name, images.url))
            time.sleep(pause)  # the moment; where it falls differs from run to run
            up.kill()
            up.start()
            self.running(up, name)
            self.assertEqual(up.kubectl("delete", "vm", name, "--timeout=60s").returncode, 0)
        eventually(lambda: not up.kubectl("get", "pods,pvc,pv,dv,vmi", "-A", "-o", "name").stdout, 60)
        self.ends_clean(up)

    def test_terminated(self):
        images = Images()
        self.addCleanup(images.shutdown)
        up = self.start()
        self.create(up, machine("web", images.url))
        _, guest = self.running(up, "web")
        code, said = up.stop()
        self.assertEqual(code, 0)
        self.assertIn("guests go on running", said)
        self.assertTrue(os.path.exists(f"/proc/{guest}"))
        up.start()
        self.assertEqual(self.running(up, "web")[1], guest)
        self.ends_clean(up)

    def test_two_instances(self):
        one, two = self.start(), self.start("--nodes", "2")
        self.assertNotEqual(one.server, two.server)
        for up in (one, two):
            self.create(up, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "same"}})
        self.assertEqual(two.kubectl("get", "nodes", "-o", "name").stdout.split(), ["node/n1", "node/n2"])
        third = berth("up", "--data-dir", one.data_dir, "--listen", "127.0.0.1:0")
        self.assertEqual(third.returncode, 1)
        self.assertIn("is in use", third.stderr)
        self.ends_clean(one)
        self.assertEqual(self.get(two, "cm", "same", ".metadata.name"), "same", "the other one is not touched")
        self.ends_clean(two)

    def test_refusals(self):
        rows = [
            (["--listen", "nonsense"], "write ADDRESS:PORT"),
            (["--nodes", "0"], "--nodes"),
            (["--accel", "warp"], "--accel"),
            (["--node-memory", "much"], "much"),
            (["--no-such-flag"], "no-such-flag"),
        ]
        for arguments, told in rows:
            done = berth("up", "--data-dir", "/nonexistent/berth", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(told, done.stderr + done.stdout)
        up = Up()  # only its folder
        self.addCleanup(up.close)
        os.chmod(up.folder, 0o755)
        program = shutil.copy(BERTH, up.folder + "/berth")  # where it was built may be closed to others
        nobody = subprocess.run([program, "up"], user="nobody", group="nogroup", extra_groups=[], capture_output=True, text=True)
        self.assertEqual(nobody.returncode, 2, nobody.stderr)
        self.assertIn("root", nobody.stderr)


if __name__ == "__main__":
    main()
