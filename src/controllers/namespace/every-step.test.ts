import test from "node:test";
import { namespaces } from "../../api/core/v1/namespace.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { rounds } from "../../testing/rounds.ts";
import { namespaceController } from "./namespace-controller.ts";
import { buildPod } from "../../api/testing/pod.ts";

const IN_SPACE = { namespace: "space" };

test("namespace deletion ends in the same state after a crash at any step", async () => {
  const spec = { containers: [{ name: "c", image: "i" }] };
  const scenario = {
    objects: [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "space" } },
      buildPod({ metadata: { name: "a", ...IN_SPACE }, spec }),
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", ...IN_SPACE } },
      { apiVersion: "v1", kind: "Secret", metadata: { name: "kept", finalizers: ["example.com/kept"], ...IN_SPACE } },
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "stays" } },
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "named" }, spec: { finalizers: ["example.com/kept"] } },
    ],
    controllers: () => [namespaceController],
    restMs: 40_000,
    steps: [
      async ({ client }) => {
        for (const name of ["space", "named"]) await client.delete(namespaces, { name });
      },
    ],
  } satisfies Parameters<typeof everyStepMayBeTheLast>[0];

  await everyStepMayBeTheLast(scenario, { deathsMax: rounds({ quick: 5, full: 150 }), disturbedRuns: rounds({ quick: 1, full: 20 }) });
});
