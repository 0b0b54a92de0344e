/**
 * Where the files of a cluster lie: each named cluster has one directory, its home, and everything that it keeps is in it. Pure: from names
 * to paths. Not here: making the directory and looking into it (cluster-home.ts), sockets, which need short paths (runtime-directory.ts).
 */
import { joinPath } from "../../host/files/files.ts";
import type { Environment } from "../../cli/framework/command.ts";

export const DEFAULT_NAME = "default";

/** Short enough that names made from it, of links and sockets, stay within their limits. */
const NAME_LENGTH_MAX = 32;
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** As `expects` of a flag: what a good name is, if this is none. */
export function nameExpected(name: string): string | undefined {
  if (NAME.test(name) && name.length <= NAME_LENGTH_MAX) return undefined;
  return `a name of at most ${NAME_LENGTH_MAX} lower-case letters, digits and dashes`;
}

export interface HomePaths {
  /** The home itself. The embedded store's files are directly in it, as they were before there was anything else. */
  readonly directory: string;
  /** Says that this is a home, of which version, and whose. */
  readonly marker: string;
  /** Locked by who runs the cluster. */
  readonly runDirectory: string;
  /** What runs (cluster-record.ts). */
  readonly record: string;
  /** Names a process that was started to run it and has not said yet that it does (background-start.ts). */
  readonly startMark: string;
  /** Names the kubeconfigs that the cluster's context was put into (context-locations.ts). */
  readonly contextPlaces: string;
  readonly logDirectory: string;
  readonly logFile: string;
  readonly pkiDirectory: string;
  /** The administrator's. */
  readonly kubeconfig: string;
  readonly kubeletDirectory: string;
  readonly containerdDirectory: string;
  readonly cniDirectory: string;
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
  };
}

/** The parts that have logs of their own when each is a process of its own. */
export const LOGGED_COMPONENTS = ["apiserver", "controllers", "scheduler", "kubelet", "nodes"] as const;

export function componentLog({ logDirectory }: Pick<HomePaths, "logDirectory">, part: (typeof LOGGED_COMPONENTS)[number]): string {
  return joinPath(logDirectory, `${part}.log`);
}

export const MARKER_FILE = "k8ts.json";

/** The names of everything that k8ts itself puts into a home; whatever else is in it is somebody's. */
const OWN_ENTRIES = new Set([MARKER_FILE, "run", "logs", "pki", "kubeconfig", "kubelet", "containerd", "cni", "holder", "store.sock"]);

export function isOwnEntry(name: string): boolean {
  // The store's files and what is half written of any.
  return OWN_ENTRIES.has(name) || name.startsWith("store.mdb") || name.endsWith(".partial");
}

/** What a home has before anything has run in it. */
export function isMadeEmpty(name: string): boolean {
  return [MARKER_FILE, "run", "logs"].includes(name);
}

/** Of all named clusters of this user, by the XDG base directory convention. Undefined if neither XDG_DATA_HOME nor HOME is set. */
export function homesDirectory({ XDG_DATA_HOME: data, HOME: home }: Environment): string | undefined {
  // By the convention a relative XDG_DATA_HOME is to be ignored.
  if (data?.startsWith("/") === true) return joinPath(data, "k8ts");
  return home === undefined || home === "" ? undefined : joinPath(home, ".local/share/k8ts");
}

/** What the context, the cluster and the user are called in a kubeconfig that holds others, too, unless somebody else has these names. */
export function contextName(clusterName: string): string {
  return clusterName === DEFAULT_NAME ? "k8ts" : `k8ts-${clusterName}`;
}
