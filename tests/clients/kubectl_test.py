#!/usr/bin/env python3
"""Unmodified kubectl 1.32 against `berth up`: the scenarios of docs/spec/kube-api.md 6.1, each in a namespace of its own."""
import json
import os
import subprocess
import time
import unittest

from berth_up import BERTH, Up, berth, eventually, fetch_kubectl, main

CM = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c1"}, "data": {"a": "1"}}
CM2 = {**CM, "data": {"a": "2", "b": "3"}}
VM = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "vm1"},
    "spec": {
        "runStrategy": "Halted",
        "template": {
            "spec": {
                "domain": {"memory": {"guest": "128Mi"}, "devices": {"disks": [{"name": "root", "disk": {"bus": "virtio"}}]}},
                "volumes": [{"name": "root", "containerDisk": {"image": "berth.local/guest"}}],
            }
        },
    },
}


def pod(name, script="sleep 1000"):
    container = {"name": "c", "image": "berth.local/launcher", "command": ["sh", "-c", "trap 'exit 0' TERM; " + script]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"terminationGracePeriodSeconds": 0, "restartPolicy": "Never", "containers": [container]},
    }


class Kubectl(unittest.TestCase):
    count = 0

    @classmethod
    def setUpClass(cls):
        fetch_kubectl()
        cls.up = Up()
        cls.addClassCleanup(cls.up.close)
        cls.up.start()

    def setUp(self):
        Kubectl.count += 1
        self.ns = f"t{Kubectl.count}"
        self.good("create", "ns", self.ns)
        self.addCleanup(self.up.kubectl, "delete", "ns", self.ns, "--wait=false")

    def run_it(self, *arguments, **more):
        return self.up.kubectl("-n", self.ns, *arguments, **more)

    def good(self, *arguments, **more):
        """stdout of a call that must succeed."""
        done = self.run_it(*arguments, **more)
        self.assertEqual(done.returncode, 0, f"kubectl {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def bad(self, *arguments, **more):
        """stderr of a call that must end with 1."""
        done = self.run_it(*arguments, **more)
        self.assertEqual(done.returncode, 1, f"kubectl {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stderr

    def file(self, *documents):
        """-f and a file with these documents."""
        path = f"{self.up.folder}/{self.ns}-{time.monotonic_ns()}.json"
        with open(path, "w") as out:
            out.write("\n".join(json.dumps(document) for document in documents))
        return "-f", path

    def c1(self, path="{.data}"):
        return self.good("get", "cm", "c1", "-o", "jsonpath=" + path)

    def start_pod(self, name, script="sleep 1000"):
        self.good("create", *self.file(pod(name, script)))
        self.good("wait", f"pod/{name}", "--for=condition=Ready", "--timeout=30s")

    def test_A01_version(self):
        done = self.run_it("version", "-o", "json")
        self.assertTrue(json.loads(done.stdout)["serverVersion"]["minor"].startswith("32"))
        self.assertEqual(done.stderr, "")

    def test_A02_ready(self):
        self.assertEqual(self.good("get", "--raw", "/readyz"), "ok")
        self.assertEqual(self.good("get", "--raw", "/readyz?verbose").splitlines()[-1], "readyz check passed")

    def test_A03_resources(self):
        rows = [line.split() for line in self.good("api-resources", "--no-headers").splitlines()]
        self.assertGreaterEqual(len(rows), 45)
        self.assertIn(["virtualmachines", "vm,vms", "kubevirt.io/v1", "true", "VirtualMachine"], rows)
        self.assertEqual(self.good("api-resources", "--api-group=subresources.kubevirt.io", "--no-headers"), "")

    def test_A04_create_twice(self):
        file = self.file(CM)
        self.assertEqual(self.good("create", *file), "configmap/c1 created\n")
        self.assertEqual(
            self.bad("create", *file),
            f'Error from server (AlreadyExists): error when creating "{file[1]}": configmaps "c1" already exists\n',
        )

    def test_A05_protobuf_bodies(self):
        self.good("create", "configmap", "x", "--from-literal=a=b")
        self.good("create", "secret", "generic", "s", "--from-literal=a=b")
        self.good("create", "ns", self.ns + "-two")
        self.good("delete", "ns", self.ns + "-two", "--wait=false")
        self.good("create", "sa", "sa1")
        self.assertEqual(self.good("get", "secret", "s", "-o", "jsonpath={.data.a}"), "Yg==")

    def test_A07_unknown_fields(self):
        file = self.file({**CM, "dat": {}})
        self.assertIn('strict decoding error: unknown field "dat"', self.bad("create", *file))
        warned = self.run_it("create", "--validate=warn", *file)
        self.assertEqual(warned.returncode, 0)
        self.assertIn('Warning: unknown field "dat"', warned.stderr)
        self.good("delete", "cm", "c1")
        silent = self.run_it("create", "--validate=false", *file)
        self.assertEqual((silent.returncode, silent.stderr), (0, ""))

    def test_A08_A09_apply(self):
        self.assertIn("created", self.good("apply", *self.file(CM)))
        self.assertIn("configured", self.good("apply", *self.file(CM2)))
        version = self.c1("{.metadata.resourceVersion}")
        self.assertIn("unchanged", self.good("apply", *self.file(CM2)))
        self.assertEqual(self.c1("{.metadata.resourceVersion}"), version)
        self.good("apply", *self.file({**CM, "data": {"a": "2"}}))
        self.assertEqual(self.c1(), '{"a":"2"}')

    def test_A11_dry_run(self):
        self.assertIn("created (server dry run)", self.good("apply", "--dry-run=server", *self.file(CM)))
        self.assertIn("NotFound", self.bad("get", "cm", "c1"))

    def test_A13_patch(self):
        self.good("create", *self.file(CM))
        self.assertIn("patched\n", self.good("patch", "cm", "c1", "-p", '{"data":{"z":"1"}}'))
        self.assertIn("patched (no change)", self.good("patch", "cm", "c1", "-p", '{"data":{"z":"1"}}'))
        said = self.bad("patch", "cm", "c1", "--type=json", "-p", '[{"op":"test","path":"/data/z","value":"9"}]')
        self.assertRegex(said, r"\(Invalid\)|the server rejected our request due to an error in our request")

    def test_A14_label_and_annotate(self):
        self.good("create", *self.file(CM))
        self.good("label", "cm", "c1", "x=y")
        self.bad("label", "cm", "c1", "x=z")
        self.assertEqual(self.c1("{.metadata.labels.x}"), "y")
        self.good("label", "cm", "c1", "x-")
        self.assertEqual(self.c1("{.metadata.labels}"), "")
        self.good("annotate", "cm", "c1", "k=v")
        self.assertEqual(self.c1("{.metadata.annotations.k}"), "v")

    def test_A15_edit(self):
        self.good("create", *self.file(CM))
        said = self.good("edit", "cm", "c1", env={"KUBE_EDITOR": "sed -i s/'\"1\"'/'\"9\"'/"})
        self.assertIn("edited", said)
        self.assertEqual(self.c1("{.data.a}"), "9")

    def test_A16_delete(self):
        self.good("create", *self.file(CM))
        begin = time.monotonic()
        self.assertIn('configmap "c1" deleted', self.good("delete", "cm", "c1"))
        self.assertLess(time.monotonic() - begin, 2)
        self.assertEqual(self.bad("get", "cm", "c1"), 'Error from server (NotFound): configmaps "c1" not found\n')

    def test_A17_delete_dry_run(self):
        self.good("create", *self.file(CM))
        self.assertIn("(server dry run)", self.good("delete", "cm", "--all", "--dry-run=server"))
        self.assertEqual(self.c1(), '{"a":"1"}')

    def test_A18_finalizer(self):
        self.good("create", *self.file({**CM, "metadata": {"name": "c1", "finalizers": ["ex.io/f"]}}))
        self.assertIn("timed out", self.bad("delete", "cm", "c1", "--timeout=2s"))
        self.assertNotEqual(self.c1("{.metadata.deletionTimestamp}"), "")
        self.good("patch", "cm", "c1", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        self.assertIn("NotFound", self.bad("get", "cm", "c1"))

    def test_A19_watch_events(self):
        with self.up.start_kubectl("-n", self.ns, "get", "cm", "-w", "--output-watch-events") as watch:
            self.addCleanup(watch.kill)
            head = watch.stdout.readline(), watch.stdout.readline()
            self.assertIn("kube-root-ca.crt", head[1])
            self.good("create", *self.file(CM))
            self.good("label", "cm", "c1", "q=1")
            self.good("delete", "cm", "c1")
            seen = [watch.stdout.readline().split()[:2] for _ in range(3)]
            watch.kill()
        self.assertEqual(seen, [["ADDED", "c1"], ["MODIFIED", "c1"], ["DELETED", "c1"]])

    def test_A20_watch_of_one(self):
        self.good("create", *self.file(CM))
        with self.up.start_kubectl("-n", self.ns, "get", "cm", "c1", "-w", "--no-headers") as watch:
            self.addCleanup(watch.kill)
            self.assertTrue(watch.stdout.readline().startswith("c1 "))
            time.sleep(1)  # the scenario's own: what the replay brings must not show as a second line
            self.good("label", "cm", "c1", "q=1")
            self.assertTrue(watch.stdout.readline().startswith("c1 "))
            self.good("delete", "cm", "c1")
            watch.stdout.readline()  # the deletion's line
            watch.kill()
            self.assertEqual(watch.stdout.read(), "")

    def test_A22_selectors(self):
        labels = [("m1", {"x": "a"}), ("m2", {"x": "b", "y": "1"}), ("m3", {"x": "b"}), ("m4", {"x": "c"})]
        self.good("create", *self.file(*({**CM, "metadata": {"name": n, "labels": l}} for n, l in labels)))
        self.assertEqual(self.good("get", "cm", "-l", "x in (a,b),!y", "-o", "name"), "configmap/m1\nconfigmap/m3\n")
        self.assertIn("BadRequest", self.bad("get", "cm", "-l", "x>"))

    def test_A23_field_selectors(self):
        self.good("get", "pods", "-A", "--field-selector=status.phase=Running,spec.nodeName=n1")
        self.assertIn("field label not supported: spec.foo", self.bad("get", "pods", "--field-selector=spec.foo=1"))

    def test_A24_headers(self):
        self.start_pod("p1")
        first = lambda *arguments: self.good("get", *arguments).splitlines()[0].split()
        self.assertEqual(first("pods"), "NAME READY STATUS RESTARTS AGE".split())
        self.assertEqual(
            first("pods", "-o", "wide"), "NAME READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES".split()
        )
        said = self.good("get", "pvc,pv,sc,nodes,events", "-A")
        self.assertRegex(said, r"NAME +PROVISIONER +RECLAIMPOLICY +VOLUMEBINDINGMODE +ALLOWVOLUMEEXPANSION +AGE")
        self.assertRegex(said, r"NAME +STATUS +ROLES +AGE +VERSION")
        self.assertRegex(said, r"NAMESPACE +LAST SEEN +TYPE +REASON +OBJECT +MESSAGE")

    def test_A25_sorted_with_labels(self):
        for name in ("m2", "m1"):
            self.good("create", *self.file({**CM, "metadata": {"name": name, "labels": {"of": name}}}))
        lines = self.good("get", "cm", "-A", "--sort-by=.metadata.name", "--show-labels").splitlines()
        names = [line.split()[1] for line in lines[1:]]
        self.assertEqual(names, sorted(names))
        self.assertIn("LABELS", lines[0])
        self.assertTrue(any(line.split()[1] == "m1" and line.endswith("of=m1") for line in lines))

    def test_A26_get_all(self):
        self.start_pod("p1")
        self.good("create", *self.file(VM))
        names = [line.split()[0] for line in self.good("get", "all").splitlines() if "/" in line]
        self.assertIn("pod/p1", names)
        self.assertIn("virtualmachine.kubevirt.io/vm1", names)

    def test_A27_explain(self):
        self.assertRegex(self.good("explain", "pod.spec.containers"), r"FIELD: containers <\[\](Container|Object)>")
        self.assertIn("runStrategy", self.good("explain", "vm.spec"))

    def test_A28_wait(self):
        self.good("create", *self.file(pod("p1")))
        met = self.good("wait", "pod/p1", "--for=condition=Ready", "--timeout=30s")
        self.assertEqual(met, "pod/p1 condition met\n")
        self.assertIn("condition met", self.good("wait", "pod/p1", "--for=jsonpath={.status.phase}=Running"))
        late = self.bad("wait", "pod/p1", "--for=condition=Nope", "--timeout=2s")
        self.assertIn("timed out waiting for the condition", late)
        with self.up.start_kubectl("-n", self.ns, "wait", "cm/c1", "--for=create", "--timeout=20s") as wait:
            self.addCleanup(wait.kill)
            self.assertIsNone(wait.poll(), "it waits")
            self.good("create", *self.file(CM))
            said, _ = wait.communicate(timeout=20)
        self.assertEqual((wait.returncode, said), (0, "configmap/c1 condition met\n"))

    def test_A30_describe(self):
        self.start_pod("p1")
        said = self.good("describe", "pod", "p1")
        for part in ("Status:", "Containers:", "Events:"):
            self.assertIn(part, said)
        self.assertRegex(self.good("describe", "node", "n1"), r"Name: +n1")
        self.good("create", *self.file(VM))
        self.assertRegex(self.good("describe", "vm", "vm1"), r"Run Strategy: +Halted")

    def test_A34_namespaces(self):
        name = self.ns + "-one"
        self.good("create", "ns", name)
        begin = time.monotonic()
        self.good("delete", "ns", name)
        self.assertLess(time.monotonic() - begin, 3)
        self.assertIn('namespaces "default" is forbidden: this namespace may not be deleted', self.bad("delete", "ns", "default"))

    def test_A42_logs(self):
        self.start_pod("p1", "echo one; echo two; sleep 1000")
        self.assertEqual(eventually(lambda: self.good("logs", "p1", "--tail=1")), "two\n")
        self.assertIn("container nope is not valid", self.bad("logs", "p1", "-c", "nope"))
        raw = f"/api/v1/namespaces/{self.ns}/pods/p1/log?container=nope"
        self.assertIn("(BadRequest)", self.bad("get", "--raw", raw))
        self.start_pod("p2", "i=0; while [ $i -lt 8 ]; do echo $i $(date +%s%N); i=$((i+1)); sleep 0.25; done")
        with self.up.start_kubectl("-n", self.ns, "logs", "-f", "p2") as follow:
            self.addCleanup(follow.kill)
            late = []
            lines = []
            for line in follow.stdout:
                number, at = line.split()
                lines.append(int(number))
                late.append(time.time() - int(at) / 1e9)
        self.assertEqual(follow.wait(), 0)
        self.assertEqual(lines, list(range(8)), "it ends when the container has ended")
        self.assertLess(late[-1], 1)

    def test_list_round_trip(self):
        self.good("create", *self.file(CM, {**CM, "metadata": {"name": "c2"}}))
        text = self.good("get", "cm", "c1", "c2", "-o", "yaml")
        self.assertIn("kind: List", text)
        self.assertEqual(self.good("replace", "-f", "-", input=text).count("replaced"), 2)

    def test_A46_machine_round_trip(self):
        self.good("apply", *self.file(VM))
        text = self.good("get", "vm", "vm1", "-o", "yaml")
        self.assertRegex(self.good("apply", "-f", "-", input=text), "configured|unchanged")
        self.assertIn("kubevirt.io/v1alpha3 is now deprecated", self.run_it("get", "virtualmachines.v1alpha3.kubevirt.io").stderr)

    def test_A47_virtctl(self):
        self.good("create", *self.file(VM))
        config = ["--kubeconfig", self.up.kubeconfig]
        started = berth("start", "vm1", "-n", self.ns, *config)
        self.assertEqual(started.returncode, 0, started.stderr)
        self.assertEqual(self.good("get", "vm", "vm1", "-o", "jsonpath={.spec.runStrategy}"), "Always")
        # The console waits while the machine is not running, then connects; the guest answers.
        command = [BERTH, "console", "vm1", "-n", self.ns, *config]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command, **pipes) as console:
            self.addCleanup(console.kill)
            said = b""
            while b"GUEST-READY" not in said:
                more = os.read(console.stdout.fileno(), 65536)
                self.assertTrue(more, said)
                said += more
            console.stdin.write(b"echo $((6 * 7))-answers\n")
            console.stdin.flush()
            while b"\n42-answers" not in said.replace(b"\r", b""):
                more = os.read(console.stdout.fileno(), 65536)
                self.assertTrue(more, said)
                said += more
            console.kill()
        server = json.loads(self.good("get", "--raw", "/apis/subresources.kubevirt.io/v1/version"))
        self.assertIn("gitVersion", server)

    def test_A62_owners(self):
        self.good("create", *self.file(CM, {**CM, "metadata": {"name": "c2"}}))
        uid = lambda name: self.good("get", "cm", name, "-o", "jsonpath={.metadata.uid}")
        owner = lambda name, of: {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": of}
        one, two = owner("c1", uid("c1")), owner("c2", uid("c2"))
        child = lambda name, *owners: {**CM, "metadata": {"name": name, "ownerReferences": list(owners)}}
        nobody = owner("gone", "11111111-2222-4333-8444-555555555555")
        self.good("create", *self.file(child("of-one", one), child("of-both", one, two), child("of-nobody", nobody)))
        left = lambda: self.good("get", "cm", "-o", "name").split()
        self.good("delete", "cm", "c1")
        eventually(lambda: "configmap/of-one" not in left(), 3)
        eventually(lambda: "configmap/of-nobody" not in left(), 10)
        refs = lambda: json.loads(self.good("get", "cm", "of-both", "-o", "jsonpath={.metadata.ownerReferences}"))
        eventually(lambda: [ref["name"] for ref in refs()] == ["c2"], 3)


if __name__ == "__main__":
    main()
