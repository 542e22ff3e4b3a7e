"""A real `berth up` with one machine whose disks come and go, and every place where a plug leaves a trace.

The guest writes to one plugged disk all the time and counts what it wrote and what failed.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "clients"))
from berth_up import Up, berth, eventually  # noqa: E402  the folder beside

KEPT = "kept"
PHASES = {"attach": ["Bound", "AttachedToNode", "MountedToPod", "Ready"], "detach": ["Ready", "UnMountedFromPod", "Detaching", ""]}
# One process that writes block after block, flushed, and never ends by itself.
WRITER = (
    "(n=0; f=0; while :; do if echo $n | dd of=/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_kept bs=512 seek=8 conv=sync,fsync "
    "2>/dev/null; then n=$((n+1)); else f=$((f+1)); fi; echo $n $f >/tmp/count; done) >/dev/null 2>&1 &"
)


def document(kind, name, spec, version):
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def machine(name):
    disks = [{"name": "root", "disk": {"bus": "virtio"}}]
    volumes = [{"name": "root", "containerDisk": {"image": "berth.local/guest"}}]
    spec = {"domain": {"memory": {"guest": "128Mi"}, "devices": {"disks": disks}}, "volumes": volumes}
    spec["terminationGracePeriodSeconds"] = 10
    template = {"runStrategy": "Always", "template": {"spec": spec}}
    return document("VirtualMachine", name, template, "kubevirt.io/v1")


def blank(name, mode):
    storage = {"storageClassName": "local", "volumeMode": mode, "resources": {"requests": {"storage": "16Mi"}}}
    return document("DataVolume", name, {"source": {"blank": {}}, "storage": storage}, "cdi.kubevirt.io/v1beta1")


class PlugWorld:
    """`modes`: volume → Filesystem or Block. All of them are made, none is plugged."""

    def __init__(self, modes):
        self.modes = modes
        self.up = Up("--nodes", "1").start()
        self.name = "web"

    def begin(self):
        for name, mode in self.modes.items():
            self.create(blank(name, mode))
        self.create(machine(self.name))
        eventually(self.is_running, 120)

    def create(self, what):
        done = self.up.kubectl("create", "-f", "-", input=json.dumps(what))
        assert done.returncode == 0, done.stderr

    def close(self):
        self.up.close()

    # --- what is asked ---

    def add(self, volume):
        return self.ask("addvolume", volume)

    def remove(self, volume):
        return self.ask("removevolume", volume)

    def ask(self, verb, volume):
        # Exit code 5: not now. Nobody has begun to act on the request before this one.
        done = eventually(lambda: self.asked(verb, volume), 60)
        assert done.returncode == 0, done.stderr
        return done

    def asked(self, verb, volume):
        done = berth(verb, self.name, "--volume-name", volume, "--kubeconfig", self.up.kubeconfig)
        return None if done.returncode == 5 else done

    def restart(self):
        before = self.vmi()["metadata"]["uid"]
        done = berth("restart", self.name, "--kubeconfig", self.up.kubeconfig)
        assert done.returncode == 0, done.stderr

        def another_runs():
            vmi = self.vmi()
            return vmi.get("status", {}).get("phase") == "Running" and vmi["metadata"]["uid"] != before

        eventually(another_runs, 120)

    # --- the API ---

    def get(self, *what):
        done = self.up.kubectl("get", *what, "-o", "json")
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def vmi(self):
        return self.get("vmi", self.name)

    def is_running(self):
        """the machine runs"""
        return self.vmi().get("status", {}).get("phase") == "Running"

    def entry(self, volume):
        entries = self.vmi().get("status", {}).get("volumeStatus", [])
        return next((one for one in entries if one["name"] == volume), {})

    def pods(self, label):
        return self.get("pods", "-l", f"kubevirt.io={label}").get("items", [])

    def launcher(self):
        alive = [pod for pod in self.pods("virt-launcher") if pod["status"].get("phase") == "Running"]
        assert len(alive) == 1, [pod["metadata"]["name"] for pod in alive]
        return alive[0]["metadata"]["uid"]

    def pods_of(self, volume):
        """Attachment pods that mention the volume."""
        return [pod for pod in self.pods("hotplug-disk") if any(one["name"] == volume for one in pod["spec"]["volumes"])]

    # --- processes ---

    def processes(self, pod, container):
        root = pathlib.Path("/sys/fs/cgroup/devices")
        if not root.exists():
            root = pathlib.Path("/sys/fs/cgroup")
        out = {}
        for file in root.glob(f"berth-*/{pod}/{container}/cgroup.procs"):
            for pid in file.read_text().split():
                try:
                    out[int(pid)] = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                except OSError:
                    pass
        return out

    def process_of(self, word):
        found = [pid for pid, text in self.processes(self.launcher(), "compute").items() if re.match(word, text)]
        return found[0] if len(found) == 1 else None

    def qemu(self):
        return eventually(lambda: self.process_of(r"/usr/bin/qemu-system\S* -name guest="))

    def kill(self, victim, volume):
        """kill -9 of one process; `up` is started again at once. True when there was one."""
        if victim == "up":
            self.up.kill()
            self.up.start()
            return True
        if victim == "attachment pod":
            pids = [pid for pod in self.pods_of(volume) for pid in self.processes(pod["metadata"]["uid"], "hotplug-disk")]
        else:
            program = {"launcher": r"\S*virt-launcher ", "libvirtd": r"\S*libvirtd "}[victim]
            pids = [pid for pid in [self.process_of(program)] if pid]
        for pid in pids:
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass
        return bool(pids)

    def at_phase(self, volume, phase, act, done):
        """Does `act` as soon as vs(volume) has the phase, or a later one of that way."""
        order = PHASES[done]
        eventually(lambda: self.entry(volume).get("phase", "") in order[order.index(phase) :], 60)
        return act()

    # --- where traces are ---

    def claims(self):
        """uid of a claim → its name; a name on the record or a mount is a uid or a volume's."""
        return {claim["metadata"]["uid"]: claim["metadata"]["name"] for claim in self.get("pvc").get("items", [])}

    def places(self):
        """place → the set of (volume, claim) that it says is plugged."""
        vmi = self.vmi()
        launcher = self.launcher()
        claims = self.claims()
        qemu = self.qemu()
        out = collections.OrderedDict()
        out["spec"] = {
            (v["name"], v["dataVolume"]["name"]) for v in vmi["spec"]["volumes"] if v.get("dataVolume", {}).get("hotpluggable")
        }
        out["status"] = {
            (e["name"], e.get("persistentVolumeClaimInfo", {}).get("claimName", "") if e["phase"] == "Ready" else e["phase"])
            for e in vmi["status"].get("volumeStatus", [])
            if "hotplugVolume" in e
        }
        out["pods"] = {
            (v["name"], v["persistentVolumeClaim"]["claimName"])
            for pod in self.pods("hotplug-disk")
            for v in pod["spec"]["volumes"]
            if "persistentVolumeClaim" in v
        }
        node = pathlib.Path(self.up.data_dir, "nodes/n1")
        record = node / "plugs" / vmi["metadata"]["uid"]
        entries = json.loads(record.read_text())["mountTargetEntries"] if record.exists() else []
        out["record"] = {(e["volume"], claims.get(e["claimUID"], e["claimUID"])) for e in entries}
        out["mounts and nodes"] = self.in_folder(node / "pods" / launcher, qemu)
        out["domain"] = self.in_domain(qemu)
        out["qemu"] = self.opened(qemu)
        return out, launcher

    def known(self, volumes):
        return {(volume, volume) for volume in volumes}

    def in_folder(self, pod, qemu):
        """The launcher sees them: image files that are mounts, device nodes."""
        root = pathlib.Path(f"/proc/{qemu}/root/run/kubevirt/hotplug-disks")
        mounted = pathlib.Path(f"/proc/{qemu}/mountinfo").read_text()
        out = set()
        for entry in os.scandir(root):
            volume = entry.name.removesuffix(".img")
            is_there = f"/hotplug-disks/{entry.name} " in mounted or not entry.is_file(follow_symlinks=False)
            out.add((volume, volume if is_there else "an empty file"))
        return out

    def in_domain(self, qemu):
        socket = f"/proc/{qemu}/root/run/berth/run/libvirt/libvirt-sock"
        done = subprocess.run(
            ["virsh", "-c", f"qemu+unix:///session?socket={socket}", "dumpxml", f"default_{self.name}"],
            capture_output=True,
            text=True,
            timeout=30,
        )
        if done.returncode != 0:
            return {("libvirtd", "does not answer")}
        found = re.findall(r"<source (?:file|dev)='[^']*/hotplug-disks/([^']+?)(?:\.img)?'", done.stdout)
        return {(volume, volume) for volume in found}

    def opened(self, qemu):
        """What QEMU itself has open: more than libvirt knows would be a disk that was lost."""
        out = set()
        for fd in os.scandir(f"/proc/{qemu}/fd"):
            try:
                found = re.search(r"/hotplug-disks/(.+?)(\.img)?$", os.readlink(fd.path))
            except OSError:
                continue
            if found:
                out.add((found.group(1), found.group(1)))
        return out

    def rules(self, launcher):
        """Loop devices that the launcher's group may open (cgroup v1 says so; "none" where it does not)."""
        lists = list(pathlib.Path("/sys/fs/cgroup/devices").glob(f"berth-*/{launcher}/compute/devices.list"))
        return set(re.findall(r"^b (7:\d+) rwm$", lists[0].read_text(), re.M)) if lists else None

    def differs(self, wanted):
        """"" when every place says the same; else which one does not."""
        try:
            places, launcher = self.places()
        except (AssertionError, KeyError, OSError) as error:
            return f"not to be seen: {error!r}"
        for place, has in places.items():
            if has != self.known(wanted):
                return f"{place} has {sorted(has)}, not {sorted(wanted)}"
        rules = self.rules(launcher)
        blocks = sum(1 for volume in wanted if self.modes[volume] == "Block")
        if rules is not None and len(rules) != blocks:
            return f"devices {sorted(rules)} are allowed for {blocks} block volumes"
        return ""

    def settles(self, wanted, seconds=90):
        end = time.monotonic() + seconds
        while True:
            said = self.differs(wanted)
            if not said:
                return
            if time.monotonic() > end:
                raise AssertionError(said)
            time.sleep(0.1)

    # --- the guest ---

    def tell(self, command):
        """What the guest's shell prints for a command."""
        return self.up.ask_guest(self.name, command)

    def start_writer(self):
        self.add(KEPT)
        self.settles([KEPT])
        self.write()

    def write(self):
        """Starts the writer in a guest that has just booted."""
        self.tell(f"{WRITER} sleep 0")
        self.written = 0
        eventually(lambda: self.counts()[0] > 0, 30)

    def counts(self):
        """Blocks written, writes that failed."""
        said = self.tell("cat /tmp/count").split()
        return (int(said[0]), int(said[1])) if len(said) == 2 else (0, 0)

    def check_io(self):
        """The guest went on writing since the last look, and nothing failed."""

        def goes_on():
            self.now = self.counts()
            return self.now[0] > self.written

        eventually(goes_on, 30)
        self.written = self.now[0]
        assert self.now[1] == 0, f"{self.now[1]} writes failed"
        said = self.tell("dmesg | grep -ci 'i/o error'")
        assert said.strip() == "0", f"the kernel says I/O error {said} times"
