/** A crash at any step of a rollout does not change the final state. */
import test from "node:test";
import { daemonSets } from "../../api/apps/v1/daemon-set.ts";
import { nodes } from "../../api/core/v1/node.ts";
import type { DaemonSetSpec } from "../../api/generated/apps/v1.ts";
import { everyStepMayBeTheLast, type ScenarioCluster } from "../../testing/every-step.ts";
import { rounds } from "../../testing/rounds.ts";
import { obedientPods } from "../shared/testing/obedient-pods.ts";
import { daemonSetController } from "./daemon-set-controller.ts";
import { aDaemonSet, aTemplate, someNodes } from "./testing/daemons.ts";

const change =
  (spec: Partial<DaemonSetSpec>) =>
  async ({ client }: ScenarioCluster): Promise<void> => {
    await client.patch(daemonSets, { namespace: "default", name: "agent" }, { type: "merge", value: { spec } });
  };

const label =
  (name: string, disk: string | null) =>
  async ({ client }: ScenarioCluster): Promise<void> => {
    await client.patch(nodes, { name }, { type: "merge", value: { metadata: { labels: { disk } } } });
  };

const SCENARIOS = {
  "updated, updated again and rolled back": {
    facts: { revisionHistoryLimit: 0 },
    steps: [
      change({ template: aTemplate("agent:2") }),
      change({ template: aTemplate("agent:3") }),
      change({ template: aTemplate("agent:2") }),
    ],
  },
  "updated with surge": { facts: { maxSurge: 2 }, steps: [change({ template: aTemplate("agent:2") })] },
  "restricted to nodes whose labels change": {
    facts: { pod: { nodeSelector: { disk: "ssd" } } },
    steps: [label("n1", "ssd"), label("n2", "ssd"), label("n1", null)],
  },
};

for (const [it, { facts, steps }] of Object.entries(SCENARIOS)) {
  test(`a DaemonSet that is ${it} converges to the same result after a crash at any step`, async () => {
    const scenario = {
      objects: [...someNodes(3), aDaemonSet(facts)],
      controllers: () => [daemonSetController, obedientPods()],
      steps,
      restMs: 20_000,
    };
    await everyStepMayBeTheLast(scenario, { deathsMax: rounds({ quick: 4, full: 1_000 }), disturbedRuns: rounds({ quick: 1, full: 20 }) });
  });
}
