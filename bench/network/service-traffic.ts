/**
 * Requests per second and latency through a Service's cluster IP beside the Pod's own address: between two Pods' network namespaces, with
 * 1,000 other Services, over kept connections and with a new connection per request.
 */
import { Disposables } from "../../src/base/disposables.ts";
import { CommandError } from "../../src/host/network/network-namespace.ts";
import { UnsupportedModeError, type Applier, type ProxyMode } from "../../src/proxy/appliers/applier.ts";
import { aServicePort } from "../../src/proxy/testing/models.ts";
import { BRIDGE, openTrafficTopology, POD_B, type TrafficTopology } from "../../src/proxy/testing/traffic-topology.ts";
import type { Benchmark, BenchmarkContext, Figure } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import { applierContext, MODES, ServiceFleet } from "./services.ts";
import type { HttpTasks, LoadResult } from "./http-child.ts";

const OTHER_SERVICES = 1_000;
const CLUSTER_IP = "10.110.0.1";
const SERVER_PORT = 9_000;
const CONNECTIONS = 8;
const ROUND_MS = 1_000;
const ROUNDS = 7;
const RATIO_MIN = 0.9;

export const networkServiceTraffic: Benchmark = {
  name: "network/service-traffic",
  measures: "requests/s and latency through a Service beside the Pod's address, kept and new connections, 1,000 other Services",
  async *run(context) {
    await using stack = new Disposables();
    let topology: TrafficTopology;
    try {
      topology = stack.use(await openTrafficTopology());
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return context.note(`network/service-traffic needs root: ${error.message}`);
    }
    for (const mode of MODES) yield* trafficOf(mode, topology, context);
  },
};

async function* trafficOf(mode: ProxyMode, topology: TrafficTopology, context: BenchmarkContext): AsyncIterable<Figure> {
  const { node, podA, podB } = topology;
  await using stack = new Disposables();
  const proxy = applierContext(node.namespace, { podBridge: BRIDGE });
  let applier: Applier;
  try {
    applier = stack.use(await mode.open(proxy));
  } catch (error) {
    if (!(error instanceof UnsupportedModeError)) throw error;
    return context.note(error.message);
  }
  stack.defer(() => mode.cleanUp(proxy));
  const model = new ServiceFleet(OTHER_SERVICES).computation.updateAll();
  const port = aServicePort({ name: "bench", clusterIp: CLUSTER_IP, endpoints: [`${POD_B[4]}:${SERVER_PORT}@here`] });
  await applier.apply({ ...model, servicePorts: new Map([...model.servicePorts, [port.key, port]]) });

  const server = stack.use(startChild<HttpTasks>(import.meta.url, "http-child", context.signal, { networkNamespace: podB.namespace.name }));
  const client = stack.use(startChild<HttpTasks>(import.meta.url, "http-child", context.signal, { networkNamespace: podA.namespace.name }));
  await server.call("listen", { port: SERVER_PORT });
  for (const connections of ["kept", "new"] as const) {
    const load = (address: string, to: number) => () =>
      client.call("load", { address, port: to, concurrency: CONNECTIONS, keepsConnections: connections === "kept", durationMs: ROUND_MS });
    const results = await context.rounds.measure({ service: load(CLUSTER_IP, 80), pod: load(POD_B[4], SERVER_PORT) }, ROUNDS);
    yield* figuresOf(`network/service-traffic-${mode.name}-${connections}`, results);
  }
}

function* figuresOf(name: string, { service, pod }: { readonly service: readonly LoadResult[]; readonly pod: readonly LoadResult[] }) {
  yield figureOf({
    name: `${name}-requests`,
    unit: "requests/s",
    values: service.map(({ perSecond }) => perSecond),
    baselines: pod.map(({ perSecond }) => perSecond),
    budget: { atLeast: RATIO_MIN },
  });
  for (const part of ["p50Ms", "p99Ms"] as const)
    yield figureOf({
      name: `${name}-${part.slice(0, -"Ms".length)}`,
      unit: "ms",
      values: service.map((one) => one[part]),
      baselines: pod.map((one) => one[part]),
    });
}
