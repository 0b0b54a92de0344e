/**
 * What a container wants done before it is asked to end (`lifecycle.preStop`). It takes from the time that the container has. Commands run
 * only where there are real processes: a runtime that looks by itself whether its containers are well (`probes`) has none.
 * Not here: hooks that ask over the network, for which a kubelet needs a way into the Pods' network; they are passed over.
 */
import type { Container, EphemeralContainer } from "../api/generated/core/v1.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Runtime, RuntimeContainer } from "./runtime.ts";

const SECOND_MS = 1000;

export interface PreStopOptions {
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly log: Logger;
  readonly withinMs: number;
  /** A kubelet before this one has waited for so long. */
  readonly passedMs: number;
}

/** Resolves when it is done, or at the end of its time. Never rejects. */
export async function runPreStop(
  { lifecycle }: Container | EphemeralContainer,
  { id, name }: RuntimeContainer,
  { runtime, clock, log, withinMs, passedMs }: PreStopOptions,
): Promise<void> {
  const hook = lifecycle?.preStop;
  if (hook === undefined) return;
  if (hook.sleep !== undefined) return sleepUpTo(clock, Math.min(hook.sleep.seconds * SECOND_MS - passedMs, withinMs));
  const command = hook.exec?.command;
  if (command === undefined || runtime.probes !== "kubelet") return;
  const done = new AbortController();
  const timeIsUp = clock.sleep(withinMs, done.signal).catch(() => undefined);
  const ignored = (): void => {};
  const run = runtime.exec(id, command, { output: ignored, error: ignored }, done.signal).catch((error: unknown) => {
    log.info("A hook before stopping failed", { container: name, error });
  });
  await Promise.race([run, timeIsUp]);
  done.abort();
}

async function sleepUpTo(clock: Clock, durationMs: number): Promise<void> {
  if (durationMs > 0) await clock.sleep(durationMs);
}
