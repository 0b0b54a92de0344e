/** Package entry `k8ts`: an embedded cluster. All exports are public and stable. */
export type {
  Cluster,
  ClusterOptions,
  ClusterPart,
  ExecOutcome,
  ForkOptions,
  InNamespace,
  KubeSchedulerConfiguration,
} from "../embedded/cluster.ts";
export { startCluster } from "../embedded/start-cluster.ts";
export {
  hasCondition,
  isAvailable,
  isFailed,
  isGone,
  isReady,
  isRolledOut,
  isRunning,
  isScheduled,
  isSucceeded,
  isUnschedulable,
} from "../embedded/conditions.ts";
export type { DurationInput as LengthOfTime } from "../embedded/duration-input.ts";
export type { Manifests } from "../embedded/manifests.ts";
export type { UntilOptions } from "../embedded/until.ts";
export type { ClusterNodes, NodesOptions } from "../components/simulated-nodes/simulated-nodes.ts";
export type { RuleMatch, SimulationRule } from "../kubelet/runtime/simulated/pod-script.ts";
export type { WrittenExec, WrittenSettings } from "../kubelet/runtime/simulated/settings.ts";
export type { SimulationOptions } from "../kubelet/runtime/simulated/simulation.ts";
export type { Decision } from "../scheduler/decisions.ts";
export { DEFAULT_API_SERVER_OPTIONS, type ApiServerOptions, type ServingConfig } from "../config/api-server-config.ts";
export type { ApiServerConfig } from "../apiserver/framework/api-server-config.ts";
export type {
  RequestOptions,
  Transport,
  TransportEvent,
  TransportRequest,
  TransportResponse,
  TransportWatch,
  TransportWatchListener,
} from "../api/machinery/transport.ts";
export type { KubeObject, ObjectMeta } from "../api/machinery/object.ts";
export { isReason, StatusError, type Reason, type Status } from "../api/machinery/status-error.ts";
export type { EtcdStoreConfig, StoreConfig } from "../config/store-config.ts";
export type { Clock } from "../base/clock.ts";
export type { LogFields, Logger } from "../base/logger.ts";
export { version } from "../base/generated/version.ts";
