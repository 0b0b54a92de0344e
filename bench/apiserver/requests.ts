/**
 * Requests per second over TLS on the embedded store: reads and writes at a concurrency of 1, 16 and 64, over HTTP/1.1 (that many
 * connections) and HTTP/2 (one connection, that many streams). Baseline of each: a bare Node server with the same protocol and payload, in
 * the same rounds.
 */
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark, BenchmarkContext, Figure } from "../benchmark.ts";
import { startChild, type Child } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { LoadTasks, RequestName } from "./load-child.ts";
import type { Protocol, StartedServer } from "./server-child.ts";
import { startServer } from "./start-server.ts";

const CONCURRENCY = [1, 16, 64];
const PROTOCOLS: readonly Protocol[] = ["http1", "http2"];
const REQUESTS: readonly RequestName[] = ["get-pod", "post-configmap", "post-pod", "patch-pod", "put-pod-status"];

/** Long enough for a few hundred requests of one connection. */
const ROUND_MS = 700;

/**
 * A write runs through thousands of small functions, which V8 compiles after thousands of calls each; the benchmark measures a warm server.
 */
const WARM_UP_MS = 5_000;

/** Baseline: a bare server that sends the same bytes. */
const GET_RATIO_MIN = 0.7;
/** Baseline: a bare server that parses, stringifies, appends with fdatasync and responds. */
const WRITE_RATIO_MIN = 0.5;

/** Each connection has its own object, so that writers do not conflict. */
const TARGETS = 64;

export const apiserverRequests: Benchmark = {
  name: "apiserver/requests",
  measures: "GET, POST, PATCH and PUT per second over TLS at a concurrency of 1, 16 and 64; baseline: bare Node servers",
  async *run(context) {
    await using children = new Disposables();
    const load = children.use(startChild<LoadTasks>(import.meta.url, "load-child", context.signal));
    const k8ts = children.use(startServer(context.signal));
    const server = await k8ts.call("startK8ts", { directory: context.directory, store: "embedded" });
    await load.call("prepare", { ...server, count: TARGETS });
    for (const protocol of PROTOCOLS) {
      for (const request of REQUESTS) yield* figuresOf({ load, server, protocol, request }, context);
    }
  },
};

interface Subjects {
  readonly load: Child<LoadTasks>;
  readonly server: StartedServer;
  readonly protocol: Protocol;
  readonly request: RequestName;
}

async function* figuresOf(
  { load, server, protocol, request }: Subjects,
  { rounds, directory, signal }: BenchmarkContext,
): AsyncIterable<Figure> {
  const options = { protocol, request, durationMs: ROUND_MS };
  const { answerBytes } = await load.call("load", { ...options, ...server, connections: 64, durationMs: WARM_UP_MS });
  await using bareChild = startServer(signal);
  const durable = request !== "get-pod";
  const bare = await bareChild.call("startBare", { directory, protocol, bodyBytes: answerBytes, durable });
  for (const connections of CONCURRENCY) {
    const results = await rounds.measure(
      {
        k8ts: () => load.call("load", { ...options, ...server, connections }),
        bare: () => load.call("load", { ...options, ...bare, connections }),
      },
      3,
    );
    const name = `apiserver/requests-${protocol}-${request}-${connections}`;
    yield figureOf({
      name,
      unit: "requests/s",
      values: results.k8ts.map(({ perSecond }) => perSecond),
      baselines: results.bare.map(({ perSecond }) => perSecond),
      budget: { atLeast: durable ? WRITE_RATIO_MIN : GET_RATIO_MIN },
    });
    if (connections > 1) continue;
    yield figureOf({
      name: `${name}-p50`,
      unit: "ms",
      values: results.k8ts.map(({ medianMs }) => medianMs),
      baselines: results.bare.map(({ medianMs }) => medianMs),
    });
  }
}
