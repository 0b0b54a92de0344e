/**
 * The node of `k8ts up` or `k8ts join` on this machine, with the kubelet in this process. Everything is stopped with the cluster, Pods first; after a kill
 * the next start takes over.
 */
import { CSI_SIDECARS } from "../../api/csi-sidecars.ts";
import { nodeIdentity } from "../../api/identities.ts";
import { isIpv6 } from "../../api/pod-ranges.ts";
import { Disposables } from "../../base/disposables.ts";
import { joinPath } from "../../host/files/files.ts";
import { ownNetworkNamespace } from "../../host/network/network-namespace.ts";
import { KubeletMetrics } from "../../kubelet/kubelet-metrics.ts";
import type { PullProgress } from "../../kubelet/contracts/runtime.ts";
import { openCriRuntime, type CriRuntime } from "../../kubelet/runtime/cri/cri-runtime.ts";
import { KUBELET_PORT, type KubeletServerTls } from "../../kubelet/server/kubelet-server.ts";
import type { NodeContext, NodePart } from "../../components/control-plane.ts";
import { CLUSTER_DOMAIN } from "./cluster-domain.ts";
import { kernelOwner, machineCgroup, machineOwner } from "./container-paths.ts";
import { dnsAddressesFor, type MachineNetwork } from "./machine-network.ts";
import { prepareMachine, type FoundRuntime, type MachineOptions, type PreparedMachine } from "./prepare-machine.ts";
import { CSI_SIDECARS_AGENT } from "../../csi/sidecars/start-sidecars.ts";
import { LOCAL_PATH_AGENT } from "../../localpath/start-provisioner.ts";
import { detachVolumes } from "../../localpath/disk/detach-volumes.ts";
import { startLocalPath } from "../../components/node/local-path.ts";
import { startContainerNode, type ContainerNode } from "../../components/node/container-node.ts";
import {
  cleanUpNetworkComponents,
  startNetworkComponents,
  type StartedNetworkComponents,
} from "../../components/network/start-network-components.ts";
import { STOP_GRACE_MS } from "../../components/node/stop-pods-order.ts";

/** Upstream's default. */
const PODS_MAX = 110;

export interface MachineNode extends NodePart {
  /** Port of the kubelet's HTTPS server. */
  readonly kubeletPort: number;
  /** Serves new connections to the kubelet with this certificate. */
  useServingCertificate(tls: KubeletServerTls): void;
}

/** `network`: owned by the caller, which created it before the API server. */
export async function startMachineNode(
  { runtime: choice, network }: { readonly runtime: FoundRuntime; readonly network: MachineNetwork },
  options: MachineOptions,
  context: NodeContext,
): Promise<MachineNode> {
  const { home, nodeName, steps, clock } = options;
  await using starting = new Disposables();
  if (context.apiServer !== undefined) await network.allowApiServer?.(context.apiServer);
  const machine = starting.use(await prepareMachine(choice, network, options));
  const log = context.log;
  // Before the kubelet: its first Pod finds Services, names and policies.
  const components = starting.use(await startNodeNetwork({ machine, network }, options, context));
  // Before the kubelet: its Pods find their volumes.
  starting.use(await startStorage(options, context));
  const metrics = new KubeletMetrics();
  const opened = {
    endpoint: machine.endpoint,
    owner: machineOwner(home),
    clock,
    log,
    observer: metrics,
    isIpv6First: network.isIpv6First === true,
  };
  const runtime = starting.use(await openCriRuntime(opened));
  const parts = { runtime, machine, network, metrics, components };
  const node = starting.use(await steps.step(`registered node ${nodeName}`, () => startNode(options, context, parts)));
  starting.defer(() => steps.step("stopped Pods", () => node.stopPods({ graceMs: STOP_GRACE_MS })));
  const owned = starting.move();
  return {
    description: `${nodeName} (${choice.name} ${choice.version})`,
    get parts() {
      return components.list;
    },
    onChange: (listener) => components.onChange(listener),
    kubeletPort: node.server.port,
    useServingCertificate: (tls) => node.server.useTls(tls),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Removed with the node: its Pods are stopped by then. */
async function startNodeNetwork(
  { machine, network }: { readonly machine: PreparedMachine; readonly network: MachineNetwork },
  { home, nodeName, networkValues, scope = "cluster", steps }: MachineOptions,
  { transportFor, clusterDns, clusterDomain = CLUSTER_DOMAIN, clock, random, log }: NodeContext,
): Promise<StartedNetworkComponents> {
  const owner = { owner: kernelOwner(home), namespace: ownNetworkNamespace, log };
  const { podCidr, clusterCidr, gateway, ipv6, bridge, cniConfigFile } = network;
  const started = await steps.step("started network", () =>
    startNetworkComponents({
      scope,
      network: { ...owner, nodeName, nodeIps: machine.nodeIps, podCidr, clusterCidr, gateway, ipv6, bridge, cniConfigFile },
      values: networkValues,
      clusterDns: dnsAddressesFor(network, clusterDns),
      clusterDomain,
      directory: home.networkDirectory,
      ...{ transportFor, clock, random: random.derive("network"), log },
      warn: (message) => steps.note(`  warning: ${message}`),
    }),
  );
  return {
    get list() {
      return started.list;
    },
    onChange: (listener) => started.onChange(listener),
    admitPod: (pod, addresses) => started.admitPod(pod, addresses),
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      await cleanUpNetworkComponents(owner);
    },
  };
}

/** A node without it runs Pods without new volumes. Disposed of after the Pods were stopped. */
async function startStorage(
  { home, nodeName, scope = "cluster", steps }: MachineOptions,
  { transportFor, clock, random, log }: NodeContext,
): Promise<AsyncDisposable> {
  const owned = new Disposables();
  owned.defer(async () => void (await clock.external(detachVolumes(home.volumesDirectory))));
  const transport = transportFor(nodeIdentity(nodeName), LOCAL_PATH_AGENT);
  const options = { nodeName, directory: home.volumesDirectory, isFirst: scope === "cluster", transport };
  await startLocalPath({ ...options, clock, random: random.derive("local-path"), log }).then(
    (started) => void owned.use(started),
    (error: unknown) => steps.note(`  warning: volumes cannot be provisioned on this node: ${(error as Error).message}`),
  );
  return owned;
}

interface NodeParts {
  readonly runtime: CriRuntime;
  readonly machine: PreparedMachine;
  readonly network: MachineNetwork;
  readonly metrics: KubeletMetrics;
  readonly components: StartedNetworkComponents;
}

function startNode(
  { home, nodeName, scope = "cluster", steps, pressure }: MachineOptions,
  { transportFor, callKubelet, pki, apiServer: _apiServer, clusterDns, clusterDomain = CLUSTER_DOMAIN, ...context }: NodeContext,
  { runtime, machine, network, metrics, components }: NodeParts,
): Promise<ContainerNode> {
  const kubelets = callKubelet === undefined ? {} : { callKubelet };
  const { nodeIps, podCidrs, endpoint: runtimeEndpoint } = machine;
  return startContainerNode({
    ...context,
    ...{ nodeName, runtime, runtimeEndpoint, metrics, nodeIps, podsMax: PODS_MAX, clusterDomain, pressure },
    // That of the primary family, as kubeadm configures it.
    clusterDns: dnsAddressesFor(network, clusterDns).slice(0, 1),
    rootDirectory: home.kubeletDirectory,
    podLogDirectory: joinPath(home.logDirectory, "pods"),
    cgroupRoot: machineCgroup(home),
    ...(podCidrs.length === 0 ? {} : { podCidrs }),
    server: {
      host: nodeIps.some(isIpv6) ? "::" : "0.0.0.0",
      port: KUBELET_PORT,
      mayMove: true,
      tls: pki.makeNodeServingCertificate(nodeName, [...nodeIps, "127.0.0.1"], context.clock.now()),
      clientAuthority: pki.authority,
      hasTokenReviews: true,
      authorizationMode: "Webhook",
    },
    transport: transportFor(nodeIdentity(nodeName), "kubelet"),
    ...(scope === "cluster" ? { csiSidecars: { transport: transportFor(CSI_SIDECARS, CSI_SIDECARS_AGENT), ...kubelets } } : {}),
    admitPod: (pod, addresses) => components.admitPod(pod, addresses),
    onPull: (image, done) => steps.note(pullLine(image, done)),
  });
}

const MEGABYTE = 1e6;

/** "  pulling image docker.io/library/nginx:1: 12.4 of 67.3 MB" */
export function pullLine(image: string, { bytes, totalBytes }: PullProgress): string {
  const megabytes = (count: number): string => (count / MEGABYTE).toFixed(1);
  return `  pulling image ${image}: ${megabytes(bytes)} of ${megabytes(Math.max(bytes, totalBytes))} MB`;
}
