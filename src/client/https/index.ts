/**
 * Package entry `k8ts/client`: a client for any Kubernetes API server. Everything exported here is public and stable. Kinds come from
 * `k8ts/kinds`; a custom one is a plain value (ResourceKind).
 */
export type {
  ApplyOptions,
  CallOptions,
  Client,
  ClientDefaults,
  ClientOptions,
  DeleteOptions,
  Draft,
  ListOptions,
  ObjectKey,
  ObjectList,
  Patch,
  ReadOptions,
  ResourceKind,
  SelectOptions,
  WarningAbout,
  WatchEvent,
  WatchListener,
  WatchOptions,
  WriteOptions,
} from "../client.ts";
export { createClient } from "../rest-client.ts";
export { discover, findKind, type DiscoveredKind, type Discovery, type DiscoveryFailure } from "../discovery.ts";
export type { Index, Informer, InformerHandler, Informers, InformerScope, Reader } from "../informer/informer.ts";
export { createInformers, type InformersOptions } from "../informer/informers.ts";
export { defineIndex } from "../informer/index.ts";
export { ownWrites } from "../informer/own-writes.ts";
export { readerOf } from "../informer/reader.ts";
export type { EventRecorder, RecordedEvent } from "../events/event-recorder.ts";
export { createEventRecorder, type EventRecorderOptions } from "../events/create-event-recorder.ts";
export { startLeaderElection, type ElectionTimes, type LeaderElection, type LeaderElectionOptions } from "../election/leader-election.ts";
export { httpsTransport, type HttpsTransport, type HttpsTransportOptions } from "./https-transport.ts";
export { inClusterConfig, loadKubeconfig, type LoadOptions } from "../kubeconfig/load-kubeconfig.ts";
export { KubeconfigError } from "../kubeconfig/kubeconfig.ts";
export type { ConnectionConfig, CredentialsConfig, Impersonation, TokenSource } from "../kubeconfig/connection-config.ts";
export type {
  RequestOptions,
  Transport,
  TransportEvent,
  TransportRequest,
  TransportResponse,
  TransportWatch,
  TransportWatchListener,
} from "../../api/machinery/transport.ts";
export { causedBy, type Cause } from "../../api/machinery/cause.ts";
export type { Json, JsonObject, KubeObject, ObjectMeta, OwnerReference } from "../../api/machinery/object.ts";
export { isReason, StatusError, type Reason, type Status } from "../../api/machinery/status-error.ts";
export { WorkQueue, type WorkQueueOptions } from "../../base/work-queue.ts";
export { defaultRateLimiter, perKeyExponential, type RateLimiter } from "../../base/rate-limiter.ts";
export { realClock } from "../../host/real-clock.ts";
export { realRandom } from "../../host/real-random.ts";
export { createLogger, formatHuman, formatJson, silentLogger, type Logger, type LoggerOptions, type LogLevel } from "../../base/logger.ts";
export { stderrLogSink } from "../../host/processes/log-sink.ts";
export type { Clock } from "../../base/clock.ts";
export type { Random } from "../../base/random.ts";
