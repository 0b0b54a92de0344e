/**
 * Configuration of the cluster's own containerd: all its state is in the cluster's directories, so that several clusters and a containerd
 * of the machine coexist. Version 2 is read by containerd 1.6 as well as by 2.x, which migrates it. Not here: starting it
 * (own-containerd.ts), the network's configuration (network/cni-configuration.ts).
 */

export interface ContainerdPlaces {
  /** Persistent state: images, snapshots, containers. */
  readonly rootDirectory: string;
  /** State until reboot: bundles, mounts, network namespaces. */
  readonly stateDirectory: string;
  readonly runcDirectory: string;
  readonly socket: string;
  readonly cniConfigDirectory: string;
  readonly cniBinaryDirectory: string;
  readonly sandboxImage: string;
  /** Snapshotter of container root file systems. */
  readonly snapshotter: "overlayfs" | "native";
  /** Image architecture: "amd64". */
  readonly architecture: string;
}

/** Unused here, and each slows down the start or writes outside of our directories (opt: /opt/containerd). */
const DISABLED_PLUGINS = [
  "io.containerd.internal.v1.opt",
  "io.containerd.internal.v1.restart",
  "io.containerd.monitor.container.v1.restart", // The same, since 2.0.
  "io.containerd.internal.v1.tracing",
  "io.containerd.tracing.processor.v1.otlp",
  "io.containerd.monitor.v1.cgroups", // Prometheus metrics; the CRI reads the cgroups itself.
  "io.containerd.monitor.task.v1.cgroups",
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.blockfile",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.erofs",
  "io.containerd.snapshotter.v1.zfs",
];

/** The kernel's minimum, as upstream's set-ups use: the OOM killer takes the runtime last. */
const OOM_SCORE = -999;

/**
 * Where administrators configure mirrors and certificates of registries (`<host>/hosts.toml`). Version 1 of containerd has no default, and
 * that of version 2 is a list with this directory, which its transfer service takes for the name of one. A missing directory is not an
 * error.
 */
const REGISTRY_CONFIG_PATH = "/etc/containerd/certs.d";

const CRI = `plugins."io.containerd.grpc.v1.cri"`;

export function containerdConfiguration(places: ContainerdPlaces): string {
  return [
    "# Written by k8ts at every start; changes made here are lost.",
    table("", {
      version: 2,
      root: places.rootDirectory,
      state: places.stateDirectory,
      oom_score: OOM_SCORE,
      disabled_plugins: DISABLED_PLUGINS,
    }),
    table("grpc", { address: places.socket }),
    table(CRI, {
      sandbox_image: places.sandboxImage,
      // exec, attach and port-forward are proxied by the kubelet, on this machine.
      disable_tcp_service: true,
      stream_server_address: "127.0.0.1",
      stream_server_port: "0",
      // Where containerd itself may not lower its score, requesting it for a container would fail every container.
      restrict_oom_score_adj: true,
      // Default of upstream's clusters since 1.22: any user may listen below 1024 and use ping.
      enable_unprivileged_ports: true,
      enable_unprivileged_icmp: true,
      // In /run/netns the owner of a namespace could not be determined.
      netns_mounts_under_state_dir: true,
    }),
    table(`${CRI}.cni`, { bin_dir: places.cniBinaryDirectory, conf_dir: places.cniConfigDirectory, max_conf_num: 1 }),
    table(`${CRI}.registry`, { config_path: REGISTRY_CONFIG_PATH }),
    table(`${CRI}.containerd`, { default_runtime_name: "runc", snapshotter: places.snapshotter }),
    table(`${CRI}.containerd.runtimes.runc`, { runtime_type: "io.containerd.runc.v2" }),
    table(`${CRI}.containerd.runtimes.runc.options`, { SystemdCgroup: false, Root: places.runcDirectory }),
    // The transfer service pulls from 2.1 on: it unpacks only for configured snapshotters, by default overlayfs alone, and otherwise fails
    // each pull.
    list(`plugins."io.containerd.transfer.v1.local".unpack_config`, {
      platform: `linux/${places.architecture}`,
      snapshotter: places.snapshotter,
    }),
    // Its socket would be the only path that all containerds of a machine share.
    table(`plugins."io.containerd.nri.v1.nri"`, { disable: true }),
  ].join("\n");
}

type TomlValue = string | number | boolean | readonly string[];

function table(name: string, values: Readonly<Record<string, TomlValue>>): string {
  return section(name === "" ? [] : [`[${name}]`], values);
}

/** Tables at one level. */
function list(name: string, values: Readonly<Record<string, TomlValue>>): string {
  return section([`[[${name}]]`], values);
}

function section(heading: readonly string[], values: Readonly<Record<string, TomlValue>>): string {
  const lines = Object.entries(values).map(([key, value]) => `${key} = ${toml(value)}`);
  return [...heading, ...lines, ""].join("\n");
}

/** JSON's syntax of strings, numbers and lists is valid TOML, except for DEL, which no path of ours contains. */
function toml(value: TomlValue): string {
  return JSON.stringify(value);
}
