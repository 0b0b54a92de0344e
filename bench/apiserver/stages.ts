/**
 * What each stage of a create costs, so that a regression has an address: processor time, and allocated bytes, which do not depend on other
 * load. Not here: whole requests (processor-time.ts).
 */
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { StageCost, StagesTasks } from "./stages-child.ts";

export const apiserverStages: Benchmark = {
  name: "apiserver/stages",
  measures: "processor time and allocations of each stage of a POST of a ConfigMap and of a Pod",
  async *run({ directory, rounds, signal }) {
    await using children = new Disposables();
    // Megabytes: for all that one stage allocates in a round.
    const child = children.use(startChild<StagesTasks>(import.meta.url, "stages-child", signal, { youngGenerationMb: 1_024 }));
    const { stages } = await rounds.measure({ stages: () => child.call("measure", { directory }) });
    for (const { stage, kind } of stages[0] ?? []) {
      const costs = stages.flatMap((round) => round.filter((cost) => cost.stage === stage && cost.kind === kind));
      const name = `apiserver/stages-post-${kind}-${stage}`;
      const valuesOf = (read: (cost: StageCost) => number) => costs.map(read);
      yield figureOf({ name, unit: "us", values: valuesOf(({ processorUs }) => processorUs) });
      yield figureOf({ name: `${name}-allocations`, unit: "KB", values: valuesOf(({ allocatedKb }) => allocatedKb) });
    }
  },
};
