/**
 * Time that a Job of 1,000 short Pods takes on simulated nodes, plain and indexed, compared with a client that creates as many Pods that end
 * the same way; then the cost of the finished Jobs, and of a thousand CronJobs, when nothing changes.
 */
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { JobsTasks } from "./jobs-child.ts";

const PODS = 1_000;
const CRON_JOBS = 1_000;
const IDLE = { stretches: 5, seconds: 2 };
/** Workloads that take seconds are repeated less often. */
const FEW = 3;

export const controllerJobs: Benchmark = {
  name: "controllers/jobs",
  measures: "time to complete a Job of 1,000 short Pods, plain and indexed; its cost when idle, with 1,000 CronJobs",
  async *run({ rounds, signal }) {
    await using children = new Disposables();
    const child = children.use(startChild<JobsTasks>(import.meta.url, "jobs-child", signal));
    await child.call("start", null);
    const { bare, plain, indexed } = await rounds.measure(
      {
        bare: () => child.call("bare", { count: PODS }),
        plain: () => child.call("job", { completions: PODS, mode: "NonIndexed" }),
        indexed: () => child.call("job", { completions: PODS, mode: "Indexed" }),
      },
      FEW,
    );
    yield figureOf({ name: "controllers-job-of-1000", unit: "ms", values: plain });
    yield figureOf({ name: "controllers-job-of-1000-beside-bare-pods", unit: "ms", values: plain, baselines: bare });
    yield figureOf({ name: "controllers-indexed-job-of-1000", unit: "ms", values: indexed });

    await child.call("cronJobs", { count: CRON_JOBS });
    const { cpuMs, writes } = await child.call("idle", IDLE);
    yield figureOf({ name: "controllers-jobs-idle-cpu", unit: "ms/s", values: cpuMs, budget: { atMost: 10 } });
    yield figureOf({ name: "controllers-jobs-idle-writes", unit: "writes", values: [writes], budget: { atMost: 0 } });
  },
};
