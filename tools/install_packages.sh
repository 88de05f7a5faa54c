#!/bin/sh
# Installs the Debian packages that are missing for the named groups (build, test, package, cross),
# and says which.
# Does nothing, and needs no network, when all are there. Uses sudo when not root.
set -eu

build="gcc libc6-dev make meson ninja-build pkg-config python3 libevent-dev libcurl4-openssl-dev \
libedit-dev libhiredis-dev libjansson-dev libnghttp2-dev libpcre2-dev libpq-dev libseccomp-dev \
libsodium-dev libssl-dev libsqlite3-dev libyaml-dev libzstd-dev zlib1g-dev"
test="busybox-static ca-certificates chromium clang clang-format llvm libclang-rt-14-dev git \
nodejs npm poppler-utils python3-venv curl nghttp2-client openssl postgresql prometheus \
python3-jsonschema python3-yaml redis-server tmux"
package="debhelper dpkg-dev lintian"
cross="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static"

# Provided by something other than the package (a language manager, say) is good enough.
provided() {
    case $1 in
    gcc | make | python3 | git | curl | clang | clang-format | npm | tmux)
        command -v "$1" >/dev/null 2>&1
        ;;
    chromium) command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 ;;
    nodejs) command -v node >/dev/null 2>&1 ;;
    prometheus) command -v promtool >/dev/null 2>&1 ;;
    python3-venv) python3 -c 'import ensurepip' >/dev/null 2>&1 ;;
    meson) command -v meson >/dev/null 2>&1 ;;
    ninja-build) command -v ninja >/dev/null 2>&1 ;;
    pkg-config) command -v pkg-config >/dev/null 2>&1 ;;
    gcc-aarch64-linux-gnu) command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 ;;
    qemu-user-static) command -v qemu-aarch64-static >/dev/null 2>&1 ;;
    *) return 1 ;;
    esac
}

missing=""
for group in "$@"; do
    case $group in
    build) names=$build ;;
    test) names="$test $package" ;;
    package) names=$package ;;
    cross) names=$cross ;;
    *) echo "install_packages: unknown group '$group' (build, test, package, cross)" >&2; exit 2 ;;
    esac
    for name in $names; do
        provided "$name" && continue
        state=$(dpkg-query -W -f '${Status}' "$name" 2>/dev/null || true)
        [ "$state" = 'install ok installed' ] && continue
        missing="$missing $name"
    done
done
[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "Missing:$missing. Install them with your system's package manager" \
        "(Debian's names are shown)." >&2
    exit 1
fi
sudo=""
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "Missing:$missing. Ask root: apt-get install$missing" >&2
        exit 1
    fi
    sudo="sudo"
fi
echo "Installing from Debian's packages:$missing"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
if ! $sudo apt-get install -y --no-install-recommends $missing >/dev/null 2>&1; then
    $sudo apt-get update -q >/dev/null
    $sudo apt-get install -y --no-install-recommends $missing >/dev/null
fi
