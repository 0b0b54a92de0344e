/**
 * Processor time per request over TLS with a client certificate, RBAC, default admission and the embedded durable store: what the server's
 * process spends, all its threads included. Unlike requests per second it hardly depends on what else the machine does. The API server runs
 * alone, since controllers and the scheduler would react to every write. The bare server of server-child.ts is printed beside it.
 */
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark, BenchmarkContext, Figure } from "../benchmark.ts";
import { startChild, type Child } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { LoadTasks, RequestName } from "./load-child.ts";
import type { Protocol, ServerTasks, StartedServer } from "./server-child.ts";
import { startServer } from "./start-server.ts";

/** Budgets in microseconds. */
const REQUESTS: readonly (readonly [RequestName, number])[] = [
  ["get-pod", 40],
  ["post-configmap", 120],
  ["post-pod", 220],
  ["patch-pod", 220],
  ["put-pod-status", 250],
];

const PROTOCOLS: readonly Protocol[] = ["http1", "http2"];
const CONNECTIONS = 64;
const ROUND_MS = 1_000;

/** As in requests.ts: the benchmark measures a warm server. */
const WARM_UP_MS = 5_000;

export const apiserverProcessorTime: Benchmark = {
  name: "apiserver/processor-time",
  measures: "processor time of the API server per GET, POST, PATCH and PUT, over HTTP/1.1 and HTTP/2",
  async *run(context) {
    await using children = new Disposables();
    const load = children.use(startChild<LoadTasks>(import.meta.url, "load-child", context.signal));
    const child = children.use(startServer(context.signal));
    const server = await child.call("startK8ts", { directory: context.directory, store: "embedded" });
    await load.call("prepare", { ...server, count: CONNECTIONS });
    for (const protocol of PROTOCOLS) {
      for (const [request, budgetUs] of REQUESTS) yield* figuresOf({ load, child, server, protocol, request, budgetUs }, context);
    }
  },
};

interface Subjects {
  readonly load: Child<LoadTasks>;
  readonly child: Child<ServerTasks>;
  readonly server: StartedServer;
  readonly protocol: Protocol;
  readonly request: RequestName;
  readonly budgetUs: number;
}

async function* figuresOf(
  { load, child, server, protocol, request, budgetUs }: Subjects,
  { rounds, directory, signal }: BenchmarkContext,
): AsyncIterable<Figure> {
  const options = { protocol, request, connections: CONNECTIONS, keepsConnections: true };
  const costUs = async (of: Child<ServerTasks>, at: StartedServer): Promise<number> => {
    const before = await of.call("cpu", undefined);
    const { count } = await load.call("load", { ...options, ...at, durationMs: ROUND_MS });
    return (((await of.call("cpu", undefined)) - before) * 1_000) / count;
  };
  const { answerBytes } = await load.call("load", { ...options, ...server, durationMs: WARM_UP_MS });
  await using bareChild = startServer(signal);
  const bare = await bareChild.call("startBare", { directory, protocol, bodyBytes: answerBytes, durable: request !== "get-pod" });
  const results = await rounds.measure({ k8ts: () => costUs(child, server), bare: () => costUs(bareChild, bare) });
  const name = `apiserver/processor-time-${protocol}-${request}`;
  yield figureOf({ name, unit: "us", values: results.k8ts, budget: { atMost: budgetUs } });
  yield figureOf({ name: `${name}-bare`, unit: "us", values: results.bare });
}
