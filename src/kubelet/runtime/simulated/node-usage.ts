/**
 * CPU time of a simulated node: that of its operating system and of all its containers, as one counter that never goes back while
 * containers come and go.
 */
import type { ContainerStats, UsageStats } from "../../contracts/runtime.ts";
import { NODE_CPU_NANOCORES, NODE_MEMORY_BYTES } from "./usage.ts";

export class NodeUsage {
  /** CPU time of each running container when it was last counted, by id. */
  #counted: ReadonlyMap<string, number> = new Map();
  #nanoseconds = 0;
  #sinceMs: number | undefined;

  /** `running`: the containers of the node. */
  at(atMs: number, running: readonly ContainerStats[]): UsageStats {
    this.#sinceMs ??= atMs;
    for (const { id, cpuNanoseconds = 0 } of running) this.#nanoseconds += Math.max(0, cpuNanoseconds - (this.#counted.get(id) ?? 0));
    this.#counted = new Map(running.map(({ id, cpuNanoseconds = 0 }) => [id, cpuNanoseconds]));
    const memoryBytes = NODE_MEMORY_BYTES + running.reduce((sum, { memoryWorkingSetBytes = 0 }) => sum + memoryWorkingSetBytes, 0);
    return {
      atMs,
      cpuNanoseconds: this.#nanoseconds + (NODE_CPU_NANOCORES * (atMs - this.#sinceMs)) / 1_000,
      memoryWorkingSetBytes: memoryBytes,
      memoryUsageBytes: memoryBytes,
      memoryRssBytes: memoryBytes,
    };
  }
}
