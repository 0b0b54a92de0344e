/**
 * One container of a simulated Pod. It stores its script and the operations on it, and computes the rest from the current time. A rewritten
 * script applies as if it had always been so, except to exited containers: a restarted driver knows no more. It sets an alarm only if its
 * script has a future change, and notifies its owner when that happens.
 */
import { onAbort } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import {
  RuntimeError,
  type ContainerStats,
  type ExecStreams,
  type LogLine,
  type LogOptions,
  type RuntimeContainer,
} from "../../contracts/runtime.ts";
import type { Alarms, AlarmSeat } from "./alarms.ts";
import { KILLED_EXIT_CODE, reasonOf, type ContainerScript } from "./script.ts";
import type { ExecScript } from "./settings.ts";
import { endOf, logLine, stateAt, type Life, type Observation } from "./state.ts";
import { amountAt, cpuNanosecondsBetween } from "./usage.ts";

/** Its constant properties. */
export interface ContainerFacts {
  readonly id: string;
  readonly podUid: string;
  readonly name: string;
  readonly attempt: number;
  readonly image: string;
  readonly imageId: string;
  readonly createdAtMs: number;
}

export interface ContainerOwner {
  readonly clock: Clock;
  readonly alarms: Alarms;
  /** The state changed without a preceding request. */
  changed(podUid: string): void;
}

/** Exit code of a shell for a missing program. */
const NOT_FOUND_EXIT_CODE = 127;

export class SimulatedContainer {
  readonly facts: ContainerFacts;
  #script: ContainerScript;
  readonly #owner: ContainerOwner;
  /** Undefined: it was not started. */
  #life: Life | undefined;
  /** CPU time used under earlier scripts. */
  #counted: { readonly atMs: number; readonly nanoseconds: number } | undefined;
  /** When its start was requested. */
  #startRequestedAtMs: number | undefined;
  #starting: Promise<void> | undefined;
  #alarm: AlarmSeat | undefined;
  /** Waiters that check again after each change. Most containers never have one. */
  #waiting: Set<() => void> | undefined;
  /** Why waiting is pointless: it was removed, or the runtime stopped. */
  #removedBecause: RuntimeError | undefined;

  /** `past`: recovered state of a container from before this driver. Without a life, its start was in progress. */
  constructor(facts: ContainerFacts, script: ContainerScript, owner: ContainerOwner, past?: { readonly life: Life | undefined }) {
    this.facts = facts;
    this.#script = script;
    this.#owner = owner;
    this.#life = past?.life;
    this.#startRequestedAtMs = past === undefined ? undefined : facts.createdAtMs;
    this.#setAlarm();
  }

  status(): RuntimeContainer {
    const { podUid: _, ...facts } = this.facts;
    const { state, started, ready } = this.#observe() ?? { state: { is: "created" as const }, started: false, ready: false };
    return { ...facts, state, started, ready };
  }

  /** Undefined unless it is running. */
  stats(): ContainerStats | undefined {
    const atMs = this.#now();
    if (this.#life === undefined || this.#observe()?.state.is !== "running") return undefined;
    const memoryBytes = amountAt(this.#script.usage.memoryBytes, atMs - this.#life.startedAtMs);
    return {
      id: this.facts.id,
      name: this.facts.name,
      atMs,
      cpuNanoseconds: this.#cpuNanoseconds(this.#life, atMs),
      memoryWorkingSetBytes: memoryBytes,
      memoryUsageBytes: memoryBytes,
      memoryRssBytes: memoryBytes,
    };
  }

  #cpuNanoseconds({ startedAtMs }: Life, atMs: number): number {
    const { atMs: fromMs, nanoseconds } = this.#counted ?? { atMs: startedAtMs, nanoseconds: 0 };
    return nanoseconds + cpuNanosecondsBetween(this.#script.usage.cpuNanocores, fromMs - startedAtMs, atMs - startedAtMs);
  }

  follow(script: ContainerScript): void {
    // A counter never goes back: the new usage counts from now on.
    if (this.#life !== undefined) this.#counted = { atMs: this.#now(), nanoseconds: this.#cpuNanoseconds(this.#life, this.#now()) };
    const ended = this.#life && this.hasEnded ? endOf(this.#script, this.#life) : undefined;
    if (this.#life !== undefined && ended !== undefined) this.#life = { ...this.#life, ended };
    this.#script = script;
    this.#setAlarm();
    this.#notifyWaiting();
  }

  get hasEnded(): boolean {
    return this.#observe()?.state.is === "exited";
  }

  async start(): Promise<void> {
    if (this.#life !== undefined) return;
    this.#starting ??= this.#startLater();
    await this.#starting;
  }

  async #startLater(): Promise<void> {
    this.#startRequestedAtMs ??= this.#now();
    const requestedAtMs = this.#startRequestedAtMs;
    const startAt = (): number => requestedAtMs + this.#script.startAfterMs;
    while (this.#now() < startAt()) {
      await this.#happening(startAt());
      if (this.#removedBecause !== undefined) throw this.#removedBecause;
      if (this.#life !== undefined) throw new RuntimeError("CannotRun", `Cannot start container ${this.facts.name}: it was stopped before`);
    }
    const startAtMs = startAt();
    this.#life = { startedAtMs: startAtMs, attempt: this.facts.attempt };
    // A container that exits at once was running all the same, and the caller of the start may not check again by itself.
    if (this.hasEnded) this.#alarm = this.#owner.alarms.at(startAtMs, () => this.#rang());
    else this.#setAlarm();
    this.#notifyWaiting();
  }

  /** Resolves when it has exited. */
  async stop(graceMs: number): Promise<void> {
    const nowMs = this.#now();
    this.#askToEnd(nowMs, nowMs + Math.max(0, graceMs));
    while (!this.hasEnded) {
      await this.#happening(undefined);
      if (this.#removedBecause !== undefined) throw this.#removedBecause;
    }
  }

  /** Without a grace period. */
  kill(): void {
    this.#askToEnd(this.#now(), this.#now());
  }

  #askToEnd(nowMs: number, killAtMs: number): void {
    const { attempt } = this.facts;
    if (this.#life === undefined) {
      this.#life = { startedAtMs: nowMs, attempt, ended: { atMs: nowMs, exitCode: KILLED_EXIT_CODE, reason: reasonOf(KILLED_EXIT_CODE) } };
    } else if (!this.hasEnded) {
      // A second stop can only shorten the grace period: the container handles the first signal, and the shortest grace period kills it.
      const { stop = { requestedAtMs: nowMs, killAtMs } } = this.#life;
      this.#life = { ...this.#life, stop: { requestedAtMs: stop.requestedAtMs, killAtMs: Math.min(stop.killAtMs, killAtMs) } };
    }
    this.#setAlarm();
    this.#notifyWaiting();
  }

  /** Rejects all waiters with `why`. */
  leave(why: RuntimeError): void {
    this.#removedBecause = why;
    this.#cancelAlarm();
    this.#notifyWaiting();
  }

  async *logs({ follow, sinceMs, tailLines }: LogOptions, signal: AbortSignal): AsyncGenerator<LogLine> {
    const { log } = this.#script;
    let index = Math.max(this.#firstLineSince(sinceMs), tailLines === undefined ? 0 : (this.#observe()?.logLines ?? 0) - tailLines);
    while (!signal.aborted) {
      const seen = this.#observe();
      const line = this.#life && logLine(log, this.#life.startedAtMs, index);
      if (line !== undefined && index < (seen?.logLines ?? 0)) {
        yield line;
        index++;
      } else if (!follow || seen?.state.is === "exited" || this.#removedBecause !== undefined) {
        return;
      } else {
        await this.#happening(line?.atMs, signal);
      }
    }
  }

  #firstLineSince(sinceMs: number | undefined): number {
    if (sinceMs === undefined || this.#life === undefined) return 0;
    const { everyMs, lines } = this.#script.log;
    const aloneMs = sinceMs - this.#life.startedAtMs;
    if (aloneMs <= 0) return 0;
    return everyMs === 0 ? lines.length : Math.ceil(aloneMs / everyMs);
  }

  async exec(command: readonly string[], streams: ExecStreams, signal: AbortSignal): Promise<number> {
    if (this.#observe()?.state.is !== "running") {
      throw new RuntimeError("CannotRun", `Cannot run "${command.join(" ")}" in container ${this.facts.name}: it is not running`);
    }
    const { exec } = this.#script;
    const answer = exec.get(command.join(" ")) ?? exec.get("*") ?? notFound(command);
    if (answer.echo) for await (const chunk of streams.input ?? []) await streams.output(chunk);
    if (!(await this.#lasts(answer.takesMs, signal))) return KILLED_EXIT_CODE;
    if (answer.stdout !== "") await streams.output(new TextEncoder().encode(answer.stdout));
    if (answer.stderr !== "") await streams.error(new TextEncoder().encode(answer.stderr));
    return answer.exitCode;
  }

  /** Whether it runs for the given duration from now on. */
  async #lasts(durationMs: number, signal: AbortSignal): Promise<boolean> {
    const untilMs = this.#now() + durationMs;
    for (;;) {
      signal.throwIfAborted();
      if (this.hasEnded || this.#removedBecause !== undefined) return false;
      if (this.#now() >= untilMs) return true;
      await this.#happening(untilMs, signal);
    }
  }

  #now(): number {
    return this.#owner.clock.now();
  }

  /** Undefined if it was not started. */
  #observe(): Observation | undefined {
    return this.#life && stateAt(this.#script, this.#life, this.#now());
  }

  // ── scheduled changes ─────────────────────────────────────────────────────────────────────────────

  #setAlarm(): void {
    this.#cancelAlarm();
    const nextMs = this.#removedBecause === undefined ? this.#observe()?.nextChangeAtMs : undefined;
    if (nextMs !== undefined) this.#alarm = this.#owner.alarms.at(nextMs, () => this.#rang());
  }

  #cancelAlarm(): void {
    if (this.#alarm !== undefined) this.#owner.alarms.cancel(this.#alarm);
    this.#alarm = undefined;
  }

  #rang(): void {
    this.#alarm = undefined;
    this.#setAlarm();
    this.#notifyWaiting();
    this.#owner.changed(this.facts.podUid);
  }

  #notifyWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    for (const resolve of waiting ?? []) resolve();
  }

  /** Resolves at the next change of the container, at the given instant, or with the signal. */
  #happening(atMs: number | undefined, signal?: AbortSignal): Promise<void> {
    const { alarms } = this.#owner;
    return new Promise((resolve) => {
      const happened = (): void => {
        this.#waiting?.delete(happened);
        if (alarm !== undefined) alarms.cancel(alarm);
        stopListening?.();
        resolve();
      };
      this.#waiting ??= new Set();
      this.#waiting.add(happened);
      const alarm = atMs === undefined ? undefined : alarms.at(atMs, happened);
      const stopListening = signal && onAbort(signal, happened);
    });
  }
}

function notFound([program = ""]: readonly string[]): ExecScript {
  return { stdout: "", stderr: `${program}: not found\n`, exitCode: NOT_FOUND_EXIT_CODE, takesMs: 0, echo: false };
}
