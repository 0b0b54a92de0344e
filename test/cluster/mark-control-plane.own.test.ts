import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { nodeIdentity } from "../../src/api/identities.ts";
import type { Node } from "../../src/api/generated/core/v1.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { CONTROL_PLANE_LABEL, markControlPlane } from "../../src/cluster/mark-control-plane.ts";

test("the administrator gives a node the control-plane role once, without a taint", async () => {
  await using cluster = await startCluster();
  const transport = cluster.transport({ userAgent: "k8ts" });

  await markControlPlane(transport, "node-0");
  const first = await cluster.get<Node>("node/node-0");
  await markControlPlane(transport, "node-0");
  const second = await cluster.get<Node>("node/node-0");

  equal(first.metadata.labels?.[CONTROL_PLANE_LABEL], "");
  equal(first.spec?.taints?.some(({ effect }) => effect === "NoSchedule") ?? false, false);
  const managers = second.metadata.managedFields?.filter(({ manager }) => manager === "k8ts");
  deepEqual(
    managers,
    first.metadata.managedFields?.filter(({ manager }) => manager === "k8ts"),
  );
});

test("a kubelet cannot give its node the control-plane role", async () => {
  await using cluster = await startCluster();
  const transport = cluster.transport({ userAgent: "kubelet", identity: nodeIdentity("node-0") });
  await rejects(markControlPlane(transport, "node-0"), /is not allowed to modify labels: node-role\.kubernetes\.io\/control-plane/);
});
