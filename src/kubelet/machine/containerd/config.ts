/**
 * The configuration that a containerd of our own is started with: everything of it lies in our directories, so that several clusters and
 * a containerd of the machine's live side by side. Version 2 is read by containerd 1.6 as well as by 2.x, which translates it.
 * Not here: starting it (own-containerd.ts), the network's configuration (network/cni-configuration.ts).
 */

export interface ContainerdPlaces {
  /** What lasts: images, snapshots, containers. */
  readonly rootDirectory: string;
  /** What ends with the machine's run: bundles, mounts, network namespaces. */
  readonly stateDirectory: string;
  readonly runcDirectory: string;
  readonly socket: string;
  readonly cniConfigDirectory: string;
  readonly cniBinaryDirectory: string;
  readonly sandboxImage: string;
  /** How a container's files are laid over those of its image. */
  readonly snapshotter: "overlayfs" | "native";
  /** As images name it: "amd64". */
  readonly architecture: string;
}

/** Never needed here, and each costs time at the start or writes outside of our directories (opt: /opt/containerd). */
const DISABLED_PLUGINS = [
  "io.containerd.internal.v1.opt",
  "io.containerd.internal.v1.restart",
  "io.containerd.monitor.container.v1.restart", // The same, since 2.0.
  "io.containerd.internal.v1.tracing",
  "io.containerd.tracing.processor.v1.otlp",
  "io.containerd.monitor.v1.cgroups", // Numbers for Prometheus; the CRI reads the cgroups itself.
  "io.containerd.monitor.task.v1.cgroups",
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.blockfile",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.erofs",
  "io.containerd.snapshotter.v1.zfs",
];

/** As low as the kernel takes, as upstream's set-ups do: the runtime is the last to go when memory is short. */
const OOM_SCORE = -999;

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
      // exec, attach and port-forward come through the kubelet, on this machine.
      disable_tcp_service: true,
      stream_server_address: "127.0.0.1",
      stream_server_port: "0",
      // Where containerd itself may not lower its score, asking it of a container would fail each one.
      restrict_oom_score_adj: true,
      // What upstream's clusters allow since 1.22: listening below 1024 and ping, as any user.
      enable_unprivileged_ports: true,
      enable_unprivileged_icmp: true,
      // In /run/netns, one could not tell whose they are.
      netns_mounts_under_state_dir: true,
    }),
    table(`${CRI}.cni`, { bin_dir: places.cniBinaryDirectory, conf_dir: places.cniConfigDirectory, max_conf_num: 1 }),
    table(`${CRI}.containerd`, { default_runtime_name: "runc", snapshotter: places.snapshotter }),
    table(`${CRI}.containerd.runtimes.runc`, { runtime_type: "io.containerd.runc.v2" }),
    table(`${CRI}.containerd.runtimes.runc.options`, { SystemdCgroup: false, Root: places.runcDirectory }),
    // Who pulls from 2.1 on: it unpacks for the snapshotters that it is told of, by default overlayfs alone, and else refuses each pull.
    list(`plugins."io.containerd.transfer.v1.local".unpack_config`, {
      platform: `linux/${places.architecture}`,
      snapshotter: places.snapshotter,
    }),
    // Its socket would be the one place that all containerds of a machine share.
    table(`plugins."io.containerd.nri.v1.nri"`, { disable: true }),
  ].join("\n");
}

type TomlValue = string | number | boolean | readonly string[];

function table(name: string, values: Readonly<Record<string, TomlValue>>): string {
  return section(name === "" ? [] : [`[${name}]`], values);
}

/** Of tables, with one. */
function list(name: string, values: Readonly<Record<string, TomlValue>>): string {
  return section([`[[${name}]]`], values);
}

function section(heading: readonly string[], values: Readonly<Record<string, TomlValue>>): string {
  const lines = Object.entries(values).map(([key, value]) => `${key} = ${toml(value)}`);
  return [...heading, ...lines, ""].join("\n");
}

/** JSON's way to write strings, numbers and lists is TOML's too, but for DEL, which no path of ours has. */
function toml(value: TomlValue): string {
  return JSON.stringify(value);
}
