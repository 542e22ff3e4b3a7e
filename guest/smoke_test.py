#!/usr/bin/env python3
"""Boots a built guest under QEMU without KVM and checks what README.md promises: smoke_test.py OUTDIR

Needs qemu-system-x86_64 and nothing else. The image is opened with snapshot=on and stays as it is. Exit code 0 or 1.
Each wait has a limit of ten times of what it takes on a quiet machine.
"""

import json
import os
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time

BOOT, STEP = 30, 15  # seconds
QEMU = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-accel", "tcg", "-m", "128"]
SCRIPT = b"#!/bin/sh\necho script-on-$(hostname)\nls -l /dev/disk/by-id/virtio-ROOT7\nexit 3\n"
CONFIG = b"#cloud-config\nhostname: from-config\npassword: x\nruncmd:\n"
CONFIG += b"  - echo \"run $(hostname)\"\n  - 'echo \"it''s\"'\n"


class Failed(Exception):
    pass


def iso9660(label, files):
    """A volume with the files {name: bytes} in its root. Names are kept as they are, which Linux takes."""
    block = 2048

    def both(size, value):  # each number is there in both byte orders
        code = {2: "H", 4: "I"}[size]
        return struct.pack("<" + code, value) + struct.pack(">" + code, value)

    def record(name, at, size, flags):
        body = both(4, at) + both(4, size) + bytes([124, 1, 1, 0, 0, 0, 0, flags, 0, 0]) + both(2, 1)
        body += bytes([len(name)]) + name + (b"" if len(name) % 2 else b"\0")
        return bytes([len(body) + 2, 0]) + body

    def padded(data):
        return data + bytes(-len(data) % block)

    root_at, data_at = 18, 19
    records = record(b"\0", root_at, block, 2) + record(b"\1", root_at, block, 2)
    data = b""
    for name, content in sorted(files.items()):
        records += record(name.upper().encode() + b".;1", data_at + len(data) // block, len(content), 0)
        data += padded(content)
    volume = b"\1CD001\1\0" + b" " * 32 + label.encode().ljust(32) + bytes(8)
    volume += both(4, data_at + len(data) // block) + bytes(32) + both(2, 1) + both(2, 1) + both(2, block)
    volume += bytes(24) + record(b"\0", root_at, block, 2)
    volume += b" " * (813 - len(volume)) + (b"0" * 16 + b"\0") * 4 + b"\1\0"
    return bytes(16 * block) + padded(volume) + padded(b"\xffCD001\1") + padded(records) + data


class Machine:
    """One QEMU with its serial port on our pipes and QMP on a socket."""

    def __init__(self, directory, arguments):
        self.text, self.read_to, self.started_at = "", 0, time.monotonic()
        socket_path = os.path.join(directory, "qmp")
        command = QEMU + ["-serial", "stdio", "-qmp", f"unix:{socket_path},server=on,wait=off"] + arguments
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.socket_path, self.qmp = socket_path, None

    def seconds(self):
        return time.monotonic() - self.started_at

    def wait(self, pattern, limit=STEP):
        """Waits for output that matches, behind what was matched before."""
        deadline = time.monotonic() + limit
        while True:
            match = re.compile(pattern, re.M).search(self.text, self.read_to)
            if match:
                self.read_to = match.end()
                return match
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise Failed(f"no {pattern!r} within {limit} s")
            output = os.read(self.process.stdout.fileno(), 65536)
            if not output:
                raise Failed(f"the machine ended before {pattern!r}")
            self.text += output.decode(errors="replace").replace("\r", "")

    def run(self, command):
        """Types a command; returns its output. The marks are split in what is typed, so its echo does not match."""
        self.process.stdin.write(f"echo B'EGIN'; {command}; echo E'ND'=$?\n".encode())
        self.process.stdin.flush()
        begin = self.wait(r"^BEGIN\n").end()
        end = self.wait(r"^END=(\d+)$")
        return int(end.group(1)), self.text[begin : end.start()]

    def command(self, name, **arguments):
        if not self.qmp:
            self.qmp = socket.socket(socket.AF_UNIX)
            self.qmp.settimeout(STEP)
            self.qmp.connect(self.socket_path)
            self.lines = self.qmp.makefile("r")
            self.lines.readline()
            self.command("qmp_capabilities")
        self.qmp.sendall(json.dumps({"execute": name, "arguments": arguments}).encode() + b"\n")
        while True:
            answer = json.loads(self.lines.readline() or '{"error": "end of file"}')
            if "error" in answer:
                raise Failed(f"{name}: {answer['error']}")
            if "return" in answer:
                return

    def wait_for_end(self, limit):
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            raise Failed(f"still running after {limit} s") from None
        return self

    def close(self):
        self.process.kill()
        self.process.wait()


def check(is_true, message):
    if not is_true:
        raise Failed(message)


def drive(name, path, form="raw"):
    return ["-drive", f"if=none,id={name},file={path},format={form},snapshot=on"]


def write(path, content, size=None):
    with open(path, "wb") as file:
        file.write(content)
        file.truncate(size or len(content))
    return path


def test_everything(machine_of, image, directory):
    """virtio-blk root, a SCSI disk with a serial, a script as user data, hotplug, resize, the power button."""
    seed = iso9660("CIDATA", {"user-data": SCRIPT, "meta-data": b'{"local-hostname":"web"}'})
    data = write(os.path.join(directory, "data"), b"", 16 << 20)
    machine = machine_of(
        ["-machine", "q35", *drive("root", image, "qcow2")]
        + ["-device", "virtio-blk-pci,drive=root,serial=ROOT7,bootindex=1"]
        + ["-device", "virtio-scsi-pci,id=scsi", *drive("data", data), "-device", "scsi-hd,drive=data,serial=DATA7"]
        + [*drive("seed", write(os.path.join(directory, "seed"), seed)), "-device", "scsi-cd,drive=seed"]
        + [*drive("plug", data), "-device", "pcie-root-port,id=port0"]
        + ["-netdev", "user,id=net,restrict=on", "-device", "virtio-net-pci,netdev=net"]
    )
    machine.wait(r"^GUEST-ROOT /dev/vda$", BOOT)
    machine.wait(r"^BLK add sda sectors=32768 scsi-SQEMU_QEMU_HARDDISK_DATA7 scsi-0QEMU_QEMU_HARDDISK_DATA7$")
    machine.wait(r"^BLK add vda sectors=\d+ virtio-ROOT7$")
    machine.wait(r"^CLOUD-INIT-SEED /dev/sr0 iso9660$")
    machine.wait(r"^GUEST-READY [\d.]+$")
    print(f"  ready after {machine.seconds():.2f} s")
    machine.wait(r"script-on-web\n.*virtio-ROOT7 -> ../../vda\n(.*\n)*CLOUD-INIT-DONE rc=3$")
    machine.wait(r"^NET-UP eth0 10\.0\.2\.15$")
    status, output = machine.run("readlink -f /dev/disk/by-id/scsi-SQEMU_QEMU_HARDDISK_DATA7")
    check((status, output) == (0, "/dev/sda\n"), f"by-id link: {status} {output!r}")
    status, output = machine.run("mke2fs -F /dev/sda >/dev/null 2>&1 && mount -t ext4 /dev/sda /mnt && date >/mnt/x")
    check(status == 0, f"a file system on the second disk: {status} {output!r}")

    asked_at = machine.seconds()
    machine.command("device_add", driver="scsi-hd", bus="scsi.0", drive="plug", id="plug", serial="PLUG7")
    machine.wait(r"^BLK add sdb sectors=32768 scsi-SQEMU_QEMU_HARDDISK_PLUG7 ")
    print(f"  SCSI disk seen after {machine.seconds() - asked_at:.2f} s")
    machine.command("block_resize", device="plug", size=24 << 20)
    machine.wait(r"^BLK resize sdb sectors=49152$")
    machine.command("device_del", id="plug")
    machine.wait(r"^BLK remove sdb$")
    status, output = machine.run("ls /dev/disk/by-id | grep -c PLUG7")
    check(output == "0\n", f"links of a removed disk: {output!r}")

    asked_at = machine.seconds()
    machine.command("system_powerdown")
    machine.wait(r"^GUEST-POWEROFF$")
    machine.wait_for_end(10)
    print(f"  powered off {machine.seconds() - asked_at:.2f} s after the button")


def test_scsi_root(machine_of, image, directory):
    """SCSI root on machine `pc`, virtio-blk seed with #cloud-config, reboot and poweroff as typed."""
    seed = iso9660("cidata", {"user-data": CONFIG, "meta-data": b"instance-id: i-1\nlocal-hostname: other\n"})
    machine = machine_of(
        ["-machine", "pc", "-device", "virtio-scsi-pci", *drive("root", image, "qcow2")]
        + ["-device", "scsi-hd,drive=root,bootindex=1"]
        + [*drive("seed", write(os.path.join(directory, "seed"), seed)), "-device", "virtio-blk-pci,drive=seed"]
    )
    for command in ("reboot", "poweroff -f"):
        machine.wait(r"^GUEST-ROOT /dev/sda$", BOOT)
        machine.wait(r"^CLOUD-INIT-IGNORED password$")
        machine.wait(r"^GUEST-READY ")
        print(f"  ready after {machine.seconds():.2f} s")
        machine.wait(r"run from-config\nit's\n(.*\n)*CLOUD-INIT-DONE rc=0$")
        status, output = machine.run("cat /root/kept")
        check((status == 0) == (command == "poweroff -f"), f"a file across reboot: {status} {output!r}")
        machine.run("echo kept >/root/kept")
        machine.process.stdin.write(command.encode() + b"\n")
        machine.process.stdin.flush()
        machine.started_at = time.monotonic()
    machine.wait_for_end(10)


def test_larger_disk(machine_of, image, directory):
    """The raw image on a disk of 1 GiB, and no cloud-init data."""
    with open(image.replace(".qcow2", ".raw"), "rb") as raw:
        disk = write(os.path.join(directory, "large"), raw.read(), 1 << 30)
    machine = machine_of(["-machine", "q35", *drive("root", disk), "-device", "virtio-blk-pci,drive=root"])
    machine.wait(r"^BLK add vda sectors=2097152$", BOOT)
    machine.wait(r"^GUEST-READY ")
    print(f"  ready after {machine.seconds():.2f} s")
    status, output = machine.run("hostname")
    check(output == "guest\n", f"host name without cloud-init: {output!r}")
    machine.process.stdin.write(b"poweroff\n")
    machine.process.stdin.flush()
    machine.wait_for_end(10)
    check("CLOUD-INIT" not in machine.text, "there is no cloud-init data")


def main(out):
    image = os.path.abspath(os.path.join(out, "guest.qcow2"))
    failed = 0
    for test in (test_everything, test_scsi_root, test_larger_disk):
        machines = []

        def machine_of(arguments):
            machines.append(Machine(directory, arguments))
            return machines[-1]

        print(f"{test.__name__}: {test.__doc__}", flush=True)
        with tempfile.TemporaryDirectory() as directory:
            try:
                test(machine_of, image, directory)
                print("  ok", flush=True)
            except (Failed, OSError) as error:
                failed = 1
                print(f"  FAILED: {error}\n--- console ---\n{machines[-1].text if machines else ''}\n---", flush=True)
            finally:
                for machine in machines:
                    machine.close()
    return failed


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
