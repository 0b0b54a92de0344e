/** HTTP requests of tests: single ones, and a load that continues while something happens and counts what failed. */
import { request, type Agent } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { once } from "node:events";

export interface HttpTarget {
  readonly host: string;
  readonly port: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  /** Absent: a new connection per request. */
  readonly agent?: Agent;
}

/** Reached only by a request that is lost: a machine that runs many tests stops for seconds. */
const ANSWER_WITHIN_MS = 60_000;

/** Resolves with the body of an answer with status 200. */
export async function fetchText({ method = "GET", agent, ...target }: HttpTarget): Promise<string> {
  const sent = request({ ...target, method, agent: agent ?? false, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  sent.end(method === "POST" ? "body" : "");
  const [response] = (await once(sent, "response")) as [import("node:http").IncomingMessage];
  const body = (await text(response)).trim();
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${body}`);
  return body;
}

/** Between two requests of a client: the load must leave the processor to the cluster. */
const PAUSE_MS = 8;

/** Failures beyond this are not listed. */
const FAILURES_MAX = 20;

/** One client per target, each with one request after the other, from its creation on. Answers are "<Pod> <version>". */
export class HttpLoad implements AsyncDisposable {
  readonly failures: string[] = [];
  readonly #versions = new Set<string>();
  readonly #targets: readonly HttpTarget[];
  readonly #clients: readonly Promise<void>[];
  #answers = 0;
  #isStopped = false;

  constructor(targets: readonly HttpTarget[]) {
    this.#targets = targets;
    this.#clients = targets.map((target) => this.#run(target));
  }

  /** All versions that answered. */
  get versions(): readonly string[] {
    return [...this.#versions].toSorted();
  }

  async #run(target: HttpTarget): Promise<void> {
    while (!this.#isStopped && this.failures.length < FAILURES_MAX) {
      try {
        this.#versions.add((await fetchText(target)).split(" ")[1] ?? "");
        this.#answers++;
      } catch (error) {
        this.failures.push(
          `${target.method ?? "GET"} ${target.host}:${target.port} (${target.agent === undefined ? "new" : "kept"}): ${String(error)}`,
        );
      }
      await pause(PAUSE_MS);
    }
  }

  /** Resolves when so many requests were answered, or when the load has failed. */
  async answered(count: number): Promise<void> {
    while (this.#answers < count && this.failures.length < FAILURES_MAX) await pause(PAUSE_MS);
  }

  /** Lets the last requests finish. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#clients);
    for (const { agent } of this.#targets) agent?.destroy();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
