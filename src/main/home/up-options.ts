/** From the flags and the file of `k8ts up` to what it starts. All that is wrong, in either or in combination, is told at once. */
import { absolutePath, machineName } from "../../host/private-files.ts";
import type { ApiServerOptions } from "../apiserver-config.ts";
import { DEFAULT_API_SERVER_CONFIG } from "../../apiserver/api-server-config.ts";
import { clusterFlagOptions, clusterFlags } from "../cluster-flags.ts";
import type { Environment } from "../command.ts";
import { chosenControllers, chosenControllersProblems, CLUSTER_CONTROLLERS } from "../controller-flags.ts";
import { parseArguments, type Parsed } from "../flags.ts";
import { ownAddressTypes } from "../kubelet-access.ts";
import { flagWords } from "../processes/flag-words.ts";
import type { StoreConfig } from "../store-config.ts";
import type { ConfigFile, ConfigValue } from "./config-file.ts";
import { chooseHome, type HomeChoice } from "./home-flags.ts";
import { homePaths } from "./home-paths.ts";
import { defaultKubeconfig } from "./kubeconfig-place.ts";
import { overlay, plain, upFlags, type UpFlagValues } from "./up-flags.ts";

export interface UpOptions {
  readonly home: HomeChoice;
  readonly store: StoreConfig;
  readonly apiServer: ApiServerOptions;
  /** The flags by which it was said where the API server listens, for what is told about that. */
  readonly listenFlags: { readonly address: string; readonly port: string };
  readonly controllers: readonly string[];
  readonly simulatedNodes: number;
  /** A file. */
  readonly scheduler?: string;
  /** Whether this machine is to be a node that runs containers. */
  readonly runsContainers: boolean;
  /** This machine as a node. */
  readonly nodeName: string;
  /** Absent: whatever runtime is found. */
  readonly runtimeEndpoint?: string;
  /** Where the context is put. Absent: nowhere. */
  readonly kubeconfig?: string;
  readonly isDetached: boolean;
  /** Absent: all in this one. */
  readonly processes?: {
    /** What was said about the API server, for the command line of its own process, but for its port. */
    readonly apiServerWords: readonly string[];
  };
}

/** What was typed, by the names of flags: only those that were. */
export type Typed = ReadonlyMap<string, ConfigValue>;

export function upOptions(typed: Typed, file: ConfigFile | undefined, environment: Environment): Parsed<UpOptions> {
  const fromTyped = plain({ values: typed, shown: (name) => `--${name}` });
  const fromFile = plain({ values: file?.values ?? new Map(), shown: (name) => `${file?.placeOf(name) ?? ""}"${name}"` });
  const values = withDefaults(overlay(fromFile.values, fromTyped.values));
  const isListen = typed.has("listen") || file?.values.has("listen") === true;
  const combined = combine(values, environment, { isListen });
  const problems = [...fromTyped.problems, ...(file?.problems ?? []), ...fromFile.problems, ...(combined.ok ? [] : combined.problems)];
  return combined.ok && problems.length === 0 ? combined : { ok: false, problems };
}

function withDefaults(given: ReadonlyMap<string, ConfigValue>): UpFlagValues {
  const defaults = parseArguments({ flags: upFlags, arguments: {} }, []).values;
  return { ...defaults, ...Object.fromEntries(given) };
}

/** `isListen`: the address was said by --listen, and not by the flags that it stands for. */
function combine(values: UpFlagValues, environment: Environment, { isListen }: { readonly isListen: boolean }): Parsed<UpOptions> {
  const home = chooseHome(values, environment);
  const paths = homePaths(home.ok ? home.options.directory : "");
  const isEmbedded = values.store === "embedded" || (values.store === undefined && values["etcd-servers"].length === 0);
  const clusterValues = {
    ...values,
    // Whatever the store is, the rest of the cluster's files are in its home.
    "data-dir": isEmbedded ? paths.directory : undefined,
    "cert-dir": values["cert-dir"] ?? paths.pkiDirectory,
    kubeconfig: paths.kubeconfig,
  };
  const parsed = clusterFlagOptions(clusterValues, environment);
  const problems = [
    ...(home.ok ? [] : home.problems),
    ...(parsed.ok ? [] : parsed.problems),
    ...chosenControllersProblems(values),
    ...processProblems(values),
    ...runtimeProblems(values),
  ];
  if (!home.ok || !parsed.ok || problems.length > 0) return { ok: false, problems };
  const { "scheduler-config": scheduler, "container-runtime-endpoint": runtimeEndpoint } = values;
  const kubeconfig = values["write-kubeconfig"] ? (namedKubeconfig(values.kubeconfig) ?? defaultKubeconfig(environment)) : undefined;
  return {
    ok: true,
    options: {
      home: home.options,
      ...parsed.options,
      listenFlags: isListen ? { address: "--listen", port: "--listen" } : { address: "--bind-address", port: "--secure-port" },
      controllers: chosenControllers(values, CLUSTER_CONTROLLERS),
      simulatedNodes: values["simulated-nodes"],
      runsContainers: values.containers,
      nodeName: values["node-name"] ?? machineName().toLowerCase(),
      isDetached: values.detach,
      ...(scheduler === undefined ? {} : { scheduler }),
      ...(runtimeEndpoint === undefined ? {} : { runtimeEndpoint }),
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(values.processes ? { processes: { apiServerWords: apiServerWords(clusterValues) } } : {}),
    },
  };
}

/** Whoever takes the context out again may stand in another directory. */
function namedKubeconfig(given: string | undefined): string | undefined {
  return given === undefined ? undefined : absolutePath(given);
}

function processProblems({ processes, store, "simulated-nodes": simulatedNodes }: UpFlagValues): readonly string[] {
  if (!processes) return [];
  return [
    ...(store === "memory" ? ["--processes needs a store that outlives its API server: leave --in-memory out"] : []),
    ...(simulatedNodes > 0 ? ["--simulated-nodes are in the API server's process: leave --processes out"] : []),
  ];
}

/** Whoever names a runtime wants containers. */
function runtimeProblems(values: UpFlagValues): readonly string[] {
  if (values["container-runtime-endpoint"] === undefined) return [];
  const against = [...(values["simulated-nodes"] > 0 ? ["--simulated-nodes"] : []), ...(values.containers ? [] : ["--containers=false"])];
  return against.map((flag) => `--container-runtime-endpoint and ${flag} contradict each other: leave one of them out`);
}

/** The port is told apart, since one that was chosen stays. Kubelets that k8ts starts are reached at their addresses. */
function apiServerWords(values: UpFlagValues): readonly string[] {
  const given = values["kubelet-preferred-address-types"];
  const types = given.length > 0 ? given : ownAddressTypes(DEFAULT_API_SERVER_CONFIG.kubeletPreferredAddressTypes);
  const { "secure-port": _port, ...flags } = clusterFlags;
  return flagWords(flags, { ...values, "kubelet-preferred-address-types": types });
}
