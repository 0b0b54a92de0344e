import assert from "node:assert/strict";
import test from "node:test";
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import type { StartedServer } from "../../testing/server.ts";
import { ALL_ALLOWED, aPod, ask, make, nodeUser, startNodeCluster } from "../../testing/node-cluster.ts";
import { objectReference } from "./mirror-pod.ts";

const PODS = "/api/v1/namespaces/ns/pods";
const N1 = nodeUser("n1");

/** `mine` is bound to n1, `theirs` to n2, `free` to no node. */
async function withPods(authorizationModes?: readonly string[]): Promise<StartedServer> {
  const server = await startNodeCluster(authorizationModes);
  await make(server, PODS, aPod("mine", { nodeName: "n1" }, { labels: { a: "b" } }));
  await make(server, PODS, aPod("theirs", { nodeName: "n2" }));
  await make(server, PODS, aPod("free", {}));
  return server;
}

test("NodeRestriction: a node deletes and evicts only pods bound to it", async () => {
  await using server = await withPods();
  for (const name of ["theirs", "free"]) {
    const refusal = `403 pods "${name}" is forbidden: node`;
    const eviction = { metadata: { name } };

    assert.equal(
      await ask(server, N1, ["DELETE", `${PODS}/${name}`]),
      `${refusal} "n1" can only delete pods with spec.nodeName set to itself`,
    );
    assert.equal(
      await ask(server, N1, ["POST", `${PODS}/${name}/eviction`, eviction]),
      `${refusal} n1 can only evict pods with spec.nodeName set to itself`,
    );
  }
  assert.equal(await ask(server, N1, ["POST", `${PODS}/gone/eviction`, { metadata: { name: "gone" } }]), '404 pod "gone" not found');
  assert.equal(await ask(server, N1, ["DELETE", `${PODS}/gone`]), '404 pods "gone" not found');
  assert.equal(await ask(server, N1, ["POST", `${PODS}/mine/eviction`, { metadata: { name: "mine" } }]), "201");
  assert.equal(await ask(server, N1, ["DELETE", `${PODS}/mine?gracePeriodSeconds=0`]), "200");
});

const STATUSES: readonly [pod: string, patch: JsonObject, why: string][] = [
  ["mine", { status: { phase: "Running" } }, ""],
  ["mine", { metadata: { annotations: { a: "b" } } }, ""],
  ["theirs", { status: { phase: "Running" } }, "can only update pod status for pods with spec.nodeName set to itself"],
  ["free", { status: { phase: "Running" } }, "can only update pod status for pods with spec.nodeName set to itself"],
  ["mine", { metadata: { labels: { c: "d" } } }, "cannot update labels through pod status"],
  ["mine", { metadata: { labels: null } }, "cannot update labels through pod status"],
  ["mine", { status: { resourceClaimStatuses: [{ name: "a", resourceClaimName: "b" }] } }, "cannot update resource claim statues"],
  [
    "mine",
    { status: { extendedResourceClaimStatus: { resourceClaimName: "b", requestMappings: [] } } },
    "cannot update extended resource claim status",
  ],
];

test("NodeRestriction: a node updates only the status of pods bound to it", async () => {
  await using server = await withPods();
  for (const [pod, patch, why] of STATUSES) {
    const answer = why === "" ? "200" : `403 pods "${pod}" is forbidden: node "n1" ${why}`;
    assert.equal(await ask(server, N1, ["PATCH", `${PODS}/${pod}/status`, patch]), answer);
  }
});

test("NodeRestriction: a node may not write other parts of a pod, whatever its roles allow", async () => {
  await using server = await withPods(ALL_ALLOWED);
  const mine = '403 pods "mine" is forbidden:';
  const binding = { metadata: { name: "free" }, target: { kind: "Node", name: "n1" } };

  assert.equal(
    await ask(server, N1, ["PATCH", `${PODS}/mine`, { metadata: { labels: { a: "c" } } }]),
    `${mine} unexpected operation "UPDATE", node "n1" can only create and delete mirror pods`,
  );
  for (const subresource of ["ephemeralcontainers", "resize"]) {
    assert.equal(
      await ask(server, N1, ["PATCH", `${PODS}/mine/${subresource}`, {}]),
      `${mine} unexpected pod subresource "${subresource}", only 'status' and 'eviction' are allowed`,
    );
  }
  assert.equal(
    await ask(server, N1, ["POST", `${PODS}/free/binding`, binding]),
    `403 pods "free" is forbidden: unexpected pod subresource "binding", only 'status' and 'eviction' are allowed`,
  );
});

const MIRROR = { annotations: { "kubernetes.io/config.mirror": "x" } };
const HERE = { nodeName: "n1" };

test("NodeRestriction: a node creates only mirror pods, bound to it and owned by its Node", async () => {
  await using server = await startNodeCluster();
  const { body } = await server.call("GET", "/api/v1/nodes/n1");
  const uid: string = body.metadata.uid;
  const owner = { apiVersion: "v1", kind: "Node", name: "n1", uid, controller: true };
  const owned = (changes: JsonObject): JsonObject => ({ ...MIRROR, ownerReferences: [{ ...owner, ...changes }] });
  const byItself = "can only create pods with an owner reference set to itself";
  const rows: readonly [metadata: JsonObject, spec: JsonObject, why: string][] = [
    [owned({}), HERE, ""],
    [owned({ blockOwnerDeletion: false }), HERE, ""],
    [{}, HERE, 'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods'],
    [owned({}), { nodeName: "n2" }, 'node "n1" can only create pods with spec.nodeName set to itself'],
    [owned({}), {}, 'node "n1" can only create pods with spec.nodeName set to itself'],
    [MIRROR, HERE, `node "n1" ${byItself}`],
    [owned({ name: "n2" }), HERE, `node "n1" ${byItself}`],
    [owned({ kind: "Pod" }), HERE, `node "n1" ${byItself}`],
    [owned({ apiVersion: "v2" }), HERE, `node "n1" ${byItself}`],
    [owned({ controller: false }), HERE, 'node "n1" can only create pods with a controller owner reference set to itself'],
    [owned({ blockOwnerDeletion: true }), HERE, 'node "n1" must not set blockOwnerDeletion on an owner reference'],
    [owned({ uid: "other" }), HERE, `node n1 UID mismatch: expected other got ${uid}`],
    [
      { ...MIRROR, ownerReferences: [owner, { ...owner, name: "x", controller: false }] },
      HERE,
      'node "n1" can only create pods with a single owner reference set to itself',
    ],
    [owned({}), { ...HERE, volumes: [{ name: "v", configMap: { name: "c" } }] }, 'node "n1" can not create pods that reference configmaps'],
  ];
  for (const [metadata, spec, why] of rows) {
    const answer = why === "" ? "201" : `403 pods "m" is forbidden: ${why}`;
    assert.equal(await ask(server, N1, ["POST", `${PODS}?dryRun=All`, aPod("m", spec, metadata)]), answer);
  }
});

test("NodeRestriction: a node without a Node object creates no pods, and messages about unnamed pods use generateName", async () => {
  await using server = await startNodeCluster();
  const owner = { apiVersion: "v1", kind: "Node", name: "n9", uid: "x", controller: true };
  const pod = aPod("m", { nodeName: "n9" }, { ...MIRROR, ownerReferences: [owner] });

  assert.equal(await ask(server, nodeUser("n9"), ["POST", PODS, pod]), '404 node "n9" not found');
  const unnamed = { metadata: { generateName: "gen-" }, spec: { containers: [{ name: "c", image: "i" }] } };
  assert.match(await ask(server, N1, ["POST", PODS, unnamed]), /^403 pods "gen-" is forbidden: pod does not have /);
});

const ENVIRONMENT = { name: "c", image: "i", envFrom: [{ secretRef: { name: "s" } }] };

const REFERENCES: readonly (readonly [spec: object, to: string | undefined])[] = [
  [{}, undefined],
  [{ serviceAccountName: "a" }, "serviceaccounts"],
  [{ imagePullSecrets: [{ name: "a" }] }, "secrets"],
  [{ initContainers: [ENVIRONMENT] }, "secrets"],
  [{ resourceClaims: [{ name: "a" }] }, "resourceclaims"],
  ...["emptyDir", "hostPath", "downwardAPI", "nfs", "image"].map((source) => [volume({ [source]: {} }), undefined] as const),
  [volume({ rbd: { secretRef: { name: "s" } } }), "secrets"],
  [volume({ secret: {} }), "secrets (via secret volumes)"],
  [volume({ configMap: {} }), "configmaps (via configmap volumes)"],
  [volume({ csi: { driver: "d" } }), "csidrivers (via CSI volumes)"],
  [volume({ glusterfs: {} }), "endpoints (via glusterFS volumes)"],
  [volume({ persistentVolumeClaim: { claimName: "c" } }), "persistentvolumeclaims"],
  [volume({ ephemeral: {} }), "persistentvolumeclaims (via ephemeral volumes)"],
  [volume({ azureFile: { shareName: "x", secretName: "" } }), "secrets (via azureFile volumes)"],
  [volume({ projected: { sources: [{ downwardAPI: {} }] } }), undefined],
  [volume({ projected: { sources: [{ downwardAPI: {} }, { serviceAccountToken: {} }] } }), "serviceaccounts (via projected volumes)"],
  [volume({ projected: { sources: [{ configMap: {} }] } }), "configmaps (via projected volumes)"],
  [volume({ projected: { sources: [{ secret: {} }] } }), "secrets (via projected volumes)"],
  [volume({ projected: { sources: [{ clusterTrustBundle: {} }] } }), "clustertrustbundles"],
  [volume({ projected: { sources: [{ podCertificate: {} }] } }), "podcertificates"],
];

function podOf(spec: object): Pod {
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec } as Pod;
}

function volume(source: object): object {
  return { volumes: [{ name: "v", ...source }] };
}

for (const [spec, to] of REFERENCES) {
  test(`NodeRestriction: a pod with ${JSON.stringify(spec)} references ${to ?? "nothing"}`, () => {
    const pod = podOf({ containers: [], ...spec });
    assert.deepEqual(objectReference(pod), to === undefined ? undefined : { to });
  });
}

test("NodeRestriction rejects an unknown volume type in a mirror pod", () => {
  const referenceOf = (spec: object) => objectReference(podOf(spec));

  assert.deepEqual(referenceOf(volume({})), { unknown: 'unknown volume type for volume  "v"' });
  assert.deepEqual(referenceOf(volume({ projected: { sources: [{}] } })), { unknown: 'unknown source for projected volume "v"' });
});
