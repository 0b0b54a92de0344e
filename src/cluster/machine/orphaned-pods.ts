/**
 * Stops orphaned Pods of this cluster, whose k8ts process is dead: they are found in the container runtimes of earlier runs, whatever the
 * record says, and stopped gracefully. If the cluster's own containerd is dead, too, it is started for that. Used by commands that stop a
 * cluster, and by starts, which take over only the Pods in the runtime that they use. Not here: other leftovers on the machine
 * (clean-up-machine.ts).
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
  /** Endpoint of the runtime whose Pods are taken over. Absent: none. */
  readonly keep?: string;
  readonly environment: Environment;
  readonly steps: Steps;
  readonly clock: Clock;
  readonly log: Logger;
}

/** At start: stops all Pods that are not taken over; if the start runs no containers, removes all leftovers of containers. */
export async function stopOrphanedPodsElsewhere(options: OrphanedPodsOptions): Promise<void> {
  const { home, keep, steps, clock, log } = options;
  await stopOrphanedPods(options);
  if ((await foreignRuntime(home)) !== keep) await removeForeignConfiguration(home);
  if (keep !== undefined) return;
  try {
    const removed = await removeContainers(home, clock);
    if (removed.length > 0) steps.note(`  cleaned up: ${removed.join(", ")}`);
  } catch (error) {
    // A user without permission or the programs for it cannot have left anything.
    log.debug("Looking for orphaned containers failed", { error });
  }
}

/** Never rejects: failures are reported, and cleanup kills what is left. */
export async function stopOrphanedPods(options: OrphanedPodsOptions): Promise<void> {
  const { home, keep, steps, clock } = options;
  const foreign = await foreignRuntime(home);
  if (foreign !== undefined && foreign !== keep) await stopIn(foreign, options);
  const { socket, stateDirectory } = containerdFiles(machinePaths(home, clock));
  // Removed by every graceful stop.
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
    () => false, // A user without permission has not started any.
  );
}
