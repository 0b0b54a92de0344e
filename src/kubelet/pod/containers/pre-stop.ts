/**
 * Runs `lifecycle.preStop` of a container before its stop signal. Its duration counts against the grace period; a failure is only reported
 * as an Event.
 */
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import type { EventRecorder } from "../../../client/events/event-recorder.ts";
import { runHookWithin, type HookPlace } from "./lifecycle-hooks.ts";
import type { PodMachine } from "../../contracts/pod-machine.ts";
import type { Runtime } from "../../contracts/runtime.ts";
import { recordContainerEvent } from "../pod-events.ts";

const SECOND_MS = 1000;

export interface PreStopOptions {
  readonly runtime: Runtime;
  readonly machine?: PodMachine | undefined;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly withinMs: number;
  /** Time that an earlier kubelet process already spent. */
  readonly passedMs: number;
}

/** Resolves when the hook completed or its timeout expired. Never rejects. */
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
    log.info("A preStop hook failed", { container: container.name, error });
    // The Event omits the error: it may contain a secret.
    recordContainerEvent(recorder, pod, container.name, { type: "Warning", reason: "FailedPreStopHook", message: "PreStopHook failed" });
  }
}

async function sleepUpTo(clock: Clock, durationMs: number): Promise<void> {
  if (durationMs > 0) await clock.sleep(durationMs);
}
