/**
 * The logs of a changing set of containers in one buffer: those of new Pods join, and lines of deleted ones stay. Changes are reported in
 * batches. Not here: one log (log-stream.ts).
 */
import type { StatusError } from "../../../api/machinery/status-error.ts";
import type { Clock } from "../../../base/clock.ts";
import type { ClusterApi } from "../cluster-api.ts";
import { LogBuffer, type LogLine } from "./log-buffer.ts";
import { runLogStream, type LogOptions, type LogSource } from "./log-stream.ts";

export interface LogState {
  readonly lines: readonly LogLine[];
  /** Lines that were dropped because there are too many. */
  readonly dropped: number;
  /** By index: that of `LogLine.source`. */
  readonly sources: readonly LogSource[];
  /** Containers whose log cannot be read, by `sourceName`. */
  readonly errors: ReadonlyMap<string, StatusError>;
}

export const NO_LOGS: LogState = { lines: [], dropped: 0, sources: [], errors: new Map() };

/** Concurrent streams: each is a connection of the API server to a kubelet. */
export const STREAMS_MAX = 50;
/** Shown this often: faster than a person reads. */
const BATCH_MS = 100;

export interface LogSetOptions extends LogOptions {
  readonly api: ClusterApi;
  readonly clock: Clock;
  changed(state: LogState): void;
}

export function sourceName({ pod, container }: LogSource): string {
  return `${pod}/${container}`;
}

export class LogSet {
  readonly #options: LogSetOptions;
  readonly #buffer = new LogBuffer();
  readonly #sources: LogSource[] = [];
  readonly #errors = new Map<string, StatusError>();
  readonly #running = new Map<string, AbortController>();
  readonly #life = new AbortController();
  #isScheduled = false;

  constructor(options: LogSetOptions) {
    this.#options = options;
  }

  /** Reads the logs of these, and stops reading those of others. */
  follow(wanted: readonly LogSource[]): void {
    const shown = wanted.slice(0, STREAMS_MAX);
    const names = new Set(shown.map(sourceName));
    for (const [name, stream] of this.#running) {
      if (names.has(name)) continue;
      stream.abort();
      this.#running.delete(name);
      this.#errors.delete(name);
    }
    for (const source of shown) if (!this.#running.has(sourceName(source))) this.#start(source);
    this.#schedule();
  }

  close(): void {
    this.#life.abort();
    for (const stream of this.#running.values()) stream.abort();
  }

  #start(source: LogSource): void {
    const name = sourceName(source);
    const stream = new AbortController();
    this.#running.set(name, stream);
    const known = this.#sources.findIndex((candidate) => sourceName(candidate) === name);
    const index = known < 0 ? this.#sources.push(source) - 1 : known;
    const { changed: _, ...options } = this.#options;
    void runLogStream({
      ...options,
      ...{ source, signal: stream.signal },
      added: (lines) => {
        this.#buffer.add(index, lines);
        this.#schedule();
      },
      failed: (error) => {
        if (error === undefined) this.#errors.delete(name);
        else this.#errors.set(name, error);
        this.#schedule();
      },
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const show = () => {
      this.#isScheduled = false;
      const { lines, dropped } = this.#buffer;
      this.#options.changed({ lines, dropped, sources: [...this.#sources], errors: new Map(this.#errors) });
    };
    this.#options.clock.sleep(BATCH_MS, this.#life.signal).then(show, () => undefined);
  }
}
