/**
 * Requests that run beside an attack: an observer whose latencies are measured, and senders that keep a number of connections busy.
 * Baseline and attack are measured in the same run, since the load of the machine varies.
 */
import { Agent, request as httpsRequest } from "node:https";
import { Worker } from "node:worker_threads";
import type { Target, UserName } from "./target.ts";

export interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly as: UserName | "administrator";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Sends a request on a keep-alive connection. Resolves to the code; 0: the connection broke. */
export type Send = (sent: Sent) => Promise<number>;

export function sender({
  host,
  port,
  authority,
  administrator,
  tokenOf,
}: Pick<Target, "host" | "port" | "authority" | "administrator" | "tokenOf">): { readonly send: Send; close(): void } {
  const agent = new Agent({ keepAlive: true, ca: authority, cert: administrator.certificate, key: administrator.key });
  const anonymous = new Agent({ keepAlive: true, ca: authority });
  const send: Send = ({ method = "POST", path, as, headers = {}, body }) => {
    const isAdministrator = as === "administrator";
    return new Promise((resolve) => {
      const sent = httpsRequest(
        {
          ...{ host, port, path, method, agent: isAdministrator ? agent : anonymous },
          headers: {
            ...(isAdministrator ? {} : { authorization: `Bearer ${tokenOf(as)}` }),
            ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }),
            ...headers,
          },
        },
        (response) => {
          const done = () => resolve(response.statusCode ?? 0);
          response.on("end", done).on("close", done).on("error", done).resume();
          // A rejected body is not sent completely.
          if (response.statusCode === 413) response.on("end", () => sent.destroy());
        },
      );
      sent.setTimeout(REQUEST_TIMEOUT_MS, () => sent.destroy());
      sent.on("error", () => resolve(0)).on("close", () => resolve(0));
      sent.end(body);
    });
  };
  return { send, close: () => (agent.destroy(), anonymous.destroy()) };
}

const REQUEST_TIMEOUT_MS = 20_000;

/** Input of the flood thread (flood-thread.ts). */
export interface Flood {
  readonly target: Pick<Target, "host" | "port" | "authority" | "administrator">;
  readonly token: string;
  readonly connections: number;
  readonly sent: Omit<Sent, "as">;
}

/** Number of responses per code. */
export type Codes = ReadonlyMap<number, number>;

/** Keeps connections of a user busy, from a separate thread that does not slow down the observer, until stopped. */
export function startFlood(
  target: Target,
  connections: number,
  { as, ...sent }: Sent & { readonly as: UserName },
): { stop(): Promise<Codes> } {
  const { host, port, authority, administrator } = target;
  const workerData: Flood = { target: { host, port, authority, administrator }, token: target.tokenOf(as), connections, sent };
  const thread = new Worker(new URL("./flood-thread.js", import.meta.url), { workerData });
  const result = new Promise<Codes>((resolve, reject) => void thread.on("message", resolve).on("error", reject));
  return {
    async stop() {
      thread.postMessage("stop");
      const codes = await result;
      await thread.terminate();
      return codes;
    },
  };
}

/** Latencies in milliseconds of `count` sequential requests with a pause, on one connection. */
export async function observe(target: Target, count: number, sent: Sent): Promise<readonly number[]> {
  const { send, close } = sender(target);
  const latenciesMs: number[] = [];
  for (let index = 0; index < count; index++) {
    const started = performance.now();
    const code = await send(sent);
    if (code >= 400 || code === 0) throw new Error(`The observer's request returned ${code}`);
    latenciesMs.push(performance.now() - started);
    await new Promise((resolve) => setTimeout(resolve, OBSERVER_PAUSE_MS));
  }
  close();
  return latenciesMs.toSorted((a, b) => a - b);
}

const OBSERVER_PAUSE_MS = 5;

/** Percentile of sorted values. */
export function percentile(sorted: readonly number[], percent: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0;
}

export function milliseconds(value: number): string {
  return `${value.toFixed(1)} ms`;
}

export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}
