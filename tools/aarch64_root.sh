#!/bin/sh
# Makes a folder with the aarch64 libraries that the project is built against, from Debian's
# packages. They are downloaded and unpacked, not installed: the system and its list of
# architectures stay as they are, and no privileges are needed. `root.cross` in the folder tells
# Meson where it is (the names @...@ for that are newer than Debian's Meson). Does nothing when the
# folder has these packages.
set -eu

root=${1:-build-aarch64-root}
packages="libc6-dev libevent-dev libcurl4-openssl-dev libedit-dev libjansson-dev libnghttp2-dev
          libpcre2-dev libseccomp-dev libsodium-dev libssl-dev libsqlite3-dev libyaml-dev
          libzstd-dev zlib1g-dev"

[ "$(cat "$root/complete" 2>/dev/null)" = "$packages" ] && exit 0
for tool in apt-get dpkg-deb; do
    command -v $tool >/dev/null 2>&1 && continue
    echo "aarch64_root: needs $tool (Debian or Ubuntu)" >&2
    exit 1
done
rm -rf "$root"
mkdir -p "$root/apt/lists/partial" "$root/apt/archives/partial"
root=$(cd "$root" && pwd)
: >"$root/apt/status" # nothing is installed there, so that all that is needed is fetched

# The system's own sources and keys, another architecture, and every file that apt writes in our
# folder.
cat >"$root/apt/apt.conf" <<EOF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Debug::NoLocking "true";
Dir::State "$root/apt";
Dir::State::status "$root/apt/status";
Dir::Cache "$root/apt";
EOF
export APT_CONFIG="$root/apt/apt.conf" DEBIAN_FRONTEND=noninteractive
echo "fetching aarch64 libraries from Debian's packages into $root (20 MB, once)"
# A source without this architecture is no reason to stop.
apt-get update -q >"$root/apt/log" 2>&1 || true
# shellcheck disable=SC2086
if ! apt-get install -y -q --download-only $packages >>"$root/apt/log" 2>&1; then
    tail -3 "$root/apt/log" >&2
    exit 1
fi
for package in "$root"/apt/archives/*.deb; do
    dpkg-deb -x "$package" "$root"
done

# Links such as libm.so -> /lib/... would leave the folder.
find "$root" -type l | while read -r link; do
    target=$(readlink "$link")
    case $target in
    /*) ln -sf "$(realpath -ms --relative-to="$(dirname "$link")" "$root$target")" "$link" ;;
    esac
done
rm -rf "$root/apt"
printf "[constants]\nroot = '%s'\n" "$root" >"$root/root.cross"
echo "$packages" >"$root/complete"
