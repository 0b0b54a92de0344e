/** The CSI drivers of a node: their registration, the node's CSINode, and Pods that wait for a driver. */
import { nodes } from "../../api/core/v1/node.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Client } from "../../client/client.ts";
import { createClient } from "../../client/rest-client.ts";
import { ClusterDrivers } from "./cluster-drivers.ts";
import type { CallKubelet } from "./kubelet-caller.ts";
import type { CsiCallObserver } from "../../csi/client/csi-client.ts";
import { goNameOfCode } from "../../csi/csi-error.ts";
import type { KubeletMetrics } from "../../kubelet/kubelet-metrics.ts";
import type { Informers } from "../../client/informer/informer.ts";
import { AllocatableUpdates } from "../../kubelet/machine/csi/allocatable-updates.ts";
import { startSidecars } from "../../csi/sidecars/start-sidecars.ts";
import { mayUseDriver, Republishing } from "../../kubelet/machine/csi/republishing.ts";
import type { PodVolumesOptions } from "../../kubelet/machine/volumes/pod-volumes-on-disk.ts";
import { realPathOf } from "../../host/files/shared-directory.ts";
import { CsiDrivers } from "../../kubelet/machine/csi/csi-drivers.ts";
import type { DriverCalls } from "../../kubelet/contracts/driver-calls.ts";
import type { PluginHandler } from "../../kubelet/contracts/plugin-handler.ts";
import { CsiNodeManager } from "../../kubelet/node/csi-node-manager.ts";
import { startPluginRegistration } from "../../kubelet/plugin-registration/plugin-registration.ts";

export interface NodeCsiOptions {
  readonly nodeName: string;
  /** The kubelet's, such as /var/lib/kubelet. */
  readonly rootDirectory: string;
  /** Has the identity of the node. */
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** For other types of plugins, which register in the same directory. */
  readonly handlers: readonly PluginHandler[];
  /** What the built-in sidecars need. Undefined: this node does not run them. */
  readonly sidecars: SidecarAccess | undefined;
  readonly random: Random;
  /** Of the node's identity. */
  readonly informers: Informers;
  readonly metrics: Pick<KubeletMetrics, "csiCalled">;
  /** Undefined while the kubelet starts. */
  kubelet(): { pods(): readonly Pod[]; retry(podUid: string): void } | undefined;
}

export interface SidecarAccess {
  /** Of their identity. */
  readonly transport: Transport;
  /** Absent: the kubelets of other nodes cannot be called. */
  readonly callKubelet?: CallKubelet;
}

export interface NodeCsi extends AsyncDisposable {
  /** What volumes of Pods need. */
  readonly volumes: NonNullable<PodVolumesOptions["csi"]>;
  /** For requests of the control plane to this node. */
  readonly calls: DriverCalls;
  /** Called once the Node is registered. */
  nodeRegistered(): void;
}

/** Drivers are searched from now on, so that the volumes of Pods that a restarted kubelet finds have theirs. */
export async function startNodeCsi(options: NodeCsiOptions): Promise<NodeCsi> {
  const { nodeName, client, clock, random, log, sidecars } = options;
  await using starting = new Disposables();
  const stop = new AbortController();
  const rootDirectory = await realPathOf(options.rootDirectory);
  const csiNode = new CsiNodeManager({ nodeName, client, clock, log });
  const drivers = starting.use(new CsiDrivers({ rootDirectory, csiNode, observerOf: callObserver(options.metrics), clock, log }));
  starting.use(drivers.listen(() => retryWaitingPods(options)));
  if (sidecars !== undefined) {
    const { transport, callKubelet } = sidecars;
    const asSidecar = createClient(transport);
    const node = (name: string) => asSidecar.get(nodes, { name });
    const all = new ClusterDrivers({ nodeName, own: drivers, callKubelet, node, clock });
    starting.use(startSidecars({ drivers: all, transport, clock, random, log }));
  }
  starting.use(await startPluginRegistration({ rootDirectory, handlers: [drivers, ...options.handlers], clock, log }));
  let initialized: Promise<void> = Promise.resolve();
  starting.defer(async () => {
    stop.abort();
    await initialized;
  });
  const republishing = starting.use(new Republishing({ ...options, drivers: () => drivers.list().map(({ name }) => name) }));
  starting.use(new AllocatableUpdates({ drivers, informers: options.informers, clock, log }));
  const owned = starting.move();
  return {
    calls: drivers,
    volumes: {
      driver: (name) => drivers.driver(name),
      listenToRepublish: (listener) => republishing.listen(listener),
      limitReached(name) {
        const failed = (error: unknown): void => log.warn("Updating the volume limit of a CSI driver failed", { driver: name, error });
        drivers.publishInfo(name, stop.signal).catch(failed);
      },
    },
    nodeRegistered() {
      initialized = csiNode.initialize(stop.signal).catch(() => undefined); // It retries until it is stopped.
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

function callObserver(metrics: NodeCsiOptions["metrics"]): (driver: string) => CsiCallObserver {
  return (driver) => ({ called: ({ code, ...call }) => metrics.csiCalled(driver, { ...call, code: goNameOfCode(code) }) });
}

function retryWaitingPods({ kubelet }: NodeCsiOptions): void {
  const running = kubelet();
  for (const { metadata, spec } of running?.pods() ?? []) {
    if (mayUseDriver(spec) && metadata.uid !== undefined) running?.retry(metadata.uid);
  }
}
