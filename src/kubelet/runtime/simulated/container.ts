/**
 * One container of a simulated Pod. It remembers its script and what was done to it, and works out the rest from the time it is. If its
 * script is rewritten on the way it is as if it had always been so, but for what has ended: a driver that starts anew knows no more. It sets
 * an alarm only if its script has something to come, and tells its owner when that has come.
 */
import { onAbort } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { RuntimeError, type ExecStreams, type LogLine, type LogOptions, type RuntimeContainer } from "../../contracts/runtime.ts";
import type { Alarms, AlarmSeat } from "./alarms.ts";
import { KILLED_EXIT_CODE, reasonOf, type ContainerScript } from "./script.ts";
import type { ExecScript } from "./settings.ts";
import { endOf, logLine, stateAt, type Life, type Observation } from "./state.ts";

/** What never changes about it. */
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
  /** Something came about that nobody asked for just now. */
  changed(podUid: string): void;
}

/** What a shell says of a program that it does not find. */
const NOT_FOUND_EXIT_CODE = 127;

export class SimulatedContainer {
  readonly facts: ContainerFacts;
  #script: ContainerScript;
  readonly #owner: ContainerOwner;
  /** Undefined: it was not started. */
  #life: Life | undefined;
  /** When somebody wanted it started. */
  #startAskedAtMs: number | undefined;
  #starting: Promise<void> | undefined;
  #alarm: AlarmSeat | undefined;
  /** Who looks again when anything happened. Most containers never have one. */
  #waiting: Set<() => void> | undefined;
  /** Why there is nothing to wait for any more: it was removed, or the runtime ended. */
  #gone: RuntimeError | undefined;

  /** `past`: of one that there was before this driver. Without a life, its start was under way. */
  constructor(facts: ContainerFacts, script: ContainerScript, owner: ContainerOwner, past?: { readonly life: Life | undefined }) {
    this.facts = facts;
    this.#script = script;
    this.#owner = owner;
    this.#life = past?.life;
    this.#startAskedAtMs = past === undefined ? undefined : facts.createdAtMs;
    this.#setAlarm();
  }

  status(): RuntimeContainer {
    const { podUid: _, ...facts } = this.facts;
    const { state, started, ready } = this.#observe() ?? { state: { is: "created" as const }, started: false, ready: false };
    return { ...facts, state, started, ready };
  }

  follow(script: ContainerScript): void {
    const ended = this.#life && this.hasEnded ? endOf(this.#script, this.#life) : undefined;
    if (this.#life !== undefined && ended !== undefined) this.#life = { ...this.#life, ended };
    this.#script = script;
    this.#setAlarm();
    this.#tellWaiting();
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
    this.#startAskedAtMs ??= this.#now();
    const askedAtMs = this.#startAskedAtMs;
    const startAt = (): number => askedAtMs + this.#script.startAfterMs;
    while (this.#now() < startAt()) {
      await this.#happening(startAt());
      if (this.#gone !== undefined) throw this.#gone;
      if (this.#life !== undefined) throw new RuntimeError("CannotRun", `Cannot start container ${this.facts.name}: it was stopped before`);
    }
    const startAtMs = startAt();
    this.#life = { startedAtMs: startAtMs, attempt: this.facts.attempt };
    // One that ends at once was running all the same, and whoever started it may not look again by himself.
    if (this.hasEnded) this.#alarm = this.#owner.alarms.at(startAtMs, () => this.#rang());
    else this.#setAlarm();
    this.#tellWaiting();
  }

  /** Resolves when it has ended. */
  async stop(graceMs: number): Promise<void> {
    const nowMs = this.#now();
    this.#askToEnd(nowMs, nowMs + Math.max(0, graceMs));
    while (!this.hasEnded) {
      await this.#happening(undefined);
      if (this.#gone !== undefined) throw this.#gone;
    }
  }

  /** Without asking. */
  kill(): void {
    this.#askToEnd(this.#now(), this.#now());
  }

  #askToEnd(nowMs: number, killAtMs: number): void {
    const { attempt } = this.facts;
    if (this.#life === undefined) {
      this.#life = { startedAtMs: nowMs, attempt, ended: { atMs: nowMs, exitCode: KILLED_EXIT_CODE, reason: reasonOf(KILLED_EXIT_CODE) } };
    } else if (!this.hasEnded) {
      // Asking again can only make it end earlier: it hears the first one, and the least patient kills it.
      const { stop = { askedAtMs: nowMs, killAtMs } } = this.#life;
      this.#life = { ...this.#life, stop: { askedAtMs: stop.askedAtMs, killAtMs: Math.min(stop.killAtMs, killAtMs) } };
    }
    this.#setAlarm();
    this.#tellWaiting();
  }

  /** Whatever waits for it ends with `why`. */
  leave(why: RuntimeError): void {
    this.#gone = why;
    this.#cancelAlarm();
    this.#tellWaiting();
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
      } else if (!follow || seen?.state.is === "exited" || this.#gone !== undefined) {
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

  /** Whether it runs for so long from now. */
  async #lasts(durationMs: number, signal: AbortSignal): Promise<boolean> {
    const untilMs = this.#now() + durationMs;
    for (;;) {
      signal.throwIfAborted();
      if (this.hasEnded || this.#gone !== undefined) return false;
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

  // ── what is to come ───────────────────────────────────────────────────────────────────────────────

  #setAlarm(): void {
    this.#cancelAlarm();
    const nextMs = this.#gone === undefined ? this.#observe()?.nextChangeAtMs : undefined;
    if (nextMs !== undefined) this.#alarm = this.#owner.alarms.at(nextMs, () => this.#rang());
  }

  #cancelAlarm(): void {
    if (this.#alarm !== undefined) this.#owner.alarms.cancel(this.#alarm);
    this.#alarm = undefined;
  }

  #rang(): void {
    this.#alarm = undefined;
    this.#setAlarm();
    this.#tellWaiting();
    this.#owner.changed(this.facts.podUid);
  }

  #tellWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    for (const resolve of waiting ?? []) resolve();
  }

  /** Resolves when anything happened to it, at the moment, or with the signal. */
  #happening(momentMs: number | undefined, signal?: AbortSignal): Promise<void> {
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
      const alarm = momentMs === undefined ? undefined : alarms.at(momentMs, happened);
      const stopListening = signal && onAbort(signal, happened);
    });
  }
}

function notFound([program = ""]: readonly string[]): ExecScript {
  return { stdout: "", stderr: `${program}: not found\n`, exitCode: NOT_FOUND_EXIT_CODE, takesMs: 0, echo: false };
}
