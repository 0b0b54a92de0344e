/**
 * The node of `k8ts kubelet`, in a cluster that runs elsewhere: the detected container runtime, a Pod network if it has none, the
 * certificate, the enforcement of network policies if it is requested, and the kubelet. Disposing of it keeps containers and network, like upstream: the next start takes them over.
 */
import type { JsonObject } from "../../api/machinery/object.ts";
import { byFamily, gatewayOf } from "../../api/pod-ranges.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { ConnectionConfig } from "../../client/kubeconfig/connection-config.ts";
import { httpsTransport } from "../../client/https/https-transport.ts";
import { joinPath } from "../../host/files/files.ts";
import { namesIn } from "../../host/files/shared-directory.ts";
import { ownNetworkNamespace } from "../../host/network/network-namespace.ts";
import { reachableAddress } from "../../host/network/network-address.ts";
import { absolutePath, machineName } from "../../host/files/private-files.ts";
import { realRandom } from "../../host/real-random.ts";
import { RUNTIME_SOCKETS } from "../../kubelet/machine/containerd/choose-runtime.ts";
import { askSettings } from "../../kubelet/machine/containerd/runtime-settings.ts";
import { askVersion, RuntimeTooOldError, socketOf } from "../../kubelet/machine/containerd/runtime-version.ts";
import { socketState, socketTrouble } from "../../kubelet/machine/containerd/socket-trouble.ts";
import { KubeletMetrics } from "../../kubelet/kubelet-metrics.ts";
import { bridgeName, prepareNetwork } from "../../kubelet/machine/network/bridge-network.ts";
import { openCriRuntime } from "../../kubelet/runtime/cri/cri-runtime.ts";
import { pairsOf, parseTaint, reservedOf, type KubeletFlagValues } from "../../config/kubelet-flags.ts";
import type { CertificateWithKey } from "../../pki/certificates.ts";
import { networkPolicy } from "../network/network-policy.ts";
import { startNetworkComponents, type StartedNetworkComponents } from "../network/start-network-components.ts";
import { keptKubeletCertificate } from "./kubelet-certificate.ts";
import { startContainerNode, type ContainerNode } from "./container-node.ts";
import { startLocalPath } from "./local-path.ts";
import { readCertificatePair, readServerAccess } from "./server-access.ts";
import { kubeletPressureOf } from "../../config/kubelet/pressure-flags.ts";

export interface KubeletNodeOptions {
  readonly values: KubeletFlagValues;
  readonly runtime: KubeletRuntime;
  readonly connection: ConnectionConfig;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts a start that waits for the server. */
  readonly signal: AbortSignal;
  /** A warning for the user at the terminal. */
  warn(message: string): void;
}

export interface KubeletNode extends AsyncDisposable {
  readonly nodeName: string;
  /** Such as "containerd 1.6.20 at unix:///run/containerd/containerd.sock". */
  readonly runtime: string;
  /** Port of the HTTPS server. */
  readonly port: number;
  stopPods: ContainerNode["stopPods"];
  /** The network components in this process: the enforcement of network policies, with --network-policy-owner. */
  readonly network: Pick<StartedNetworkComponents, "list" | "onChange"> | undefined;
}

export function kubeletNodeName(values: KubeletFlagValues): string {
  return values["hostname-override"] ?? machineName().toLowerCase();
}

export async function startKubeletNode(options: KubeletNodeOptions): Promise<KubeletNode> {
  const { values, runtime: found, connection, clock, log, signal } = options;
  await using starting = new Disposables();
  const nodeName = kubeletNodeName(values);
  const { endpoint } = found;
  await ensureNetwork(endpoint, values, clock);
  const nodeIps = values["node-ip"].length > 0 ? values["node-ip"] : [reachableAddress() ?? "127.0.0.1"];
  const cgroupRoot = values["cgroup-root"];
  const metrics = new KubeletMetrics();
  const runtime = starting.use(
    await openCriRuntime({
      endpoint,
      owner: runtimeOwner(cgroupRoot),
      clock,
      log,
      observer: metrics,
      isIpv6First: nodeIps[0]?.includes(":") === true,
    }),
  );
  const transport = starting.use(httpsTransport(connection, { clock, log, userAgent: "kubelet" }));
  const podCidrs = values["pod-cidr"]?.split(",") ?? [];
  const random = realRandom();
  // Before the first Pod.
  const network = await startPolicies(options, { nodeIps, transport, random });
  if (network !== undefined) starting.use(network);
  const directory = values["local-path-dir"];
  if (directory !== undefined) {
    const storage = { nodeName, directory: absolutePath(directory), isFirst: true, transport };
    starting.use(await startLocalPath({ ...storage, clock, random: random.derive("local-path"), log }));
  }
  const node = starting.use(
    await startContainerNode({
      ...{
        nodeName,
        nodeIps,
        runtime,
        runtimeEndpoint: endpoint,
        metrics,
        cgroupRoot,
        transport,
        apiServerHost: new URL(connection.server).host,
        clock,
        log,
        signal,
        random,
      },
      ...(network === undefined ? {} : { admitPod: (pod, addresses) => network.admitPod(pod, addresses) }),
      rootDirectory: absolutePath(values["root-dir"]),
      podLogDirectory: absolutePath(values["pod-logs-dir"]),
      podsMax: values["max-pods"],
      ...(podCidrs.length === 0 ? {} : { podCidrs }),
      clusterDns: values["cluster-dns"],
      clusterDomain: values["cluster-domain"] ?? "",
      labels: pairsOf(values["node-labels"]),
      taints: values["register-with-taints"].flatMap((taint) => parseTaint(taint) ?? []),
      reserved: reservedOf([...values["system-reserved"], ...values["kube-reserved"]]),
      configuration: configurationOf(values),
      pressure: kubeletPressureOf(values),
      server: {
        host: values.address,
        port: values.port,
        mayMove: false,
        tls: await servingCertificate(values, [nodeName, ...nodeIps], clock.now()),
        ...(await readServerAccess(values)),
      },
    }),
  );
  const owned = starting.move();
  return {
    nodeName,
    runtime: `${found.name} ${found.version} at ${endpoint}`,
    port: node.server.port,
    stopPods: (how) => node.stopPods(how),
    network,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

interface PolicyParts {
  readonly nodeIps: readonly string[];
  readonly transport: Transport;
  readonly random: Random;
}

/** The enforcer is in the kubelet's process, because the kubelet waits for it. Disposing keeps its rules. */
async function startPolicies(
  { values, clock, log, warn }: KubeletNodeOptions,
  { nodeIps, transport, random }: PolicyParts,
): Promise<StartedNetworkComponents | undefined> {
  const owner = values["network-policy-owner"];
  if (owner === undefined) return undefined;
  return startNetworkComponents({
    scope: "node",
    components: [networkPolicy],
    network: {
      ...{ owner, namespace: ownNetworkNamespace, log, nodeName: kubeletNodeName(values), nodeIps },
      ...familiesOf(values["pod-cidr"]),
      bridge: values["pod-bridge"],
    },
    values: {},
    clusterDns: [],
    clusterDomain: values["cluster-domain"] ?? "",
    transportFor: () => transport,
    directory: joinPath(absolutePath(values["root-dir"]), "network"),
    ...{ clock, random: random.derive("network"), log, warn },
  });
}

/** Identifies the Pods of kubelets that share a container runtime, like their cgroups. */
export function runtimeOwner(cgroupRoot: string): string {
  return cgroupRoot.replace(/^\/+/, "") || "kubelet";
}

export interface KubeletRuntime {
  /** "unix:///…" */
  readonly endpoint: string;
  readonly name: string;
  readonly version: string;
}

/** Rejects with the remedy. */
export async function findKubeletRuntime(values: KubeletFlagValues, clock: Clock): Promise<KubeletRuntime> {
  const given = values["container-runtime-endpoint"];
  if (given !== undefined) return queryRuntime(given, clock);
  const states = await Promise.all(RUNTIME_SOCKETS.map(socketState));
  const found = [states.indexOf("usable"), states.indexOf("forbidden")].map((index) => RUNTIME_SOCKETS[index]);
  for (const socket of found) if (socket !== undefined) return queryRuntime(`unix://${socket}`, clock);
  throw new Error(
    `Cannot run containers: no container runtime responds at ${RUNTIME_SOCKETS.join(", ")}; ` +
      "start one, or set --container-runtime-endpoint to its socket",
  );
}

async function queryRuntime(endpoint: string, clock: Clock): Promise<KubeletRuntime> {
  const socket = socketOf(endpoint);
  try {
    return { endpoint: `unix://${socket}`, ...(await askVersion(socket, { clock })) };
  } catch (error) {
    if (error instanceof RuntimeTooOldError) throw error;
    const trouble = await socketTrouble(socket, { another: "choose another with --container-runtime-endpoint" });
    throw new Error(`Cannot use the container runtime at ${endpoint}: ${trouble}`, { cause: error });
  }
}

/** A runtime with a configuration keeps it, even if it has not loaded it yet. */
async function ensureNetwork(endpoint: string, values: KubeletFlagValues, clock: Clock): Promise<void> {
  const { podCidr, ipv6, isIpv6First } = familiesOf(values["pod-cidr"]);
  if (podCidr === undefined) return;
  const { networkTrouble, cniConfigDirectory: configDirectory } = await askSettings(endpoint, clock);
  if (networkTrouble === undefined || configDirectory === undefined) return;
  if ((await namesIn(configDirectory)).some((name) => /\.(conf|conflist|json)$/.test(name))) return;
  const directory = absolutePath(values["root-dir"]);
  const bridge = bridgeName({ name: kubeletNodeName(values), directory });
  await prepareNetwork({ bridge, podCidr, ipv6, isIpv6First, configDirectory, addressDirectory: joinPath(directory, "addresses") });
}

/** Of a value of --pod-cidr. The ranges of other nodes are not known. */
function familiesOf(text = "") {
  const { ipv4: podCidr, ipv6, isIpv6First } = byFamily(text === "" ? [] : text.split(","));
  return {
    podCidr,
    ipv6: ipv6 === undefined ? undefined : { podCidr: ipv6, clusterCidr: ipv6, gateway: gatewayOf(ipv6) },
    isIpv6First,
  };
}

async function servingCertificate(values: KubeletFlagValues, names: readonly string[], nowMs: number): Promise<CertificateWithKey> {
  const given = await readCertificatePair(values);
  if (given !== undefined) return given;
  const directory = absolutePath(values["cert-dir"] ?? joinPath(values["root-dir"], "pki"));
  return keptKubeletCertificate({ directory, names, nowMs });
}

/** Fields of /configz that only a standalone kubelet has. */
function configurationOf(values: KubeletFlagValues): JsonObject {
  const [tlsCertFile, tlsPrivateKeyFile] = [values["tls-cert-file"], values["tls-private-key-file"]];
  const [systemReserved, kubeReserved] = [values["system-reserved"], values["kube-reserved"]];
  return {
    healthzPort: values["healthz-port"],
    healthzBindAddress: values["healthz-bind-address"],
    ...(tlsCertFile === undefined || tlsPrivateKeyFile === undefined ? {} : { tlsCertFile, tlsPrivateKeyFile }),
    ...(systemReserved.length === 0 ? {} : { systemReserved: { ...reservedOf(systemReserved) } }),
    ...(kubeReserved.length === 0 ? {} : { kubeReserved: { ...reservedOf(kubeReserved) } }),
  };
}
