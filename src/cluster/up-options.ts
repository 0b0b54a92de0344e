/** From the flags and the file of `k8ts up` to what it starts. All that is wrong, in either or in combination, is told at once. */
import { absolutePath, machineName } from "../host/files/private-files.ts";
import type { ApiServerOptions } from "../config/api-server-config.ts";
import { DEFAULT_API_SERVER_CONFIG } from "../apiserver/framework/api-server-config.ts";
import { clusterFlagOptions, clusterFlags } from "../config/cluster-flags.ts";
import type { Environment } from "../cli/framework/command.ts";
import { chosenControllers, chosenControllersProblems, CLUSTER_CONTROLLERS } from "../config/controller-flags.ts";
import { parseArguments, type Parsed } from "../cli/framework/flags.ts";
import { ownAddressTypes } from "../config/kubelet-access.ts";
import { fileCheck, type FileCheck } from "../cli/framework/check-files.ts";
import { clusterFileChecks } from "../components/api-server/check-files.ts";
import { formatFlagArguments } from "../cli/framework/flag-arguments.ts";
import { readSchedulerConfig, SCHEDULER_CONFIG_FLAG } from "../config/scheduler-config.ts";
import type { StoreConfig } from "../config/store-config.ts";
import type { ConfigFile, ConfigValue } from "../cli/framework/config-file.ts";
import { chooseHome, type HomeChoice } from "./home/home-flags.ts";
import { homePaths } from "./home/home-paths.ts";
import { kubectlFiles } from "./kubeconfig/user-kubeconfig.ts";
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
  /** The context is put into one of these, as kubectl chooses. Empty: nowhere. */
  readonly kubeconfigs: readonly string[];
  readonly isDetached: boolean;
  /** Absent: all in this one. */
  readonly processes?: {
    /** What was said about the API server, for the command line of its own process, but for its port. */
    readonly apiServerWords: readonly string[];
  };
}

/** What was typed, by the names of flags: only those that were. */
export type CommandLineFlags = ReadonlyMap<string, ConfigValue>;

export function upOptions(typed: CommandLineFlags, file: ConfigFile | undefined, environment: Environment): Parsed<UpOptions> {
  const { values, fromTyped, fromFile } = merged(typed, file);
  const isListen = typed.has("listen") || file?.values.has("listen") === true;
  const combined = combine(values, environment, { isListen });
  const problems = [...fromTyped.problems, ...(file?.problems ?? []), ...fromFile.problems, ...(combined.ok ? [] : combined.problems)];
  return combined.ok && problems.length === 0 ? combined : { ok: false, problems };
}

function merged(typed: CommandLineFlags, file: ConfigFile | undefined) {
  const fromTyped = plain({ values: typed, shown: (name) => `--${name}` });
  const fromFile = plain({ values: file?.values ?? new Map(), shown: (name) => `${file?.placeOf(name) ?? ""}"${name}"` });
  return { values: withDefaults(overlay(fromFile.values, fromTyped.values)), fromTyped, fromFile };
}

/** At every file that is named, by what was typed or in the file, whatever else is wrong. */
export function upFileChecks(typed: CommandLineFlags, file: ConfigFile | undefined): readonly FileCheck[] {
  const { values } = merged(typed, file);
  return [
    ...fileCheck(values["scheduler-config"], (path) => readSchedulerConfig(path, SCHEDULER_CONFIG_FLAG)),
    ...clusterFileChecks({ ...values, "data-dir": undefined, kubeconfig: undefined }),
  ];
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
      kubeconfigs: chosenKubeconfigs(values, environment),
      ...(scheduler === undefined ? {} : { scheduler }),
      ...(runtimeEndpoint === undefined ? {} : { runtimeEndpoint }),
      ...(values.processes ? { processes: { apiServerWords: apiServerWords(clusterValues) } } : {}),
    },
  };
}

function chosenKubeconfigs({ kubeconfig, "write-kubeconfig": isWritten }: UpFlagValues, environment: Environment): readonly string[] {
  if (!isWritten) return [];
  // Whoever takes the context out again may stand in another directory.
  return kubeconfig === undefined ? kubectlFiles(environment) : [absolutePath(kubeconfig)];
}

function processProblems({ processes, store }: UpFlagValues): readonly string[] {
  return processes && store === "memory"
    ? ["--processes requires a persistent store, because the API server runs in another process: leave out --in-memory"]
    : [];
}

/** Whoever names a runtime wants containers. */
function runtimeProblems(values: UpFlagValues): readonly string[] {
  if (values["container-runtime-endpoint"] === undefined) return [];
  const against = [...(values["simulated-nodes"] > 0 ? ["--simulated-nodes"] : []), ...(values.containers ? [] : ["--containers=false"])];
  return against.map((flag) => `--container-runtime-endpoint and ${flag} are mutually exclusive: leave one of them out`);
}

/** The port is told apart, since one that was chosen stays. Kubelets that k8ts starts are reached at their addresses. */
function apiServerWords(values: UpFlagValues): readonly string[] {
  const given = values["kubelet-preferred-address-types"];
  const types = given.length > 0 ? given : ownAddressTypes(DEFAULT_API_SERVER_CONFIG.kubeletPreferredAddressTypes);
  const { "secure-port": _port, ...flags } = clusterFlags;
  return formatFlagArguments(flags, { ...values, "kubelet-preferred-address-types": types });
}
