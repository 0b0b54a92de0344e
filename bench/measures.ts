/** Measurements that several benchmarks make in their child processes: durations, idle cost, and the creation of many objects. */
import type { Client } from "../src/client/client.ts";
import { realClock } from "../src/host/real-clock.ts";
import { collectGarbage } from "./serve.ts";

/** Concurrency that an API server accepts without rejecting requests. */
const CONCURRENCY = 100;

/** Milliseconds that the work takes. Garbage is collected before. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  collectGarbage();
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Calls `createOne` for every index, as many at a time as a server accepts. */
export async function createMany(count: number, createOne: (index: number) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index += CONCURRENCY) {
    await Promise.all(Array.from({ length: Math.min(CONCURRENCY, count - index) }, (_, offset) => createOne(index + offset)));
  }
}

export interface IdleOptions {
  /** Several, so that a single garbage collection does not dominate. */
  readonly stretches: number;
  readonly seconds: number;
}

/** Milliseconds of CPU time per second of this process, per stretch. Garbage is collected before. */
export async function idleCpuMs({ stretches, seconds }: IdleOptions): Promise<readonly number[]> {
  collectGarbage();
  const cpuMs: number[] = [];
  for (let stretch = 0; stretch < stretches; stretch++) {
    const cpu = process.cpuUsage();
    await realClock.sleep(seconds * 1_000);
    const { user, system } = process.cpuUsage(cpu);
    cpuMs.push((user + system) / 1_000 / seconds);
  }
  return cpuMs;
}

export interface IdleCost {
  /** As idleCpuMs. */
  readonly cpuMs: readonly number[];
  /** Number of writes to the store. */
  readonly writes: number;
}

/** The cost of a cluster in this process while nothing changes. The caller waits for the effects of the last change before. */
export async function idleCost(client: Client, options: IdleOptions): Promise<IdleCost> {
  const since = new Date().toISOString();
  const cpuMs = await idleCpuMs(options);
  return { cpuMs, writes: await writesSince(client, since) };
}

/** Excludes leases and events, which are written periodically: the server's own record omits them. */
export async function writesSince(client: Client, since: string): Promise<number> {
  const { items } = (await client.document("/debug/k8ts/causes")) as { readonly items: readonly { readonly time: string }[] };
  return items.filter(({ time }) => time > since).length;
}
