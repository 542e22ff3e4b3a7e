#!/bin/sh
# Fails when a compiled library calls what a pure layer must not: clocks, files, sockets, threads, environment, randomness.
# usage: check_pure.sh LIBRARY.a
set -eu
forbidden='clock_gettime|gettimeofday|time|nanosleep|usleep|getrandom|rand|random|getenv|setenv|open|open64|openat|fopen|fopen64|creat|unlink|rename|stat|socket|connect|bind|listen|accept|pthread_create|fork|vfork|execve|posix_spawn|mount|umount2|ioctl|system|popen|localtime|localtime_r|tzset'
nm -C -u "$1" 2>/dev/null | awk '{ $1 = ""; print }' | sed 's/^ //; s/@.*//' | sort -u >"${TMPDIR:-/tmp}/pure.$$"
trap 'rm -f "${TMPDIR:-/tmp}/pure.$$"' EXIT
if grep -E "^(${forbidden})\$|std::chrono::_V2::[a-z_]+::now|std::random_device|std::thread|boost::asio" "${TMPDIR:-/tmp}/pure.$$"; then
  echo "$1 is not pure: it uses the symbols above" >&2
  exit 1
fi
