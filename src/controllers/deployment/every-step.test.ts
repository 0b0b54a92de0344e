/** A crash at any step of an update does not change the final state. */
import test from "node:test";
import { deployments } from "../../api/apps/v1/deployment.ts";
import type { DeploymentSpec } from "../../api/generated/apps/v1.ts";
import { everyStepMayBeTheLast, type ScenarioCluster } from "../../testing/every-step.ts";
import { rounds } from "../../testing/rounds.ts";
import { deploymentController } from "./deployment-controller.ts";
import { aDeployment, aTemplate, obedientReplicaSets } from "./testing/rollouts.ts";

const change =
  (spec: Partial<DeploymentSpec>, annotations: Readonly<Record<string, string>> = {}) =>
  async ({ client }: ScenarioCluster): Promise<void> => {
    const patch = { metadata: { annotations }, spec } as never;
    await client.patch(deployments, { namespace: "default", name: "web" }, { type: "merge", value: patch });
  };

const SCENARIOS = {
  "updated, scaled, updated again and rolled back": {
    facts: { replicas: 4, revisionHistoryLimit: 1 },
    steps: [
      change({ template: aTemplate("app:2") }),
      change({ replicas: 6 }),
      change({ template: aTemplate("app:3") }),
      change({}, { "deprecated.deployment.rollback.to": "2" }),
    ],
  },
  "paused, changed and resumed": {
    facts: {},
    steps: [change({ paused: true }), change({ replicas: 5, template: aTemplate("app:2") }), change({ paused: false })],
  },
  recreated: {
    facts: { strategy: { type: "Recreate" as const } },
    steps: [change({ template: aTemplate("app:2") }), change({ template: aTemplate("app:1") })],
  },
  "updated while no Pods are wanted": { facts: { replicas: 0 }, steps: [change({ template: aTemplate("app:2") })] },
};

for (const [it, { facts, steps }] of Object.entries(SCENARIOS)) {
  test(`a Deployment that is ${it} converges to the same result after a crash at any step`, async () => {
    const scenario = {
      objects: [aDeployment(facts)],
      controllers: () => [deploymentController, obedientReplicaSets],
      steps,
      restMs: 20_000,
    };
    await everyStepMayBeTheLast(scenario, { deathsMax: rounds({ quick: 8, full: 1_000 }), disturbedRuns: rounds({ quick: 1, full: 20 }) });
  });
}
