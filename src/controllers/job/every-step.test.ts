/** A crash at any step changes neither the outcome of a Job nor the number of its Pods, and no Pod is counted twice or lost. */
import test from "node:test";
import { jobs } from "../../api/batch/v1/job.ts";
import type { JobSpec } from "../../api/generated/batch/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { everyStepMayBeTheLast, type ScenarioCluster } from "../../testing/every-step.ts";
import { rounds } from "../../testing/rounds.ts";
import { jobController } from "./job-controller.ts";
import { completionIndexOf, indexFailuresOf } from "./job-pods.ts";
import { aJob, simulatedKubelet, WORK } from "./testing/jobs.ts";

const change =
  (spec: Partial<JobSpec>) =>
  async ({ client }: ScenarioCluster): Promise<void> =>
    void (await client.patch(jobs, WORK, { type: "merge", value: { spec: spec as never } }));

interface CrashScenario {
  readonly spec: Partial<JobSpec>;
  codeOf(pod: Pod): number | undefined;
  readonly steps?: readonly ((cluster: ScenarioCluster) => Promise<void>)[];
}

const SCENARIOS: Readonly<Record<string, CrashScenario>> = {
  "runs three at a time until five have succeeded": { spec: { completions: 5, parallelism: 3 }, codeOf: () => 0 },
  "fails at the back-off limit": { spec: { backoffLimit: 1 }, codeOf: () => 1 },
  "is indexed, and each index fails once": {
    spec: { completions: 3, parallelism: 3, completionMode: "Indexed", backoffLimitPerIndex: 1 },
    codeOf: (pod) => (indexFailuresOf(pod) === 0 ? 1 : 0),
  },
  "has failed indexes": {
    spec: { completions: 3, parallelism: 3, completionMode: "Indexed", backoffLimitPerIndex: 0 },
    codeOf: (pod) => (completionIndexOf(pod) === 1 ? 1 : 0),
  },
  "is suspended and resumed": {
    spec: { completions: 2, parallelism: 2, suspend: true },
    codeOf: () => undefined,
    steps: [change({ suspend: false }), change({ suspend: true }), change({ suspend: false })],
  },
};

for (const [it, { spec, codeOf, steps = [] }] of Object.entries(SCENARIOS)) {
  test(`a Job that ${it} ends in the same state after a crash at any step`, async () => {
    await everyStepMayBeTheLast(
      { objects: [aJob(spec)], controllers: () => [jobController, simulatedKubelet(codeOf)], steps, restMs: 120_000 },
      { deathsMax: rounds({ quick: 10, full: 1_000 }), disturbedRuns: rounds({ quick: 2, full: 40 }) },
    );
  });
}
