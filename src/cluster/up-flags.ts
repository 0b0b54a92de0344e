/**
 * What can be said about `k8ts up`, by flags or in a file: the declarations, and how several ways to say one thing become one. Each source
 * is made plain by itself, so that contradictions are told where they stand; then what was typed wins over what the file says.
 */
import { parseIp } from "../api/machinery/ip-address.ts";
import { clusterFlags } from "../config/cluster-flags.ts";
import { chosenFlag } from "../config/controller-flags.ts";
import type { FlagSet, FlagValues } from "../cli/framework/flags.ts";
import { schedulerConfigFlag } from "../config/scheduler-config.ts";
import type { ConfigValue } from "../cli/framework/config-file.ts";
import { homeFlags } from "./home/home-flags.ts";
import { SIMULATED_NODES_MAX } from "../components/simulated-nodes/simulated-fleet.ts";

const PORT_MAX = 65_535;

const { "data-dir": _dataDirectory, kubeconfig: _kubeconfig, ...otherClusterFlags } = clusterFlags;

export const upFlags = {
  ...homeFlags,
  config: {
    type: "string",
    placeholder: "FILE",
    doc: "Reads flags from a file in YAML or JSON: the same names without the dashes. What is typed as well wins over the file.",
  },
  detach: { type: "boolean", doc: "Goes on in the background, and returns when the cluster is ready. k8ts status, logs and down find it." },
  processes: {
    type: "boolean",
    doc: "Runs API server, controllers, scheduler and kubelet, or all simulated nodes, in a process each; one that ends is started again. k8ts logs PART shows the log of one. Not with --in-memory.",
  },
  "in-memory": { type: "boolean", doc: "Keeps nothing of the cluster's state for the next start. The same as --store memory." },
  "simulated-nodes": {
    type: "number",
    min: 0,
    max: SIMULATED_NODES_MAX,
    default: 0,
    doc: "Nodes whose Pods are played and not run: they start, become ready and end as annotations say. On etcd they are called after --node-name and --name.",
  },
  listen: {
    type: "string",
    placeholder: "ADDRESS[:PORT]",
    doc: "Where the API server listens. The same as --bind-address and --secure-port; port 0 takes any that is free.",
    expects: (text) => (parseListen(text) === undefined ? "an address such as 127.0.0.1, 0.0.0.0:6443 or [::1]:6443" : undefined),
  },
  containers: {
    type: "boolean",
    default: true,
    doc: "Makes this machine a node that runs containers, if there is a runtime for them; false: it is none.",
  },
  "node-name": {
    type: "string",
    placeholder: "NAME",
    doc: "What this machine is called as a node. Default: its host name, in lower case.",
    expects: (name) => (NODE_NAME.test(name) && name.length <= 253 ? undefined : 'a name of lower case letters, digits, "-" and "."'),
  },
  "container-runtime-endpoint": {
    type: "string",
    placeholder: "ENDPOINT",
    doc: "Socket of the container runtime, such as unix:///run/containerd/containerd.sock. Default: a containerd that answers, or one of k8ts's own. Not with --simulated-nodes or --containers=false.",
    expects: (endpoint) => (/^(unix:\/\/)?\/./.test(endpoint) ? undefined : "a socket such as unix:///run/containerd/containerd.sock"),
  },
  kubeconfig: {
    type: "string",
    placeholder: "FILE",
    doc: "The kubeconfig that gets a context for the cluster, beside what it has. Default: of the files that KUBECONFIG names the first that there is, as kubectl does, or ~/.kube/config.",
  },
  "write-kubeconfig": { type: "boolean", default: true, doc: "Puts that context there; false leaves the file alone." },
  ...otherClusterFlags,
  ...chosenFlag,
  "scheduler-config": schedulerConfigFlag,
} as const satisfies FlagSet;

/** As Kubernetes names nodes. */
const NODE_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Flags that make no sense in a file. */
export const ONLY_TYPED = ["config"];

export type UpFlagValues = FlagValues<typeof upFlags>;

export interface ListenAddress {
  readonly address: string;
  readonly port?: number;
}

/** "127.0.0.1", "127.0.0.1:6443", "::1", "[::1]:6443". Undefined if it is none. */
export function parseListen(text: string): ListenAddress | undefined {
  if (parseIp(text) !== undefined) return { address: text };
  const [, address = "", port = ""] = /^\[?([0-9a-fA-F:.]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  const isBracketed = text.startsWith("[") && text.includes("]:");
  if (parseIp(address) === undefined || Number(port) > PORT_MAX || address.includes(":") !== isBracketed) return undefined;
  return { address, port: Number(port) };
}

export interface Source {
  readonly values: ReadonlyMap<string, ConfigValue>;
  /** How a flag is called in it: "--listen", or "config.yaml:3: listen". */
  shown(name: string): string;
}

export interface PlainSource {
  readonly values: ReadonlyMap<string, ConfigValue>;
  readonly problems: readonly string[];
}

/** One way to say each thing: bind-address and secure-port for listen, store for in-memory. */
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
  // So that servers that are typed win over a store that the file names.
  if (values.has("etcd-servers") && !made.has("store")) made.set("store", "etcd");
  for (const name of ["listen", "in-memory"]) made.delete(name);
  return { values: made, problems };

  function take(from: string, to: string, value: ConfigValue): void {
    if (values.has(to) && values.get(to) !== value)
      problems.push(`${shown(from)} and ${shown(to)} contradict each other: leave one of them out`);
    else made.set(to, value);
  }
}

/** What is typed wins; a store that is typed also wins over what the file says about another. */
export function overlay(file: PlainSource["values"], typed: PlainSource["values"]): ReadonlyMap<string, ConfigValue> {
  const isOtherStore = typed.has("store") && typed.get("store") !== "etcd";
  const ofFile = [...file].filter(([name]) => !(isOtherStore && name.startsWith("etcd-")));
  return new Map([...ofFile, ...typed]);
}
