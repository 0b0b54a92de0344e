/**
 * Runs `lifecycle` hooks (postStart, preStop): a command in the container, an HTTP request, or a sleep. Commands and requests need real
 * processes, so a runtime that probes its containers itself (`probes`) runs none. Failures reject with upstream's messages.
 */
import type { Container, EphemeralContainer, LifecycleHandler, Pod } from "../../../api/generated/core/v1.ts";
import { NOT_NEEDED } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { execIn } from "../../exec/exec-in-container.ts";
import type { ProbeActions } from "../../contracts/probe-actions.ts";
import { httpRequestOf } from "../../probes/probe-requests.ts";
import type { Runtime } from "../../contracts/runtime.ts";
import { messageOf, podText } from "../pod-events.ts";

const SECOND_MS = 1000;

export interface HookOptions {
  readonly runtime: Runtime;
  /** Absent: the network of Pods is not reachable. */
  readonly actions: ProbeActions | undefined;
  readonly clock: Clock;
}

export interface HookPlace {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  readonly containerId: string;
  /** Undefined if the hook is not defined. */
  readonly podIp: string | undefined;
}

/** Rejects with the message for the Event. Resolves early if the signal aborts. */
export async function runHook(handler: LifecycleHandler, place: HookPlace, options: HookOptions, signal: AbortSignal): Promise<void> {
  const { runtime, clock } = options;
  const { exec, httpGet, sleep } = handler;
  if (sleep !== undefined) return clock.sleep(sleep.seconds * SECOND_MS, signal).catch(() => undefined);
  if (runtime.probes !== "kubelet") return;
  if (exec !== undefined) return runCommand(exec.command ?? [], place, options, signal);
  if (httpGet === undefined) return;
  const where = `Container "${place.container.name}" in Pod "${podText(place.pod)}"`;
  try {
    await request(httpGet, place, options, signal);
  } catch (error) {
    throw new Error(`HTTP lifecycle hook (${httpGet.path ?? ""}) for ${where} failed - error: ${messageOf(error)}`, { cause: error });
  }
}

async function runCommand(
  command: readonly string[],
  { pod, container, containerId }: HookPlace,
  { runtime, clock }: HookOptions,
  signal: AbortSignal,
): Promise<void> {
  const fail = (why: string, output: string, cause?: unknown): never => {
    const where = `Container "${container.name}" in Pod "${podText(pod)}"`;
    const message = `Exec lifecycle hook ([${command.join(" ")}]) for ${where} failed - error: ${why}, message: ${JSON.stringify(output)}`;
    throw new Error(message, { cause });
  };
  const run = execIn(containerId, command, { runtime, clock, timeoutMs: 0 }, signal).catch((error: unknown) => {
    return signal.aborted ? undefined : fail(messageOf(error), "", error);
  });
  const done = await Promise.race([run, untilAborted(signal)]);
  if (done === undefined || done.exitCode === 0) return;
  fail(`command '${command.join(" ")}' exited with ${done.exitCode}: ${done.output}`, done.output);
}

/** Any response counts as success; only a missing one is a failure. */
async function request(
  httpGet: NonNullable<LifecycleHandler["httpGet"]>,
  { container, podIp }: HookPlace,
  { actions }: HookOptions,
  signal: AbortSignal,
): Promise<void> {
  if (actions === undefined) return;
  const { host = "" } = httpGet;
  if (host === "" && podIp === undefined) throw new Error("failed to find networking container");
  const answer = await actions.http(httpRequestOf(httpGet, container, { podIp: podIp ?? "", purpose: "lifecycle" }), signal);
  if (answer.code === undefined && answer.result === "failure" && !signal.aborted) throw new Error(answer.output);
}

function untilAborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
}

/** Runs a hook with a timeout. Rejects like `runHook`. */
export async function runHookWithin(handler: LifecycleHandler, place: HookPlace, options: HookOptions, withinMs: number): Promise<void> {
  const [over, done] = [new AbortController(), new AbortController()];
  options.clock.sleep(withinMs, done.signal).then(
    () => over.abort(NOT_NEEDED),
    () => undefined, // Cancels the timeout after the hook completed.
  );
  try {
    await runHook(handler, place, options, over.signal);
  } finally {
    done.abort(NOT_NEEDED);
  }
}
