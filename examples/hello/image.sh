#!/bin/sh
# Writes an image "hello:VERSION" to standard output, as `docker save` does: a static busybox whose web server returns its version.
# Usage: image.sh VERSION | k8ts image load -
# Needs tar, sha256sum and a static busybox (Debian: apt-get install busybox-static). No registry, no Docker.
set -eu
version=${1:?Usage: image.sh VERSION}
case $(uname -m) in aarch64) architecture=arm64 ;; *) architecture=amd64 ;; esac
directory=$(mktemp -d)
trap 'rm -r "$directory"' EXIT
cd "$directory"

# The only layer: the container's root file system.
mkdir -p root/bin root/www
cp "$(command -v busybox)" root/bin/busybox
for name in sh ls cat ps tar wget httpd killall; do ln -s busybox "root/bin/$name"; done
echo "hello, version $version" >root/www/index.html
tar -C root -cf layer.tar --owner=0 --group=0 --mode=a+rX .

# The command to run, and the digest of the layer.
digest=$(sha256sum layer.tar | cut -d' ' -f1)
cat >config.json <<END
{ "architecture": "$architecture", "os": "linux",
  "config": { "Env": ["PATH=/bin"], "Cmd": ["sh", "-c", "trap 'echo goodbye; exit 0' TERM; httpd -f -v -p 8080 -h /www & wait \$!"] },
  "rootfs": { "type": "layers", "diff_ids": ["sha256:$digest"] } }
END
echo '[{ "Config": "config.json", "RepoTags": ["hello:'"$version"'"], "Layers": ["layer.tar"] }]' >manifest.json
tar -cf - manifest.json config.json layer.tar
