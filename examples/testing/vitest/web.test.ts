import { isRolledOut, type Cluster } from "k8ts";
import type { coreV1 } from "k8ts/kinds";
import { useFork } from "k8ts/testing";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";

const WEB = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers: [{ name: web, image: "web:1" }]
`;

const cluster = useFork({ nodes: 3, clock: "virtual", prepare }, { beforeAll, afterAll, beforeEach, afterEach });

async function prepare(cluster: Cluster): Promise<void> {
  await cluster.apply(WEB);
  await cluster.until("deployment/web", isRolledOut);
}

async function nodesOfPods(): Promise<readonly (string | undefined)[]> {
  const pods = await cluster().until<coreV1.Pod>("pods", (all) => all.filter(isActive).length === 3);
  return pods
    .filter(isActive)
    .map(({ spec }) => spec?.nodeName)
    .sort();
}

function isActive({ metadata }: coreV1.Pod): boolean {
  return metadata.deletionTimestamp === undefined;
}

test("the scheduler spreads the Pods over all nodes", async () => {
  expect(await nodesOfPods()).toEqual(["node-0", "node-1", "node-2"]);
});

test("a lost node's Pod is replaced on another node after the 50 s grace period and 5 minutes of toleration", async () => {
  await cluster().nodes.stop("node-1");

  await cluster().advance("5m");
  expect((await nodesOfPods()).includes("node-1")).toEqual(true);

  await cluster().advance("1m");
  expect((await nodesOfPods()).includes("node-1")).toEqual(false);
});

test("a test does not see the changes of another", async () => {
  expect(cluster().nodes.isRunning("node-1")).toEqual(true);
  expect(await nodesOfPods()).toEqual(["node-0", "node-1", "node-2"]);
});
