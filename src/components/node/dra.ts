/** Dynamic resources of a node: registration of DRA drivers, claims of Pods, and Pods that wait for a driver. */
import type { Pod } from "../../api/generated/core/v1.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Client } from "../../client/client.ts";
import { goNameOfCode } from "../../csi/csi-error.ts";
import { joinPath } from "../../host/files/files.ts";
import type { PluginHandler } from "../../kubelet/contracts/plugin-handler.ts";
import type { PodDevices } from "../../kubelet/contracts/pod-devices.ts";
import { cdiResolver } from "../../kubelet/dra/cdi-files.ts";
import { ClaimStates } from "../../kubelet/dra/claim-states.ts";
import { DeviceHealth } from "../../kubelet/dra/device-health.ts";
import type { DraCallObserver } from "../../kubelet/dra/dra-driver.ts";
import { DraDrivers } from "../../kubelet/dra/dra-drivers.ts";
import { PreparedClaims } from "../../kubelet/dra/prepared-claims.ts";
import type { KubeletMetrics } from "../../kubelet/kubelet-metrics.ts";

/** Upstream's name, in the kubelet's directory. The content is our own. */
const STATE_FILE = "dra_manager_state";
const HEALTH_FILE = "dra_health_state";

export interface NodeDraOptions {
  readonly nodeName: string;
  /** The kubelet's, such as /var/lib/kubelet. */
  readonly rootDirectory: string;
  /** "containerd://1.6.20" */
  readonly runtimeVersion: string;
  /** Has the identity of the node. */
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<KubeletMetrics, "draCalled" | "draOperation" | "countClaims">;
  /** Undefined while the kubelet starts. */
  kubelet(): { pods(): readonly Pod[]; retry(podUid: string): void; wake(podUid: string): void } | undefined;
}

export interface NodeDra extends AsyncDisposable {
  readonly devices: PodDevices;
  readonly handler: PluginHandler;
  /** Called once the Node is registered. */
  nodeRegistered(): void;
}

/** Rejects if the state of an earlier life cannot be read. */
export async function startNodeDra(options: NodeDraOptions): Promise<NodeDra> {
  const { nodeName, rootDirectory, runtimeVersion, client, clock, log, metrics } = options;
  const observer: DraCallObserver = {
    called: (driver, { code, ...call }) => metrics.draCalled(driver, { ...call, code: goNameOfCode(code) }),
  };
  const health = await DeviceHealth.open({ path: joinPath(rootDirectory, HEALTH_FILE), clock, log });
  const drivers = new DraDrivers({
    ...{ nodeName, client, clock, log, observer, health },
    onRegistered: () => retryWaitingPods(options),
    onHealthChanged: (driver, changed) => {
      for (const podUid of devices.podsWith(driver, changed)) options.kubelet()?.wake(podUid);
    },
  });
  const devices: PreparedClaims = new PreparedClaims({
    health,
    client,
    states: await ClaimStates.open(joinPath(rootDirectory, STATE_FILE)),
    clock,
    observer: metrics,
    driver: (name) => drivers.driver(name),
    addCdiDevices: cdiResolver({ runtimeVersion, log }),
  });
  metrics.countClaims(() => devices.driversInUse());
  return {
    devices,
    handler: drivers,
    nodeRegistered: () => drivers.nodeRegistered(),
    async [Symbol.asyncDispose]() {
      await drivers[Symbol.asyncDispose]();
      await health.settled();
    },
  };
}

function retryWaitingPods({ kubelet }: NodeDraOptions): void {
  const running = kubelet();
  for (const { metadata, spec, status } of running?.pods() ?? []) {
    const usesDriver = spec?.resourceClaims !== undefined || status?.extendedResourceClaimStatus !== undefined;
    if (usesDriver && metadata.uid !== undefined) running?.retry(metadata.uid);
  }
}
