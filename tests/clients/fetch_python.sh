#!/bin/sh
# Makes a virtual environment with the official Python client in DEST. Nothing is done when it is there.
# usage: fetch_python.sh DEST
set -eu

wanted="kubernetes==32.0.1"
dest=${1:?usage: fetch_python.sh DEST}
[ "$(cat "$dest/wanted" 2>/dev/null)" = "$wanted" ] && exit 0

rm -rf "$dest"
python3 -m venv "$dest"
"$dest/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "$wanted"
echo "$wanted" >"$dest/wanted"
