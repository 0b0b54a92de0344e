/** Combines flags and file of `k8ts up` into its options. All problems, of either or of their combination, are reported at once. */
import { absolutePath, machineName } from "../host/files/private-files.ts";
import type { ApiServerOptions } from "../config/api-server-config.ts";
import { DEFAULT_API_SERVER_CONFIG } from "../apiserver/framework/api-server-config.ts";
import { clusterFlagOptions, clusterFlags } from "../config/cluster-flags.ts";
import type { Environment } from "../cli/framework/command.ts";
import { chosenControllers, chosenControllersProblems, CLUSTER_CONTROLLERS } from "../config/controller-flags.ts";
import { parseArguments, type FlagSet, type FlagValues, type Parsed } from "../cli/framework/flags.ts";
import { ownAddressTypes } from "../config/kubelet-access.ts";
import { fileCheck, type FileCheck } from "../cli/framework/check-files.ts";
import { clusterFileChecks } from "../components/api-server/check-files.ts";
import { formatFlagArguments } from "../cli/framework/format-flags.ts";
import { readSchedulerConfig, SCHEDULER_CONFIG_FLAG } from "../config/scheduler-config.ts";
import type { StoreConfig } from "../config/store-config.ts";
import type { ConfigFile, ConfigValue } from "../cli/framework/config-file.ts";
import { chooseHome, type HomeChoice } from "./home/home-flags.ts";
import { homePaths } from "./home/home-paths.ts";
import { podRangeProblems, podRangesOf, type PodRangeChoice } from "./pod-range-flags.ts";
import { kubectlFiles } from "./kubeconfig/user-kubeconfig.ts";
import { overlay, plain, allUpFlags, type UpFlagValues } from "./up-flags.ts";
import type { AutoscalerFlagValues } from "../config/autoscaler-flags.ts";
import { nodePressureOf, nodePressureProblems } from "../config/kubelet/pressure-flags.ts";
import { PRESSURE_DISABLED, type PressureSettings } from "../kubelet/eviction/pressure-settings.ts";

export interface UpOptions {
  readonly home: HomeChoice;
  readonly store: StoreConfig;
  readonly apiServer: ApiServerOptions;
  /** The flags that set the API server's address, for messages. */
  readonly listenFlags: { readonly address: string; readonly port: string };
  readonly controllers: readonly string[];
  /** Value of --node-monitor-grace-period. */
  readonly nodeMonitorGracePeriod: string;
  /** Values of the flags of the autoscaler. */
  readonly autoscaler: AutoscalerFlagValues;
  /** Value of --load-balancer-range. */
  readonly loadBalancerRange: string;
  readonly simulatedNodes: number;
  /** How the ranges of Pods are chosen. */
  readonly podRanges: PodRangeChoice;
  /** Number of nodes on this machine. Absent: as at the last start. */
  readonly nodes?: number;
  /** Path of the scheduler configuration. */
  readonly scheduler?: string;
  /** True if this machine should be a node that runs containers. */
  readonly runsContainers: boolean;
  /** Name of this machine's node. */
  readonly nodeName: string;
  /** Absent: detected. */
  readonly runtimeEndpoint?: string;
  /** Values of the flags of network components, and of others. */
  readonly networkValues: FlagValues<FlagSet>;
  /** Of the nodes on this machine. */
  readonly pressure: PressureSettings;
  /** Candidates for the context, chosen as kubectl does. Empty: none is written. */
  readonly kubeconfigs: readonly string[];
  readonly isDetached: boolean;
  /** Absent: no test control. */
  readonly testControl?: {
    /** 0: a free one. */
    readonly port: number;
    readonly isVirtual: boolean;
  };
  /** Absent: everything runs in this process. */
  readonly processes?: {
    /** API server flags for its separate process, except the port. */
    readonly apiServerWords: readonly string[];
  };
}

/** Values on the command line, by flag name. */
export type CommandLineFlags = ReadonlyMap<string, ConfigValue>;

export function upOptions(typed: CommandLineFlags, file: ConfigFile | undefined, environment: Environment): Parsed<UpOptions> {
  const { values, given, fromTyped, fromFile } = merged(typed, file);
  const isListen = typed.has("listen") || file?.values.has("listen") === true;
  const combined = combine(values, environment, { isListen, given });
  const problems = [...fromTyped.problems, ...(file?.problems ?? []), ...fromFile.problems, ...(combined.ok ? [] : combined.problems)];
  return combined.ok && problems.length === 0 ? combined : { ok: false, problems };
}

function merged(typed: CommandLineFlags, file: ConfigFile | undefined) {
  const fromTyped = plain({ values: typed, shown: (name) => `--${name}` });
  const fromFile = plain({ values: file?.values ?? new Map(), shown: (name) => `${file?.placeOf(name) ?? ""}"${name}"` });
  const given = overlay(fromFile.values, fromTyped.values);
  return { values: withDefaults(testControlled(given)), given, fromTyped, fromFile };
}

/** Checks of every file that flags or the file refer to, whatever else is wrong. */
export function upFileChecks(typed: CommandLineFlags, file: ConfigFile | undefined): readonly FileCheck[] {
  const { values } = merged(typed, file);
  return [
    ...fileCheck(values["scheduler-config"], (path) => readSchedulerConfig(path, SCHEDULER_CONFIG_FLAG)),
    ...clusterFileChecks({ ...values, "data-dir": undefined, kubeconfig: undefined }),
  ];
}

function withDefaults(given: ReadonlyMap<string, ConfigValue>): UpFlagValues {
  const defaults = parseArguments({ flags: allUpFlags, arguments: {} }, []).values;
  return { ...defaults, ...Object.fromEntries(given) };
}

interface Given {
  /** The address was set with --listen. */
  readonly isListen: boolean;
  /** Without defaults. */
  readonly given: CommandLineFlags;
}

function combine(values: UpFlagValues, environment: Environment, { isListen, given }: Given): Parsed<UpOptions> {
  const home = chooseHome(values, environment);
  const paths = homePaths(home.ok ? home.options.directory : "");
  const isEmbedded = values.store === "embedded" || (values.store === undefined && values["etcd-servers"].length === 0);
  const clusterValues = {
    ...values,
    // With any store, the other files of the cluster are in its home.
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
    ...nodesProblems(values),
    ...testControlProblems(values, given),
    ...podRangeProblems(values),
    ...nodePressureProblems(values),
  ];
  if (!home.ok || !parsed.ok || problems.length > 0) return { ok: false, problems };
  const { "scheduler-config": scheduler, "container-runtime-endpoint": runtimeEndpoint, nodes } = values;
  return {
    ok: true,
    options: {
      home: home.options,
      ...parsed.options,
      listenFlags: isListen ? { address: "--listen", port: "--listen" } : { address: "--bind-address", port: "--secure-port" },
      controllers: chosenControllers(values, CLUSTER_CONTROLLERS),
      nodeMonitorGracePeriod: values["node-monitor-grace-period"],
      autoscaler: values,
      loadBalancerRange: values["load-balancer-range"],
      simulatedNodes: values["simulated-nodes"],
      podRanges: podRangesOf(values),
      runsContainers: values.containers,
      nodeName: values["node-name"] ?? machineName().toLowerCase(),
      isDetached: values.detach,
      networkValues: values,
      pressure: nodePressureOf(values, PRESSURE_DISABLED),
      kubeconfigs: chosenKubeconfigs(values, environment),
      ...(scheduler === undefined ? {} : { scheduler }),
      ...(runtimeEndpoint === undefined ? {} : { runtimeEndpoint }),
      ...(nodes === undefined ? {} : { nodes }),
      ...(values["test-control"] ? { testControl: { port: values["test-control-port"], isVirtual: values["virtual-time"] } } : {}),
      ...(values.processes ? { processes: { apiServerWords: apiServerWords(clusterValues) } } : {}),
    },
  };
}

function chosenKubeconfigs({ kubeconfig, "write-kubeconfig": isWritten }: UpFlagValues, environment: Environment): readonly string[] {
  if (!isWritten) return [];
  // Absolute, because `k8ts reset` may run in another directory.
  return kubeconfig === undefined ? kubectlFiles(environment) : [absolutePath(kubeconfig)];
}

function processProblems({ processes, store }: UpFlagValues): readonly string[] {
  return processes && store === "memory"
    ? ["--processes requires a persistent store, because the API server runs in another process: leave out --in-memory"]
    : [];
}

/** A container runtime endpoint implies containers. */
function runtimeProblems(values: UpFlagValues): readonly string[] {
  if (values["container-runtime-endpoint"] === undefined) return [];
  const against = [...(values["simulated-nodes"] > 0 ? ["--simulated-nodes"] : []), ...(values.containers ? [] : ["--containers=false"])];
  return against.map((flag) => `--container-runtime-endpoint and ${flag} are mutually exclusive: leave one of them out`);
}

/** Nodes of this machine run containers. */
function nodesProblems(values: UpFlagValues): readonly string[] {
  if (values.nodes === undefined || values.nodes === 1) return [];
  const against = [...(values["simulated-nodes"] > 0 ? ["--simulated-nodes"] : []), ...(values.containers ? [] : ["--containers=false"])];
  return against.map((flag) => `--nodes and ${flag} are mutually exclusive: leave one of them out`);
}

/** Test control implies the memory store and simulated nodes. */
function testControlled(given: CommandLineFlags): CommandLineFlags {
  if (given.get("test-control") !== true) return given;
  const implied: (readonly [string, ConfigValue])[] = [
    ["store", "memory"],
    ["simulated-nodes", 1],
    ["containers", false],
  ];
  return new Map([...implied.filter(([name]) => !given.has(name)), ...given]);
}

/** Flags of persistent stores, of other processes and of nodes that run containers. */
function testControlProblems(values: UpFlagValues, given: CommandLineFlags): readonly string[] {
  if (!values["test-control"]) {
    const alone = ["virtual-time", "test-control-port"].filter((name) => given.has(name) && given.get(name) !== false);
    return alone.map((name) => `--${name} requires --test-control: add it, or leave out --${name}`);
  }
  const against = [
    ...(values.store === "memory" ? [] : ["--store other than memory"]),
    ...[...given.keys()].filter((name) => name.startsWith("etcd-") && !isEmptyList(given.get(name))).map((name) => `--${name}`),
    ...["nodes", "container-runtime-endpoint"].filter((name) => given.has(name)).map((name) => `--${name}`),
    ...(values.processes ? ["--processes"] : []),
    ...(values.containers ? ["--containers"] : []),
    ...(values["virtual-time"] && given.has("cert-dir") ? ["--virtual-time with --cert-dir"] : []),
  ];
  return against.map((flag) => `--test-control keeps its state in memory and simulates all nodes: leave out ${flag}`);
}

function isEmptyList(value: ConfigValue | undefined): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** The port is passed separately, because a chosen one is kept. Kubelets that k8ts starts are reached by IP address. */
function apiServerWords(values: UpFlagValues): readonly string[] {
  const given = values["kubelet-preferred-address-types"];
  const types = given.length > 0 ? given : ownAddressTypes(DEFAULT_API_SERVER_CONFIG.kubeletPreferredAddressTypes);
  const { "secure-port": _port, ...flags } = clusterFlags;
  return formatFlagArguments(flags, { ...values, "kubelet-preferred-address-types": types });
}
