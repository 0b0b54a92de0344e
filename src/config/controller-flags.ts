/** What can be said about the controllers on the command line, by upstream's names. */
import { all, type ControllerSettings } from "../controllers/all.ts";
import { SIGNING_DURATION_DEFAULT_MS } from "../controllers/certificate-signing-request-signing/certificate-signing-request-signing-controller.ts";
import { chooseControllers } from "../controllers/runtime/enabled-controllers.ts";
import { NODE_LIFECYCLE_DEFAULTS } from "../controllers/node-lifecycle/settings.ts";
import { LEASE_RENEW_INTERVAL_MS } from "../kubelet/kubelet.ts";
import { LEASE_DURATION_SECONDS } from "../kubelet/node/node-lease.ts";
import { durationExpected, durationMs } from "./connection-flags.ts";
import type { FlagSet, FlagValues } from "../cli/framework/flags.ts";
import { fileLook, pairLooks, type Look } from "../cli/framework/check-files.ts";
import { readAuthorities, readSigningFiles, SIGNING_FLAGS } from "./certificate-files.ts";

/** Their names are the same whatever their settings are. */
const NAMES = all({ rootCa: "" }).map(({ name, onlyIfNamed }) => (onlyIfNamed === true ? `${name} (only if named)` : name));

export const chosenFlag = {
  controllers: {
    type: "list",
    placeholder: "NAME,...",
    doc: `Which controllers run: "*" all that run by default, "NAME" that one, "-NAME" not that one. Default: *. There are ${NAMES.join(", ")}.`,
  },
} as const satisfies FlagSet;

export const controllerFlags = {
  ...chosenFlag,
  "root-ca-file": {
    type: "string",
    placeholder: "FILE",
    doc: "The certificate by which pods know the API server, published in every namespace. Default: the one of the kubeconfig.",
  },
  "cluster-signing-cert-file": {
    type: "string",
    placeholder: "FILE",
    doc: "The certificate of the authority that signs what clients and kubelets ask for, in PEM form. Default: nothing is signed.",
  },
  "cluster-signing-key-file": { type: "string", placeholder: "FILE", doc: "Its private key, in PEM form." },
  "cluster-signing-duration": {
    type: "string",
    placeholder: "DURATION",
    default: `${SIGNING_DURATION_DEFAULT_MS / 3_600_000}h`,
    doc: "For how long such certificates are good, unless less was asked for.",
    expects: durationExpected,
  },
  "node-monitor-grace-period": {
    type: "string",
    placeholder: "DURATION",
    default: `${NODE_LIFECYCLE_DEFAULTS.nodeMonitorGracePeriodMs / 1_000}s`,
    doc: "How long a node may be silent before it is taken for lost.",
    expects: durationExpected,
  },
  "terminated-pod-gc-threshold": {
    type: "number",
    default: 12_500,
    placeholder: "PODS",
    doc: "How many pods that have ended are kept; 0 keeps all.",
  },
  "max-endpoints-per-slice": {
    type: "number",
    default: 100,
    min: 1,
    max: 1_000,
    placeholder: "ENDPOINTS",
    doc: "How many endpoints one EndpointSlice holds at most.",
  },
} as const satisfies FlagSet;

export type ControllerFlagValues = FlagValues<typeof controllerFlags>;

/** Those of a cluster that starts all its parts itself: also those by which nodes join with a token, as upstream's installer runs them. */
export const CLUSTER_CONTROLLERS = ["*", "bootstrap-signer-controller", "token-cleaner-controller"];

/** `standard`: if nothing is said. Default: all that run by default. */
export function chosenControllers({ controllers }: FlagValues<typeof chosenFlag>, standard: readonly string[] = ["*"]): readonly string[] {
  return controllers.length === 0 ? standard : controllers;
}

export function chosenControllersProblems(values: FlagValues<typeof chosenFlag>): readonly string[] {
  return mistakesInChosen(chosenControllers(values)).map((mistake) => `--controllers: ${mistake}`);
}

export function mistakesInChosen(controllers: readonly string[]): readonly string[] {
  return chooseControllers(all({ rootCa: "" }), controllers).mistakes;
}

export function signingProblems(values: ControllerFlagValues): readonly string[] {
  const { "cluster-signing-cert-file": certificate, "cluster-signing-key-file": key } = values;
  if ((certificate === undefined) === (key === undefined)) return [];
  const [given, missing] = key === undefined ? ["cert", "key"] : ["key", "cert"];
  return [`--cluster-signing-${given}-file is of no use alone: give --cluster-signing-${missing}-file, too`];
}

export function controllerLooks(values: ControllerFlagValues): readonly Look[] {
  const { "cluster-signing-cert-file": certificate, "cluster-signing-key-file": key } = values;
  return [
    ...fileLook(values["root-ca-file"], (path) => readAuthorities(path, "--root-ca-file")),
    ...pairLooks({ certificate, key }, SIGNING_FLAGS, readSigningFiles),
  ];
}

/** What is allowed and hardly meant. */
export function controllerFlagWarnings(values: ControllerFlagValues): readonly string[] {
  const gracePeriodMs = durationMs(values["node-monitor-grace-period"]);
  if (gracePeriodMs >= LEASE_DURATION_SECONDS * 1_000) return [];
  return [
    `--node-monitor-grace-period is ${values["node-monitor-grace-period"]}, shorter than the lease of a kubelet, ${LEASE_DURATION_SECONDS}s ` +
      `(renewed every ${LEASE_RENEW_INTERVAL_MS / 1_000}s): healthy nodes can become Unknown and lose their Pods when renewals are late`,
  ];
}

/** `rootCa`: what the kubeconfig says, if no file was named. Rejects with one sentence. */
export async function readControllerSettings(values: ControllerFlagValues, rootCa: string): Promise<ControllerSettings> {
  const file = values["root-ca-file"];
  return {
    rootCa: file === undefined ? rootCa : await readAuthorities(file, "--root-ca-file"),
    ...(await readSigning(values)),
    maxEndpointsPerSlice: values["max-endpoints-per-slice"],
    nodeLifecycle: { nodeMonitorGracePeriodMs: durationMs(values["node-monitor-grace-period"]) },
    podGarbageCollector: { terminatedPodThreshold: values["terminated-pod-gc-threshold"] },
  };
}

async function readSigning(values: ControllerFlagValues): Promise<Pick<ControllerSettings, "signing">> {
  const { "cluster-signing-cert-file": certificate, "cluster-signing-key-file": key } = values;
  if (certificate === undefined || key === undefined) return {};
  const durationLimitMs = durationMs(values["cluster-signing-duration"]);
  return { signing: { ...(await readSigningFiles({ certificate, key })), durationMs: durationLimitMs } };
}
