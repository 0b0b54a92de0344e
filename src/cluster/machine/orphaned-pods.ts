/**
 * Pods of this cluster that run while no k8ts is in charge of them, since the one that was is dead: found where earlier starts ran theirs,
 * whatever a record says, and stopped with their time to end. A containerd of the cluster's own that is dead, too, is started for that.
 * Used by who stops a cluster, and by starts, which take up only what is in the runtime that they use themselves.
 * Not here: what is left on the machine beside Pods (home/clean-machine.ts).
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { fileExists } from "../../host/files/files.ts";
import { leftovers } from "../../kubelet/machine/containerd/leftovers.ts";
import { containerdFiles, startOwnContainerd } from "../../kubelet/machine/containerd/own-containerd.ts";
import type { Environment } from "../../cli/framework/command.ts";
import { removeContainers } from "./clean-up-machine.ts";
import type { HeldHome } from "../home/cluster-home.ts";
import { machinePaths } from "./container-paths.ts";
import type { Steps } from "../../cli/framework/progress.ts";
import { foreignRuntime } from "./foreign-runtime.ts";
import { removeForeignConfiguration } from "./machine-network.ts";
import { ownContainerd } from "./prepare-machine.ts";
import { countRunningPods, stopMachinePods } from "./stop-machine-pods.ts";

export interface OrphanedPodsOptions {
  readonly home: HeldHome["home"];
  /** The endpoint of the runtime whose Pods are taken up. Absent: none are. */
  readonly keep?: string;
  readonly environment: Environment;
  readonly steps: Steps;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Of a start: all that it does not take up is stopped; if it runs no containers, nothing of them is left on the machine. */
export async function stopOrphanedPodsElsewhere(options: OrphanedPodsOptions): Promise<void> {
  const { home, keep, steps, clock, log } = options;
  await stopOrphanedPods(options);
  if ((await foreignRuntime(home)) !== keep) await removeForeignConfiguration(home);
  if (keep !== undefined) return;
  try {
    const removed = await removeContainers(home, clock);
    if (removed.length > 0) steps.note(`  cleaned up: ${removed.join(", ")}`);
  } catch (error) {
    // Without the right to look, or the programs for it, there is nothing that this user could have left.
    log.debug("Looking for orphaned containers failed", { error });
  }
}

/** Never rejects: what cannot be ended in good order is told, and ended otherwise by who cleans up. */
export async function stopOrphanedPods(options: OrphanedPodsOptions): Promise<void> {
  const { home, keep, steps, clock } = options;
  const foreign = await foreignRuntime(home);
  if (foreign !== undefined && foreign !== keep) await stopIn(foreign, options);
  const { socket, stateDirectory } = containerdFiles(machinePaths(home, clock));
  // Gone after every stop in good order.
  if (keep === `unix://${socket}` || !(await fileExists(stateDirectory)) || !(await hasProcesses(options))) return;
  try {
    const containerd = await startOwnContainerd(ownContainerd(options));
    await stopIn(containerd.endpoint, options);
    await containerd.stop();
  } catch (error) {
    const [sentence = ""] = (error as Error).message.split("\n");
    steps.note(`Orphaned Pods are killed without a grace period: their containerd has exited and does not start again (${sentence})`);
  }
}

async function stopIn(endpoint: string, options: OrphanedPodsOptions): Promise<void> {
  const { home, keep, steps, clock, log } = options;
  const count = await countRunningPods({ home, endpoint, clock, log });
  if (count === 0) return;
  if (count !== undefined) {
    steps.note(`stopping ${count === 1 ? "1 orphaned Pod" : `${count} orphaned Pods`} of an earlier run`);
    await steps.step("stopped Pods", () => stopMachinePods({ home, endpoint, clock, log }));
  } else if (await hasProcesses(options)) {
    const what = keep === undefined ? "Orphaned Pods are killed without a grace period" : "Pods of an earlier run are still running";
    steps.note(`${what}: their container runtime at ${endpoint} does not respond`);
  }
}

async function hasProcesses({ home, clock }: OrphanedPodsOptions): Promise<boolean> {
  return leftovers(machinePaths(home, clock)).then(
    (found) => found.some(({ is }) => is === "process"),
    () => false, // Whoever may not look has not started any.
  );
}
