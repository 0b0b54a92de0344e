/**
 * Terminates everything that runs on a node after its kubelet has stopped, and releases what the machine holds for it. Nothing is reported
 * to the API: the next kubelet finds the Pods as they were, and the runtime keeps exit codes and logs, as after a reboot. Never rejects:
 * what cannot be stopped now is handled by the next start.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { EventRecorder } from "../../client/events/event-recorder.ts";
import { PodActions } from "./pod-actions.ts";
import type { PodMachine } from "../contracts/pod-machine.ts";
import { PodWorkerMemory } from "./pod-state.ts";
import { planPod } from "./plan/pod-plan.ts";
import type { PodAction } from "./plan/plan-contract.ts";
import type { Runtime, SandboxStatus } from "../contracts/runtime.ts";

export interface StopPodsOptions {
  readonly runtime: Runtime;
  readonly machine: PodMachine | undefined;
  readonly hostIps: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Upper bound: Pods with a shorter grace period keep it. */
  readonly graceMs: number;
  /** The kubelet will not start again: exited containers are removed from the runtime. */
  readonly isForGood?: boolean;
}

/** `pods`: the Pods of the node by uid. */
export async function stopPods(pods: ReadonlyMap<string, Pod>, options: StopPodsOptions): Promise<void> {
  const { runtime, machine, log } = options;
  try {
    const there = (await runtime.list()).map((sandbox) => ({ sandbox, pod: pods.get(sandbox.podUid) ?? unknownPod(sandbox) }));
    const stopAll = (some: typeof there) => Promise.all(some.map(({ pod, sandbox }) => stopPod(pod, sandbox, options)));
    await stopAll(there.filter(({ pod }) => !isDriver(pod)));
    await stopAll(there.filter(({ pod }) => isDriver(pod)));
    // Pods without a sandbox may have volumes, too.
    for (const uid of (await machine?.orphanedPods()) ?? []) await machine?.release(uid, { willRestart: pods.has(uid) });
  } catch (error) {
    log.warn("Cannot stop the Pods of this node", { error });
  }
}

/** A Pod that registers with the kubelet. Its driver has to unmount the volumes of other Pods first. */
function isDriver({ spec }: Pod): boolean {
  return (spec?.volumes ?? []).some(({ hostPath }) => hostPath?.path.split("/").includes("plugins_registry") === true);
}

/** Releases resources of Pods that no longer exist. */
export async function releaseLeftovers(
  isKnown: (podUid: string) => boolean,
  { machine, log }: { readonly machine: PodMachine; readonly log: Logger },
): Promise<void> {
  const warn = (error: unknown): void => log.warn("Cannot release the resources of orphaned Pods", { error });
  const left = await machine.orphanedPods().catch(warn);
  for (const uid of left ?? []) if (!isKnown(uid)) await machine.release(uid).catch(warn);
}

/** Some runtimes report an error if a container exits while it is being stopped; a second look shows that it has exited. */
const ATTEMPTS_MAX = 3;

async function stopPod(pod: Pod, sandbox: SandboxStatus, options: StopPodsOptions): Promise<void> {
  const { runtime, machine, log } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      const there = attempt === 1 ? sandbox : await runtime.status(sandbox.podUid);
      if (there !== undefined) await endPod(pod, there, options);
      return await machine?.release(sandbox.podUid, { willRestart: true });
    } catch (error) {
      if (attempt < ATTEMPTS_MAX) continue;
      return log.warn("Cannot stop a Pod", { pod: `${sandbox.namespace}/${sandbox.name}`, error });
    }
  }
}

/** As for a Pod that has left the API, but exited containers are kept. */
async function endPod(pod: Pod, sandbox: SandboxStatus, options: StopPodsOptions): Promise<void> {
  const { clock, graceMs, isForGood = false } = options;
  const memory = new PodWorkerMemory();
  const ignored = (): void => undefined;
  const acts = new PodActions({
    ...options,
    memory,
    recorder: silentRecorder,
    onImage: ignored,
    onCompleted: ignored,
    isDesired: () => false,
  });
  const { actions } = planPod({ pod, isOrphaned: true, sandbox, memory, nowMs: clock.now() });
  const hasRun = sandbox.containers.some(({ state }) => state.is !== "created");
  const wanted = isForGood || !hasRun ? actions : [...neverBegun(sandbox), ...actions.filter((action) => action.do !== "remove-sandbox")];
  const hasty = wanted.map((action) => hastened(action, graceMs));
  await Promise.all(await acts.perform(pod, hasty, sandbox));
}

/** Containers that were created and never ran hold no information, and cannot be started in another sandbox. */
function neverBegun({ containers }: SandboxStatus): readonly PodAction[] {
  return containers.flatMap(({ id, state }) => (state.is === "created" ? [{ do: "remove-container" as const, id }] : []));
}

function hastened(action: PodAction, graceMs: number): PodAction {
  return action.do === "stop-containers" ? { ...action, graceMs: Math.min(action.graceMs, graceMs) } : action;
}

function unknownPod({ namespace, name, podUid }: SandboxStatus): Pod {
  return { apiVersion: "v1", kind: "Pod", metadata: { namespace, name, uid: podUid } };
}

const silentRecorder: EventRecorder = {
  record: () => undefined,
  flushed: () => Promise.resolve(),
  dropped: 0,
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
