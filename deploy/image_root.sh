#!/bin/sh
# Collects the root folder of the image: image_root.sh INSTALLED FOLDER
# INSTALLED is where `make install PREFIX=/usr/local` put Tandem. What is taken besides is of the
# system that this runs on: the libraries that the program is linked with, the loader, certificates,
# and busybox, for the health check and for a look around.
set -eu
installed=$1
root=$2
here=$(dirname "$0")

mkdir -p "$root/usr/local/bin" "$root/usr/local/share" "$root/bin" "$root/etc/ssl/certs" \
    "$root/etc/tandem" "$root/var/lib/tandem" "$root/tmp" "$root/proc" "$root/dev" "$root/run"
chmod 1777 "$root/tmp"

install -m 755 -s "$installed/bin/tandem" "$root/usr/local/bin/tandem"
cp -R "$installed/share/tandem" "$root/usr/local/share/tandem"
busybox=$(command -v busybox)
install -m 755 "$busybox" "$root/bin/busybox"
ln -sf busybox "$root/bin/sh"

# Each line of ldd is `name => path (address)`, or the loader's path alone.
paths='s/.*=> \(\/[^ ]*\).*/\1/p; s/^[[:space:]]*\(\/[^ ]*\).*/\1/p'
ldd "$installed/bin/tandem" | sed -n "$paths" | sort -u | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
done

cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
cp "$here/image.yaml" "$root/etc/tandem/tandem.yaml"
printf 'root:x:0:0::/:/bin/sh\ntandem:x:65532:65532::/var/lib/tandem:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\ntandem:x:65532:\n' >"$root/etc/group"
printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"
