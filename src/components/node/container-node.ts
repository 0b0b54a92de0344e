/**
 * A node that runs containers: the kubelet with a container runtime, volumes, network and HTTPS server. Used by `k8ts up`, with the API
 * server in the same process, and by `k8ts kubelet`, over HTTPS.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Client } from "../../client/client.ts";
import { createInformers } from "../../client/informer/informers.ts";
import { IN_PROCESS_HOST, RequestMetrics } from "../../client/request-metrics.ts";
import { generateKey } from "../../host/crypto/keys.ts";
import { createClient } from "../../client/rest-client.ts";
import { removeCgroup } from "../../host/kernel/cgroup-tree.ts";
import { cgroupSettings } from "../../host/kernel/cgroup-settings.ts";
import { cgroupUsage } from "../../host/kernel/cgroup-usage.ts";
import { cgroupVersion, makeCgroup } from "../../host/kernel/cgroups.ts";
import { fileTree } from "../../host/files/file-tree.ts";
import { joinPath, makePrivateDirectory, readWhole } from "../../host/files/files.ts";
import { realPathOf } from "../../host/files/shared-directory.ts";
import { shareMounts } from "../../host/kernel/shared-mounts.ts";
import { diskBytes, machineFacts } from "../../host/kernel/machine-facts.ts";
import { ListenError } from "../../host/http/server.ts";
import { startStorageEviction } from "../../kubelet/eviction/storage-eviction.ts";
import { startKubelet, type Kubelet } from "../../kubelet/kubelet.ts";
import { machineNodeFacts } from "../../kubelet/machine/machine-node-facts.ts";
import { MachinePods, podCredentials } from "../../kubelet/machine/machine-pods.ts";
import { PodStorageOnDisk } from "../../kubelet/machine/pod-storage-on-disk.ts";
import { startPodVolumes } from "../../kubelet/machine/volumes/pod-volumes-on-disk.ts";
import { volumeImages } from "../../kubelet/machine/volumes/volume-images.ts";
import { claimStatusWriter } from "../../kubelet/machine/volumes/volume-expansion.ts";
import { hostIpsOf, type NodeFacts } from "../../kubelet/node/node-facts.ts";
import { allocatableOf } from "../../kubelet/node/node-object.ts";
import type { DriverCalls } from "../../kubelet/contracts/driver-calls.ts";
import type { PodStorageSource } from "../../kubelet/contracts/pod-storage.ts";
import { startReferences } from "../../kubelet/references/object-references.ts";
import { parseResolvConf } from "../../kubelet/container-config/dns.ts";
import type { NodeView } from "../../kubelet/container-config/node-view.ts";
import { nodeCgroups, podCgroup, podsCgroup } from "../../kubelet/container-config/pod-cgroup.ts";
import type { ServedKubelet } from "../../kubelet/server/call.ts";
import type { UsageStats } from "../../kubelet/contracts/runtime.ts";
import { startKubeletServer, type KubeletServer } from "../../kubelet/server/kubelet-server.ts";
import { startPodCertificates } from "../../kubelet/certificates/pod-certificates.ts";
import { startServiceAccountTokens } from "../../kubelet/references/service-account-tokens.ts";
import { startNodeCsi } from "./csi.ts";
import { startNodeDra } from "./dra.ts";
import { kubeletConfiguration } from "./kubelet-configuration.ts";
import { machineStatistics } from "./machine-statistics.ts";
import { startNodePressure } from "./node-pressure.ts";
import type { ContainerNodeOptions } from "./container-node-options.ts";
import { accessRules } from "./server-access.ts";

export interface ContainerNode extends AsyncDisposable {
  readonly kubelet: Kubelet;
  readonly server: KubeletServer;
  /**
   * Stops the Pods and removes their state on this machine except files; the API is not updated, and the next start continues as after a
   * reboot.
   */
  stopPods(options: { readonly graceMs: number }): Promise<void>;
}

/** Resolves when the Node is registered and its Pods are reconciled. */
export async function startContainerNode(options: ContainerNodeOptions): Promise<ContainerNode> {
  const { nodeName, runtime, clock, random, log, metrics } = options;
  const requests = new RequestMetrics(clock);
  const transport = requests.counted(options.transport, options.apiServerHost ?? IN_PROCESS_HOST);
  await using starting = new Disposables();
  const client = createClient(transport).with({ fieldManager: "kubelet" });
  const informers = starting.use(createInformers({ transport, clock, random, log }));
  const references = starting.use(startReferences({ client, informers, clock, random, log }));
  const tokens = starting.use(startServiceAccountTokens({ client, clock, random, log }));
  const late: { kubelet?: Kubelet; storage?: PodStorageOnDisk; calls?: DriverCalls } = {};
  const podCertificates = starting.use(
    startPodCertificates({
      ...{ nodeName, client, informers, clock, random, log },
      node: (signal) => references.node(nodeName, signal),
      newKey: (type) => clock.external(generateKey(type)),
      record: (about, event) => late.kubelet?.record(about, event),
    }),
  );
  const directories = await makeDirectories(options);
  starting.use(await sharedVolumes(options));
  const cgroups = cgroupsOf(options);
  // First, because the Node publishes the kubelet's port.
  const server = starting.use(
    await startServer(
      options,
      lateKubelet(options, () => late.kubelet),
      {
        ...{ client, requests, cgroups },
        podStorage: async (pod) => (await late.storage?.of(pod)) ?? { volumes: [], logs: new Map() },
        driverCalls: { call: async (...call) => (await late.calls?.call(...call)) ?? { is: "missing" } },
      },
    ),
  );
  const facts = await factsOf(options, server.port);
  const { rootDirectory } = options;
  const plugins = { nodeName, rootDirectory, client, clock, log, kubelet: () => late.kubelet };
  const dra = starting.use(await startNodeDra({ ...plugins, metrics, runtimeVersion: runtime.version }));
  const csi = starting.use(
    await startNodeCsi({ ...plugins, random, metrics, informers, handlers: [dra.handler], sidecars: options.csiSidecars }),
  );
  late.calls = csi.calls;
  const images = volumeImages({
    runtime,
    credentials: (pod, image) => podCredentials(pod, image, references),
    record: (pod, event) => late.kubelet?.record(pod, event),
    clock,
  });
  const volumes = starting.use(
    await startPodVolumes({
      ...{ rootDirectory, nodeName, references, tokens, podCertificates, csi: csi.volumes },
      nodeAllocatable: () => allocatableOf(facts.capacity, facts),
      reportVolumesInUse: async () => (await late.kubelet?.reportVolumesInUse()) ?? [],
      claims: { writeStatus: claimStatusWriter(client), record: (about, event) => late.kubelet?.record(about, event) },
      ...(images === undefined ? {} : { images }),
      metrics,
      clock,
      log,
    }),
  );
  const storage = new PodStorageOnDisk({
    ...{ volumes, directories, clock },
    abnormal: (pod, { name, message }) =>
      late.kubelet?.record(pod, { type: "Warning", reason: "VolumeConditionAbnormal", message: `Volume ${name}: ${message}` }),
  });
  late.storage = storage;
  const view = { ...(await nodeViewOf(options, facts)), directories, cgroups };
  const machine = new MachinePods({
    ...{ node: () => view, volumes, references, devices: dra.devices, runtime, client, hasCgroups: cgroups.isOwn, metrics, clock, log },
    ...(options.admitPod === undefined ? {} : { admitToNetwork: options.admitPod }),
  });
  starting.use(references.listen((podUid) => late.kubelet?.retry(podUid)));
  const kubelet = await startKubelet({
    ...{ nodeName, facts, transport, runtime, machine, clock, random, log, metrics },
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(options.onPull === undefined ? {} : { onPull: options.onPull }),
  });
  late.kubelet = kubelet;
  csi.nodeRegistered();
  dra.nodeRegistered();
  starting.defer(() => kubelet.stop());
  starting.use(
    startStorageEviction({
      pods: () => kubelet.activePods(),
      storageOf: (pod) => storage.of(pod),
      stats: async () => (await runtime.stats?.()) ?? [],
      evict: (podUid, message) => kubelet.evict(podUid, { message }),
      ...{ metrics, clock, log },
    }),
  );
  const { pressure: settings } = options;
  starting.use(
    startNodePressure({ ...{ settings, kubelet, runtime, rootDirectory, metrics, clock, log }, storageOf: (pod) => storage.of(pod) }),
  );
  const owned = starting.move();
  return {
    kubelet,
    server,
    async stopPods({ graceMs }) {
      await kubelet.stopPods({ graceMs });
      if (cgroups.isOwn) await removeCgroup(options.cgroupRoot).catch((error: unknown) => log.warn("Removing cgroups failed", { error }));
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

function lateKubelet({ nodeName, runtime }: ContainerNodeOptions, kubelet: () => Kubelet | undefined): ServedKubelet {
  return {
    nodeName,
    runtime,
    pod: (name) => kubelet()?.pod(name),
    pods: () => kubelet()?.pods() ?? [],
    container: async (...asked) => kubelet()?.container(...asked),
  };
}

interface ServerParts {
  readonly client: Client;
  readonly requests: RequestMetrics;
  readonly cgroups: OwnCgroups;
  readonly podStorage: PodStorageSource;
  readonly driverCalls: DriverCalls;
}

async function startServer(options: ContainerNodeOptions, kubelet: ServedKubelet, parts: ServerParts): Promise<KubeletServer> {
  const { host, port, mayMove, tls } = options.server;
  const { client, requests, cgroups, podStorage, driverCalls } = parts;
  const { clock, metrics } = options;
  const started: { server?: KubeletServer } = {};
  const start = (at: number): Promise<KubeletServer> =>
    startKubeletServer({
      ...{ kubelet, host, port: at, tls, clock, log: options.log },
      ...accessRules(options.server, client),
      nodeNumbers: machineStatistics({ ...options, ...(cgroups.isOwn ? { podsCgroup: podsCgroup(cgroups).path } : {}) }),
      cgroupUsage: (cgroup) => usageAt(cgroup, clock),
      cgroupSettings,
      machine: machineFacts(),
      cgroupOf: (pod, containerId) => cgroupOf(pod, containerId, cgroups),
      podStorage,
      driverCalls,
      nodeLogs: fileTree(NODE_LOG_DIRECTORY),
      metrics,
      requests,
      configuration: () => kubeletConfiguration(options, { port: started.server?.port, cgroups }),
    });
  started.server = await start(port).catch((error: unknown) => {
    if (mayMove && error instanceof ListenError && error.code === "EADDRINUSE") return start(0);
    throw error;
  });
  return started.server;
}

/** Upstream's path. Served to users that may get nodes/log. */
const NODE_LOG_DIRECTORY = "/var/log";

/** cgroup of containers whose Pods have none. */
const RUNTIME_CGROUP = "/k8s.io";

function cgroupOf(pod: Pod, containerId: string | undefined, cgroups: OwnCgroups): string {
  const path = cgroups.isOwn ? podCgroup(pod, cgroups).path : RUNTIME_CGROUP;
  if (containerId === undefined) return cgroups.isOwn ? path : "";
  return `${path}/${cgroups.driver === "systemd" ? `cri-containerd-${containerId}.scope` : containerId}`;
}

async function usageAt(cgroup: string, clock: Clock): Promise<UsageStats | undefined> {
  const usage = cgroup === "" ? undefined : await cgroupUsage(cgroup);
  return usage === undefined ? undefined : { atMs: clock.now(), ...usage };
}

async function makeDirectories({ rootDirectory, podLogDirectory }: ContainerNodeOptions): Promise<NodeView["directories"]> {
  for (const directory of [rootDirectory, podLogDirectory]) await makePrivateDirectory(directory);
  return { logs: podLogDirectory, pods: joinPath(rootDirectory, "pods"), seccomp: joinPath(rootDirectory, "seccomp") };
}

/** Upstream's kubelet does the same: mounts of a storage driver in a container must reach the Pods, and theirs the driver. */
async function sharedVolumes({ rootDirectory, log }: ContainerNodeOptions): Promise<AsyncDisposable> {
  const none = { [Symbol.asyncDispose]: () => Promise.resolve() };
  return shareMounts(await realPathOf(rootDirectory)).catch((error: unknown) => {
    log.warn("Sharing the mounts of the kubelet's directory failed: storage drivers in containers do not work", { error });
    return none;
  });
}

async function factsOf(options: ContainerNodeOptions, kubeletPort: number): Promise<NodeFacts> {
  const { nodeName, nodeIps, podsMax, labels, taints, podCidrs, reserved } = options;
  const { totalBytes } = await diskBytes(options.rootDirectory);
  return machineNodeFacts({
    ...{ nodeName, nodeIps, podsMax, kubeletPort },
    machine: machineFacts(),
    diskBytes: totalBytes,
    ...(labels === undefined ? {} : { labels }),
    ...(taints === undefined ? {} : { taints }),
    ...(podCidrs === undefined ? {} : { podCidrs }),
    ...(reserved === undefined ? {} : { reserved }),
  });
}

type OwnCgroups = NodeView["cgroups"] & { readonly isOwn: boolean };

/** Inside a container there is usually no permission to create cgroups: then Pods use those of the runtime. */
function cgroupsOf({ cgroupRoot: root, runtime, log }: ContainerNodeOptions): OwnCgroups {
  const driver = runtime.setUp.usesSystemdCgroups === true ? "systemd" : "cgroupfs";
  const common = { root, driver, version: cgroupVersion(), canLimitSwap: false, hugePageSizes: hugePageSizes() } as const;
  if (driver === "systemd") return { ...common, isOwn: true };
  try {
    for (const { path } of nodeCgroups([], { root, driver, allocatable: {} })) makeCgroup(path, {});
    return { ...common, isOwn: true };
  } catch (error) {
    log.warn("Creating cgroups failed: limits apply to containers only, not to Pods", { error });
    return { ...common, isOwn: false };
  }
}

/** As in the kernel's file names. */
function hugePageSizes(): readonly string[] {
  return machineFacts().hugePages.map(({ sizeBytes }) =>
    sizeBytes >= 1 << 30 ? `${sizeBytes / (1 << 30)}GB` : `${sizeBytes / (1 << 20)}MB`,
  );
}

async function nodeViewOf(options: ContainerNodeOptions, facts: NodeFacts): Promise<Omit<NodeView, "directories" | "cgroups">> {
  const { clusterDns, clusterDomain } = options;
  const resolver = await readWhole("/etc/resolv.conf").then(
    (bytes) => ({ resolver: parseResolvConf(new TextDecoder().decode(bytes)) }),
    () => ({}),
  );
  return {
    hostIps: hostIpsOf(facts),
    capacity: facts.capacity,
    allocatable: allocatableOf(facts.capacity, facts),
    dns: { ...resolver, clusterDns, clusterDomain },
  };
}
