import assert from "node:assert/strict";
import test from "node:test";
import type { StartedServer } from "../../testing/server.ts";
import { aPod, ask, make, MERGE_PATCH, nodeUser, startNodeCluster } from "../../testing/node-cluster.ts";

const NONE = "no relationship found between node 'n1' and this object";
const N1 = nodeUser("n1");

/** `p1` on n1 and `p2` on n2 reference objects of their own; nothing references those named `free`. */
async function startPopulated(): Promise<StartedServer> {
  const server = await startNodeCluster();
  for (const name of ["mine", "theirs", "free", "mounted"]) {
    await make(server, "/api/v1/namespaces/ns/secrets", { metadata: { name } });
    await make(server, "/api/v1/namespaces/ns/configmaps", { metadata: { name } });
    await make(server, "/api/v1/namespaces/ns/serviceaccounts", { metadata: { name } });
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    await make(server, "/api/v1/namespaces/ns/persistentvolumeclaims", { metadata: { name }, spec });
    const nodePublishSecretRef = { namespace: "ns", name: "mounted" };
    const csi = { driver: "d", volumeHandle: name, ...(name === "mine" ? { nodePublishSecretRef } : {}) };
    const claimRef = { namespace: "ns", name };
    await make(server, "/api/v1/persistentvolumes", {
      metadata: { name },
      spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, claimRef, csi },
    });
  }
  for (const [name, nodeName] of [
    ["mine", "n1"],
    ["theirs", "n2"],
  ] as const) {
    const volumes = [
      { name: "a", secret: { secretName: name } },
      { name: "b", configMap: { name } },
      { name: "c", persistentVolumeClaim: { claimName: name } },
    ];
    await make(server, "/api/v1/namespaces/ns/pods", aPod(name, { nodeName, serviceAccountName: name, volumes }));
    const source = { persistentVolumeName: name };
    await make(server, "/apis/storage.k8s.io/v1/volumeattachments", { metadata: { name }, spec: { attacher: "a", nodeName, source } });
    const pool = { name: nodeName, generation: 1, resourceSliceCount: 1 };
    await make(server, "/apis/resource.k8s.io/v1/resourceslices", { metadata: { name }, spec: { driver: "d.io", nodeName, pool } });
    await make(server, "/apis/storage.k8s.io/v1/csinodes", { metadata: { name: nodeName }, spec: { drivers: [] } });
    await make(server, "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", { metadata: { name: nodeName } });
  }
  await make(server, "/api/v1/namespaces/ns/pods", aPod("free", {}));
  return server;
}

/** The part after "cannot <verb> resource … in the namespace …: ", or the whole response. */
function reasonIn(answer: string): string {
  return /(?:in the namespace "[^"]+"|at the cluster scope): (.*)$/s.exec(answer)?.[1] ?? answer;
}

const NS = "/api/v1/namespaces/ns";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces";
const SLICES = "/apis/resource.k8s.io/v1/resourceslices";

const READS: readonly [path: string, reason: string][] = [
  [`${NS}/pods/mine`, "200"],
  [`${NS}/pods/theirs`, NONE],
  [`${NS}/pods/free`, NONE],
  [`${NS}/pods/missing`, NONE],
  [`${NS}/secrets/mine`, "200"],
  [`${NS}/secrets/mounted`, "200"],
  [`${NS}/secrets/theirs`, NONE],
  [`${NS}/secrets/free`, NONE],
  ["/api/v1/secrets", "can only read namespaced object of this type"],
  [`${NS}/secrets`, "No Object name found"],
  [`${NS}/secrets?fieldSelector=metadata.name%3Dmine`, "200"],
  [`${NS}/secrets?fieldSelector=metadata.name%3Dtheirs`, NONE],
  [`${NS}/configmaps/mine`, "200"],
  [`${NS}/configmaps/theirs`, NONE],
  [`${NS}/serviceaccounts/mine`, "200"],
  [`${NS}/serviceaccounts/theirs`, NONE],
  [`${NS}/serviceaccounts`, "can only create tokens for individual service accounts"],
  [`${NS}/persistentvolumeclaims/mine`, "200"],
  [`${NS}/persistentvolumeclaims/theirs`, NONE],
  [`${NS}/persistentvolumeclaims`, "can only get individual resources of this type"],
  [`${NS}/persistentvolumeclaims/mine/status`, "can only get/update/patch this type"],
  ["/api/v1/persistentvolumes/mine", "200"],
  ["/api/v1/persistentvolumes/theirs", NONE],
  ["/api/v1/persistentvolumes/free", NONE],
  ["/apis/storage.k8s.io/v1/volumeattachments/mine", "200"],
  ["/apis/storage.k8s.io/v1/volumeattachments/theirs", NONE],
  [`${SLICES}/mine`, "200"],
  [`${SLICES}/theirs`, NONE],
  [SLICES, "can only list/watch/deletecollection resourceslices with nodeName field selector"],
  [`${SLICES}?fieldSelector=spec.nodeName%3Dn1`, "200"],
  [`${SLICES}?fieldSelector=spec.nodeName%3Dn2`, "can only list/watch/deletecollection resourceslices with nodeName field selector"],
  ["/api/v1/pods", "can only list/watch pods with spec.nodeName field selector"],
  ["/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", "200"],
  [`${NS}/pods?fieldSelector=spec.nodeName%3D%3Dn1`, "200"],
  ["/api/v1/pods?fieldSelector=spec.nodeName%3Dn2", "can only list/watch pods with spec.nodeName field selector"],
  ["/api/v1/pods?fieldSelector=spec.nodeName!%3Dn1", "can only list/watch pods with spec.nodeName field selector"],
  ["/api/v1/pods?fieldSelector=spec.nodeName!%3Dn2", "can only list/watch pods with spec.nodeName field selector"],
  [`${NS}/pods?fieldSelector=metadata.name%3Dmine`, "200"],
  [`${NS}/pods?fieldSelector=metadata.name%3Dtheirs`, NONE],
  ["/api/v1/nodes/n1", "200"],
  ["/api/v1/nodes/n2", "node 'n1' cannot read 'n2', only its own Node object"],
  ["/api/v1/nodes", "node 'n1' cannot read all nodes, only its own Node object"],
  ["/api/v1/nodes?fieldSelector=metadata.name%3Dn1", "200"],
  ["/apis/storage.k8s.io/v1/csinodes/n1", "200"],
  ["/apis/storage.k8s.io/v1/csinodes/n2", "can only access CSINode with the same name as the requesting node"],
  ["/apis/storage.k8s.io/v1/csinodes", "can only get, create, update, patch, or delete a CSINode"],
  [`${LEASES}/kube-node-lease/leases/n1`, "200"],
  [`${LEASES}/kube-node-lease/leases/n2`, "can only access node lease with the same name as the requesting node"],
  [`${LEASES}/ns/leases/n1`, 'can only access leases in the "kube-node-lease" system namespace'],
  [`${LEASES}/kube-node-lease/leases`, "can only get, create, update, patch, or delete a node lease"],
  ["/api/v1/services", "200"],
  ["/apis/storage.k8s.io/v1/csidrivers", "200"],
  ["/apis/node.k8s.io/v1/runtimeclasses", "200"],
  ["/apis/certificates.k8s.io/v1/certificatesigningrequests", "200"],
];

test("the Node authorizer lets a node read the objects that its pods reference, and its own objects", async (context) => {
  await using server = await startPopulated();
  for (const [path, reason] of READS) {
    await context.test(`${path}: ${reason}`, async () => {
      assert.equal(reasonIn(await ask(server, N1, ["GET", path])), reason);
    });
  }
});

const REFUSED: readonly [method: string, path: string][] = [
  ["DELETE", `${NS}/secrets/mine`],
  ["DELETE", `${NS}/configmaps/mine`],
  ["DELETE", `${NS}/persistentvolumeclaims/mine`],
  ["DELETE", "/api/v1/nodes/n1"],
  ["DELETE", `${NS}/pods`],
  ["GET", `${NS}/pods/mine/log`],
  ["GET", `${NS}/pods/mine/status`],
  ["GET", `${NS}/services/x/status`],
  ["GET", "/api/v1/nodes/n1/proxy/x"],
  ["GET", "/apis/apps/v1/deployments"],
  ["GET", "/metrics"],
];

test("the Node authorizer allows nothing else", async (context) => {
  await using server = await startPopulated();
  for (const [method, path] of REFUSED) {
    await context.test(`${method} ${path}`, async () => {
      assert.match(await ask(server, N1, [method, path]), /^403 /);
    });
  }
});

test("the Node authorizer gives nothing to a user with a node's name that is not a node", async () => {
  await using server = await startPopulated();
  for (const [name, groups, why] of [
    ["system:node:n1", ["people"], ""],
    ["system:nodes:n1", ["system:nodes"], ""],
    ["system:node:", ["system:nodes"], ': unknown node for user "system:node:"'],
  ] as const) {
    const refusal = `403 secrets "mine" is forbidden: User "${name}" cannot get resource "secrets" in API group "" in the namespace "ns"${why}`;
    assert.equal(await ask(server, { name, groups }, ["GET", `${NS}/secrets/mine`]), refusal);
  }
});

test("a role may allow requests on which the Node authorizer has no opinion", async () => {
  await using server = await startPopulated();
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const apiGroup = "rbac.authorization.k8s.io";
  const rules = [{ apiGroups: [""], resources: ["secrets"], resourceNames: ["free"], verbs: ["get"] }];
  await make(server, `/apis/${apiVersion}/namespaces/ns/roles`, { metadata: { name: "r" }, rules });
  const subjects = [{ apiGroup, kind: "User", name: "system:node:n1" }];
  const roleRef = { apiGroup, kind: "Role", name: "r" };
  await make(server, `/apis/${apiVersion}/namespaces/ns/rolebindings`, { metadata: { name: "r" }, roleRef, subjects });

  assert.equal(await ask(server, N1, ["GET", `${NS}/secrets/free`]), "200");
});

test("a node's access to referenced objects ends with the pod and starts with the next one immediately", async () => {
  await using server = await startPopulated();
  const volumes = [{ name: "a", secret: { secretName: "free" } }];
  const read = () => ask(server, nodeUser("n2"), ["GET", `${NS}/secrets/free`]);
  assert.match(await read(), /^403 /);

  await make(server, `${NS}/pods`, aPod("moving", { nodeName: "n2", volumes }));
  assert.equal(await read(), "200");

  await server.call("PATCH", `${NS}/pods/moving/status`, { status: { phase: "Failed" } }, MERGE_PATCH);
  assert.equal(await read(), "200");

  await server.call("DELETE", `${NS}/pods/moving?gracePeriodSeconds=0`);
  assert.match(await read(), /^403 /);

  await make(server, `${NS}/pods`, aPod("moving", { volumes }));
  assert.match(await read(), /^403 /);

  await make(server, `${NS}/pods/moving/binding`, { metadata: { name: "moving" }, target: { kind: "Node", name: "n2" } });
  assert.equal(await read(), "200");
});

test("the Node authorizer reports that its rules cannot be listed", async () => {
  await using server = await startPopulated();
  const review = { spec: { namespace: "ns" } };
  const { body } = await server.as(N1).call("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", review);

  assert.equal(body.status.incomplete, true);
  assert.equal(body.status.evaluationError, "node authorizer does not support user rule resolution");
});
