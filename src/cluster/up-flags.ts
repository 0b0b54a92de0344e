/**
 * Flags of `k8ts up`, on the command line or in a file: the declarations, and the normalization of aliases. Each source is normalized
 * separately, so that conflicts are reported where they are; then the command line overrides the file.
 */
import { parseIp } from "../api/machinery/ip/ip-address.ts";
import { cidrExpected } from "../config/node-ipam-flags.ts";
import { clusterFlags } from "../config/cluster-flags.ts";
import { chosenFlag, controllerFlags, loadBalancerFlag } from "../config/controller-flags.ts";
import type { FlagSet, FlagValues } from "../cli/framework/flags.ts";
import { schedulerConfigFlag } from "../config/scheduler-config.ts";
import type { ConfigValue } from "../cli/framework/config-file.ts";
import { newHomeFlags } from "./home/home-flags.ts";
import { networkFlags } from "../components/network/start-network-components.ts";
import { SIMULATED_NODES_MAX } from "../components/simulated-nodes/simulated-fleet.ts";
import { autoscalerFlags } from "../config/autoscaler-flags.ts";
import { nodePressureFlags } from "../config/kubelet/pressure-flags.ts";

const PORT_MAX = 65_535;
/** Each has a containerd and a kubelet of its own; a machine with memory for more is better split into several. */
const NODES_MAX = 50;

const { "data-dir": _dataDirectory, kubeconfig: _kubeconfig, ...otherClusterFlags } = clusterFlags;

export const upFlags = {
  ...newHomeFlags,
  config: {
    type: "string",
    placeholder: "FILE",
    doc: "YAML or JSON file of flags: keys are flag names without the dashes. Flags on the command line override it.",
  },
  detach: {
    type: "boolean",
    doc: "Run in the background and return when the cluster is ready. Use k8ts status, logs and down to manage it.",
  },
  processes: {
    type: "boolean",
    doc: "Run API server, controllers, scheduler and kubelet (or simulated nodes) as separate processes, which are restarted when they exit. k8ts logs COMPONENT prints the log of one. Not with --in-memory.",
  },
  "in-memory": { type: "boolean", doc: "Keep the cluster's state in memory only; it is lost on exit. Same as --store memory." },
  "simulated-nodes": {
    type: "number",
    min: 0,
    max: SIMULATED_NODES_MAX,
    default: 0,
    doc: "Number of simulated nodes: their Pods run no containers, but start, become ready and terminate as their annotations specify. With etcd the names derive from --node-name and --name.",
  },
  nodes: {
    type: "number",
    min: 1,
    max: NODES_MAX,
    placeholder: "N",
    doc: "Number of nodes that run containers on this machine: the machine itself, and others in network namespaces with kubelets and containerds of their own. Default: as many as at the last start, at first 1. See k8ts node.",
  },
  "test-control": {
    type: "boolean",
    doc: "Serve an HTTP API on loopback with which test suites in any language reset, snapshot and fork the cluster, control its time and nodes, and inject faults. The state is in memory, and all nodes are simulated (default: 1). See docs/test-control.md.",
  },
  "test-control-port": {
    type: "number",
    min: 0,
    max: PORT_MAX,
    default: 0,
    doc: "Port of test control on 127.0.0.1. Default: a free one, which k8ts status shows.",
  },
  "virtual-time": {
    type: "boolean",
    doc: "Start the cluster with virtual time, which passes only when test control advances it. Requires --test-control.",
  },
  "cluster-cidr": {
    type: "list",
    placeholder: "CIDR,...",
    doc: "Range of all Pods' addresses; for dual stack an IPv4 and an IPv6 range, the primary one first. Default: an IPv4 range that nothing on this machine uses, and an IPv6 range if --service-cluster-ip-range has one.",
    expects: cidrExpected,
  },
  listen: {
    type: "string",
    placeholder: "ADDRESS[:PORT]",
    doc: "Address of the API server. Same as --bind-address and --secure-port; port 0 picks a free port.",
    expects: (text) => (parseListen(text) === undefined ? "an address such as 127.0.0.1, 0.0.0.0:6443 or [::1]:6443" : undefined),
  },
  containers: {
    type: "boolean",
    default: true,
    doc: "Join this machine as a node that runs containers, if a container runtime is available.",
  },
  "node-name": {
    type: "string",
    placeholder: "NAME",
    doc: "Name of this machine's node. Default: the host name in lower case.",
    expects: (name) =>
      NODE_NAME.test(name) && name.length <= NODE_NAME_LENGTH_MAX
        ? undefined
        : `a name of at most ${NODE_NAME_LENGTH_MAX} lower-case letters, digits, "-" and ".", with a letter or digit at both ends`,
  },
  "container-runtime-endpoint": {
    type: "string",
    placeholder: "ENDPOINT",
    doc: "CRI socket of the container runtime, such as unix:///run/containerd/containerd.sock. Default: a running containerd, or one that k8ts manages. Not with --simulated-nodes or --containers=false.",
    expects: (endpoint) => (/^(unix:\/\/)?\/./.test(endpoint) ? undefined : "a socket such as unix:///run/containerd/containerd.sock"),
  },
  kubeconfig: {
    type: "string",
    placeholder: "FILE",
    doc: "kubeconfig to add the cluster's context to. Default: the first existing file of $KUBECONFIG, or ~/.kube/config.",
  },
  "write-kubeconfig": { type: "boolean", default: true, doc: "Add the cluster's context to the kubeconfig and make it current." },
  ...otherClusterFlags,
  ...chosenFlag,
  "node-monitor-grace-period": controllerFlags["node-monitor-grace-period"],
  ...autoscalerFlags,
  "load-balancer-range": { ...loadBalancerFlag["load-balancer-range"], default: "nodes" },
  "scheduler-config": schedulerConfigFlag,
  ...nodePressureFlags,
} as const satisfies FlagSet;

/** With the flags of the network components. */
export const allUpFlags: typeof upFlags = { ...upFlags, ...networkFlags("cluster") };

/** Valid node names. */
/** Upstream allows 253, but the kubelet's label kubernetes.io/hostname no more than this. */
export const NODE_NAME_LENGTH_MAX = 63;
const NODE_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Flags that are not allowed in a file. */
export const COMMAND_LINE_ONLY = ["config"];

export type UpFlagValues = FlagValues<typeof upFlags>;

export interface ListenAddress {
  readonly address: string;
  readonly port?: number;
}

/** "127.0.0.1", "127.0.0.1:6443", "::1", "[::1]:6443". Undefined if invalid. */
export function parseListen(text: string): ListenAddress | undefined {
  if (parseIp(text) !== undefined) return { address: text };
  const [, address = "", port = ""] = /^\[?([0-9a-fA-F:.]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  const isBracketed = text.startsWith("[") && text.includes("]:");
  if (parseIp(address) === undefined || Number(port) > PORT_MAX || address.includes(":") !== isBracketed) return undefined;
  return { address, port: Number(port) };
}

export interface Source {
  readonly values: ReadonlyMap<string, ConfigValue>;
  /** Name of a flag in messages: "--listen", or "config.yaml:3: listen". */
  shown(name: string): string;
}

export interface PlainSource {
  readonly values: ReadonlyMap<string, ConfigValue>;
  readonly problems: readonly string[];
}

/** Replaces aliases: bind-address and secure-port for listen, store for in-memory. */
export function plain({ values, shown }: Source): PlainSource {
  const made = new Map(values);
  const problems: string[] = [];
  const listen = values.get("listen");
  const where = typeof listen === "string" ? parseListen(listen) : undefined;
  if (where !== undefined) {
    take("listen", "bind-address", where.address);
    if (where.port !== undefined) take("listen", "secure-port", where.port);
  }
  if (values.get("in-memory") === true) take("in-memory", "store", "memory");
  // So that --etcd-servers on the command line overrides a store of the file.
  if (values.has("etcd-servers") && !made.has("store")) made.set("store", "etcd");
  for (const name of ["listen", "in-memory"]) made.delete(name);
  return { values: made, problems };

  function take(from: string, to: string, value: ConfigValue): void {
    if (values.has(to) && values.get(to) !== value)
      problems.push(`${shown(from)} and ${shown(to)} are mutually exclusive: leave one of them out`);
    else made.set(to, value);
  }
}

/** The command line wins; a store on the command line also overrides the file's settings of another. */
export function overlay(file: PlainSource["values"], typed: PlainSource["values"]): ReadonlyMap<string, ConfigValue> {
  const isOtherStore = typed.has("store") && typed.get("store") !== "etcd";
  const ofFile = [...file].filter(([name]) => !(isOtherStore && name.startsWith("etcd-")));
  return new Map([...ofFile, ...typed]);
}
