import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { ALL_ALLOWED, ask, make, nodeUser, startNodeCluster } from "../../testing/node-cluster.ts";
import { forbiddenLabels } from "./node.ts";

const LABELS: readonly [key: string, isForbidden: boolean][] = [
  ["plain", false],
  ["example.com/x", false],
  ["mykubernetes.io/x", false],
  ["kubernetes.io/hostname", false],
  ["kubernetes.io/os", false],
  ["kubernetes.io/arch", false],
  ["beta.kubernetes.io/os", false],
  ["beta.kubernetes.io/arch", false],
  ["beta.kubernetes.io/instance-type", false],
  ["node.kubernetes.io/instance-type", false],
  ["failure-domain.beta.kubernetes.io/zone", false],
  ["failure-domain.beta.kubernetes.io/region", false],
  ["topology.kubernetes.io/zone", false],
  ["topology.kubernetes.io/region", false],
  ["kubelet.kubernetes.io/any", false],
  ["a.kubelet.kubernetes.io/any", false],
  ["node.kubernetes.io/any", false],
  ["a.node.kubernetes.io/any", false],
  ["topology.kubernetes.io/rack", true],
  ["kubernetes.io/role", true],
  ["any.kubernetes.io/x", true],
  ["k8s.io/x", true],
  ["any.k8s.io/x", true],
  ["node-role.kubernetes.io/control-plane", true],
  ["node-restriction.kubernetes.io/x", true],
  ["a.node-restriction.kubernetes.io/x", true],
  ["__proto__", false],
];

for (const [key, isForbidden] of LABELS) {
  test(`NodeRestriction: a node may ${isForbidden ? "not " : ""}set, change or remove the label ${key}`, () => {
    const [one, other] = [Object.fromEntries([[key, "a"]]), Object.fromEntries([[key, "b"]])];
    const found = isForbidden ? [key] : [];

    assert.deepEqual([forbiddenLabels(one), forbiddenLabels(one, other), forbiddenLabels({}, one)], [found, found, found]);
    assert.deepEqual(forbiddenLabels(one, one), []);
  });
}

const CONFIG_SOURCE = { configMap: { name: "a", namespace: "b", kubeletConfigKey: "c" } };
const OWNERS = [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "y" }];

const CREATES: readonly [user: string, object: JsonObject, answer: string][] = [
  [
    "n3",
    { metadata: { name: "n3", labels: { "kubernetes.io/hostname": "n3" } }, spec: { taints: [{ key: "a", effect: "NoSchedule" }] } },
    "201",
  ],
  ["n3", { metadata: { name: "n4" } }, '403 nodes "n4" is forbidden: node "n3" is not allowed to modify node "n4"'],
  ["n3", { metadata: { generateName: "n" } }, '403 nodes "n" is forbidden: node "n3" is not allowed to modify node ""'],
  [
    "n3",
    { metadata: { name: "n3" }, spec: { configSource: CONFIG_SOURCE } },
    '403 nodes "n3" is forbidden: node "n3" is not allowed to create pods with a non-nil configSource',
  ],
  [
    "n3",
    { metadata: { name: "n3", labels: { "k8s.io/b": "", "k8s.io/a": "", "node-restriction.kubernetes.io/c": "", d: "" } } },
    '403 nodes "n3" is forbidden: node "n3" is not allowed to set the following labels: k8s.io/a, k8s.io/b, node-restriction.kubernetes.io/c',
  ],
];

test("NodeRestriction: a node creates only its own Node, without taints or labels that attract workloads", async () => {
  await using server = await startNodeCluster();
  for (const [user, object, answer] of CREATES) {
    assert.equal(await ask(server, nodeUser(user), ["POST", "/api/v1/nodes?dryRun=All", object]), answer);
  }
});

const MINE = '403 nodes "n3" is forbidden: ';
const CHANGES: readonly [patch: JsonObject, answer: string][] = [
  [{ metadata: { labels: { a: "b", "kubernetes.io/os": "linux" } } }, "200"],
  [{ metadata: { annotations: { a: "b" } } }, "200"],
  [{ status: { conditions: [{ type: "Ready", status: "True" }] } }, "200"],
  [{ spec: { taints: null } }, `${MINE}node "n3" is not allowed to modify taints`],
  [{ spec: { taints: [{ key: "b", effect: "NoSchedule" }] } }, `${MINE}node "n3" is not allowed to modify taints`],
  [{ spec: { configSource: CONFIG_SOURCE } }, `${MINE}node "n3" is not allowed to update configSource to a new non-nil configSource`],
  [{ metadata: { ownerReferences: OWNERS } }, `${MINE}node "n3" is not allowed to modify ownerReferences`],
  [
    { metadata: { labels: { "node-restriction.kubernetes.io/x": null } } },
    `${MINE}is not allowed to modify labels: node-restriction.kubernetes.io/x`,
  ],
  [{ metadata: { labels: { "k8s.io/x": "y", "a.k8s.io/x": "y" } } }, `${MINE}is not allowed to modify labels: a.k8s.io/x, k8s.io/x`],
];

for (const subresource of ["", "/status"]) {
  test(`NodeRestriction: through nodes${subresource} a node updates only its own Node and cannot attract workloads`, async () => {
    await using server = await startNodeCluster();
    const labels = { "node-restriction.kubernetes.io/x": "y" };
    await make(server, "/api/v1/nodes", { metadata: { name: "n3", labels }, spec: { taints: [{ key: "a", effect: "NoSchedule" }] } });
    for (const [patch, answer] of CHANGES) {
      assert.equal(await ask(server, nodeUser("n3"), ["PATCH", `/api/v1/nodes/n3${subresource}`, patch]), answer);
    }
    assert.equal(
      await ask(server, nodeUser("n3"), ["PATCH", `/api/v1/nodes/n1${subresource}`, {}]),
      '403 nodes "n1" is forbidden: node "n3" is not allowed to modify node "n1"',
    );
  });
}

test("NodeRestriction: a node with permission to delete nodes may delete only its own", async () => {
  await using server = await startNodeCluster(ALL_ALLOWED);

  assert.equal(
    await ask(server, nodeUser("n1"), ["DELETE", "/api/v1/nodes/n2"]),
    '403 nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"',
  );
  assert.equal(await ask(server, nodeUser("n1"), ["DELETE", "/api/v1/nodes/n1"]), "200");
});
