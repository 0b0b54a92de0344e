/**
 * The kubelet's configuration as upstream's KubeletConfiguration, for /configz. Contains only supported fields, with their effective
 * values.
 */
import type { JsonObject } from "../../api/machinery/object.ts";
import { VOLUME_USAGE_KEPT_MS } from "../../kubelet/machine/pod-storage-on-disk.ts";
import { LEASE_DURATION_SECONDS } from "../../kubelet/node/node-lease.ts";
import type { NodeView } from "../../kubelet/container-config/node-view.ts";
import { LOG_ROTATION_DEFAULT } from "../../kubelet/runtime/cri/logs/log-rotation.ts";
import { TOKEN_TTL_MS } from "../../kubelet/server/authentication.ts";
import { ALLOWED_TTL_MS, REFUSED_TTL_MS } from "../../kubelet/server/authorization.ts";
import { STREAM_IDLE_TIMEOUT_MS } from "../../kubelet/server/streaming/open-streams.ts";
import type { ContainerNodeOptions } from "./container-node-options.ts";

export interface ConfiguredBy {
  /** The port it listens on, if it does already. */
  readonly port: number | undefined;
  readonly cgroups: Pick<NodeView["cgroups"], "driver"> & { readonly isOwn: boolean };
}

export function kubeletConfiguration(options: ContainerNodeOptions, { port, cgroups }: ConfiguredBy): JsonObject {
  const { server, podCidrs = [], taints = [], configuration = {} } = options;
  const { clientAuthorityFile } = server;
  const { written, imageGc } = options.pressure;
  return {
    kind: "KubeletConfiguration",
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    enableServer: true,
    enableSystemLogHandler: true,
    podLogsDir: options.podLogDirectory,
    address: server.host,
    port: port ?? server.port,
    authentication: {
      x509: clientAuthorityFile === undefined ? {} : { clientCAFile: clientAuthorityFile },
      webhook: { enabled: server.hasTokenReviews, cacheTTL: goDuration(TOKEN_TTL_MS) },
      anonymous: { enabled: server.anonymous ?? false },
    },
    authorization: {
      mode: server.authorizationMode,
      webhook: { cacheAuthorizedTTL: goDuration(ALLOWED_TTL_MS), cacheUnauthorizedTTL: goDuration(REFUSED_TTL_MS) },
    },
    ...(options.clusterDomain === "" ? {} : { clusterDomain: options.clusterDomain }),
    ...(options.clusterDns.length === 0 ? {} : { clusterDNS: [...options.clusterDns] }),
    streamingConnectionIdleTimeout: goDuration(STREAM_IDLE_TIMEOUT_MS),
    nodeLeaseDurationSeconds: LEASE_DURATION_SECONDS,
    volumeStatsAggPeriod: goDuration(VOLUME_USAGE_KEPT_MS),
    cgroupRoot: options.cgroupRoot,
    cgroupsPerQOS: cgroups.isOwn,
    cgroupDriver: cgroups.driver,
    maxPods: options.podsMax,
    ...(podCidrs.length === 0 ? {} : { podCIDR: podCidrs.join(",") }),
    resolvConf: "/etc/resolv.conf",
    containerLogMaxSize: `${LOG_ROTATION_DEFAULT.maxBytes / 2 ** 20}Mi`,
    containerLogMaxFiles: LOG_ROTATION_DEFAULT.maxFiles,
    containerLogMonitorInterval: goDuration(LOG_ROTATION_DEFAULT.everyMs),
    imageMinimumGCAge: goDuration(imageGc.minAgeMs),
    imageMaximumGCAge: goDuration(imageGc.maxAgeMs),
    imageGCHighThresholdPercent: imageGc.highPercent,
    imageGCLowThresholdPercent: imageGc.lowPercent,
    evictionHard: { ...written.hard },
    ...(Object.keys(written.soft).length === 0
      ? {}
      : { evictionSoft: { ...written.soft }, evictionSoftGracePeriod: { ...written.softGracePeriods } }),
    ...(Object.keys(written.minReclaim).length === 0 ? {} : { evictionMinimumReclaim: { ...written.minReclaim } }),
    evictionPressureTransitionPeriod: goDuration(options.pressure.transitionMs),
    evictionMaxPodGracePeriod: options.pressure.maxPodGraceSeconds,
    configMapAndSecretChangeDetectionStrategy: "Watch",
    ...(taints.length === 0 ? {} : { registerWithTaints: taints.map((taint) => ({ ...taint })) }),
    registerNode: true,
    containerRuntimeEndpoint: options.runtimeEndpoint,
    ...configuration,
  };
}

/** Go's format: "4h0m0s", "2m0s", "10s". Whole seconds. */
function goDuration(durationMs: number): string {
  const seconds = Math.round(durationMs / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  if (seconds < 60) return `${seconds}s`;
  return `${hours === 0 ? "" : `${hours}h`}${minutes}m${seconds % 60}s`;
}
