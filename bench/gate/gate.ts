/**
 * Cost of authentication, authorization and admission: CPU time of a server with all of them and many role bindings, compared to one
 * without any, in one process, for alternating batches of the same requests over TLS. The figure is their share of a request's CPU time.
 */
import { Disposables } from "../../src/base/disposables.ts";
import type { LoadTasks, RequestName } from "../apiserver/load-child.ts";
import type { Benchmark, BenchmarkContext, Figure } from "../benchmark.ts";
import { startChild, type Child } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { StartedServer } from "../apiserver/server-child.ts";
import type { GateServers, GateTasks } from "./gate-child.ts";

const REQUESTS: readonly RequestName[] = ["get-pod", "post-configmap", "patch-pod", "put-pod-status", "post-pod"];

const BINDINGS = [10, 10_000];
const CONNECTIONS = 16;
/** Short and many: other load of the machine affects both servers alike. */
const ROUND_MS = 500;
const ROUNDS = 11;

/** As in apiserver/requests.ts: the benchmark measures a warm server. */
const WARM_UP_MS = 4_000;

/** Each connection has its own object. */
const TARGETS = CONNECTIONS;

const SHARE_MAX = 0.15;

export const gate: Benchmark = {
  name: "gate",
  measures: "share of authentication, authorization and admission in a request's CPU time, with 10 and 10,000 bindings",
  async *run(context) {
    for (const bindings of BINDINGS) {
      await using children = new Disposables();
      const load = children.use(startChild<LoadTasks>(import.meta.url, "../apiserver/load-child", context.signal));
      const child = children.use(startChild<GateTasks>(import.meta.url, "gate-child", context.signal));
      const servers = await child.call("start", { bindings });
      await load.call("prepare", { ...servers.withGate, count: TARGETS });
      await child.call("copyPods", null);
      for (const request of REQUESTS) yield await shareOf({ load, child, servers, request, bindings }, context);
    }
  },
};

interface Compared {
  readonly load: Child<LoadTasks>;
  readonly child: Child<GateTasks>;
  readonly servers: GateServers;
  readonly request: RequestName;
  readonly bindings: number;
}

async function shareOf({ load, child, servers, request, bindings }: Compared, { rounds }: BenchmarkContext): Promise<Figure> {
  /** Microseconds of the server's CPU time per request. */
  const cost = async (server: StartedServer, durationMs: number): Promise<number> => {
    const before = await child.call("cpuMs", null);
    const { perSecond } = await load.call("load", { ...server, protocol: "http1", request, connections: CONNECTIONS, durationMs });
    return (((await child.call("cpuMs", null)) - before) * 1_000) / ((perSecond * durationMs) / 1_000);
  };
  for (const server of [servers.without, servers.withGate]) await cost(server, WARM_UP_MS);
  const results = await rounds.measure(
    { without: () => cost(servers.without, ROUND_MS), withGate: () => cost(servers.withGate, ROUND_MS) },
    ROUNDS,
  );
  return figureOf({
    name: `gate-${request}-${bindings}-bindings`,
    unit: "share",
    values: results.withGate.map((whole, index) => 1 - (results.without[index] ?? Number.NaN) / whole),
    budget: { atMost: SHARE_MAX },
  });
}
