/** Flags of `k8ts join`, and the options that they result in. All problems are reported at once. */
import { parseBootstrapToken, type BootstrapTokenParts } from "../../api/core/v1/secret/bootstrap-token.ts";
import { parseCidr, parseIp } from "../../api/machinery/ip/ip-address.ts";
import { isIpv6 } from "../../api/pod-ranges.ts";
import { machineName } from "../../host/files/private-files.ts";
import type { Environment } from "../../cli/framework/command.ts";
import type { FlagSet, FlagValues, Parsed } from "../../cli/framework/flags.ts";
import { networkFlags } from "../../components/network/start-network-components.ts";
import { durationExpected, durationMs } from "../../config/connection-flags.ts";
import { nodeAddressExpected } from "../../config/kubelet-flags.ts";
import { chooseHome, newHomeFlags, type HomeChoice } from "../home/home-flags.ts";
import { upFlags } from "../up-flags.ts";
import { pinExpected } from "./cluster-info.ts";
import { nodePressureFlags, nodePressureOf, nodePressureProblems } from "../../config/kubelet/pressure-flags.ts";
import { PRESSURE_DEFAULT, type PressureSettings } from "../../kubelet/eviction/pressure-settings.ts";

export const TOKEN_EXPECTED = "a token of the form abcdef.0123456789abcdef";

/** kubeadm's timeout of discovery. */
const TIMEOUT = "5m0s";

const ownFlags = {
  ...newHomeFlags,
  token: {
    type: "string",
    placeholder: "TOKEN",
    doc: "Bootstrap token of the cluster (k8ts token create). Not needed once the machine has joined. All users of this machine can read the arguments of a process: see --token-file.",
    expects: (text) => (parseBootstrapToken(text) === undefined ? TOKEN_EXPECTED : undefined),
  },
  "token-file": {
    type: "string",
    placeholder: "FILE",
    doc: "File with the bootstrap token, which other users cannot see, unlike --token. - reads standard input.",
  },
  "discovery-token-ca-cert-hash": {
    type: "list",
    placeholder: "sha256:HASH,...",
    doc: "Hashes of the public keys of acceptable cluster CAs. Required with a token, unless verification of the CA is skipped.",
    expects: pinExpected,
  },
  "discovery-token-unsafe-skip-ca-verification": {
    type: "boolean",
    doc: "Trust every cluster that knows the token. Another holder of the token could then impersonate the cluster.",
  },
  "node-name": upFlags["node-name"],
  "node-ip": {
    type: "list",
    placeholder: "ADDRESS,...",
    doc: "Addresses of the node: one, or an IPv4 and an IPv6 address. Default: this machine's address on the route to the API server, and in a dual-stack cluster the other family's address of the same link.",
    expects: nodeAddressExpected,
  },
  "pod-cidr": {
    type: "list",
    placeholder: "CIDR,...",
    doc: "Range of the node's Pod addresses; for dual stack an IPv4 and an IPv6 range. Default: those that the cluster's node IPAM controller assigns.",
    expects: (text) => (parseCidr(text) === undefined ? "a range such as 10.244.1.0/24 or fd00:10:244:1::/64" : undefined),
  },
  "container-runtime-endpoint": {
    ...upFlags["container-runtime-endpoint"],
    doc: "CRI socket of the container runtime, such as unix:///run/containerd/containerd.sock. Default: a running containerd, or one that k8ts manages.",
  },
  "rotate-server-certificates": {
    type: "boolean",
    doc: "Request the kubelet's serving certificate from the cluster (signer kubernetes.io/kubelet-serving), which an administrator approves. Default: self-signed.",
  },
  timeout: {
    type: "string",
    placeholder: "DURATION",
    default: TIMEOUT,
    doc: "Time to wait for the API server, for the certificate and for the Pod CIDR, each.",
    expects: durationExpected,
  },
  ...nodePressureFlags,
  detach: {
    type: "boolean",
    doc: "Run in the background and return when the node is registered. Use k8ts status, logs and down to manage it.",
  },
} as const satisfies FlagSet;

export const joinFlags: typeof ownFlags = { ...ownFlags, ...networkFlags("node") };

export type JoinFlagValues = FlagValues<typeof joinFlags>;

export interface JoinOptions {
  readonly home: HomeChoice;
  /** Such as https://192.0.2.1:6443. Absent: the one of the last join. */
  readonly server?: string;
  /** Neither a token nor its file: the stored certificate is used. */
  readonly token?: BootstrapTokenParts;
  /** Read when the token is needed (join-token.ts). */
  readonly tokenFile?: string;
  /** Hashes of acceptable CAs. Empty: not verified. */
  readonly pins: readonly string[];
  readonly nodeName: string;
  /** True if the name was set explicitly. */
  readonly isNamed: boolean;
  /** Empty: detected. */
  readonly nodeIps: readonly string[];
  /** Empty: assigned by the cluster. */
  readonly podCidrs: readonly string[];
  readonly runtimeEndpoint?: string;
  readonly rotatesServingCertificate: boolean;
  readonly timeoutMs: number;
  readonly isDetached: boolean;
  readonly networkValues: FlagValues<FlagSet>;
  readonly pressure: PressureSettings;
}

export function joinOptions(
  values: JoinFlagValues & { readonly address: string | undefined },
  environment: Environment,
): Parsed<JoinOptions> {
  const home = chooseHome(values, environment);
  const server = values.address === undefined ? undefined : parseServer(values.address);
  const pins = values["discovery-token-ca-cert-hash"];
  const isUnsafe = values["discovery-token-unsafe-skip-ca-verification"];
  const hasToken = values.token !== undefined || values["token-file"] !== undefined;
  const problems = [
    ...(home.ok ? [] : home.problems),
    ...(values.address !== undefined && server === undefined
      ? [`ADDRESS must be an address and a port such as 192.0.2.1:6443, is ${JSON.stringify(values.address)}`]
      : []),
    ...(values.token !== undefined && values["token-file"] !== undefined
      ? ["--token and --token-file are mutually exclusive: leave one of them out"]
      : []),
    ...(hasToken && server === undefined && values.address === undefined
      ? ["ADDRESS is missing: the address and port of the API server, such as 192.0.2.1:6443"]
      : []),
    ...(hasToken && pins.length === 0 && !isUnsafe
      ? [
          "--discovery-token-ca-cert-hash is required with a token; k8ts token create prints it (or --discovery-token-unsafe-skip-ca-verification)",
        ]
      : []),
    ...familyProblems("--node-ip", values["node-ip"], "an address such as 192.0.2.1"),
    ...familyProblems("--pod-cidr", values["pod-cidr"], "a range such as 10.244.1.0/24"),
    ...nodePressureProblems(values),
    ...(pins.length > 0 && isUnsafe
      ? ["--discovery-token-ca-cert-hash and --discovery-token-unsafe-skip-ca-verification are mutually exclusive: leave one of them out"]
      : []),
  ];
  if (!home.ok || problems.length > 0) return { ok: false, problems };
  const {
    token,
    "token-file": tokenFile,
    "node-name": name,
    "node-ip": nodeIps,
    "pod-cidr": podCidrs,
    "container-runtime-endpoint": runtimeEndpoint,
  } = values;
  const parts = token === undefined ? undefined : parseBootstrapToken(token);
  return {
    ok: true,
    options: {
      home: home.options,
      ...(server === undefined ? {} : { server }),
      ...(parts === undefined ? {} : { token: parts }),
      ...(tokenFile === undefined ? {} : { tokenFile }),
      pins,
      nodeName: name ?? machineName().toLowerCase(),
      isNamed: name !== undefined,
      ...{ nodeIps, podCidrs },
      ...(runtimeEndpoint === undefined ? {} : { runtimeEndpoint }),
      rotatesServingCertificate: values["rotate-server-certificates"],
      timeoutMs: durationMs(values.timeout),
      isDetached: values.detach,
      networkValues: values,
      pressure: nodePressureOf(values, PRESSURE_DEFAULT),
    },
  };
}

/** Nodes reach each other by IPv4. */
function familyProblems(flag: string, texts: readonly string[], expected: string): readonly string[] {
  if (texts.length === 0 || (texts.length <= 2 && texts.filter((text) => !isIpv6(text)).length === 1)) return [];
  return [`${flag} must be one of IPv4, or one of IPv4 and one of IPv6, with ${expected}, is "${texts.join(",")}"`];
}

/** "192.0.2.1:6443", "[2001:db8::1]:6443", "api.example:6443", with or without https://. Undefined if invalid. */
export function parseServer(text: string): string | undefined {
  const [, host = "", port = ""] = /^(?:https:\/\/)?(\[[0-9a-fA-F:.]+\]|[^/:[\]@?#\s]+):(\d{1,5})\/?$/.exec(text) ?? [];
  if (host === "" || Number(port) < 1 || Number(port) > 65_535) return undefined;
  if (host.startsWith("[") && parseIp(host.slice(1, -1))?.family !== 6) return undefined;
  const url = `https://${host}:${port}`;
  return URL.canParse(url) ? url : undefined;
}
