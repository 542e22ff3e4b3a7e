#!/usr/bin/env bash
# Builds and runs each fuzz target of tests/fuzz for some seconds (default 60). Stops at the first crash.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
out=build/fuzz
flags=(-std=c++2b -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -Isrc)
mkdir -p "$out/objects"

# Only what the targets reach: the pure ground, and the reading of bodies.
sources=(src/base/*.cpp src/json/*.cpp src/api/kind.cpp src/apiserver/{protobuf,type_check,types}.cpp "$out/kube_types.cpp")
cmake -DIN=docs/spec/kube-types.tsv -DOUT="$PWD/$out/kube_types.cpp.new" -DNAMESPACE=berth::apiserver -DNAME=kKubeTypes -P cmake/embed.cmake
cmp -s "$out/kube_types.cpp.new" "$out/kube_types.cpp" || mv "$out/kube_types.cpp.new" "$out/kube_types.cpp"

compile() { # source
  local object
  object="$out/objects/$(echo "$1" | tr / _).o"
  [[ $1 == *_test.cpp ]] || ccache clang++-19 "${flags[@]}" -fsanitize=fuzzer-no-link -c "$1" -o "$object"
}
for source in "${sources[@]}" tests/fuzz/*_fuzz.cpp; do
  while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n; done
  compile "$source" &
done
while [[ -n $(jobs -rp) ]]; do wait -n; done

for source in tests/fuzz/*_fuzz.cpp; do
  name=$(basename "$source" .cpp)
  clang++-19 -fsanitize=fuzzer,address,undefined -fuse-ld=lld-19 -o "$out/$name" "$out/objects/tests_fuzz_$name.cpp.o" \
    $(ls "$out"/objects/*.o | grep -v objects/tests_) -lboost_json
  mkdir -p "$out/corpus-$name"
  echo "== $name: $seconds s"
  "$out/$name" -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix="$out/" "$out/corpus-$name" >"$out/$name.log" 2>&1 ||
    { tail -40 "$out/$name.log"; exit 1; }
  grep -E '^stat::|DONE' "$out/$name.log"
done
