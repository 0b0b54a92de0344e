/**
 * Stops a cluster's Pods on this machine without a kubelet: it was killed, was not restarted, or never will be (`isForGood`: then their
 * sandboxes and containers are removed from the runtime, too). Containers get a grace period, but lifecycle hooks are not run, because the
 * Pod specs are unknown. Volumes and cgroups are removed. The API is not updated: the next start runs the Pods again.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { removeCgroup } from "../../host/kernel/cgroup-tree.ts";
import { unmountUnder } from "../../host/kernel/mounts.ts";
import { askVersion } from "../../kubelet/machine/containerd/runtime-version.ts";
import { openCriRuntime } from "../../kubelet/runtime/cri/cri-runtime.ts";
import { stopPods } from "../../kubelet/pod/stop-pods.ts";
import type { ClusterHome } from "../home/cluster-home.ts";
import { machineCgroup, machineOwner } from "./container-paths.ts";
import { STOP_GRACE_MS } from "../../components/node/stop-pods-order.ts";

export interface StopMachinePodsOptions {
  readonly home: ClusterHome;
  readonly endpoint: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly isForGood?: boolean;
}

/** Number of running Pods of this cluster in a runtime. Undefined: it does not respond. */
export async function countRunningPods({ home, endpoint, clock, log }: StopMachinePodsOptions): Promise<number | undefined> {
  try {
    await askVersion(endpoint, { clock });
    await using runtime = await openCriRuntime({ endpoint, owner: machineOwner(home), clock, log });
    const pods = await runtime.list();
    return pods.filter(({ state, containers }) => state === "ready" || containers.some((one) => one.state.is === "running")).length;
  } catch (error) {
    log.debug("The container runtime does not respond", { endpoint, error });
    return undefined;
  }
}

/** Never rejects: what cannot be stopped is removed by cleanup, or found by the next start. */
export async function stopMachinePods({ home, endpoint, clock, log, isForGood = false }: StopMachinePodsOptions): Promise<void> {
  try {
    await using runtime = await openCriRuntime({ endpoint, owner: machineOwner(home), clock, log });
    await stopPods(new Map(), { runtime, machine: undefined, hostIps: [], clock, log, graceMs: STOP_GRACE_MS, isForGood });
    await unmountUnder(home.kubeletDirectory);
    await removeCgroup(machineCgroup(home));
  } catch (error) {
    // The causes would repeat the message.
    log.warn("Stopping orphaned Pods failed", { endpoint, reason: (error as Error).message });
  }
}
