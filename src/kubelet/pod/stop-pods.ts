/**
 * Ends all that runs on a node when its kubelet has stopped, and gives back what the machine had for it. The API is told nothing: whoever
 * starts next finds the Pods there as they were, and the runtime still knows how their containers ended and what they said, as after a
 * reboot. Nothing here rejects: what cannot be ended now is found by the next start.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { EventRecorder } from "../../client/events/event-recorder.ts";
import { PodActs } from "./pod-actions.ts";
import type { PodMachine } from "../contracts/pod-machine.ts";
import { OwnMemory } from "./pod-state.ts";
import { planPod, type PodAction } from "./plan/pod-plan.ts";
import type { Runtime, SandboxStatus } from "../contracts/runtime.ts";

export interface StopPodsOptions {
  readonly runtime: Runtime;
  readonly machine: PodMachine | undefined;
  readonly hostIps: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
  /** At most: Pods that want less get less. */
  readonly graceMs: number;
  /** Nobody will start again: of what has ended, nothing is kept in the runtime. */
  readonly isForGood?: boolean;
}

/** `pods`: those that the node had, by uid. */
export async function stopPods(pods: ReadonlyMap<string, Pod>, options: StopPodsOptions): Promise<void> {
  const { runtime, machine, log } = options;
  try {
    const there = await runtime.list();
    await Promise.all(there.map((sandbox) => stopPod(pods.get(sandbox.podUid) ?? unknownPod(sandbox), sandbox, options)));
    // Those that nothing ran of may have volumes, too.
    for (const uid of (await machine?.orphanedPods()) ?? []) await machine?.release(uid, { willRestart: pods.has(uid) });
  } catch (error) {
    log.warn("Cannot stop the Pods of this node", { error });
  }
}

/** What the machine still has of Pods that nobody knows any more. */
export async function releaseLeftovers(
  isKnown: (podUid: string) => boolean,
  { machine, log }: { readonly machine: PodMachine; readonly log: Logger },
): Promise<void> {
  const warn = (error: unknown): void => log.warn("Cannot remove what is left of Pods that are gone", { error });
  const left = await machine.orphanedPods().catch(warn);
  for (const uid of left ?? []) if (!isKnown(uid)) await machine.release(uid).catch(warn);
}

/** A container that ends while it is asked to is an error to some runtimes; looked at again, it has ended. */
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

/** As when a Pod has left the API, but what ran stays to be looked at. */
async function endPod(pod: Pod, sandbox: SandboxStatus, options: StopPodsOptions): Promise<void> {
  const { clock, graceMs, isForGood = false } = options;
  const memory = new OwnMemory();
  const ignored = (): void => undefined;
  const acts = new PodActs({ ...options, memory, recorder: silentRecorder, onImage: ignored, onStart: ignored, isWanted: () => false });
  const { actions } = planPod({ pod, isGone: true, sandbox, memory, nowMs: clock.now() });
  const hasRun = sandbox.containers.some(({ state }) => state.is !== "created");
  const wanted = isForGood || !hasRun ? actions : [...neverBegun(sandbox), ...actions.filter((action) => action.do !== "remove-sandbox")];
  const hasty = wanted.map((action) => hastened(action, graceMs));
  await Promise.all(await acts.perform(pod, hasty, sandbox));
}

/** What was made and never ran says nothing, and cannot be started in another sandbox. */
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
