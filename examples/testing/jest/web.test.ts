import { expect, test } from "@jest/globals";
import { isRolledOut, type Cluster } from "k8ts";
import type { coreV1 } from "k8ts/kinds";
import { useFork } from "k8ts/testing";

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

const cluster = useFork({ nodes: 3, clock: "virtual", prepare });

async function prepare(cluster: Cluster): Promise<void> {
  await cluster.apply(WEB);
  await cluster.until("deployment/web", isRolledOut);
}

async function nodesOfPods(): Promise<readonly (string | undefined)[]> {
  const pods = await cluster().until<coreV1.Pod>("pods", (all) => all.filter(isLeft).length === 3);
  return pods
    .filter(isLeft)
    .map(({ spec }) => spec?.nodeName ?? "")
    .sort();
}

function isLeft({ metadata }: coreV1.Pod): boolean {
  return metadata.deletionTimestamp === undefined;
}

test("every node has one of the pods", async () => {
  expect(await nodesOfPods()).toEqual(["node-0", "node-1", "node-2"]);
});

test("when a node is lost its pod is made anew elsewhere, after 50 seconds of silence and 5 minutes of patience", async () => {
  await cluster().nodes.stop("node-1");

  await cluster().advance("5m");
  expect((await nodesOfPods()).includes("node-1")).toEqual(true);

  await cluster().advance("1m");
  expect((await nodesOfPods()).includes("node-1")).toEqual(false);
});

test("no test sees what another did", async () => {
  expect(cluster().nodes.isRunning("node-1")).toEqual(true);
  expect(await nodesOfPods()).toEqual(["node-0", "node-1", "node-2"]);
});
