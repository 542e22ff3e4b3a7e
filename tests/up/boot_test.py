#!/usr/bin/env python3
"""Placement on a real `berth up` with two nodes and real guests, watched from outside as kubectl sees it.

docs/spec/placement.md 12: P-01 to P-10, P-28 and P-36. The other scenarios run in the simulated world.
"""
import json
import os
import signal
import subprocess
import threading
import unittest

from crash_test import Images, disk, processes  # the folder's
from berth_up import BERTH, Up, berth, eventually, fetch_kubectl, main

DEFAULT = "namespaces/default"
KINDS = {
    "vm": f"/apis/kubevirt.io/v1/{DEFAULT}/virtualmachines",
    "vmi": f"/apis/kubevirt.io/v1/{DEFAULT}/virtualmachineinstances",
    "dv": f"/apis/cdi.kubevirt.io/v1beta1/{DEFAULT}/datavolumes",
    "pvc": f"/api/v1/{DEFAULT}/persistentvolumeclaims",
    "pods": f"/api/v1/{DEFAULT}/pods",
    "events": f"/api/v1/{DEFAULT}/events",
}
PROVISIONING = "kubevirt.io/ephemeral-provisioning"
SELECTED_NODE = "volume.kubernetes.io/selected-node"


class Record:
    """Every change of every object from now on, per kind in its order, as a watch tells it."""

    def __init__(self, up):
        self.seen = {kind: [] for kind in KINDS}
        # From this version on: nothing is missed, however late the watches begin.
        begin = json.loads(up.kubectl("get", "--raw", KINDS["pods"]).stdout)["metadata"]["resourceVersion"]
        watch = lambda path: up.start_kubectl("get", "--raw", f"{path}?watch=1&resourceVersion={begin}")
        self.watches = {kind: watch(path) for kind, path in KINDS.items()}
        self.readers = [threading.Thread(target=self.read, args=(kind,)) for kind in KINDS]
        for reader in self.readers:
            reader.start()

    def read(self, kind):
        for line in self.watches[kind].stdout:
            change = json.loads(line)
            self.seen[kind].append((change["type"], change["object"]))

    def end(self):
        for watch in self.watches.values():
            watch.terminate()
        for reader in self.readers:
            reader.join()
        for watch in self.watches.values():
            watch.communicate()

    def values(self, kind, name, *path):
        """The distinct values that one field had, one after the other."""
        out = []
        for _, thing in self.seen[kind]:
            value = at(thing, *path) if thing["metadata"]["name"] == name else None
            if value and (not out or out[-1] != value):
                out.append(value)
        return out

    def first(self, kind, holds):
        """The number of the first change of a kind that holds, among all changes of all kinds, by resource version."""
        versions = [int(thing["metadata"]["resourceVersion"]) for change, thing in self.seen[kind] if holds(change, thing)]
        return min(versions, default=None)

    def pods(self, prefix):
        """Pods whose name begins so, by name, as they were first seen bound to a node."""
        out = {}
        for _, pod in self.seen["pods"]:
            name = pod["metadata"]["name"]
            if name.startswith(prefix) and (name not in out or "nodeName" not in out[name]["spec"]):
                out[name] = pod
        return out


def at(thing, *path):
    for key in path:
        if isinstance(thing, dict):
            thing = thing.get(key)
        elif isinstance(thing, list) and isinstance(key, int) and key < len(thing):
            thing = thing[key]
        else:
            return None
    return thing


def is_provisioning(pod):
    return at(pod, "metadata", "annotations", PROVISIONING) == "true"


def condition(thing, kind):
    return next((one for one in at(thing, "status", "conditions") or [] if one["type"] == kind), {})


def is_subsequence(few, many):
    rest = iter(many)
    return all(one in rest for one in few)


def machine(name, disks, strategy="Always"):
    devices = [{"name": d, "disk": {"bus": "virtio"}} for d in disks]
    devices[0]["bootOrder"] = 1
    volumes = [{"name": d, "dataVolume": {"name": f"{name}-{d}"}} for d in disks]
    spec = {"domain": {"memory": {"guest": "128Mi"}, "devices": {"disks": devices}}, "volumes": volumes}
    spec["terminationGracePeriodSeconds"] = 10
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name},
        "spec": {
            "runStrategy": strategy,
            "dataVolumeTemplates": [disk(f"{name}-{d}", source) for d, source in disks.items()],
            "template": {"spec": spec},
        },
    }


class Placed(unittest.TestCase):
    """What a test needs of a cluster of its own."""

    @classmethod
    def setUpClass(cls):
        fetch_kubectl()
        cls.images = Images()
        cls.addClassCleanup(cls.images.shutdown)
        cls.up = Up("--nodes", "2")
        cls.addClassCleanup(cls.up.close)
        cls.up.start()

    def create(self, document):
        done = self.up.kubectl("create", "-f", "-", input=json.dumps(document))
        self.assertEqual(done.returncode, 0, done.stderr)

    def get(self, kind, name):
        done = self.up.kubectl("get", kind, name, "-o", "json")
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def runs(self, name):
        eventually(lambda: at(self.get("vm", name), "status", "printableStatus") == "Running", 120)

    def berth(self, *arguments):
        done = berth(*arguments, "--kubeconfig", self.up.kubeconfig)
        self.assertEqual(done.returncode, 0, done.stderr)

    def node_of_disk(self, name):
        claim = self.get("pvc", name)
        volume = self.get("pv", claim["spec"]["volumeName"])
        nodes = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"][0]["values"]
        self.assertEqual(nodes, [claim["metadata"]["annotations"][SELECTED_NODE]])
        return nodes[0]


class OneDisk(Placed):
    """P-01, recorded once; each test reads the record."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.record = Record(cls.up)
        cls.addClassCleanup(cls.record.end)
        case = cls("runTest")
        case.create(machine("web", {"root": {"http": {"url": cls.images.url}}}))
        case.runs("web")
        started = lambda: any(event["reason"] == "Started" for _, event in cls.record.seen["events"])
        eventually(started)

    def runTest(self):
        """Only the set-up."""

    def two_pods(self):
        pods = list(self.record.pods("virt-launcher-web-").values())
        self.assertEqual([is_provisioning(pod) for pod in pods], [True, False])
        return pods

    def test_P01_from_yaml_to_running(self):
        phases = self.record.values("dv", "web-root", "status", "phase")
        order = ["Pending", "WaitForFirstConsumer", "PVCBound", "ImportScheduled", "ImportInProgress", "Succeeded"]
        self.assertTrue(is_subsequence(phases, order), phases)
        self.assertEqual(phases[-1], "Succeeded")
        self.assertIn("WaitForFirstConsumer", phases)
        self.two_pods()
        self.assertEqual(self.record.values("vmi", "web", "status", "phase"), ["Pending", "Scheduling", "Scheduled", "Running"])

    def test_P02_everything_is_on_one_node(self):
        first, second = self.two_pods()
        node = self.node_of_disk("web-root")
        filler = self.record.pods("importer-web-root")["importer-web-root"]
        for pod in (first, second, filler):
            self.assertEqual(pod["spec"]["nodeName"], node)
        self.assertEqual(self.get("vmi", "web")["status"]["nodeName"], node)

    def test_P03_what_the_two_pods_run(self):
        first, second = self.two_pods()
        self.assertEqual(first["spec"]["containers"][0]["command"], ["/bin/bash"])
        self.assertEqual(second["spec"]["containers"][0]["command"], ["/usr/bin/virt-launcher-monitor"])
        for pod in (first, second):
            owner = pod["metadata"]["ownerReferences"][0]
            self.assertEqual((owner["kind"], owner["name"], owner["controller"]), ("VirtualMachineInstance", "web", True))

    def test_P04_the_two_pods_differ_only_in_what_they_run(self):
        specs = []
        for pod in self.two_pods():
            spec = json.loads(json.dumps(pod["spec"]))
            for key in ("command", "args"):
                del spec["containers"][0][key]
            specs.append(spec)
        self.assertEqual(*specs)

    def test_P05_order_of_pods_and_data(self):
        first, second = (pod["metadata"]["name"] for pod in self.two_pods())
        launcher = self.record.first("pods", lambda change, pod: change == "ADDED" and pod["metadata"]["name"] == second)
        gone = self.record.first("pods", lambda change, pod: change == "DELETED" and pod["metadata"]["name"] == first)
        filled = self.record.first("dv", lambda _, dv: at(dv, "status", "phase") == "Succeeded")
        self.assertGreater(launcher, gone)
        self.assertGreater(launcher, filled)
        bound = self.record.first("pvc", lambda _, claim: at(claim, "status", "phase") == "Bound")
        fills = self.record.first("pods", lambda _, pod: pod["metadata"]["name"] == "importer-web-root")
        self.assertGreater(fills, bound)

    def test_P06_printable_status_on_its_way(self):
        words = self.record.values("vm", "web", "status", "printableStatus")
        self.assertLessEqual(set(words), {"Stopped", "Provisioning", "WaitingForVolumeBinding", "Starting", "Running"})
        self.assertEqual(words[-1], "Running")
        waits = self.record.first("vm", lambda _, vm: at(vm, "status", "printableStatus") == "WaitingForVolumeBinding")
        bound = self.record.first("pvc", lambda _, claim: at(claim, "status", "phase") == "Bound")
        self.assertLess(waits, bound)

    def test_P07_provisioning_is_shown_while_the_pod_binds(self):
        shown = 0
        for _, vmi in self.record.seen["vmi"]:
            if condition(vmi, "Provisioning"):
                shown += 1
                self.assertNotIn(at(vmi, "status", "phase"), ("Scheduled", "Running"))
                self.assertEqual(condition(vmi, "Ready").get("reason"), "PodNotExists")
        self.assertGreater(shown, 0)

    def test_P08_events(self):
        first, second = (pod["metadata"]["name"] for pod in self.two_pods())
        told = {(e["involvedObject"]["kind"], e["reason"], e["message"]) for _, e in self.record.seen["events"]}
        reasons = {(kind, reason) for kind, reason, _ in told}
        for wanted in (
            ("VirtualMachine", "SuccessfulDataVolumeCreate"),
            ("VirtualMachine", "SuccessfulCreate"),
            ("PersistentVolumeClaim", "WaitForFirstConsumer"),
            ("VirtualMachineInstance", "Started"),
        ):
            self.assertIn(wanted, reasons)
        for pod in (first, second):
            self.assertIn(("VirtualMachineInstance", "SuccessfulCreate", "Created virtual machine pod " + pod), told)
        gone = "Deleted WaitForFirstConsumer temporary pod " + first
        self.assertIn(("VirtualMachineInstance", "SuccessfulDelete", gone), told)

    def test_P09_volume_status_names_the_claim(self):
        scheduled = next(vmi for _, vmi in self.record.seen["vmi"] if at(vmi, "status", "phase") == "Scheduled")
        status = scheduled["status"]["volumeStatus"][0]
        volume = self.get("pv", self.get("pvc", "web-root")["spec"]["volumeName"])
        info = status["persistentVolumeClaimInfo"]
        self.assertEqual(info["claimName"], "web-root")
        self.assertEqual(info["accessModes"], ["ReadWriteOnce"])
        self.assertEqual(info["volumeMode"], "Filesystem")
        self.assertEqual(info["capacity"]["storage"], volume["spec"]["capacity"]["storage"])
        self.assertEqual(info["filesystemOverhead"], "0.055")
        self.assertFalse(status.get("phase"))


class Flows(Placed):
    def test_P10_three_disks_are_placed_together(self):
        record = Record(self.up)
        self.addCleanup(record.end)
        sources = {"root": {"http": {"url": self.images.url}}, "a": {"blank": {}}, "b": {"blank": {}}}
        self.create(machine("three", sources))
        self.runs("three")
        first = [pod for pod in record.pods("virt-launcher-three-").values() if is_provisioning(pod)]
        self.assertEqual(len(first), 1)
        claims = {at(volume, "persistentVolumeClaim", "claimName") for volume in first[0]["spec"]["volumes"]} - {None}
        self.assertEqual(claims, {"three-root", "three-a", "three-b"})
        self.assertEqual({self.node_of_disk(claim) for claim in claims}, {first[0]["spec"]["nodeName"]})

    def test_P28_a_killed_launcher_is_followed_by_another_machine(self):
        self.create(machine("again", {"root": {"http": {"url": self.images.url}}}, "RerunOnFailure"))
        self.runs("again")
        before = self.get("vmi", "again")
        record = Record(self.up)
        self.addCleanup(record.end)
        uid = before["metadata"]["uid"]
        for pid, text in processes(uid).items():
            if "virt-launcher-monitor" in text.split()[0]:
                os.kill(pid, signal.SIGKILL)
        eventually(lambda: at(self.get("vmi", "again"), "metadata", "uid") not in (None, uid), 60)
        self.runs("again")
        after = self.get("vmi", "again")
        self.assertEqual(after["status"]["nodeName"], before["status"]["nodeName"])
        failed = [vmi["metadata"]["uid"] for _, vmi in record.seen["vmi"] if at(vmi, "status", "phase") == "Failed"]
        self.assertEqual(set(failed), {uid})
        self.assertFalse([pod for pod in record.pods("virt-launcher-again-").values() if is_provisioning(pod)])

    def test_P36_stop_during_the_import(self):
        self.images.go.clear()
        self.addCleanup(self.images.go.set)
        self.create(machine("late", {"root": {"http": {"url": self.images.url}}}))
        eventually(lambda: at(self.get("dv", "late-root"), "status", "phase") == "ImportInProgress", 60)
        node = self.node_of_disk("late-root")
        self.berth("stop", "late")
        eventually(lambda: not self.get("vmi", "late"))
        self.assertEqual(at(self.get("vm", "late"), "spec", "runStrategy"), "Halted")
        self.assertEqual(at(self.get("vm", "late"), "status", "printableStatus"), "Provisioning")
        self.images.go.set()
        eventually(lambda: at(self.get("vm", "late"), "status", "printableStatus") == "Stopped", 60)
        self.assertEqual(self.get("dv", "late-root")["status"]["phase"], "Succeeded")
        record = Record(self.up)
        self.addCleanup(record.end)
        self.berth("start", "late")
        self.runs("late")
        self.assertEqual(self.get("vmi", "late")["status"]["nodeName"], node)
        self.assertFalse([pod for pod in record.pods("virt-launcher-late-").values() if is_provisioning(pod)])


class OwnProcess(Placed):
    """The controllers as a process of their own, over HTTP: what runs beside any Kubernetes."""

    @classmethod
    def setUpClass(cls):
        fetch_kubectl()
        cls.images = Images()
        cls.addClassCleanup(cls.images.shutdown)
        cls.up = Up("--no-controllers")
        cls.addClassCleanup(cls.up.close)
        cls.up.start()

    def controller(self):
        process = subprocess.Popen(
            [BERTH, "controller", "--solo", "--kubeconfig", self.up.kubeconfig], stderr=subprocess.DEVNULL
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_a_machine_runs_and_gets_a_disk(self):
        self.create(machine("web", {"root": {"http": {"url": self.images.url}}}))
        self.assertEqual(self.get("dv", "web-root"), {}, "nobody is there to make it")
        self.images.go.clear()
        self.addCleanup(self.images.go.set)
        first = self.controller()
        eventually(lambda: at(self.get("dv", "web-root"), "status", "phase") == "ImportInProgress", 60)
        first.kill()  # the next one goes on from what the API shows
        first.wait()
        self.images.go.set()
        second = self.controller()
        self.runs("web")
        self.create({"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": "DataVolume", **disk("more", {"blank": {}})})
        self.berth("addvolume", "web", "--volume-name", "more", "--wait")
        self.berth("removevolume", "web", "--volume-name", "more", "--wait")
        second.terminate()
        self.assertEqual(second.wait(timeout=30), 0)


if __name__ == "__main__":
    main()
