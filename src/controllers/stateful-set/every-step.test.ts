/** A crash at any step of a rollout does not change the final state. */
import test from "node:test";
import { statefulSets } from "../../api/apps/v1/stateful-set.ts";
import type { StatefulSetSpec } from "../../api/generated/apps/v1.ts";
import { everyStepMayBeTheLast, type ScenarioCluster } from "../../testing/every-step.ts";
import { rounds } from "../../testing/rounds.ts";
import { obedientPods } from "../shared/testing/obedient-pods.ts";
import { statefulSetController } from "./stateful-set-controller.ts";
import { aSet, aTemplate } from "./testing/sets.ts";

const change =
  (spec: Partial<StatefulSetSpec>) =>
  async ({ client }: ScenarioCluster): Promise<void> => {
    await client.patch(statefulSets, { namespace: "default", name: "web" }, { type: "merge", value: { spec } });
  };

const SCENARIOS = {
  "updated, scaled, updated again and rolled back": {
    facts: { revisionHistoryLimit: 0 },
    steps: [
      change({ template: aTemplate("app:2") }),
      change({ replicas: 1 }),
      change({ replicas: 2, template: aTemplate("app:3") }),
      change({ template: aTemplate("app:2") }),
    ],
  },
  "updated with a partition that is then removed": {
    facts: { partition: 2 },
    steps: [change({ template: aTemplate("app:2") }), change({ updateStrategy: { rollingUpdate: { partition: 0 } } })],
  },
  "parallel, with claims whose retention policy changes": {
    facts: { podManagementPolicy: "Parallel" as const, claims: true as const, retain: { whenDeleted: "Delete", whenScaled: "Retain" } },
    steps: [
      change({ replicas: 1 }),
      change({ template: aTemplate("app:2"), persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" } }),
      change({ replicas: 2 }),
    ],
  },
};

for (const [it, { facts, steps }] of Object.entries(SCENARIOS)) {
  test(`a StatefulSet that is ${it} converges to the same result after a crash at any step`, async () => {
    const scenario = {
      objects: [aSet(facts)],
      controllers: () => [statefulSetController, obedientPods()],
      steps,
      restMs: 20_000,
    };
    await everyStepMayBeTheLast(scenario, { deathsMax: rounds({ quick: 4, full: 1_000 }), disturbedRuns: rounds({ quick: 1, full: 20 }) });
  });
}
