/**
 * The log of one container, followed: a stream that ends because the container restarted, or because the server did, is opened again from
 * the last line. Not here: several logs in one order (log-buffer.ts).
 */
import { isStatusError, type StatusError } from "../../../api/machinery/status-error.ts";
import type { Clock } from "../../../base/clock.ts";
import type { ClusterApi } from "../cluster-api.ts";
import { lineBatches, LOG_LINE_CHARACTERS_MAX } from "../lines.ts";

export interface LogSource {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

export interface LogOptions {
  /** Lines from the end. */
  readonly tailLines: number;
  /** Of the container's run before its last restart. Never followed. */
  readonly isPrevious: boolean;
  readonly isFollowed: boolean;
}

export interface LogStreamOptions extends LogOptions {
  readonly api: ClusterApi;
  readonly clock: Clock;
  readonly source: LogSource;
  readonly signal: AbortSignal;
  /** Lines with their timestamps. */
  added(lines: readonly string[]): void;
  /** Undefined: the log is being read again. */
  failed(error: StatusError | undefined): void;
}

const RETRY_MS = 2_000;

/** The path of a container's log. */
export function logPath({ namespace, pod, container }: LogSource, query: Readonly<Record<string, string>>): string {
  const names = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log`;
  return `${names}?${new URLSearchParams({ container, ...query }).toString()}`;
}

/** Runs until the signal is aborted, or until the log ends if it is not followed. */
export async function runLogStream(options: LogStreamOptions): Promise<void> {
  const { signal, clock, isFollowed, isPrevious, failed } = options;
  const stream = new LogStream(options);
  while (!signal.aborted) {
    try {
      await stream.read();
      failed(undefined);
      if (!isFollowed || isPrevious) return;
    } catch (error) {
      if (signal.aborted) return;
      if (!isStatusError(error)) throw error;
      failed(error);
      // A container that waits to start is a BadRequest; what is forbidden or gone stays so.
      if (!isFollowed || ["Forbidden", "NotFound", "Unauthorized"].includes(error.reason)) return;
    }
    await clock.sleep(RETRY_MS, signal).catch(() => undefined);
  }
}

class LogStream {
  readonly #options: LogStreamOptions;
  /** Timestamp of the last line, and how many lines had it. */
  #last = "";
  #sameTime = 0;

  constructor(options: LogStreamOptions) {
    this.#options = options;
  }

  async read(): Promise<void> {
    const { api, source, signal, isFollowed, isPrevious, tailLines, added, failed } = this.#options;
    const query: Record<string, string> = { timestamps: "true" };
    if (this.#last === "") query["tailLines"] = String(tailLines);
    // The server compares whole seconds: lines that were seen are sent again.
    else query["sinceTime"] = this.#last.replace(/\.\d+/, "");
    if (isPrevious) query["previous"] = "true";
    else if (isFollowed) query["follow"] = "true";
    const response = await api.send({ path: logPath(source, query), accept: "*/*", signal });
    failed(undefined);
    let seen = this.#last === "" ? 0 : this.#sameTime;
    const since = this.#last;
    for await (const lines of lineBatches(response.pieces(), { charactersMax: LOG_LINE_CHARACTERS_MAX })) {
      const fresh = lines.filter((line) => {
        const time = timeOf(line);
        if (time > since) return true;
        return time === since && (since === "" || --seen < 0);
      });
      this.#note(fresh);
      if (fresh.length > 0) added(fresh);
    }
  }

  #note(lines: readonly string[]): void {
    for (const line of lines) {
      const time = timeOf(line);
      this.#sameTime = time === this.#last ? this.#sameTime + 1 : 1;
      this.#last = time;
    }
  }
}

function timeOf(line: string): string {
  const space = line.indexOf(" ");
  return space < 0 ? line : line.slice(0, space);
}
