"""A real `berth up` for tests: a data directory of its own, any free port, and nothing left on the machine afterwards.

A test file calls main(); it needs the environment variable BERTH, the program under test, and takes BERTH_GUEST, the
archive behind the image berth.local/guest. `./dev test` sets both.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CLIENTS = ROOT / "build" / "clients"
BERTH = os.environ.get("BERTH", str(ROOT / "build" / "berth"))
GUEST = os.environ.get("BERTH_GUEST", str(ROOT / "build" / "guest" / "guest.oci.tar"))


def berth(*arguments, check=False, **more):
    """Runs the program to its end."""
    return subprocess.run([BERTH, *arguments], capture_output=True, text=True, check=check, timeout=180, **more)


def eventually(what, seconds=30.0):
    """The first true answer of `what`. A pause here only bounds how late we look; nothing waits for it."""
    end = time.monotonic() + seconds
    while True:
        answer = what()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what.__doc__ or what.__name__}; last answer: {answer!r}")
        time.sleep(0.05)


class Up:
    """One `berth up`: start(), kill() or stop(), again start(); close() takes everything away."""

    def __init__(self, *arguments):
        self.folder = tempfile.mkdtemp(prefix="berth-clients-")
        self.data_dir = self.folder + "/data"
        self.kubeconfig = self.data_dir + "/kubeconfig"
        self.arguments = ["--data-dir", self.data_dir, "--listen", "127.0.0.1:0", "--guest-image", GUEST, *arguments]
        self.process = None
        self.ready_line = ""

    def start(self):
        log = open(self.folder + "/up.log", "a")
        self.process = subprocess.Popen([BERTH, "up", *self.arguments], stdout=subprocess.PIPE, stderr=log, text=True)
        log.close()
        self.ready_line = self.process.stdout.readline()
        if not self.ready_line.startswith("berth ready in "):
            raise AssertionError(f"berth up said {self.ready_line!r}; its log:\n{self.log()}")
        # The same port from now on, as a user would have it.
        self.server = re.search(r"https://\S+", self.ready_line).group(0)
        self.arguments[3] = self.server.removeprefix("https://")
        return self

    def end(self, signum):
        self.process.send_signal(signum)
        rest = self.process.stdout.read()
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.process = None
        return code, rest

    def kill(self):
        self.end(signal.SIGKILL)

    def stop(self):
        return self.end(signal.SIGTERM)

    def log(self):
        return pathlib.Path(self.folder, "up.log").read_text()

    def purge(self):
        return berth("down", "--data-dir", self.data_dir, "--grace-period", "0", "--purge")

    def close(self):
        if self.process:
            self.kill()
        if os.path.exists(self.data_dir):
            done = self.purge()
            if done.returncode != 0:
                raise AssertionError("berth down --purge: " + done.stderr)
        shutil.rmtree(self.folder)

    def kubectl(self, *arguments, **more):
        """Runs kubectl against it; the result has returncode, stdout and stderr."""
        environment = dict(os.environ, KUBECONFIG=self.kubeconfig, HOME=self.folder, **more.pop("env", {}))
        return subprocess.run([str(CLIENTS / "kubectl"), *arguments], capture_output=True, text=True, env=environment, timeout=120, **more)

    def start_kubectl(self, *arguments):
        environment = dict(os.environ, KUBECONFIG=self.kubeconfig, HOME=self.folder)
        return subprocess.Popen([str(CLIENTS / "kubectl"), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


    def ask_guest(self, machine, command):
        """What the shell of a machine's guest prints for a command, over its console."""
        line = [BERTH, "console", machine, "--kubeconfig", self.kubeconfig]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(line, **pipes) as console:
            timer = threading.Timer(60, console.kill)
            timer.start()
            said = b""
            # What was said before comes first.
            while b"GUEST-READY" not in said and b"# " not in said:
                more = os.read(console.stdout.fileno(), 65536)
                assert more, said
                said += more
            mark = f"m{time.monotonic_ns()}"
            console.stdin.write(f"echo {mark}'<'$( {command} )'>'\n".encode())
            console.stdin.flush()
            while True:
                found = re.search(re.escape(mark) + "<(.*?)>\r?\n", said.decode(errors="replace"), re.S)
                if found:
                    break
                more = os.read(console.stdout.fileno(), 65536)
                assert more, said[-2000:]
                said += more
            console.kill()
            timer.cancel()
        return found.group(1)


def fetch_kubectl():
    subprocess.run([str(ROOT / "tests" / "clients" / "fetch_kubectl.sh"), str(CLIENTS)], check=True)


class Results(unittest.TextTestResult):
    """Keeps what `./dev scenarios` shows: one line for each test."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.cases = []

    def stopTest(self, test):
        super().stopTest(test)
        bad = any(case is test for case, _ in self.failures + self.errors)
        self.cases.append((type(test).__name__, test._testMethodName, bad))


def write_results(cases):
    place = os.environ.get("GTEST_OUTPUT", "")
    if not place.startswith("xml:"):
        return
    suite = xml.Element("testsuite")
    for group, name, bad in cases:
        case = xml.SubElement(suite, "testcase", classname=group, name=name)
        if bad:
            xml.SubElement(case, "failure")
    folder = pathlib.Path(place.removeprefix("xml:"))
    folder.mkdir(parents=True, exist_ok=True)
    xml.ElementTree(suite).write(folder / (pathlib.Path(sys.argv[0]).stem + ".xml"))


def main():
    """Runs the tests of the calling file: all, or those whose name contains an argument."""
    if os.geteuid() != 0:
        sys.exit("needs root: berth up mounts volumes and starts containers")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    loader = unittest.TestLoader()
    if len(sys.argv) > 1:
        loader.testNamePatterns = [f"*{word}*" for word in sys.argv[1:]]
    outcome = unittest.TextTestRunner(verbosity=2, resultclass=Results).run(loader.loadTestsFromName("__main__"))
    write_results(outcome.cases)
    sys.exit(0 if outcome.wasSuccessful() and outcome.testsRun > 0 else 1)
