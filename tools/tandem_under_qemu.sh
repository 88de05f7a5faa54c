#!/bin/sh
# The aarch64 program on another processor: what tests of neon/ start as the program.
root=$(cd "$(dirname "$0")/.." && pwd)
exec qemu-aarch64-static -cpu cortex-a76 -L "$root/build-aarch64-root" \
    "$root/build-aarch64/src/app/tandem" "$@"
