import { deepEqual, equal, match } from "node:assert/strict";
import { describe, test } from "node:test";
import { containerdConfiguration } from "./config.ts";
import { settingsIn } from "./runtime-settings.ts";
import { isTooOld, socketOf } from "./runtime-version.ts";

test("the containerd configuration keeps everything in the cluster's directories", () => {
  const text = containerdConfiguration({
    rootDirectory: "/data/root",
    stateDirectory: "/run/x/state",
    runcDirectory: "/run/x/runc",
    socket: "/run/x/c.sock",
    cniConfigDirectory: '/data/"cni"',
    cniBinaryDirectory: "/usr/lib/cni",
    sandboxImage: "k8ts.local/pause:1",
    snapshotter: "native",
    architecture: "arm64",
  });
  for (const line of [
    "version = 2",
    'root = "/data/root"',
    'state = "/run/x/state"',
    'address = "/run/x/c.sock"',
    'sandbox_image = "k8ts.local/pause:1"',
    'conf_dir = "/data/\\"cni\\""',
    'bin_dir = "/usr/lib/cni"',
    'stream_server_address = "127.0.0.1"',
    'stream_server_port = "0"',
    "netns_mounts_under_state_dir = true",
    "restrict_oom_score_adj = true",
    'snapshotter = "native"',
    "SystemdCgroup = false",
    'Root = "/run/x/runc"',
  ]) {
    equal(text.split("\n").includes(line), true, line);
  }
  match(text, /\[plugins\."io\.containerd\.grpc\.v1\.cri"\.cni\]\nbin_dir/);
  match(text, /\[plugins\."io\.containerd\.grpc\.v1\.cri"\.registry\]\nconfig_path = "\/etc\/containerd\/certs\.d"\n/);
  match(text, /\[\[plugins\."io\.containerd\.transfer\.v1\.local"\.unpack_config\]\]\nplatform = "linux\/arm64"\nsnapshotter = "native"\n/);
});

describe("isTooOld: minimum runtime version", () => {
  for (const { name, version, old } of [
    { name: "containerd", version: "1.5.18", old: true },
    { name: "containerd", version: "1.6.20~ds1", old: false },
    { name: "containerd", version: "2.1.0", old: false },
    { name: "containerd", version: "1.10.0", old: false },
    { name: "containerd", version: "devel", old: false },
    { name: "cri-o", version: "1.5.0", old: false },
  ]) {
    test(`${name} ${version}: ${old}`, () => equal(isTooOld({ name, version }), old));
  }
});

test("socketOf accepts an endpoint with and without its scheme", () => {
  deepEqual(["/run/x.sock", "unix:///run/x.sock", "unix:/run/x.sock"].map(socketOf), ["/run/x.sock", "/run/x.sock", "/run/x.sock"]);
});

describe("runtimeSettings parses CRI Status", () => {
  for (const { it, config, settings } of [
    {
      it: "containerd 1.6 reports both",
      config: '{"cni":{"binDir":"/b","confDir":"/etc/cni/net.d"},"sandboxImage":"registry.k8s.io/pause:3.6"}',
      settings: { cniConfigDirectory: "/etc/cni/net.d", sandboxImage: "registry.k8s.io/pause:3.6" },
    },
    {
      it: "containerd 2 reports one",
      config: '{"cni":{"confDir":"/etc/cni/net.d"}}',
      settings: { cniConfigDirectory: "/etc/cni/net.d", sandboxImage: undefined },
    },
    { it: "other runtimes report none", config: "", settings: { cniConfigDirectory: undefined, sandboxImage: undefined } },
  ]) {
    test(it, () => deepEqual(settingsIn(config), settings));
  }
});
