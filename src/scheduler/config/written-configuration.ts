/**
 * A KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) document: the file of `--config`. Field names are upstream's. Only its
 * schema is here; read-configuration.ts interprets it.
 */
import type { Json } from "../../api/machinery/object.ts";
import type { ScalarSchema, Schema } from "../../api/machinery/schema.ts";
import { INT32, INT64, listOf, structOf, TEXT } from "../framework/read-arguments.ts";

export const CONFIGURATION_API_VERSION = "kubescheduler.config.k8s.io/v1";
export const CONFIGURATION_KIND = "KubeSchedulerConfiguration";

/** Extension points, in the order of upstream's errors. */
export const EXTENSION_POINTS = [
  "preFilter",
  "filter",
  "postFilter",
  "reserve",
  "preScore",
  "score",
  "preBind",
  "bind",
  "postBind",
  "permit",
  "preEnqueue",
  "queueSort",
] as const;

export type ExtensionPoint = (typeof EXTENSION_POINTS)[number];

export interface WrittenConfiguration {
  readonly apiVersion?: string;
  readonly kind?: string;
  /** Accepted and unused: decisions are sequential. */
  readonly parallelism?: number;
  readonly leaderElection?: WrittenLeaderElection;
  readonly clientConnection?: WrittenClientConnection;
  /** These two are accepted and unused: profiling works by other means. */
  readonly enableProfiling?: boolean;
  readonly enableContentionProfiling?: boolean;
  readonly percentageOfNodesToScore?: number;
  readonly podInitialBackoffSeconds?: number | bigint;
  readonly podMaxBackoffSeconds?: number | bigint;
  readonly profiles?: readonly WrittenProfile[];
  /** Rejected. */
  readonly extenders?: readonly Json[];
  readonly delayCacheUntilActive?: boolean;
}

export interface WrittenLeaderElection {
  readonly leaderElect?: boolean;
  /** Durations as in "15s". */
  readonly leaseDuration?: string;
  readonly renewDeadline?: string;
  readonly retryPeriod?: string;
  readonly resourceLock?: string;
  readonly resourceName?: string;
  readonly resourceNamespace?: string;
}

export interface WrittenClientConnection {
  /** Kubeconfig path. */
  readonly kubeconfig?: string;
  readonly acceptContentTypes?: string;
  readonly contentType?: string;
  readonly qps?: number;
  readonly burst?: number;
}

export interface WrittenProfile {
  readonly schedulerName?: string;
  readonly percentageOfNodesToScore?: number;
  readonly plugins?: WrittenPlugins;
  readonly pluginConfig?: readonly { readonly name?: string; readonly args?: Json }[];
}

/** multiPoint stands for every point that a plugin implements. The last two points are for groups of Pods, and never called here. */
export type WrittenPlugins = {
  readonly [Point in ExtensionPoint | "multiPoint" | "placementGenerate" | "placementScore"]?: WrittenPluginSet;
};

export interface WrittenPluginSet {
  readonly enabled?: readonly WrittenPlugin[];
  readonly disabled?: readonly WrittenPlugin[];
}

export interface WrittenPlugin {
  readonly name?: string;
  readonly weight?: number;
}

const BOOLEAN: ScalarSchema = { type: "boolean" };
const NUMBER: ScalarSchema = { type: "number", format: "double" };
const DURATION: ScalarSchema = { type: "string", format: "duration" };
const ANY: Schema = { type: "any", format: "raw-extension" };

const PLUGIN = structOf("Plugin", { name: TEXT, weight: INT32 });
const PLUGIN_SET = structOf("PluginSet", { enabled: listOf(PLUGIN), disabled: listOf(PLUGIN) });

const PLUGINS = structOf(
  "Plugins",
  Object.fromEntries([...EXTENSION_POINTS, "multiPoint", "placementGenerate", "placementScore"].map((point) => [point, PLUGIN_SET])),
);

const PROFILE = structOf("KubeSchedulerProfile", {
  schedulerName: TEXT,
  percentageOfNodesToScore: INT32,
  plugins: PLUGINS,
  pluginConfig: listOf(structOf("PluginConfig", { name: TEXT, args: ANY })),
});

const LEADER_ELECTION = structOf("LeaderElectionConfiguration", {
  leaderElect: BOOLEAN,
  leaseDuration: DURATION,
  renewDeadline: DURATION,
  retryPeriod: DURATION,
  resourceLock: TEXT,
  resourceName: TEXT,
  resourceNamespace: TEXT,
});

const CLIENT_CONNECTION = structOf("ClientConnectionConfiguration", {
  kubeconfig: TEXT,
  acceptContentTypes: TEXT,
  contentType: TEXT,
  qps: NUMBER,
  burst: INT32,
});

export const CONFIGURATION_SCHEMA = structOf(CONFIGURATION_KIND, {
  apiVersion: TEXT,
  kind: TEXT,
  parallelism: INT32,
  leaderElection: LEADER_ELECTION,
  clientConnection: CLIENT_CONNECTION,
  enableProfiling: BOOLEAN,
  enableContentionProfiling: BOOLEAN,
  percentageOfNodesToScore: INT32,
  podInitialBackoffSeconds: INT64,
  podMaxBackoffSeconds: INT64,
  profiles: listOf(PROFILE),
  extenders: listOf(ANY),
  delayCacheUntilActive: BOOLEAN,
});
