/**
 * From the write of an EndpointSlice at the API server until its rules are in the kernel, with 1,000 and 10,000 Services of 10 endpoints
 * each: a whole control plane on a memory store, the proxy with its watches, and the kernel in a network namespace of its own. Beside it the
 * bare command (`iptables-restore`, `nft -f`) of each change, from its start to its end. The first write of all rules is reported too.
 */
import { services } from "../../src/api/core/v1/service.ts";
import { endpointSlices } from "../../src/api/discovery.k8s.io/v1/endpoint-slice.ts";
import type { Transport } from "../../src/api/machinery/transport.ts";
import { Disposables } from "../../src/base/disposables.ts";
import type { Client } from "../../src/client/client.ts";
import { createClient } from "../../src/client/rest-client.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { CommandError, namedNetworkNamespace, ownNetworkNamespace } from "../../src/host/network/network-namespace.ts";
import { realRandom } from "../../src/host/real-random.ts";
import { UnsupportedModeError, type ProxyMode } from "../../src/proxy/appliers/applier.ts";
import { startProxy } from "../../src/proxy/engine/proxy.ts";
import type { Benchmark, BenchmarkContext, Figure } from "../benchmark.ts";
import { figureOf, median } from "../figure.ts";
import { applierContext, firstEndpoint, MODES, RecordingNamespace, serviceOf, SETTINGS, sliceOf } from "./services.ts";

const SERVICE_COUNTS = [1_000, 10_000];
/** Enough for a 99th percentile; each one is a change and its reversal. */
const CHANGES = 50;
const P99 = 0.99;
/** Of the project: at 1,000 Services. */
const CHANGE_MS_MAX = 200;
/** Objects that are created at the same time. */
const CREATED_TOGETHER = 50;

export const networkServiceChanges: Benchmark = {
  name: "network/service-changes",
  measures:
    "endpoint change at the API until the rule is in the kernel, 1,000 and 10,000 Services, beside bare iptables-restore and nft -f",
  async *run(context) {
    for (const count of SERVICE_COUNTS) {
      await using cluster = await startCluster({ store: { driver: "memory" }, nodes: 0 });
      const transport = cluster.transport({ userAgent: "bench" });
      await createServices(createClient(transport), count);
      for (const mode of MODES) {
        const name = `k8ts-bench-${process.pid}`;
        try {
          await ownNetworkNamespace.run("ip", ["netns", "add", name]);
        } catch (error) {
          if (!(error instanceof CommandError)) throw error;
          return context.note(`network/service-changes needs root: ${error.message}`);
        }
        try {
          yield* changesOf({ mode, count, transport, namespace: new RecordingNamespace(namedNetworkNamespace(name)) }, context);
        } finally {
          await ownNetworkNamespace.run("ip", ["netns", "delete", name]);
        }
        if (context.signal.aborted) return;
      }
    }
  },
};

async function createServices(client: Client, count: number): Promise<void> {
  for (let start = 0; start < count; start += CREATED_TOGETHER) {
    const indexes = Array.from({ length: Math.min(CREATED_TOGETHER, count - start) }, (_, index) => start + index);
    await Promise.all(indexes.map((index) => client.create(services, serviceOf(index))));
    await Promise.all(indexes.map((index) => client.create(endpointSlices, sliceOf(index, 0))));
  }
}

interface Run {
  readonly mode: ProxyMode;
  readonly count: number;
  readonly transport: Transport;
  readonly namespace: RecordingNamespace;
}

async function* changesOf({ mode, count, transport, namespace }: Run, context: BenchmarkContext): AsyncIterable<Figure> {
  const name = `network/service-changes-${mode.name}-${count}`;
  const beganAtMs = performance.now();
  await using stack = new Disposables();
  const { owner, clock, log, options: applierOptions } = applierContext(namespace);
  try {
    const modes = [mode];
    const proxy = { modes, mode: mode.name, nodeName: "bench", settings: SETTINGS, applierOptions, transport, random: realRandom() };
    stack.use(await startProxy({ ...proxy, owner, namespace, clock, log, warn: (message) => context.note(message) }));
  } catch (error) {
    if (!(error instanceof UnsupportedModeError)) throw error;
    return context.note(error.message);
  }
  yield figureOf({ name: `${name}-first`, unit: "ms", values: [performance.now() - beganAtMs] });

  const client = createClient(transport);
  const values: number[] = [];
  const baselines: number[] = [];
  for (let round = 0; round < CHANGES && !context.signal.aborted; round++) {
    const index = Math.floor((round * count) / CHANGES);
    for (const generation of [1, 0]) {
      const command = namespace.written(firstEndpoint(index, generation));
      const change = { type: "merge", value: { endpoints: sliceOf(index, generation).endpoints } } as const;
      const startMs = performance.now();
      await client.patch(endpointSlices, { namespace: "default", name: `web-${index}-1` }, change);
      baselines.push(await command);
      values.push(performance.now() - startMs);
    }
  }
  if (context.signal.aborted) return;
  yield figureOf({ name: `${name}-p50`, unit: "ms", values: [median(values)], baselines: [median(baselines)] });
  yield figureOf({ name: `${name}-p99`, unit: "ms", values: [percentile(values, P99)], baselines: [percentile(baselines, P99)] });
  if (count === SERVICE_COUNTS[0])
    yield figureOf({ name: `${name}-p99-limit`, unit: "ms", values: [percentile(values, P99)], budget: { atMost: CHANGE_MS_MAX } });
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
