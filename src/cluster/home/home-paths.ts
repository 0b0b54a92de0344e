/**
 * Paths of a cluster's files: each named cluster has one directory, its home, that contains all its data. Pure. Not here: creating and
 * reading the directory (cluster-home.ts), sockets, which need short paths (runtime-directory.ts).
 */
import { joinPath } from "../../host/files/files.ts";
import type { Environment } from "../../cli/framework/command.ts";

export const DEFAULT_NAME = "default";

/** Short enough for derived names of links and sockets. */
const NAME_LENGTH_MAX = 32;
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Like `expects` of a flag: describes a valid name, if this one is not. */
export function nameExpected(name: string): string | undefined {
  if (NAME.test(name) && name.length <= NAME_LENGTH_MAX) return undefined;
  return `a name of at most ${NAME_LENGTH_MAX} lower-case letters, digits and dashes`;
}

export interface HomePaths {
  /** The home. Contains the files of the embedded store directly, for compatibility. */
  readonly directory: string;
  /** Identifies the directory as a home, with format and name. */
  readonly marker: string;
  /** Locked by the process that runs the cluster. */
  readonly runDirectory: string;
  /** The cluster record (cluster-record.ts). */
  readonly record: string;
  /** PID of a background process that is still starting (background-start.ts). */
  readonly startMark: string;
  /** Locations of the cluster's context (context-locations.ts). */
  readonly contextPlaces: string;
  readonly logDirectory: string;
  readonly logFile: string;
  readonly pkiDirectory: string;
  /** The administrator's kubeconfig. */
  readonly kubeconfig: string;
  readonly kubeletDirectory: string;
  readonly containerdDirectory: string;
  readonly cniDirectory: string;
  /** Files of the network components. */
  readonly networkDirectory: string;
  /** Content of the volumes that this machine's node provisioned. */
  readonly volumesDirectory: string;
  /** Identifies the home of a joined node, with its name and server (join/join-files.ts). */
  readonly joinRecord: string;
  /** Further nodes of the cluster on this machine (nodes/node-files.ts). */
  readonly nodesDirectory: string;
  /** URL and token of test control while it runs (--test-control). */
  readonly testControl: string;
}

export function homePaths(directory: string): HomePaths {
  const runDirectory = joinPath(directory, "run");
  const logDirectory = joinPath(directory, "logs");
  return {
    directory,
    marker: joinPath(directory, MARKER_FILE),
    runDirectory,
    record: joinPath(runDirectory, "cluster.json"),
    startMark: joinPath(runDirectory, "start.json"),
    contextPlaces: joinPath(runDirectory, "context-place"),
    logDirectory,
    logFile: joinPath(logDirectory, "k8ts.log"),
    pkiDirectory: joinPath(directory, "pki"),
    kubeconfig: joinPath(directory, "kubeconfig"),
    kubeletDirectory: joinPath(directory, "kubelet"),
    containerdDirectory: joinPath(directory, "containerd"),
    cniDirectory: joinPath(directory, "cni"),
    networkDirectory: joinPath(directory, "network"),
    volumesDirectory: joinPath(directory, "volumes"),
    joinRecord: joinPath(directory, JOIN_FILE),
    nodesDirectory: joinPath(directory, "nodes"),
    testControl: joinPath(runDirectory, "test-control.json"),
  };
}

/** Components that have log files with --processes. */
export const LOGGED_COMPONENTS = ["apiserver", "controllers", "scheduler", "kubelet", "nodes", "network"] as const;

export function componentLog({ logDirectory }: Pick<HomePaths, "logDirectory">, part: (typeof LOGGED_COMPONENTS)[number]): string {
  return joinPath(logDirectory, `${part}.log`);
}

/** Where the scheduler's process serves its decisions to the API server with --processes. */
export function decisionsSocket({ runtimeDirectory }: { readonly runtimeDirectory: string }): string {
  return joinPath(runtimeDirectory, "scheduler.sock");
}

export const MARKER_FILE = "k8ts.json";
const JOIN_FILE = "join.json";

/** Names of all files that k8ts creates in a home; others belong to the user. */
const OWN_ENTRIES = new Set([
  MARKER_FILE,
  JOIN_FILE,
  "run",
  "logs",
  "pki",
  "kubeconfig",
  "kubelet",
  "containerd",
  "cni",
  "network",
  "volumes",
  "nodes",
  "holder",
  "store.sock",
]);

export function isOwnEntry(name: string): boolean {
  // Files of the store, recorded causes, and partially written files.
  return OWN_ENTRIES.has(name) || name.startsWith("store.mdb") || name.startsWith("causes.jsonl") || name.endsWith(".partial");
}

/** Files of a home in which no cluster has run yet. */
export function isMadeEmpty(name: string): boolean {
  return [MARKER_FILE, "run", "logs"].includes(name);
}

/**
 * Parent directory of all named clusters of this user, by the XDG base directory specification. Undefined if neither XDG_DATA_HOME nor HOME
 * is set.
 */
export function homesDirectory({ XDG_DATA_HOME: data, HOME: home }: Environment): string | undefined {
  // The specification says to ignore a relative XDG_DATA_HOME.
  if (data?.startsWith("/") === true) return joinPath(data, "k8ts");
  return home === undefined || home === "" ? undefined : joinPath(home, ".local/share/k8ts");
}

/** Name of context, cluster and user in the user's kubeconfig, unless another entry has it. */
export function contextName(clusterName: string): string {
  return clusterName === DEFAULT_NAME ? "k8ts" : `k8ts-${clusterName}`;
}
