/** `npm run bench -- cluster/test-control`: duration of a reset, as a client over HTTP measures it, with and without time in between. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf, median } from "../figure.ts";
import type { TestControlTasks } from "./test-control-child.ts";

const RESETS = 20;

/** A test of this duration leaves time to start the components for the next reset ahead. */
const TEST_MS = 300;

/** The promise of docs/test-control.md. */
const RESET_MS_MAX = 50;

export const clusterTestControl: Benchmark = {
  name: "cluster/test-control",
  measures: "k8ts up --test-control: a reset over HTTP, after a test of 0.3 s, and back to back",
  async *run({ signal, rounds }) {
    await using child = startChild<TestControlTasks>(import.meta.url, "test-control-child", signal);
    const { url, token } = await child.call("start", { isVirtual: false });
    const resets = async (testMs: number, of: (tookMs: readonly number[]) => number): Promise<number> => {
      const tookMs: number[] = [];
      for (let count = 0; count < RESETS; count++) {
        await sleep(testMs, undefined, { signal });
        const beganAtMs = performance.now();
        const response = await fetch(`${url}/v1/clusters/main/reset`, { method: "POST", headers: { authorization: `Bearer ${token}` } });
        await response.json();
        if (!response.ok) throw new Error(`The reset was answered with ${response.status}`);
        tookMs.push(performance.now() - beganAtMs);
      }
      return of(tookMs);
    };
    const slowest = (tookMs: readonly number[]): number => Math.max(...tookMs);
    const { between, back, slowestBack } = await rounds.measure(
      { between: () => resets(TEST_MS, median), back: () => resets(0, median), slowestBack: () => resets(0, slowest) },
      3,
    );
    yield figureOf({ name: "cluster/test-control-reset", unit: "ms", values: between, budget: { atMost: RESET_MS_MAX } });
    yield figureOf({ name: "cluster/test-control-reset-back-to-back", unit: "ms", values: back, budget: { atMost: RESET_MS_MAX } });
    const name = "cluster/test-control-reset-back-to-back-slowest";
    yield figureOf({ name, unit: "ms", values: slowestBack, budget: { atMost: RESET_MS_MAX } });
    await child.call("stop", undefined);
  },
};
