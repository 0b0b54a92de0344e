/**
 * The access log: one JSON object per line and request, so that nothing a client sends can forge a line. Lines are collected and written
 * together; what does not fit between two writes is dropped and counted in the next line. The file rotates (host/files/rotating-log.ts).
 */
import { formatMicroTime } from "../../api/machinery/time.ts";
import type { Clock } from "../../base/clock.ts";
import type { ProxyRecord } from "../../host/http/proxy/contract.ts";

const WRITE_INTERVAL_MS = 1_000;

/** Lines between two writes. More than one process can serve in that time. */
const LINES_MAX = 50_000;

/** Headers and paths are up to 64 KiB; a log line shows their beginning. */
const TEXT_LENGTH_MAX = 1_000;

export class AccessLog implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #write: (lines: string) => void;
  readonly #stop = new AbortController();
  #lines: string[] = [];
  #dropped = 0;

  /** `write` gets lines without a final line break. */
  constructor(clock: Clock, write: (lines: string) => void) {
    this.#clock = clock;
    this.#write = write;
    void this.#writeRepeatedly();
  }

  add(
    { request, status, sentBytes, durationMs, endpoint, attempts, requestId, isComplete }: ProxyRecord,
    ingress: string | undefined,
  ): void {
    if (this.#lines.length >= LINES_MAX) return void this.#dropped++;
    const { method, host, path, query, version, peerAddress, isTls } = request;
    this.#lines.push(
      JSON.stringify({
        time: formatMicroTime(this.#clock.now()),
        client: peerAddress,
        protocol: `${isTls ? "https" : "http"}/${version}`,
        method,
        host,
        path: (path + query).slice(0, TEXT_LENGTH_MAX),
        status,
        bytes: sentBytes,
        durationMs: Math.round(durationMs * 1_000) / 1_000,
        ingress,
        endpoint: endpoint === undefined ? undefined : `${endpoint.address}:${endpoint.port}`,
        attempts,
        requestId,
        userAgent: request.header("user-agent")?.slice(0, TEXT_LENGTH_MAX),
        ...(isComplete ? {} : { isComplete }),
      }),
    );
  }

  async #writeRepeatedly(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#clock.sleep(WRITE_INTERVAL_MS, signal).catch(() => undefined);
      this.#flush();
    }
  }

  #flush(): void {
    if (this.#dropped > 0) this.#lines.push(JSON.stringify({ time: formatMicroTime(this.#clock.now()), droppedLines: this.#dropped }));
    this.#dropped = 0;
    if (this.#lines.length === 0) return;
    const lines = this.#lines.join("\n");
    this.#lines = [];
    this.#write(lines);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#flush();
  }
}
