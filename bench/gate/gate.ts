/**
 * What it costs to ask who sends a request, whether they may, and what admission says: processor time of a server with the whole gate and
 * 10,000 role bindings beside one without any, for the same requests over TLS in the same rounds. The figure is the share of a
 * request's processor time that the gate takes.
 */
import { Disposables } from "../../src/base/disposables.ts";
import type { LoadTasks, RequestName } from "../apiserver/load-child.ts";
import type { Benchmark, BenchmarkContext, Figure } from "../benchmark.ts";
import { startChild, type Child } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { StartedServer } from "../apiserver/server-child.ts";
import type { GateTasks } from "./gate-child.ts";

const REQUESTS: readonly RequestName[] = ["get-pod", "post-configmap", "patch-pod", "put-pod-status", "post-pod"];

const BINDINGS = [10, 10_000];
const CONNECTIONS = 16;
const ROUND_MS = 1_500;

/** As in apiserver/requests.ts: what is measured is a server that has been up for a while. */
const WARM_UP_MS = 4_000;

/** Each connection has an object of its own. */
const TARGETS = CONNECTIONS;

const SHARE_MAX = 0.15;

export const gate: Benchmark = {
  name: "gate",
  measures: "the share of a request's processor time that authentication, authorization and admission take, with 10 and 10,000 bindings",
  async *run(context) {
    for (const bindings of BINDINGS) {
      await using children = new Disposables();
      const load = children.use(startChild<LoadTasks>(import.meta.url, "../apiserver/load-child", context.signal));
      const open = children.use(startChild<GateTasks>(import.meta.url, "gate-child", context.signal));
      const closed = children.use(startChild<GateTasks>(import.meta.url, "gate-child", context.signal));
      const withGate: Subject = { child: closed, server: await closed.call("start", { gate: true, bindings }) };
      const { port } = await open.call("start", { gate: false, bindings: 0 });
      // It is sent the same requests, with the token that it does not look at.
      const without: Subject = { child: open, server: { port, credentials: withGate.server.credentials } };
      await load.call("prepare", { ...withGate.server, count: TARGETS });
      await open.call("adopt", await closed.call("pods", null));
      for (const request of REQUESTS) yield await shareOf({ load, without, withGate, request, bindings }, context);
    }
  },
};

interface Subject {
  readonly child: Child<GateTasks>;
  readonly server: StartedServer;
}

interface Compared {
  readonly load: Child<LoadTasks>;
  readonly without: Subject;
  readonly withGate: Subject;
  readonly request: RequestName;
  readonly bindings: number;
}

async function shareOf({ load, without, withGate, request, bindings }: Compared, { rounds }: BenchmarkContext): Promise<Figure> {
  /** Microseconds of the server's processor time per request. */
  const cost = async ({ child, server }: Subject, durationMs: number): Promise<number> => {
    const before = await child.call("cpuMs", null);
    const { perSecond } = await load.call("load", { ...server, protocol: "http1", request, connections: CONNECTIONS, durationMs });
    return (((await child.call("cpuMs", null)) - before) * 1_000) / ((perSecond * durationMs) / 1_000);
  };
  for (const subject of [without, withGate]) await cost(subject, WARM_UP_MS);
  const results = await rounds.measure({ without: () => cost(without, ROUND_MS), withGate: () => cost(withGate, ROUND_MS) });
  return figureOf({
    name: `gate-${request}-${bindings}-bindings`,
    unit: "share",
    values: results.withGate.map((whole, index) => 1 - (results.without[index] ?? Number.NaN) / whole),
    budget: { atMost: SHARE_MAX },
  });
}
