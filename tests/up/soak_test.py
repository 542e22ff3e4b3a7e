#!/usr/bin/env python3
"""hotplug/H-90: random adds, removes, restarts, kills and pod deletions on a real guest; at rest every place where a plug
leaves a trace (status, live domain, mounts, record, device rules, pods, QEMU's own files) says the same.

BERTH_SOAK_STEPS (500), BERTH_SOAK_SECONDS (600: it ends after that many, whatever is left) and BERTH_SOAK_SEED.
"""
import os
import pathlib
import random
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from plug_world import KEPT, PlugWorld  # noqa: E402  the file beside
from berth_up import fetch_kubectl, main  # noqa: E402
from crash_test import traces  # noqa: E402

STEPS = int(os.environ.get("BERTH_SOAK_STEPS", "500"))
SECONDS = float(os.environ.get("BERTH_SOAK_SECONDS", "600"))
SEED = int(os.environ.get("BERTH_SOAK_SEED", str(time.time_ns() % 100000)))
LOOK_EVERY = 20  # steps, then everything has to come to rest
MODES = {KEPT: "Filesystem", "a": "Filesystem", "b": "Block", "c": "Filesystem", "d": "Block"}


class Soak(unittest.TestCase):
    def test_H90_everything_agrees_at_rest(self):
        fetch_kubectl()
        dice = random.Random(SEED)
        world = PlugWorld(MODES)
        self.addCleanup(world.close)
        world.begin()
        world.start_writer()
        asked = {KEPT}
        said = []
        until = time.monotonic() + SECONDS
        for step in range(1, STEPS + 1):
            said.append(self.one(world, dice, asked))
            time.sleep(dice.random() * 0.3)  # how far the step gets before the next one
            is_over = step == STEPS or time.monotonic() > until
            if step % LOOK_EVERY == 0 or is_over:
                with self.subTest(seed=SEED, step=step, steps=said[-LOOK_EVERY:]):
                    world.settles(asked, 120)
                    world.check_io()
            if is_over:
                break
        print(f"seed {SEED}: {len(said)} steps", {verb: sum(s.startswith(verb) for s in said) for verb in VERBS}, file=sys.stderr)
        world.up.stop()
        self.assertEqual(world.up.purge().returncode, 0)
        self.assertEqual(traces(world.up), [])

    def one(self, world, dice, asked):
        verb = dice.choices(VERBS, WEIGHTS)[0]
        volume = dice.choice([name for name in MODES if name != KEPT])
        if verb == "restart":
            world.settles(asked, 120)  # a restart in the middle of a plug is reliability.md's; here the guest's count ends
            world.check_io()
            world.restart()
            world.settles(asked, 120)
            world.write()
        elif verb == "delete":
            for pod in world.pods_of(dice.choice(sorted(asked)))[:1]:
                world.up.kubectl("delete", "pod", pod["metadata"]["name"], "--force", "--grace-period=0")
        elif verb == "kill":
            victim = dice.choice(["up", "launcher", "libvirtd", "attachment pod"])
            world.kill(victim, volume)
            return f"kill {victim}"
        elif volume in asked:
            asked.discard(volume)
            world.remove(volume)
            return f"remove {volume}"
        else:
            asked.add(volume)
            world.add(volume)
            return f"add {volume}"
        return verb


VERBS = ["add", "remove", "restart", "delete", "kill"]
WEIGHTS = [40, 30, 1, 10, 19]


if __name__ == "__main__":
    main()
