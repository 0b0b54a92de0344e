/** A small HTTP server and a load of it, each in a process inside a network namespace: service-traffic.ts. */
import { Agent, createServer, get } from "node:http";
import { serve } from "../serve.ts";

export interface LoadResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface LoadOptions {
  readonly address: string;
  readonly port: number;
  readonly concurrency: number;
  readonly keepsConnections: boolean;
  readonly durationMs: number;
}

const tasks = {
  async listen({ port }: { readonly port: number }): Promise<void> {
    const server = createServer((_, response) => response.end("ok"));
    await new Promise<void>((resolve) => server.listen(port, resolve));
  },

  async load({ address, port, concurrency, keepsConnections, durationMs }: LoadOptions): Promise<LoadResult> {
    const agent = new Agent({ keepAlive: keepsConnections, maxSockets: concurrency });
    const tookMs: number[] = [];
    const beganAtMs = performance.now();
    const worker = async () => {
      while (performance.now() - beganAtMs < durationMs) {
        const startMs = performance.now();
        await request({ host: address, port, agent });
        tookMs.push(performance.now() - startMs);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    const seconds = (performance.now() - beganAtMs) / 1_000;
    agent.destroy();
    tookMs.sort((a, b) => a - b);
    const at = (share: number) => tookMs[Math.floor(tookMs.length * share)] ?? Number.NaN;
    return { perSecond: tookMs.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
  },
};

export type HttpTasks = typeof tasks;

function request(options: { readonly host: string; readonly port: number; readonly agent: Agent }): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = get(options, (response) => {
      response.resume();
      response.once("end", resolve);
    });
    sent.once("error", reject);
  });
}

serve(tasks);
