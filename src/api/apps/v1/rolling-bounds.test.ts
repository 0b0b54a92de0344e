import assert from "node:assert/strict";
import test from "node:test";
import type { Deployment, DeploymentStrategy } from "../../generated/apps/v1.ts";
import { maxSurgeOf, maxUnavailableOf } from "./rolling-bounds.ts";

function aDeployment(replicas: number, strategy: DeploymentStrategy): Deployment {
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" }, spec: { replicas, selector: {}, template: {}, strategy } };
}

for (const { replicas, maxSurge, maxUnavailable, surge, unavailable } of [
  { replicas: 10, maxSurge: "25%", maxUnavailable: "25%", surge: 3, unavailable: 2 },
  { replicas: 3, maxSurge: "25%", maxUnavailable: "25%", surge: 1, unavailable: 0 },
  { replicas: 1, maxSurge: 0, maxUnavailable: "1%", surge: 0, unavailable: 1 },
  { replicas: 2, maxSurge: 0, maxUnavailable: "1%", surge: 0, unavailable: 1 },
  { replicas: 2, maxSurge: "1%", maxUnavailable: 0, surge: 1, unavailable: 0 },
  { replicas: 2, maxSurge: 5, maxUnavailable: 5, surge: 5, unavailable: 2 },
  { replicas: 0, maxSurge: "25%", maxUnavailable: "25%", surge: 0, unavailable: 0 },
]) {
  test(`of ${replicas} replicas, maxSurge ${maxSurge} is ${surge} and maxUnavailable ${maxUnavailable} is ${unavailable}`, () => {
    const deployment = aDeployment(replicas, { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } });

    assert.deepEqual([maxSurgeOf(deployment), maxUnavailableOf(deployment)], [surge, unavailable]);
  });
}

test("a Recreate strategy has neither surge nor unavailable Pods", () => {
  const deployment = aDeployment(10, { type: "Recreate" });

  assert.deepEqual([maxSurgeOf(deployment), maxUnavailableOf(deployment)], [0, 0]);
});
