/**
 * Cost of keeping causes: processor time per write of a server that records them, compared to one that does not, in one process and without
 * sockets. The memory store and no TLS make the smallest write, so the share of the record is the largest. Hundreds of pairs of short
 * batches are compared one by one, so other load of the machine, which changes from second to second, affects both sides of a pair alike:
 * the result is the median of their ratios, and its 95 % confidence interval is printed.
 */
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { median } from "../figure.ts";
import { confidenceOfMedian } from "../pairs.ts";
import type { CauseTasks, WriteName } from "./causes-child.ts";

const WRITES: readonly WriteName[] = ["post-configmap", "patch-pod", "put-pod-status", "post-pod"];

/** One batch is some 20 ms: shorter than what other processes need to change the clock rate and the caches. */
const BATCH_WRITES = 64;
/** At most half a minute per kind of write; the interval is then about half a percent wide. */
const PAIRS = 300;
/** V8 has compiled and recompiled what it will. */
const WARM_UP_PAIRS = 60;

const RATIO_MAX = 1.02;

export const dashboardCauses: Benchmark = {
  name: "dashboard/causes",
  measures: "CPU time of a write with recorded causes; baseline: the same server without",
  async *run({ signal, note }) {
    await using children = new Disposables();
    const child = children.use(startChild<CauseTasks>(import.meta.url, "causes-child", signal));
    await child.call("start", null);
    for (const write of WRITES) {
      await child.call("compare", { write, writes: BATCH_WRITES, pairs: WARM_UP_PAIRS });
      const { recording, silent } = await child.call("compare", { write, writes: BATCH_WRITES, pairs: PAIRS });
      const ratios = recording.map((each, index) => each / (silent[index] ?? Number.NaN));
      const name = `dashboard/causes-${write}`;
      yield {
        ...{ name, unit: "us", value: median(recording), baseline: median(silent), ratio: median(ratios) },
        budget: { atMost: RATIO_MAX },
      };
      const [low, high] = confidenceOfMedian(ratios);
      note(`${name}: ${PAIRS} pairs, 95 % confidence interval of the ratio ${low.toFixed(4)} to ${high.toFixed(4)}`);
    }
  },
};
