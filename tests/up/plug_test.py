#!/usr/bin/env python3
"""Plugged disks of a real guest under `berth up`: its I/O goes on whatever happens to what stands beside it.

docs/spec/hotplug.md H-27, H-35; reliability.md 1 (I-15, I-17, I-26). With BERTH_LONG every pair of victim and step is
killed; without, one step of each way for every victim.
"""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from plug_world import KEPT, PHASES, PlugWorld, eventually  # noqa: E402  the file beside
from berth_up import fetch_kubectl, main  # noqa: E402
from crash_test import traces  # noqa: E402

VICTIMS = ["up", "launcher", "libvirtd", "attachment pod"]
SHORT = {("up", "Bound"), ("launcher", "AttachedToNode"), ("libvirtd", "MountedToPod"), ("attachment pod", "AttachedToNode")}
SHORT |= {("up", "UnMountedFromPod"), ("launcher", "Ready"), ("libvirtd", "Ready"), ("attachment pod", "Ready")}


class Plugs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        fetch_kubectl()

    def begin(self, modes):
        world = PlugWorld(modes)
        self.addCleanup(world.close)
        world.begin()
        world.start_writer()
        return world

    def end(self, world):
        world.up.stop()
        self.assertEqual(world.up.purge().returncode, 0)
        self.assertEqual(traces(world.up), [])

    def test_H27_io_goes_on_while_pods_are_replaced(self):
        world = self.begin({KEPT: "Filesystem", "second": "Block"})
        target = world.entry(KEPT)["target"]
        first = {pod["metadata"]["uid"] for pod in world.pods_of(KEPT)}
        world.add("second")
        world.settles([KEPT, "second"])

        def is_merged():
            """one pod has both claims"""
            entry = world.entry(KEPT)
            self.assertEqual((entry["phase"], entry["target"]), ("Ready", target))
            self.assertTrue(any(pod["status"].get("phase") == "Running" for pod in world.pods_of(KEPT)), "I-17")
            pods = world.pods("hotplug-disk")
            return len(pods) == 1 and len(world.pods_of("second")) == 1

        eventually(is_merged, 120)
        self.assertFalse(first & {pod["metadata"]["uid"] for pod in world.pods_of(KEPT)}, "it was replaced")
        world.check_io()
        for _ in range(3):  # H-35
            for pod in world.pods("hotplug-disk"):
                world.up.kubectl("delete", "pod", pod["metadata"]["name"], "--force", "--grace-period=0")
            world.settles([KEPT, "second"])
            self.assertEqual(world.entry(KEPT)["target"], target)
            world.check_io()
        self.end(world)

    def test_killed_at_every_step(self):
        world = self.begin({KEPT: "Filesystem", "file": "Filesystem", "raw": "Block"})
        guest = world.qemu()
        is_long = bool(os.environ.get("BERTH_LONG"))
        killed = 0
        for volume in ("file", "raw") if is_long else ("raw",):
            for victim in VICTIMS:
                for way, act, wanted in (("attach", world.add, [KEPT, volume]), ("detach", world.remove, [KEPT])):
                    for phase in PHASES[way]:
                        if not is_long and (victim, phase) not in SHORT:
                            continue
                        # The first that fails ends the test: this line says which it was.
                        print(f"{volume}: {victim} killed at {way} {phase}", file=sys.stderr)
                        # Attached to be detached, and the other way round.
                        if way == "attach" and world.entry(volume):
                            world.remove(volume)
                        if way == "detach" and not world.entry(volume):
                            world.add(volume)
                        world.settles([KEPT] if way == "attach" else [KEPT, volume])
                        act(volume)
                        world.at_phase(volume, phase, lambda: world.kill(victim, volume), way)
                        killed += 1
                        world.settles(wanted)
                        world.check_io()
                        self.assertEqual(world.qemu(), guest, "the same QEMU")
        print(f"{killed} kills", file=sys.stderr)
        self.assertGreaterEqual(killed, 8)
        self.end(world)


if __name__ == "__main__":
    main()
