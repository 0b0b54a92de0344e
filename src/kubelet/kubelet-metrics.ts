/**
 * Metrics of the kubelet under upstream's names and help texts, so that dashboards work. Recording is an addition. Not here: gauges that
 * are computed on request (running Pods: server/), and metrics of probes (probes/probe-metrics.ts, which this holds).
 */
import { Counter, DEFAULT_BOUNDS_S, exponentialBounds, Histogram } from "../base/metrics/metric-series.ts";
import type { Family, HistogramFamily } from "../base/metrics/prometheus-text.ts";
import { ProbeMetrics } from "./probes/probe-metrics.ts";
import type { RuntimeCall, RuntimeObserver } from "./contracts/runtime.ts";

/** Upper bounds in seconds, upstream's. */
const POD_START_BOUNDS_S: readonly number[] = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1_200, 1_800, 2_700, 3_600,
];
/** Upstream's: 5 ms, multiplied by 2.5 thirteen times. */
const OPERATION_BOUNDS_S: readonly number[] = Array.from({ length: 14 }, (_, power) => Number((0.005 * 2.5 ** power).toPrecision(15)));

/** Upstream's. */
const STORAGE_BOUNDS_S: readonly number[] = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

/** Upstream's: 15 bounds from 0.1 s to 40 s, each the same multiple of the one before. */
const DRA_BOUNDS_S: readonly number[] = exponentialBounds(0.1, 400 ** (1 / 14), 15);

const CLAIMS_IN_USE_HELP =
  "[ALPHA] The number of ResourceClaims that are currently in use on the node, by driver name (driver_name label value) and across all drivers (special value <any> for driver_name). Note that the sum of all by-driver counts is not the total number of in-use ResourceClaims because the same ResourceClaim might use devices from different drivers. Instead, use the count for the <any> driver_name.";

/** Label of prepared ResourceClaims regardless of their drivers, upstream's. */
const ANY_DRIVER = "<any>";

/** Volumes by plugin: "kubernetes.io/configmap". */
export type VolumeCounts = ReadonlyMap<string, { readonly desired: number; readonly actual: number }>;

export interface StorageOperation {
  /** Those that map and unmap are of block devices; a device is what the Pods of the node share. */
  readonly operation:
    | "volume_mount"
    | "volume_unmount"
    | "unmount_device"
    | "map_volume"
    | "unmap_volume"
    | "unmap_device"
    | "verify_controller_attached_volume"
    | "volume_apply_access_control"
    | "volume_fs_resize";
  /** "kubernetes.io/configmap", "kubernetes.io/csi:<driver>". */
  readonly plugin: string;
  readonly durationMs: number;
  readonly isFailed: boolean;
}

export interface DraOperation {
  readonly operation: "PrepareResources" | "UnprepareResources";
  readonly isFailed: boolean;
  readonly durationMs: number;
}

export type ContainerType = "container" | "init_container" | "ephemeral_container";
/** Why a Pod was synced: it was added, it changed, it terminates, its containers changed, or it left the API. */
export type SyncReason = "create" | "update" | "kill" | "sync" | "terminated";

export interface ServedRequest {
  readonly method: string;
  readonly path: string;
  readonly isLongRunning: boolean;
}

export class KubeletMetrics implements RuntimeObserver {
  readonly probes = new ProbeMetrics();
  readonly #requests = new Counter({
    name: "kubelet_http_requests_total",
    help: "[ALPHA] Number of the http requests received since the server started",
  });
  readonly #relists = new Histogram({
    name: "kubelet_pleg_relist_duration_seconds",
    help: "[ALPHA] Duration in seconds for relisting pods in PLEG.",
    bounds: DEFAULT_BOUNDS_S,
  });
  readonly #relistIntervals = new Histogram({
    name: "kubelet_pleg_relist_interval_seconds",
    help: "[ALPHA] Interval in seconds between relisting in PLEG.",
    bounds: DEFAULT_BOUNDS_S,
  });
  readonly #cgroups = new Histogram({
    name: "kubelet_cgroup_manager_duration_seconds",
    help: "[ALPHA] Duration in seconds for cgroup manager operations. Broken down by method.",
    bounds: DEFAULT_BOUNDS_S,
  });
  readonly #storage = new Histogram({
    name: "storage_operation_duration_seconds",
    help: "[ALPHA] Storage operation duration",
    bounds: STORAGE_BOUNDS_S,
  });
  readonly #csiCalls = new Histogram({
    name: "csi_operations_seconds",
    help: "[ALPHA] Container Storage Interface operation duration with gRPC error code status total",
    bounds: STORAGE_BOUNDS_S,
  });
  readonly #draOperations = new Histogram({
    name: "dra_operations_duration_seconds",
    help: "[ALPHA] Latency histogram in seconds for the duration of handling all ResourceClaims referenced by a pod when the pod starts or stops. Identified by the name of the operation (PrepareResources or UnprepareResources) and separated by the success of the operation. The number of failed operations is provided through the histogram's overall count.",
    bounds: DRA_BOUNDS_S,
  });
  readonly #draCalls = new Histogram({
    name: "dra_grpc_operations_duration_seconds",
    help: "[ALPHA] Duration in seconds of the DRA gRPC operations",
    bounds: DRA_BOUNDS_S,
  });
  readonly #reconstructed = new Counter({
    name: "reconstruct_volume_operations_total",
    help: "[ALPHA] Number of volumes of earlier processes that were found on disk when the kubelet started",
  });
  readonly #reconstructErrors = new Counter({
    name: "reconstruct_volume_operations_errors_total",
    help: "[ALPHA] Number of volumes whose records could not be read when the kubelet started",
  });
  readonly #podStarts = new Histogram({
    name: "kubelet_pod_start_duration_seconds",
    help: "[ALPHA] Duration in seconds from kubelet seeing a pod for the first time to the pod starting to run",
    bounds: POD_START_BOUNDS_S,
  });
  readonly #looks = new Histogram({
    name: "kubelet_pod_worker_duration_seconds",
    help: "[ALPHA] Duration in seconds to sync a single pod. Broken down by operation type: create, update, or sync",
    bounds: DEFAULT_BOUNDS_S,
  });
  readonly #operations = new Counter({
    name: "kubelet_runtime_operations_total",
    help: "[ALPHA] Cumulative number of runtime operations by operation type.",
  });
  readonly #operationErrors = new Counter({
    name: "kubelet_runtime_operations_errors_total",
    help: "[ALPHA] Cumulative number of runtime operation errors by operation type.",
  });
  readonly #operationDurations = new Histogram({
    name: "kubelet_runtime_operations_duration_seconds",
    help: "[ALPHA] Duration in seconds of runtime operations. Broken down by operation type.",
    bounds: OPERATION_BOUNDS_S,
  });
  readonly #startedPods = new Counter({ name: "kubelet_started_pods_total", help: "[ALPHA] Cumulative number of pods started" });
  readonly #startedContainers = new Counter({
    name: "kubelet_started_containers_total",
    help: "[ALPHA] Cumulative number of containers started",
  });
  readonly #terminatedContainers = new Counter({
    name: "kubelet_terminated_containers_total",
    help: "[ALPHA] Cumulative number of container terminations.",
  });
  readonly #evictions = new Counter({
    name: "kubelet_evictions",
    help: "[ALPHA] Cumulative number of pod evictions by eviction signal",
  });
  readonly #collectedImages = new Counter({
    name: "kubelet_image_garbage_collected_total",
    help: "[ALPHA] Total number of images garbage collected by the kubelet, whether through disk usage or image age.",
  });
  #volumeCounts: () => VolumeCounts = () => new Map();
  /** The drivers of each prepared ResourceClaim. Undefined: the node has no dynamic resources. */
  #claimsInUse: (() => readonly (readonly string[])[]) | undefined;

  constructor() {
    // A counter without labels exists from the start, as upstream's.
    for (const counter of [this.#startedPods, this.#reconstructed, this.#reconstructErrors]) counter.add({}, 0);
  }

  /** The server received a request. */
  requested({ method, path, isLongRunning }: ServedRequest): void {
    this.#requests.add({ long_running: String(isLongRunning), method, path, server_type: "readwrite" });
  }

  /** A Pod runs this long after the kubelet first saw it. */
  podStarted(durationMs: number): void {
    this.#podStarts.observe({}, durationMs / 1_000);
  }

  podSynced(reason: SyncReason, durationMs: number): void {
    this.#looks.observe({ operation_type: reason }, durationMs / 1_000);
  }

  /** A Pod was evicted because of this signal: "emptydirfs.limit". */
  evicted(signal: string): void {
    this.#evictions.add({ eviction_signal: signal });
  }

  imageCollected(reason: "age" | "space"): void {
    this.#collectedImages.add({ reason });
  }

  /** A container start was attempted. */
  containerBegun(type: ContainerType): void {
    this.#startedContainers.add({ container_type: type });
  }

  /** A container was reported as terminated. */
  containerTerminated(type: ContainerType, { exitCode, reason = "" }: { readonly exitCode: number; readonly reason?: string }): void {
    this.#terminatedContainers.add({ container_type: type, exit_code: String(exitCode), reason });
  }

  called({ operation, durationMs, isFailed }: RuntimeCall): void {
    const labels = { operation_type: operation };
    this.#operations.add(labels);
    this.#operationDurations.observe(labels, durationMs / 1_000);
    if (isFailed) this.#operationErrors.add(labels);
    // Upstream counts started Pods by their sandboxes.
    if (operation === "run_podsandbox") this.#startedPods.add();
  }

  listed(durationMs: number, intervalMs?: number): void {
    this.#relists.observe({}, durationMs / 1_000);
    if (intervalMs !== undefined) this.#relistIntervals.observe({}, intervalMs / 1_000);
  }

  cgroupChanged(operation: "create" | "update" | "destroy", durationMs: number): void {
    this.#cgroups.observe({ operation_type: operation }, durationMs / 1_000);
  }

  storageOperation({ operation, plugin, durationMs, isFailed }: StorageOperation): void {
    const status = isFailed ? "fail-unknown" : "success";
    this.#storage.observe({ migrated: "false", operation_name: operation, status, volume_plugin: plugin }, durationMs / 1_000);
  }

  /** `method` is the path, `code` as gRPC's Go library prints it: "DeadlineExceeded". */
  csiCalled(
    driver: string,
    { method, code, durationMs }: { readonly method: string; readonly code: string; readonly durationMs: number },
  ): void {
    const labels = { driver_name: driver, grpc_status_code: code, method_name: method, migrated: "false" };
    this.#csiCalls.observe(labels, durationMs / 1_000);
  }

  /** All claims of a Pod were prepared or released, or not. */
  draOperation({ operation, isFailed, durationMs }: DraOperation): void {
    this.#draOperations.observe({ is_error: String(isFailed), operation_name: operation }, durationMs / 1_000);
  }

  /** `method` is the path, `code` as gRPC's Go library prints it. */
  draCalled(
    driver: string,
    { method, code, durationMs }: { readonly method: string; readonly code: string; readonly durationMs: number },
  ): void {
    this.#draCalls.observe({ driver_name: driver, grpc_status_code: code, method_name: method }, durationMs / 1_000);
  }

  /** `claims` returns the drivers of each prepared ResourceClaim. */
  countClaims(claims: () => readonly (readonly string[])[]): void {
    this.#claimsInUse = claims;
  }

  /** Volumes that were found on disk at the start, and of them those with unreadable records. */
  volumesFound({ found, unreadable }: { readonly found: number; readonly unreadable: number }): void {
    this.#reconstructed.add({}, found);
    this.#reconstructErrors.add({}, unreadable);
  }

  /** Called when the metrics are read. */
  countVolumes(count: () => VolumeCounts): void {
    this.#volumeCounts = count;
  }

  families(): readonly (Family | HistogramFamily)[] {
    const all = [
      ...[
        this.#requests,
        this.#relists,
        this.#relistIntervals,
        this.#cgroups,
        this.#storage,
        this.#csiCalls,
        this.#draOperations,
        this.#draCalls,
        this.#reconstructed,
        this.#reconstructErrors,
        this.#podStarts,
        this.#looks,
        this.#operationDurations,
        this.#operationErrors,
      ],
      ...[this.#operations, this.#startedContainers, this.#startedPods, this.#terminatedContainers, this.#evictions, this.#collectedImages],
    ];
    return [...all.map((metric) => metric.family()), this.#volumes(), ...this.#claims()];
  }

  #claims(): readonly Family[] {
    if (this.#claimsInUse === undefined) return [];
    const claims = this.#claimsInUse();
    const counts = new Map([[ANY_DRIVER, claims.length]]);
    for (const driver of claims.flat()) counts.set(driver, (counts.get(driver) ?? 0) + 1);
    const samples = [...counts].map(([driver, value]) => ({ labels: { driver_name: driver }, value }));
    return [{ name: "dra_resource_claims_in_use", help: CLAIMS_IN_USE_HELP, type: "gauge", samples }];
  }

  #volumes(): Family {
    const samples = [...this.#volumeCounts()].flatMap(([plugin, { desired, actual }]) => [
      { labels: { plugin_name: plugin, state: "actual_state_of_world" }, value: actual },
      { labels: { plugin_name: plugin, state: "desired_state_of_world" }, value: desired },
    ]);
    return { name: "volume_manager_total_volumes", help: "[ALPHA] Number of volumes in Volume Manager", type: "gauge", samples };
  }
}
