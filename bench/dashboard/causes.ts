/**
 * Cost of keeping causes: CPU time per write of a server that records them, compared to one that does not, in one process, for alternating
 * batches of the same requests over TLS. The memory store makes the smallest write, so the share of the record is the largest.
 */
import { Disposables } from "../../src/base/disposables.ts";
import type { LoadTasks, RequestName } from "../apiserver/load-child.ts";
import type { StartedServer } from "../apiserver/server-child.ts";
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { CauseTasks } from "./causes-child.ts";

const REQUESTS: readonly RequestName[] = ["post-configmap", "patch-pod", "put-pod-status", "post-pod"];

const CONNECTIONS = 16;
/** Short and many: other load of the machine affects both servers alike. */
const ROUND_MS = 300;
const ROUNDS = 41;
/** As in apiserver/requests.ts: the benchmark measures a warm server. */
const WARM_UP_MS = 3_000;

const RATIO_MAX = 1.02;

export const dashboardCauses: Benchmark = {
  name: "dashboard/causes",
  measures: "CPU time of a write with recorded causes; baseline: the same server without",
  async *run({ signal, rounds }) {
    await using children = new Disposables();
    const load = children.use(startChild<LoadTasks>(import.meta.url, "../apiserver/load-child", signal));
    const child = children.use(startChild<CauseTasks>(import.meta.url, "causes-child", signal));
    const { recording, silent } = await child.call("start", null);
    for (const server of [recording, silent]) await load.call("prepare", { ...server, count: CONNECTIONS });
    /** Microseconds of the server's CPU time per request. */
    const cost = async (server: StartedServer, request: RequestName, durationMs: number): Promise<number> => {
      const before = await child.call("cpuMs", null);
      const { count } = await load.call("load", {
        ...{ ...server, protocol: "http1", request, connections: CONNECTIONS, durationMs, keepsConnections: true },
      });
      return (((await child.call("cpuMs", null)) - before) * 1_000) / count;
    };
    for (const request of REQUESTS) {
      for (const server of [recording, silent]) await cost(server, request, WARM_UP_MS);
      const measured = await rounds.measure(
        { recording: () => cost(recording, request, ROUND_MS), silent: () => cost(silent, request, ROUND_MS) },
        ROUNDS,
      );
      const name = `dashboard/causes-${request}`;
      yield figureOf({ name, unit: "us", values: measured.recording, baselines: measured.silent, budget: { atMost: RATIO_MAX } });
    }
  },
};
