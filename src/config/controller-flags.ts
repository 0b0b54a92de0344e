/** Flags of the controllers, with upstream's names. */
import { featureGateFlags, featureGates } from "./api-server-config.ts";
import { all, type ControllerSettings } from "../controllers/all.ts";
import { SIGNING_DURATION_DEFAULT_MS } from "../controllers/certificate-signing-request-signing/certificate-signing-request-signing-controller.ts";
import { chooseControllers } from "../controllers/runtime/enabled-controllers.ts";
import { NODE_LIFECYCLE_DEFAULTS } from "../controllers/node-lifecycle/settings.ts";
import { LEASE_RENEW_INTERVAL_MS } from "../kubelet/kubelet.ts";
import { LEASE_DURATION_SECONDS } from "../kubelet/node/node-lease.ts";
import { parseCidr } from "../api/machinery/ip/ip-address.ts";
import type { ServicePort } from "../api/generated/core/v1.ts";
import type { LoadBalancerSettings } from "../controllers/service-load-balancer/service-load-balancer-controller.ts";
import { isOwnAddress } from "../host/network/network-address.ts";
import { addressPortHolder } from "../host/network/port-holder.ts";
import { autoscalerFlags, autoscalerSettings } from "./autoscaler-flags.ts";
import { nodeIpamFlags, nodeIpamSettings } from "./node-ipam-flags.ts";
import { durationExpected, durationMs } from "./connection-flags.ts";
import { readServiceAccountTokenSettings, serviceAccountTokenFileChecks, serviceAccountTokenFlags } from "./service-account-token-flags.ts";
import type { FlagSet, FlagValues } from "../cli/framework/flags.ts";
import { fileCheck, pairFileChecks, type FileCheck } from "../cli/framework/check-files.ts";
import { readAuthorities, readSigningFiles, SIGNING_FLAGS } from "./certificate-files.ts";

/** The names do not depend on the settings. */
const NAMES = all({ rootCa: "" }).map(({ name, onlyIfNamed }) => (onlyIfNamed === true ? `${name} (disabled by default)` : name));

export const chosenFlag = {
  controllers: {
    type: "list",
    placeholder: "NAME,...",
    doc: `Controllers to run: "*" all that are enabled by default, "NAME" enables one, "-NAME" disables one. Default: *. Available: ${NAMES.join(", ")}.`,
  },
} as const satisfies FlagSet;

export const loadBalancerFlag = {
  "load-balancer-range": {
    type: "string",
    placeholder: "CIDR",
    doc: 'Addresses of Services of type LoadBalancer: a range such as 192.0.2.0/28, "nodes" for the addresses of the nodes, or "none".',
    expects: (text) =>
      ["nodes", "none"].includes(text) || parseCidr(text) !== undefined ? undefined : 'a range such as 192.0.2.0/28, "nodes" or "none"',
  },
} as const satisfies FlagSet;

/** Ports in use are looked up on this machine, where `k8ts up` has its node. */
export function loadBalancerSettings(range: string | undefined): LoadBalancerSettings {
  if (range === undefined || range === "none") return {};
  const cidr = parseCidr(range);
  return { loadBalancer: { ...(cidr === undefined ? {} : { range: cidr }), portUser } };
}

function portUser(address: string, { port, protocol }: ServicePort): string | undefined {
  if (!isOwnAddress(address) || protocol === "SCTP") return undefined;
  const holder = addressPortHolder(address, port, protocol === "UDP" ? "UDP" : "TCP");
  if (holder === undefined) return undefined;
  return holder.pid === 0 ? "another process" : `process ${holder.pid} (${holder.command})`;
}

export const controllerFlags = {
  ...chosenFlag,
  "load-balancer-range": { ...loadBalancerFlag["load-balancer-range"], default: "none" },
  ...nodeIpamFlags,
  ...autoscalerFlags,
  ...serviceAccountTokenFlags,
  "root-ca-file": {
    type: "string",
    placeholder: "FILE",
    doc: "CA certificate (PEM) of the API server, published to every namespace in the ConfigMap kube-root-ca.crt. Default: the one of the kubeconfig.",
  },
  "cluster-signing-cert-file": {
    type: "string",
    placeholder: "FILE",
    doc: "CA certificate (PEM) that signs approved CertificateSigningRequests. Default: none are signed.",
  },
  "cluster-signing-key-file": { type: "string", placeholder: "FILE", doc: "Private key (PEM) of --cluster-signing-cert-file." },
  "cluster-signing-duration": {
    type: "string",
    placeholder: "DURATION",
    default: `${SIGNING_DURATION_DEFAULT_MS / 3_600_000}h`,
    doc: "Maximum lifetime of issued certificates.",
    expects: durationExpected,
  },
  "node-monitor-grace-period": {
    type: "string",
    placeholder: "DURATION",
    default: `${NODE_LIFECYCLE_DEFAULTS.nodeMonitorGracePeriodMs / 1_000}s`,
    doc: "Time without a heartbeat after which a node is marked as not ready (Unknown).",
    expects: durationExpected,
  },
  "terminated-pod-gc-threshold": {
    type: "number",
    default: 12_500,
    placeholder: "PODS",
    doc: "Number of terminated Pods above which the oldest are deleted; 0 keeps all.",
  },
  ...featureGateFlags,
  "disable-force-detach-on-timeout": {
    type: "boolean",
    doc: "Never detach a volume that an unhealthy node still reports as in use, unless the node has the taint node.kubernetes.io/out-of-service.",
  },
  "max-endpoints-per-slice": {
    type: "number",
    default: 100,
    min: 1,
    max: 1_000,
    placeholder: "ENDPOINTS",
    doc: "Maximum number of endpoints per EndpointSlice.",
  },
} as const satisfies FlagSet;

export type ControllerFlagValues = FlagValues<typeof controllerFlags>;

/**
 * Controllers of a cluster that starts all its components: including those for nodes that join with a bootstrap token, as kubeadm runs
 * them.
 */
export const CLUSTER_CONTROLLERS = ["*", "bootstrap-signer-controller", "token-cleaner-controller"];

/** `standard`: used if the flag is not set. Default: all that are enabled by default. */
export function chosenControllers({ controllers }: FlagValues<typeof chosenFlag>, standard: readonly string[] = ["*"]): readonly string[] {
  return controllers.length === 0 ? standard : controllers;
}

export function chosenControllersProblems(values: FlagValues<typeof chosenFlag>): readonly string[] {
  return invalidControllerNames(chosenControllers(values)).map((mistake) => `--controllers: ${mistake}`);
}

export function invalidControllerNames(controllers: readonly string[]): readonly string[] {
  return chooseControllers(all({ rootCa: "" }), controllers).mistakes;
}

export function signingProblems(values: ControllerFlagValues): readonly string[] {
  const { "cluster-signing-cert-file": certificate, "cluster-signing-key-file": key } = values;
  if ((certificate === undefined) === (key === undefined)) return [];
  const [given, missing] = key === undefined ? ["cert", "key"] : ["key", "cert"];
  return [`--cluster-signing-${given}-file requires --cluster-signing-${missing}-file`];
}

export function controllerFileChecks(values: ControllerFlagValues): readonly FileCheck[] {
  const { "cluster-signing-cert-file": certificate, "cluster-signing-key-file": key } = values;
  return [
    ...fileCheck(values["root-ca-file"], (path) => readAuthorities(path, "--root-ca-file")),
    ...pairFileChecks({ certificate, key }, SIGNING_FLAGS, readSigningFiles),
    ...serviceAccountTokenFileChecks(values),
  ];
}

/** Valid but probably unintended values. */
export function controllerFlagWarnings(values: ControllerFlagValues): readonly string[] {
  const gracePeriodMs = durationMs(values["node-monitor-grace-period"]);
  if (gracePeriodMs >= LEASE_DURATION_SECONDS * 1_000) return [];
  return [
    `--node-monitor-grace-period is ${values["node-monitor-grace-period"]}, shorter than the duration of a kubelet's Lease, ${LEASE_DURATION_SECONDS}s ` +
      `(renewed every ${LEASE_RENEW_INTERVAL_MS / 1_000}s): after late renewals healthy nodes can become Unknown and their Pods be evicted`,
  ];
}

/** `rootCa`: CA of the kubeconfig, used if no file is set. Rejects with a message for the user. */
export async function readControllerSettings(values: ControllerFlagValues, rootCa: string): Promise<ControllerSettings> {
  const file = values["root-ca-file"];
  return {
    rootCa: file === undefined ? rootCa : await readAuthorities(file, "--root-ca-file"),
    ...(await readSigning(values)),
    ...(await readServiceAccountTokenSettings(values)),
    ...loadBalancerSettings(values["load-balancer-range"]),
    ...nodeIpamSettings(values),
    maxEndpointsPerSlice: values["max-endpoints-per-slice"],
    nodeLifecycle: { nodeMonitorGracePeriodMs: durationMs(values["node-monitor-grace-period"]) },
    horizontalPodAutoscaler: autoscalerSettings(values),
    claimProtection: { reportsUnused: featureGates(values).PersistentVolumeClaimUnusedSinceTime },
    attachDetach: { disableForceDetachOnTimeout: values["disable-force-detach-on-timeout"] },
    podGarbageCollector: { terminatedPodThreshold: values["terminated-pod-gc-threshold"] },
  };
}

async function readSigning(values: ControllerFlagValues): Promise<Pick<ControllerSettings, "signing">> {
  const { "cluster-signing-cert-file": certificate, "cluster-signing-key-file": key } = values;
  if (certificate === undefined || key === undefined) return {};
  const durationLimitMs = durationMs(values["cluster-signing-duration"]);
  return { signing: { ...(await readSigningFiles({ certificate, key })), durationMs: durationLimitMs } };
}
