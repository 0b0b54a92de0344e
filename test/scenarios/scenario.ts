/** Shared helpers of the scenarios of "every step may be the last". */
import { pods } from "../../src/api/core/v1/pod.ts";
import type { Pod } from "../../src/api/generated/core/v1.ts";
import type { KubeObject } from "../../src/api/machinery/object.ts";
import { all } from "../../src/controllers/all.ts";
import type { Controller } from "../../src/controllers/runtime/controller.ts";
import { TEST_SETTINGS } from "../../src/testing/fixtures/controller-settings.ts";
import type { Scenario, ScenarioCluster } from "../../src/testing/every-step.ts";

export interface NamedScenario extends Scenario {
  /** A sentence: "a Deployment rolls out a new image". */
  readonly it: string;
}

/** With the cluster's controllers of these names. */
export function scenario(definition: Omit<NamedScenario, "controllers"> & { readonly tries: readonly string[] }): NamedScenario {
  return { ...definition, controllers: () => definition.tries.map(controllerNamed) };
}

function controllerNamed(name: string): Controller {
  const found = all(TEST_SETTINGS).find((controller) => controller.name === name);
  if (found === undefined) throw new Error(`There is no controller ${name}`);
  return found;
}

export function namespace(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

export const POD_SPEC = { containers: [{ name: "main", image: "web:1" }] };

/** Acts as the kubelets: every pod runs and is ready; terminating ones are deleted. */
async function kubeletsDoTheirWork({ client }: ScenarioCluster): Promise<void> {
  const { items } = await client.list(pods);
  for (const pod of items) {
    if (pod.metadata.deletionTimestamp !== undefined) await client.delete(pods, keyOf(pod), { gracePeriodSeconds: 0 });
    else if (pod.status?.phase !== "Running") await client.updateStatus(pods, { ...pod, status: { ...pod.status, ...RUNNING } } as Pod);
  }
}

/** The status of a running, ready pod. */
export const RUNNING = {
  phase: "Running",
  podIP: "10.0.0.1",
  podIPs: [{ ip: "10.0.0.1" }],
  conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
};

function keyOf({ metadata }: KubeObject): { readonly namespace: string; readonly name: string } {
  return { namespace: metadata.namespace ?? "", name: metadata.name };
}

/** Number of repetitions that a rollout of a few pods needs. */
export function untilAllRun(rounds: number): readonly ((cluster: ScenarioCluster) => Promise<void>)[] {
  return Array.from({ length: rounds }, () => kubeletsDoTheirWork);
}
