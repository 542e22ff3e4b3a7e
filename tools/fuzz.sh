#!/usr/bin/env bash
# Builds and runs each fuzz target of tests/fuzz for some seconds (default 60). Stops at the first crash.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
mkdir -p build/fuzz
for source in tests/fuzz/*_fuzz.cpp; do
  name=$(basename "$source" .cpp)
  clang++-19 -std=c++2b -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -Isrc \
    -o "build/fuzz/$name" "$source" src/json/value.cpp src/json/diff.cpp src/json/json_patch.cpp \
    src/base/{check,quantity,result,time}.cpp -lboost_json
  mkdir -p "build/fuzz/corpus-$name"
  echo "== $name: $seconds s"
  "build/fuzz/$name" -max_total_time="$seconds" -print_final_stats=1 "build/fuzz/corpus-$name" 2>&1 | tail -8
done
