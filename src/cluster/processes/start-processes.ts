/**
 * Starts `k8ts up --processes`: API server, controllers, scheduler and kubelet, or all simulated nodes, each as a separate process that
 * this one supervises. They are the commands that a user could run, with the kubeconfigs of the cluster's home. Container runtime, network
 * and the kubelet's files are managed here, so that they survive a restart of the kubelet.
 *
 * On a store that only this cluster uses, controllers and scheduler run without leader election and are active immediately after each
 * start; the lock of the home guarantees a single instance. On etcd there may be others, and leader election is used.
 */
import type { Transport } from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import { startRenewal } from "../../pki/renewal.ts";
import { machineMaker } from "../../pki/certificate-issuer.ts";
import { pkiDirectory } from "../../pki/pki-directory.ts";
import { openPki, type Pki } from "../../pki/pki.ts";
import { httpsTransport, type HttpsTransport } from "../../client/https/https-transport.ts";
import { fileExists, joinPath } from "../../host/files/files.ts";
import { tryPort } from "../../host/network/free-port.ts";
import { reachableAddress } from "../../host/network/network-address.ts";
import { KUBELET_PORT } from "../../kubelet/server/kubelet-server.ts";
import { advertisedAddress } from "../../components/api-server/secure-serving.ts";
import type { ServingConfig } from "../../config/api-server-config.ts";
import { describeStore } from "../../components/control-plane.ts";
import { componentLog, decisionsSocket } from "../home/home-paths.ts";
import { fleetNames, simulatedFleet, type FleetConfig } from "../../components/simulated-nodes/simulated-fleet.ts";
import { podAccessProblem, withPodAccess } from "../pod-access.ts";
import {
  chooseRuntime,
  K8TS_AGENT,
  machineOptions,
  openNodeSegment,
  recordedNode,
  renewNodes,
  startFurtherNodes,
  tryMarkControlPlane,
  type RuntimeChoice,
  type StartClusterContext,
  type StartedCluster,
} from "../start-cluster.ts";
import type { UpOptions } from "../up-options.ts";
import { featureGateArguments } from "../../config/api-server-config.ts";
import { clusterIpamArguments } from "../../config/node-ipam-flags.ts";
import { readSchedulerConfig, SCHEDULER_CONFIG_FLAG } from "../../config/scheduler-config.ts";
import {
  prepareMachine,
  preparePodNetwork,
  type FoundRuntime,
  type PodNetworkPart,
  type PreparedMachine,
} from "../machine/prepare-machine.ts";
import { dnsServiceAddresses } from "../../components/api-server/serving-tls.ts";
import { formatFlagArguments } from "../../cli/framework/format-flags.ts";
import { networkComponents } from "../../components/network/all.ts";
import { networkPolicy } from "../../components/network/network-policy.ts";
import { NETWORK_STATUS, parseNetworkStatus } from "../../components/network/network-status-line.ts";
import { cleanUpNetworkComponents, networkFlags } from "../../components/network/start-network-components.ts";
import { detachVolumes } from "../../localpath/disk/detach-volumes.ts";
import { ownNetworkNamespace } from "../../host/network/network-namespace.ts";
import type { RecordedPart } from "../home/cluster-record.ts";
import { kernelOwner } from "../machine/container-paths.ts";
import { stopMachinePods } from "../machine/stop-machine-pods.ts";
import { STOP_GRACE_MS, STOP_PODS_ORDER } from "../../components/node/stop-pods-order.ts";
import { CLUSTER_DOMAIN } from "../machine/cluster-domain.ts";
import { dnsAddressesFor, rangesOf } from "../machine/machine-network.ts";
import { clusterCidrsOf } from "../../api/pod-ranges.ts";
import { createJoiningPermissions } from "../../client/create-joining-permissions.ts";
import { createClient } from "../../client/rest-client.ts";
import { tryPublishClusterNetwork } from "../publish-cluster-network.ts";
import { writeNodeFiles, writeServingFiles, type NodeFilesOptions } from "./node-files.ts";
import { readDoor } from "./read-door.ts";
import { SupervisedProcess, type SupervisedProcessOptions } from "../../processes/supervised-process.ts";
import { autoscalerArguments } from "../../config/autoscaler-flags.ts";
import { pressureArguments } from "../../config/kubelet/pressure-flags.ts";

/** Stop timeout of components without graceful work. */
const STOP_WITHIN_MS = 15_000;

type Processes = NonNullable<UpOptions["processes"]>;

export async function startProcesses(
  options: UpOptions & { readonly processes: Processes },
  context: StartClusterContext,
): Promise<StartedCluster> {
  const { clock, steps, signal } = context;
  await using starting = new Disposables();
  const listeners: (() => void)[] = [];
  const common = {
    stopWithinMs: STOP_WITHIN_MS,
    report: (line: string) => steps.note(line),
    onRestarted: () => listeners.forEach((listener) => listener()),
    signal,
    clock,
  };
  const supervise = async (step: string, part: Omit<SupervisedProcessOptions, keyof typeof common> & Partial<typeof common>) =>
    starting.use(await steps.step(step, () => clock.external(SupervisedProcess.start({ ...common, ...part }))));
  const { profiles } = await clock.external(readSchedulerConfig(options.scheduler, SCHEDULER_CONFIG_FLAG));
  const { runtime, simulated, because } = await chooseRuntime(options, context);
  const { network, serving } = await prepareNetwork(runtime, { options, context, owner: starting });
  const server = await supervise(
    "started API server",
    await apiServerPart({ ...options, apiServer: { ...options.apiServer, serving } }, context),
  );
  const door = await clock.external(readDoor(urlOf(server.readyLine), options.apiServer.serving.kubeconfig ?? ""));
  const nodeStart = { options, context, door, supervise, onChange: common.onRestarted, owner: starting };
  if (network !== undefined) await allowApiServer(network, { serving, url: door.url });
  // The network components of a node read objects as that node.
  await asAdministrator(nodeStart, async (transport) => {
    const client = createClient(transport);
    await createJoiningPermissions(client);
    if (network !== undefined) await renewNodes(client, network, { options, context });
  });
  const started = runtime === undefined || network === undefined ? undefined : await startNode({ runtime, network }, nodeStart);
  const nodes = simulated === 0 ? undefined : await startNodes(simulated, nodeStart);
  const firstNode = started === undefined ? firstSimulated(simulated, nodeStart) : options.nodeName;
  await asAdministrator(nodeStart, async (transport) => {
    if (firstNode !== undefined) await tryMarkControlPlane(transport, firstNode, steps);
    const { serviceClusterIpRange } = options.apiServer.api;
    const published = { serviceClusterIpRange, network, clusterDomain: CLUSTER_DOMAIN };
    await tryPublishClusterNetwork(transport, published, steps);
  });
  const controllers = await supervise("started controllers", controllersPart(options, context, network));
  const scheduler = await supervise("started scheduler", schedulerPart(options, context));
  const reached = {
    network,
    transport: starting.use(administratorTransport(nodeStart)),
    ...door,
    advertisedAddress: advertisedAddress(serving),
  };
  const fleet = await startFurtherNodes(reached, options, context);
  if (fleet !== undefined) starting.use(fleet);
  fleet?.onChange(common.onRestarted);
  const owned = starting.move();
  const describedScheduler = profiles.map(({ schedulerName }) => schedulerName).join(", ");
  const parts = [
    { name: "store", description: describeStore(options.store) },
    { name: "API server", description: door.url, process: server },
    { name: "controllers", description: "running", process: controllers },
    { name: "scheduler", description: describedScheduler, process: scheduler },
  ];
  return {
    get list() {
      return [...parts.map(listed), ...listedNode(started, options, runtime), ...listedSimulated(nodes, simulated), ...(fleet?.list ?? [])];
    },
    door,
    ...(runtime === undefined ? {} : { node: recordedNode(options.nodeName, runtime) }),
    ...(because === undefined ? {} : { simulatedBecause: because }),
    onChange: (listener) => void listeners.push(listener),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Before the API server, which listens on the Pod network for Pods. */
async function prepareNetwork(
  runtime: RuntimeChoice["runtime"],
  { options, context, owner }: { readonly options: UpOptions; readonly context: StartClusterContext; readonly owner: Disposables },
) {
  if (runtime === undefined) return { network: undefined, serving: options.apiServer.serving };
  // A container runtime started for this is stopped if the rest of the start fails. One that was running before has Pods.
  if (runtime.stop !== undefined && !runtime.wasAdopted) owner.defer(runtime.stop);
  const network = owner.use(await preparePodNetwork(runtime, machineOptions(options, context)));
  await openNodeSegment(network, { options, context, owner });
  const serving = withPodAccess(options.apiServer.serving, network);
  const problem = podAccessProblem(serving);
  if (problem !== undefined) context.steps.note(`  warning: ${problem}`);
  return { network, serving };
}

/** A part as shown, with the number of its process as long as it runs. */
function listed({
  process: supervised,
  ...part
}: Pick<RecordedPart, "name" | "description"> & { readonly process?: SupervisedProcess }): RecordedPart {
  return supervised === undefined ? part : { ...part, ...processOf(supervised) };
}

function listedNode(started: StartedNode | undefined, { nodeName }: UpOptions, runtime: RuntimeChoice["runtime"]): readonly RecordedPart[] {
  if (started === undefined || runtime === undefined) return [];
  const description = `${nodeName} (${runtime.name} ${runtime.version})`;
  return [listed({ name: "node", description, process: started.node }), ...started.networkParts()];
}

function listedSimulated(nodes: SupervisedProcess | undefined, count: number): readonly RecordedPart[] {
  return nodes === undefined ? [] : [listed({ name: "nodes", description: `${count} simulated`, process: nodes })];
}

function processOf({ process }: SupervisedProcess) {
  return process === undefined ? {} : { process };
}

type OwnOptions = Pick<SupervisedProcessOptions, "name" | "logFile" | "words" | "ready">;

async function apiServerPart(
  options: UpOptions & { readonly processes: Processes },
  { held: { home } }: StartClusterContext,
): Promise<OwnOptions> {
  const { bindAddress: host, securePort: port, additionalBindAddresses = [], advertiseAddress } = options.apiServer.serving;
  const given = options.processes.apiServerWords;
  const forPods = additionalBindAddresses.map((address) => `--additional-bind-address=${address}`);
  const advertised = advertiseAddress === undefined ? [] : [`--advertise-address=${advertiseAddress}`];
  // Port conflicts are reported as without --processes.
  await tryPort({ host, port });
  return {
    name: "API server",
    logFile: componentLog(home, "apiserver"),
    ready: LISTENING,
    // An automatically chosen port is kept, because it is in kubeconfigs.
    words: (line) => [
      "apiserver",
      "--dashboard",
      `--scheduler-decisions-socket=${decisionsSocket(home)}`,
      ...given.filter((word) => !/^--(additional-bind|advertise)-address=/.test(word)),
      ...forPods,
      ...advertised,
      `--secure-port=${line === undefined ? port : new URL(urlOf(line)).port}`,
    ],
  };
}

const LISTENING = /^listening on (\S+)$/;

function urlOf(line: string): string {
  return LISTENING.exec(line)?.[1] ?? "";
}

function controllersPart(options: UpOptions, { held: { home } }: StartClusterContext, network: PodNetworkPart | undefined): OwnOptions {
  const { api, identity } = options.apiServer;
  const { serviceClusterIpRange } = api;
  const ranges = rangesOf(network);
  const clusterCidrs = ranges === undefined ? [] : clusterCidrsOf(ranges);
  const directory = certificateDirectory(options);
  const [certificate, key] = [joinPath(directory, "ca.crt"), joinPath(directory, "ca.key")];
  return {
    name: "controllers",
    logFile: componentLog(home, "controllers"),
    ready: STANDS,
    async words() {
      // The CA key may be kept elsewhere: then certificates are signed elsewhere.
      const signing = (await fileExists(key)) ? [`--cluster-signing-cert-file=${certificate}`, `--cluster-signing-key-file=${key}`] : [];
      const chosen = options.controllers.map((name) => `--controllers=${name}`);
      return [
        "controller-manager",
        `--kubeconfig=${kubeconfigOf(options, "controller-manager")}`,
        ...chosen,
        `--load-balancer-range=${options.loadBalancerRange}`,
        `--node-monitor-grace-period=${options.nodeMonitorGracePeriod}`,
        ...autoscalerArguments(options.autoscaler),
        ...featureGateArguments(api.featureGates),
        ...clusterIpamArguments({ clusterCidrs, serviceClusterIpRange }),
        ...signing,
        `--service-account-private-key-file=${identity.serviceAccount.signingKeyFile ?? joinPath(directory, "sa.key")}`,
        ...election(options),
      ];
    },
  };
}

function schedulerPart(options: UpOptions, { held: { home } }: StartClusterContext): OwnOptions {
  const file = options.scheduler === undefined ? [] : [`--config=${options.scheduler}`];
  const kubeconfig = `--kubeconfig=${kubeconfigOf(options, "scheduler")}`;
  return {
    name: "scheduler",
    logFile: componentLog(home, "scheduler"),
    ready: STANDS,
    words: () => ["scheduler", kubeconfig, ...file, `--decisions-socket=${decisionsSocket(home)}`, ...election(options)],
  };
}

/** It is active, or on standby. */
const STANDS = /^(active as |(?:controllers|scheduler) for .*, leader election with )/;

function election({ store }: UpOptions): readonly string[] {
  return store.driver === "etcd" ? [] : ["--leader-elect=false"];
}

function certificateDirectory({ apiServer }: UpOptions): string {
  return apiServer.serving.certificateDirectory ?? "";
}

function kubeconfigOf(options: UpOptions, part: string): string {
  return joinPath(certificateDirectory(options), "kubeconfigs", `${part}.conf`);
}

interface NodeStart {
  readonly options: UpOptions;
  readonly context: StartClusterContext;
  readonly door: NonNullable<StartedCluster["door"]>;
  supervise(step: string, part: OwnOptions & Partial<SupervisedProcessOptions>): Promise<SupervisedProcess>;
  /** Called when a component reports a change. */
  onChange(): void;
  readonly owner: Disposables;
}

async function asAdministrator(start: NodeStart, work: (transport: Transport) => Promise<void>): Promise<void> {
  await using transport = administratorTransport(start);
  await start.context.clock.external(work(transport));
}

function administratorTransport({ door, context: { clock, log } }: NodeStart): HttpsTransport {
  const connection = {
    ...{ server: door.url, namespace: "default", authority: { text: door.authority } },
    credentials: { certificate: { certificate: { text: door.admin.certificate }, key: { text: door.admin.key } } },
  };
  return httpsTransport(connection, { clock, log, userAgent: K8TS_AGENT });
}

async function allowApiServer(
  network: PodNetworkPart,
  { serving, url }: { readonly serving: ServingConfig; readonly url: string },
): Promise<void> {
  const address = advertisedAddress(serving);
  if (address === undefined) return;
  await network.allowApiServer?.({ target: { address, port: Number(new URL(url).port) } });
}

interface StartedNode {
  readonly node: SupervisedProcess;
  /** Network components of all processes, as they are now. */
  networkParts(): readonly RecordedPart[];
}

async function startNode(
  { runtime, network }: { readonly runtime: FoundRuntime; readonly network: PodNetworkPart },
  start: NodeStart,
): Promise<StartedNode> {
  const { options, context, door, supervise, owner } = start;
  const { held, clock, log } = context;
  const { home } = held;
  const { nodeName } = options;
  const machine = owner.use(await prepareMachine(runtime, network, machineOptions(options, context)));
  const directory = certificateDirectory(options);
  const pki = await pkiOf(directory, clock);
  const clusterDns = dnsAddressesFor(network, dnsServiceAddresses(options.apiServer.api.serviceClusterIpRange));
  const [podDns] = clusterDns;
  // Before the kubelet: its first Pod finds Services, names and policies.
  const reported = new ReportedComponents(() => start.onChange());
  const components = await startNetwork({ machine, network, clusterDns, reported }, start);
  const files: NodeFilesOptions = {
    home,
    certificateDirectory: directory,
    nodeName,
    machine,
    pki,
    server: door.url,
    authority: door.authority,
    ...(podDns === undefined ? {} : { clusterDns: podDns }),
  };
  const renew = async (): Promise<boolean> => {
    await pki.renew(clock.now());
    await clock.external(writeNodeFiles(files, clock.now()));
    return false;
  };
  const renewal = startRenewal({ renew, isShared: true, onRenewed: () => undefined, clock, log });
  owner.defer(() => renewal.stop());
  owner.defer(async () => void (await clock.external(detachVolumes(home.volumesDirectory))));
  // Only if the kubelet could not stop them.
  owner.defer(() => stopMachinePods({ home, endpoint: machine.endpoint, clock, log }));
  const node = await supervise(`registered node ${nodeName}`, {
    name: "kubelet",
    logFile: componentLog(home, "kubelet"),
    ready: /^registered node .* listening on port \d+$/,
    onLine: (line) => reported.read("kubelet", line),
    stopOrder: STOP_PODS_ORDER,
    stopWithinMs: STOP_GRACE_MS + STOP_WITHIN_MS,
    async words() {
      const { kubeconfig, configuration } = await clock.external(writeNodeFiles(files, clock.now()));
      const words = ["kubelet", `--kubeconfig=${kubeconfig}`, `--config=${configuration}`, `--hostname-override=${nodeName}`];
      const policies = [
        `--network-policy-owner=${kernelOwner(home)}`,
        ...(network.bridge === undefined ? [] : [`--pod-bridge=${network.bridge}`]),
      ];
      return [
        ...words,
        ...policies,
        `--node-ip=${machine.nodeIps.join(",")}`,
        `--root-dir=${home.kubeletDirectory}`,
        ...pressureArguments(options.pressure),
        `--local-path-dir=${home.volumesDirectory}`,
        `--port=${await kubeletPort()}`,
      ];
    },
  });
  const processes: ReadonlyMap<string, SupervisedProcess> = new Map([
    ["network", components],
    ["kubelet", node],
  ]);
  return { node, networkParts: () => reported.parts(processes) };
}

/** The network components and whether they run, from the lines that their processes print. */
class ReportedComponents {
  readonly #onChange: () => void;
  readonly #lists = new Map<string, readonly RecordedPart[]>();

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  read(process: string, line: string): void {
    const list = parseNetworkStatus(line);
    if (list === undefined) return;
    this.#lists.set(process, list);
    this.#onChange();
  }

  /** In the order of one process. */
  parts(processes: ReadonlyMap<string, SupervisedProcess>): readonly RecordedPart[] {
    const all = [...processes].flatMap(([name, process]) =>
      (this.#lists.get(name) ?? []).map((part) => ({ ...part, ...processOf(process) })),
    );
    return networkComponents.flatMap(({ name }) => all.filter((part) => part.name === name));
  }
}

interface NodeNetworkStart {
  readonly machine: PreparedMachine;
  readonly network: PodNetworkPart;
  readonly clusterDns: readonly string[];
  readonly reported: ReportedComponents;
}

/** Service proxy, DNS and so on, in a process of their own; the kubelet waits for network policies, so they are in its process. Its rules stay while it restarts, and are removed after the Pods were stopped. */
async function startNetwork({ machine, network, clusterDns, reported }: NodeNetworkStart, start: NodeStart): Promise<SupervisedProcess> {
  const { options, context, door, supervise, owner } = start;
  const { home } = context.held;
  const kernel = { owner: kernelOwner(home), namespace: ownNetworkNamespace, log: context.log };
  owner.defer(() => context.clock.external(cleanUpNetworkComponents(kernel)));
  const { bridge, gateway, podCidr, clusterCidr, ipv6, cniConfigFile } = network;
  const listed = (...values: readonly (string | undefined)[]) => values.filter((value) => value !== undefined).join(",") || undefined;
  const known = {
    ...{ kubeconfig: door.kubeconfig, "node-name": options.nodeName, "node-ip": machine.nodeIps.join(","), owner: kernel.owner },
    ...{ bridge, gateway: listed(gateway, ipv6?.gateway), "pod-cidr": listed(podCidr, ipv6?.podCidr) },
    ...{ "cluster-cidr": listed(clusterCidr, ipv6?.clusterCidr), "cluster-dns": listed(...clusterDns) },
    "cni-config": cniConfigFile,
    "network-dir": home.networkDirectory,
  };
  const words = Object.entries(known).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
  return supervise("started network", {
    name: "network",
    logFile: componentLog(home, "network"),
    ready: NETWORK_STATUS,
    onLine: (line) => reported.read("network", line),
    words: () => [
      "network",
      ...words,
      `--without=${networkPolicy.name}`,
      ...formatFlagArguments(networkFlags("cluster"), options.networkValues),
    ],
  });
}

/** The server itself determines the names in its certificate. */
function pkiOf(directory: string, clock: Clock): Promise<Pki> {
  return openPki({ place: pkiDirectory(directory, clock), maker: machineMaker, servingNames: [], nowMs: clock.now() });
}

/**
 * Simulated nodes impersonate their users, so the kubeconfig is the administrator's. They are nodes of this home, and an earlier start may
 * have left a real node of the same name; the lock of the home guarantees that its kubelet no longer runs.
 */
async function startNodes(count: number, { options, context, door, supervise }: NodeStart): Promise<SupervisedProcess> {
  const { held, clock } = context;
  const { home } = held;
  const { namePrefix } = fleetFor(count, { options, context });
  const directory = certificateDirectory(options);
  return supervise(`registered ${count === 1 ? "1 simulated node" : `${count} simulated nodes`}`, {
    name: "process of the simulated nodes",
    logFile: componentLog(home, "nodes"),
    ready: /^simulated nodes? .* listening on port \d+$/,
    async words() {
      const nodeIp = reachableAddress() ?? "127.0.0.1";
      const words = [
        "simulated-nodes",
        `--kubeconfig=${door.kubeconfig}`,
        `--count=${count}`,
        `--name-prefix=${namePrefix}`,
        "--take-over",
      ];
      const access = [`--node-ip=${nodeIp}`, `--client-ca-file=${joinPath(directory, "ca.crt")}`];
      return [...words, ...access, ...(await clock.external(servingWords(directory, nodeIp, clock)))];
    },
  });
}

function fleetFor(count: number, { options: { store, nodeName }, context: { held } }: Pick<NodeStart, "options" | "context">): FleetConfig {
  return simulatedFleet({ count, driver: store.driver, nodeName, clusterName: held.home.name });
}

function firstSimulated(count: number, start: NodeStart): string | undefined {
  return count === 0 ? undefined : fleetNames(fleetFor(count, start))[0];
}

/** Without the CA key the nodes generate a self-signed certificate, which an API server without --kubelet-certificate-authority accepts. */
async function servingWords(directory: string, nodeIp: string, clock: Clock): Promise<readonly string[]> {
  if (!(await fileExists(joinPath(directory, "ca.key")))) return [];
  const options = { path: joinPath(directory, "kubelet", "simulated-nodes"), name: "simulated-nodes", addresses: [nodeIp] };
  const { certificate, key } = await writeServingFiles({ ...options, pki: await pkiOf(directory, clock) }, clock.now());
  return [`--tls-cert-file=${certificate}`, `--tls-private-key-file=${key}`];
}

/** If another kubelet has the default port, any other will do: it is published in the Node. */
async function kubeletPort(): Promise<number> {
  return tryPort({ host: "0.0.0.0", port: KUBELET_PORT }).then(
    () => KUBELET_PORT,
    () => 0,
  );
}
