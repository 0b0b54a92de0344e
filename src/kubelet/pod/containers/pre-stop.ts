/**
 * What a container wants done before it is asked to end (`lifecycle.preStop`). It takes from the time that the container has; whether it
 * succeeds only matters to people.
 */
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import type { EventRecorder } from "../../../client/events/event-recorder.ts";
import { runHookWithin, type HookPlace } from "./lifecycle-hooks.ts";
import type { PodMachine } from "../../contracts/pod-machine.ts";
import type { Runtime } from "../../contracts/runtime.ts";
import { tellContainer } from "../pod-events.ts";

const SECOND_MS = 1000;

export interface PreStopOptions {
  readonly runtime: Runtime;
  readonly machine?: PodMachine | undefined;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly withinMs: number;
  /** A kubelet before this one has waited for so long. */
  readonly passedMs: number;
}

/** Resolves when it is done, or at the end of its time. Never rejects. */
export async function runPreStop(place: HookPlace, options: PreStopOptions): Promise<void> {
  const { runtime, machine, recorder, clock, log, withinMs, passedMs } = options;
  const { pod, container } = place;
  const hook = container.lifecycle?.preStop;
  if (hook === undefined) return;
  if (hook.sleep !== undefined) return sleepUpTo(clock, Math.min(hook.sleep.seconds * SECOND_MS - passedMs, withinMs));
  if (runtime.probes !== "kubelet") return;
  try {
    await runHookWithin(hook, place, { runtime, actions: machine?.probes, clock }, withinMs);
  } catch (error) {
    log.info("A hook before stopping failed", { container: container.name, error });
    // What went wrong is not told: it may be secret.
    tellContainer(recorder, pod, container.name, { type: "Warning", reason: "FailedPreStopHook", message: "PreStopHook failed" });
  }
}

async function sleepUpTo(clock: Clock, durationMs: number): Promise<void> {
  if (durationMs > 0) await clock.sleep(durationMs);
}
