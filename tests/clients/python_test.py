#!/usr/bin/env python3
"""The official Python client against `berth up`: typed and custom objects, watches, and answers on the wire.

Scenarios of docs/spec/kube-api.md 6.2. It runs itself again in a virtual environment that has the client.
"""
import json
import os
import ssl
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

from berth_up import CLIENTS, ROOT, Up, eventually, main

ENVIRONMENT = CLIENTS / "python"
if sys.prefix != str(ENVIRONMENT):
    subprocess.run([str(ROOT / "tests" / "clients" / "fetch_python.sh"), str(ENVIRONMENT)], check=True)
    program = str(ENVIRONMENT / "bin" / "python3")
    os.execv(program, [program, *sys.argv])

from kubernetes import client, config, dynamic, watch  # noqa: E402  only there

DELETE = {"kind": "DeleteOptions", "apiVersion": "v1"}


def config_map(name, data=None, **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": data or {"a": "1"}}


def machine(name):
    devices = {"disks": [{"name": "root", "disk": {"bus": "virtio"}}]}
    spec = {
        "domain": {"memory": {"guest": "128Mi"}, "devices": devices},
        "volumes": [{"name": "root", "containerDisk": {"image": "berth.local/guest"}}],
    }
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name},
        "spec": {"runStrategy": "Halted", "template": {"spec": spec}},
    }


class Python(unittest.TestCase):
    count = 0

    @classmethod
    def setUpClass(cls):
        cls.up = Up()
        cls.addClassCleanup(cls.up.close)
        cls.up.start()
        config.load_kube_config(cls.up.kubeconfig)
        cls.core = client.CoreV1Api()
        cls.custom = client.CustomObjectsApi()
        cls.tls = ssl.create_default_context(cafile=client.Configuration.get_default_copy().ssl_ca_cert)
        settings = client.Configuration.get_default_copy()
        cls.tls.load_cert_chain(settings.cert_file, settings.key_file)

    def setUp(self):
        Python.count += 1
        self.ns = f"py{Python.count}"
        self.core.create_namespace({"metadata": {"name": self.ns}})
        self.addCleanup(self.core.delete_namespace, self.ns)
        self.maps = f"/api/v1/namespaces/{self.ns}/configmaps"

    def ask(self, method, path, body=None, accept="application/json", kind="application/json", timeout=30):
        """(code, parsed or raw body, headers)"""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.up.server + path, data, {"Accept": accept}, method=method)
        if data is not None:
            request.add_header("Content-Type", kind)
        try:
            answer = urllib.request.urlopen(request, context=self.tls, timeout=timeout)
        except urllib.error.HTTPError as refused:
            answer = refused
        with answer:
            text = answer.read()
            is_json = answer.headers.get("Content-Type", "").startswith("application/json")
            return answer.status, json.loads(text) if is_json and b"\n{" not in text.strip() else text, answer.headers

    def refused(self, code, reason, call, *arguments, **more):
        with self.assertRaises(client.exceptions.ApiException) as caught:
            call(*arguments, **more)
        self.assertEqual(caught.exception.status, code, caught.exception.body)
        self.assertEqual(json.loads(caught.exception.body)["reason"], reason)
        return json.loads(caught.exception.body)

    def test_A49_A51_create(self):
        made = self.core.create_namespaced_config_map(self.ns, {"metadata": {"name": "c1"}, "data": {"a": "1"}})
        self.assertEqual((made.kind, made.api_version, made.metadata.namespace), ("ConfigMap", "v1", self.ns))
        self.assertRegex(made.metadata.uid, "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
        self.assertLess(abs(time.time() - made.metadata.creation_timestamp.timestamp()), 2)
        self.assertTrue(made.metadata.resource_version.isdecimal())
        self.refused(409, "AlreadyExists", self.core.create_namespaced_config_map, self.ns, config_map("c1"))
        self.refused(400, "BadRequest", self.core.create_namespaced_config_map, self.ns, config_map("c2", namespace="other"))
        said = self.refused(422, "Invalid", self.core.create_namespaced_config_map, self.ns, config_map("Bad_Name"))
        self.assertEqual(said["details"]["causes"][0]["field"], "metadata.name")

    def test_A50_generated_names(self):
        names = set()
        for _ in range(200):
            made = self.core.create_namespaced_config_map(self.ns, {"metadata": {"generateName": "g-"}})
            self.assertRegex(made.metadata.name, "^g-[bcdfghjklmnpqrstvwxz2456789]{5}$")
            names.add(made.metadata.name)
        self.assertEqual(len(names), 200)

    def test_A52_bodies(self):
        self.assertEqual(self.ask("POST", self.maps, b"x", kind="text/plain")[0], 415)
        self.assertEqual(self.ask("POST", self.maps, b"{")[0], 400)
        self.assertEqual(self.ask("GET", self.maps, accept="text/csv")[0], 406)
        self.assertEqual(self.ask("POST", self.maps, b" " * ((3 << 20) + 1))[0], 413)
        vms = f"/apis/kubevirt.io/v1/namespaces/{self.ns}/virtualmachines"
        self.assertEqual(self.ask("POST", vms, b"k8s\0", kind="application/vnd.kubernetes.protobuf")[0], 415)

    def test_A53_replace(self):
        first = self.core.create_namespaced_config_map(self.ns, config_map("c1"))
        second = self.core.replace_namespaced_config_map("c1", self.ns, config_map("c1", {"a": "2"}))
        stale = config_map("c1", {"a": "3"}, resourceVersion=first.metadata.resource_version)
        self.refused(409, "Conflict", self.core.replace_namespaced_config_map, "c1", self.ns, stale)
        same = self.core.replace_namespaced_config_map("c1", self.ns, config_map("c1", {"a": "2"}))
        self.assertEqual(same.metadata.resource_version, second.metadata.resource_version)
        self.refused(404, "NotFound", self.core.replace_namespaced_config_map, "c9", self.ns, config_map("c9"))

    def test_A54_status(self):
        where = ("kubevirt.io", "v1", self.ns, "virtualmachines")
        made = self.custom.create_namespaced_custom_object(*where, machine("vm1"))
        made["status"] = {"ready": True, "printableStatus": "Nonsense"}
        put = self.custom.replace_namespaced_custom_object(*where, "vm1", made)
        self.assertNotEqual(put.get("status", {}).get("printableStatus"), "Nonsense")
        patch = {"metadata": {"labels": {"x": "y"}}, "status": {"snapshotInProgress": "s"}}
        patched = self.custom.patch_namespaced_custom_object_status(*where, "vm1", patch)
        self.assertEqual(patched["status"]["snapshotInProgress"], "s")
        self.assertNotIn("x", patched["metadata"].get("labels", {}))
        self.assertEqual(patched["metadata"]["generation"], 1)

    def test_A55_A56_patches(self):
        self.core.create_namespaced_config_map(self.ns, config_map("c1", {"a": "1", "b": "2"}))
        merged = self.core.patch_namespaced_config_map("c1", self.ns, {"data": {"b": None, "c": "3"}})
        self.assertEqual(merged.data, {"a": "1", "c": "3"})
        test = [{"op": "test", "path": "/data/a", "value": "9"}, {"op": "remove", "path": "/data/c"}]
        self.refused(422, "Invalid", self.core.patch_namespaced_config_map, "c1", self.ns, test)
        self.assertEqual(self.core.read_namespaced_config_map("c1", self.ns).data, {"a": "1", "c": "3"})
        rename = {"metadata": {"name": "c2"}}
        self.refused(400, "BadRequest", self.core.patch_namespaced_config_map, "c1", self.ns, rename)
        vms = f"/apis/kubevirt.io/v1/namespaces/{self.ns}/virtualmachines"
        self.custom.create_namespaced_custom_object("kubevirt.io", "v1", self.ns, "virtualmachines", machine("vm1"))
        strategic = "application/strategic-merge-patch+json"
        self.assertEqual(self.ask("PATCH", vms + "/vm1", {"metadata": {}}, kind=strategic)[0], 415)

    def test_A60_delete_options(self):
        made = self.core.create_namespaced_config_map(self.ns, config_map("c1"))
        wrong = {"preconditions": {"uid": "11111111-2222-4333-8444-555555555555"}}
        self.refused(409, "Conflict", self.core.delete_namespaced_config_map, "c1", self.ns, body=wrong)
        wrong = {"preconditions": {"resourceVersion": "1"}}
        self.refused(409, "Conflict", self.core.delete_namespaced_config_map, "c1", self.ns, body=wrong)
        said = self.ask("DELETE", self.maps + "/c1", {**DELETE, "propagationPolicy": "Foo"})
        self.assertEqual((said[0], said[1]["details"]["kind"]), (422, "DeleteOptions"))
        self.core.delete_namespaced_config_map("c1", self.ns, body={"dryRun": ["All"]})
        self.core.delete_namespaced_config_map("c1", self.ns, body={"preconditions": {"uid": made.metadata.uid}})
        self.refused(404, "NotFound", self.core.read_namespaced_config_map, "c1", self.ns)

    def test_A63_foreground_and_orphans(self):
        def reference(of, blocks=False):
            of = self.core.read_namespaced_config_map(of, self.ns)
            return {"apiVersion": "v1", "kind": "ConfigMap", "name": of.metadata.name, "uid": of.metadata.uid, "blockOwnerDeletion": blocks}

        for name in ("owner", "parent"):
            self.core.create_namespaced_config_map(self.ns, config_map(name))
        held = config_map("held", ownerReferences=[reference("owner", True)], finalizers=["ex.io/f"])
        self.core.create_namespaced_config_map(self.ns, held)
        self.core.create_namespaced_config_map(self.ns, config_map("kept", ownerReferences=[reference("parent")]))
        self.core.delete_namespaced_config_map("owner", self.ns, propagation_policy="Foreground")
        eventually(lambda: self.core.read_namespaced_config_map("held", self.ns).metadata.deletion_timestamp, 5)
        owner = self.core.read_namespaced_config_map("owner", self.ns)
        self.assertEqual(owner.metadata.finalizers, ["foregroundDeletion"])
        self.core.patch_namespaced_config_map("held", self.ns, {"metadata": {"finalizers": None}})
        names = lambda: {item.metadata.name for item in self.core.list_namespaced_config_map(self.ns).items}
        eventually(lambda: not names() & {"owner", "held"}, 5)
        self.core.delete_namespaced_config_map("parent", self.ns, propagation_policy="Orphan")
        eventually(lambda: "parent" not in names(), 5)
        self.assertIsNone(self.core.read_namespaced_config_map("kept", self.ns).metadata.owner_references)

    def test_A64_pages(self):
        for i in range(5):
            self.core.create_namespaced_config_map(self.ns, config_map(f"p{i}", labels={"of": "pages"}))
        pages, more = [], None
        while more != "":
            page = self.core.list_namespaced_config_map(self.ns, limit=2, _continue=more, label_selector="of=pages")
            pages.append(page)
            more = page.metadata._continue or ""
            self.core.create_namespaced_config_map(self.ns, config_map(f"q{len(pages)}", labels={"of": "pages"}))
        self.assertEqual([item.metadata.name for page in pages for item in page.items], [f"p{i}" for i in range(5)])
        self.assertEqual(len({page.metadata.resource_version for page in pages}), 1)
        plain = self.core.list_namespaced_config_map(self.ns, limit=2)
        self.assertEqual(plain.metadata.remaining_item_count, 7, "5 + 3 + kube-root-ca.crt, less 2")
        self.assertEqual(self.ask("GET", self.maps + "?limit=2&continue=garbage")[0], 400)

    def test_A66_A67_A70_watches(self):
        start = self.core.list_namespaced_config_map(self.ns).metadata.resource_version
        self.core.create_namespaced_config_map(self.ns, config_map("w1"))
        self.core.patch_namespaced_config_map("w1", self.ns, {"metadata": {"labels": {"x": "y"}}})
        self.core.patch_namespaced_config_map("w1", self.ns, {"metadata": {"labels": {"x": None}}})
        self.core.delete_namespaced_config_map("w1", self.ns)

        def seen(**more):
            begin = time.monotonic()
            stream = watch.Watch().stream(
                self.core.list_namespaced_config_map, self.ns, resource_version=start, timeout_seconds=2, **more
            )
            events = [(event["type"], int(event["object"].metadata.resource_version)) for event in stream]
            self.assertTrue(1.9 < time.monotonic() - begin < 3.5, "it ends by itself, cleanly")
            return events

        events = seen()
        self.assertEqual([kind for kind, _ in events], ["ADDED", "MODIFIED", "MODIFIED", "DELETED"])
        self.assertEqual([version for _, version in events], sorted({version for _, version in events}))
        self.assertEqual([kind for kind, _ in seen(label_selector="x=y")], ["ADDED", "DELETED"])

    def test_A68_first_events(self):
        self.core.create_namespaced_config_map(self.ns, config_map("w1"))
        for word in ("watch=True", "watch", "watch=1"):
            code, text, _ = self.ask("GET", f"{self.maps}?{word}&timeoutSeconds=1&fieldSelector=metadata.name%3Dw1")
            event = text if isinstance(text, dict) else json.loads(text.splitlines()[0])
            self.assertEqual((code, event["type"], event["object"]["metadata"]["name"]), (200, "ADDED", "w1"), word)

    def test_A72_tables(self):
        self.core.create_namespaced_config_map(self.ns, config_map("c1"))
        table = "application/json;as=Table;v=v1;g=meta.k8s.io"
        _, found, _ = self.ask("GET", self.maps, accept=table)
        self.assertEqual(found["kind"], "Table")
        row = next(row for row in found["rows"] if row["object"]["metadata"]["name"] == "c1")
        self.assertEqual(len(row["cells"]), len(found["columnDefinitions"]))
        self.assertEqual(row["object"]["kind"], "PartialObjectMetadata")
        _, bare, _ = self.ask("GET", self.maps + "?includeObject=None", accept=table)
        self.assertIsNone(bare["rows"][0].get("object"))
        unknown = "application/json;as=Sculpture;v=v1;g=meta.k8s.io,application/json"
        self.assertEqual(self.ask("GET", self.maps, accept=unknown)[1]["kind"], "ConfigMapList")

    def test_A73_discovery(self):
        wanted = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        _, _, headers = self.ask("GET", "/apis", accept=wanted)
        self.assertEqual(headers["Content-Type"], wanted)
        self.assertTrue(headers["ETag"])
        # The dynamic client reads the old form.
        found = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="kubevirt.io/v1", kind="VirtualMachine")
        self.assertEqual(found.name, "virtualmachines")
        found.create(body=machine("vm1"), namespace=self.ns)
        self.assertEqual(found.get(name="vm1", namespace=self.ns).spec.runStrategy, "Halted")

    def test_A75_strangers(self):
        nobody = ssl._create_unverified_context()
        codes = {}
        for path in ("/version", "/readyz", self.maps):
            try:
                codes[path] = urllib.request.urlopen(self.up.server + path, context=nobody, timeout=10).status
            except urllib.error.HTTPError as refused:
                codes[path] = refused.code
        self.assertEqual(list(codes.values()), [200, 200, 403])
        request = urllib.request.Request(self.up.server + self.maps, headers={"Authorization": "Bearer nonsense"})
        with self.assertRaises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request, context=nobody, timeout=10)
        self.assertEqual(caught.exception.code, 401)


if __name__ == "__main__":
    main()
