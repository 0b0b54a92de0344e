/**
 * From a changed EndpointSlice until its rules are in effect, with 1,000 and 10,000 Services of 10 endpoints each, beside the bare commands
 * (`iptables-restore`, `nft -f`) with the same input: in a network namespace of its own. The first write of all rules is reported too.
 */
import { CommandError, namedNetworkNamespace, ownNetworkNamespace } from "../../src/host/network/network-namespace.ts";
import { UnsupportedModeError, type Applier, type ProxyMode } from "../../src/proxy/appliers/applier.ts";
import type { Benchmark, BenchmarkContext, Figure } from "../benchmark.ts";
import { figureOf, median } from "../figure.ts";
import { applierContext, MODES, RecordingNamespace, ServiceFleet, serviceKey } from "./services.ts";

const SERVICE_COUNTS = [1_000, 10_000];
/** Enough for a 99th percentile; each one is a change and its reversal. */
const CHANGES = 50;
const P99 = 0.99;
/** Of the project: at 1,000 Services. */
const CHANGE_MS_MAX = 200;

export const networkServiceChanges: Benchmark = {
  name: "network/service-changes",
  measures: "endpoint change until the rule is in the kernel, 1,000 and 10,000 Services, beside bare iptables-restore and nft -f",
  async *run(context) {
    for (const mode of MODES)
      for (const count of SERVICE_COUNTS) {
        const name = `k8ts-bench-${process.pid}`;
        try {
          await ownNetworkNamespace.run("ip", ["netns", "add", name]);
        } catch (error) {
          if (!(error instanceof CommandError)) throw error;
          return context.note(`network/service-changes needs root: ${error.message}`);
        }
        try {
          yield* changesOf(mode, count, new RecordingNamespace(namedNetworkNamespace(name)), context);
        } finally {
          await ownNetworkNamespace.run("ip", ["netns", "delete", name]);
        }
      }
  },
};

async function* changesOf(mode: ProxyMode, count: number, namespace: RecordingNamespace, context: BenchmarkContext): AsyncIterable<Figure> {
  let applier: Applier;
  try {
    applier = await mode.open(applierContext(namespace));
  } catch (error) {
    if (!(error instanceof UnsupportedModeError)) throw error;
    return context.note(error.message);
  }
  const name = `network/service-changes-${mode.name}-${count}`;
  const fleet = new ServiceFleet(count);
  const beganAtMs = performance.now();
  await applier.apply(fleet.computation.updateAll());
  yield figureOf({ name: `${name}-first`, unit: "ms", values: [performance.now() - beganAtMs] });

  const values: number[] = [];
  const baselines: number[] = [];
  for (let round = 0; round < CHANGES && !context.signal.aborted; round++) {
    const index = Math.floor((round * count) / CHANGES);
    namespace.take();
    const written: ReturnType<RecordingNamespace["take"]>[] = [];
    // There and back, so that the repeated commands leave the rules that the applier knows.
    for (const generation of [1, 0]) {
      fleet.setEndpoints(index, generation);
      const startMs = performance.now();
      await applier.apply(fleet.computation.update([serviceKey(index)]));
      values.push(performance.now() - startMs);
      written.push(namespace.take());
    }
    for (const runs of written) {
      const startMs = performance.now();
      await namespace.replay(runs);
      baselines.push(performance.now() - startMs);
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
