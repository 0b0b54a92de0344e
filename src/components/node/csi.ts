/** The CSI drivers of a node: their registration, the node's CSINode, and Pods that wait for a driver. */
import type { Pod } from "../../api/generated/core/v1.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Client } from "../../client/client.ts";
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
  /** Of the identity of the built-in sidecars. Undefined: this node does not run them. */
  readonly sidecarsTransport: Transport | undefined;
  readonly random: Random;
  /** Of the node's identity. */
  readonly informers: Informers;
  readonly metrics: Pick<KubeletMetrics, "csiCalled">;
  /** Undefined while the kubelet starts. */
  kubelet(): { pods(): readonly Pod[]; retry(podUid: string): void } | undefined;
}

export interface NodeCsi extends AsyncDisposable {
  /** What volumes of Pods need. */
  readonly volumes: NonNullable<PodVolumesOptions["csi"]>;
  /** Called once the Node is registered. */
  nodeRegistered(): void;
}

/** Drivers are searched from now on, so that the volumes of Pods that a restarted kubelet finds have theirs. */
export async function startNodeCsi(options: NodeCsiOptions): Promise<NodeCsi> {
  const { nodeName, client, clock, random, log, sidecarsTransport: transport } = options;
  await using starting = new Disposables();
  const stop = new AbortController();
  const rootDirectory = await realPathOf(options.rootDirectory);
  const csiNode = new CsiNodeManager({ nodeName, client, clock, log });
  const drivers = starting.use(new CsiDrivers({ rootDirectory, csiNode, observerOf: callObserver(options.metrics), clock, log }));
  starting.use(drivers.listen(() => retryWaitingPods(options)));
  // Before drivers are searched: the first one starts them.
  if (transport !== undefined) starting.use(startSidecars({ drivers, transport, clock, random, log }));
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
    volumes: { driver: (name) => drivers.driver(name), listenToRepublish: (listener) => republishing.listen(listener) },
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
