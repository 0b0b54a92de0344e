import assert from "node:assert/strict";
import test from "node:test";
import { joiningClusterRoleBindings, joiningClusterRoles } from "../../../api/node-joining-permissions.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { ask, make, nodeUser, startNodeCluster } from "../../testing/node-cluster.ts";

const N1 = nodeUser("n1");
const VOLUMES = "/api/v1/persistentvolumes";
const CLAIMS = "/api/v1/namespaces/ns/persistentvolumeclaims";

function aClaim(name: string, node: string): JsonObject {
  const annotations = { "volume.kubernetes.io/selected-node": node, "example.com/kept": "true" };
  return { metadata: { name, annotations }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } };
}

interface Made {
  readonly claim: string;
  readonly uid: string;
  readonly node?: string;
  readonly hostname?: string;
  readonly source?: JsonObject;
}

function aVolume({ claim, uid, node = "n1", hostname = "n1", source = { local: { path: "/data" } } }: Made): JsonObject {
  return {
    metadata: {
      name: `pvc-${uid}`,
      annotations: { "pv.kubernetes.io/provisioned-by": "k8ts.dev/local-path", "k8ts.dev/local-path-node": node },
      finalizers: ["k8ts.dev/local-path"],
    },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      claimRef: { namespace: "ns", name: claim, uid },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [hostname] }] }] },
      },
      ...source,
    },
  };
}

/** With the roles of joined nodes, so that they are tested, too. */
async function started() {
  const server = await startNodeCluster();
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  for (const role of joiningClusterRoles) await make(server, `${rbac}/clusterroles`, { ...role });
  for (const binding of joiningClusterRoleBindings) await make(server, `${rbac}/clusterrolebindings`, { ...binding });
  const uids: string[] = [];
  for (const [name, node] of [
    ["mine", "n1"],
    ["theirs", "n2"],
  ] as const) {
    const { metadata } = (await make(server, CLAIMS, aClaim(name, node))) as { readonly metadata: { readonly uid: string } };
    uids.push(metadata.uid);
  }
  const [mine = "", theirs = ""] = uids;
  return { server, mine, theirs };
}

test("NodeRestriction: a node creates only local PersistentVolumes of its own, for claims that are placed on it", async () => {
  const { server, mine, theirs } = await started();
  await using _server = server;
  const refusal = (uid: string, why: string) => `403 persistentvolumes "pvc-${uid}" is forbidden: ${why}`;
  const own = "can only access local PersistentVolumes that the requesting node provisioned";
  const placed = "can only create PersistentVolumes for claims that were placed on the requesting node";

  for (const [volume, answer] of [
    [aVolume({ claim: "mine", uid: mine, node: "n2" }), refusal(mine, own)],
    [aVolume({ claim: "mine", uid: mine, source: { hostPath: { path: "/data" } } }), refusal(mine, own)],
    [aVolume({ claim: "theirs", uid: theirs }), refusal(theirs, placed)],
    [aVolume({ claim: "theirs", uid: mine }), refusal(mine, placed)],
    [
      aVolume({ claim: "mine", uid: mine, hostname: "n2" }),
      refusal(mine, "can only create PersistentVolumes with affinity to the requesting node"),
    ],
    [aVolume({ claim: "mine", uid: mine }), "201"],
  ] as const) {
    assert.equal(await ask(server, N1, ["POST", VOLUMES, volume]), answer);
  }
});

test("NodeRestriction: a node changes only capacity and finalizers of its PersistentVolumes, and deletes no others", async () => {
  const { server, mine, theirs } = await started();
  await using _server = server;
  await make(server, VOLUMES, aVolume({ claim: "mine", uid: mine }));
  await make(server, VOLUMES, aVolume({ claim: "theirs", uid: theirs, node: "n2", hostname: "n2" }));
  const at = (uid: string) => `${VOLUMES}/pvc-${uid}`;
  const forbidden = (uid: string) => `403 persistentvolumes "pvc-${uid}" is forbidden: `;
  const own = "can only access local PersistentVolumes that the requesting node provisioned";
  const only = "may only update capacity and finalizers of a PersistentVolume";

  for (const [method, uid, body, answer] of [
    ["PATCH", mine, { spec: { capacity: { storage: "2Gi" } } }, "200"],
    ["PATCH", mine, { spec: { persistentVolumeReclaimPolicy: "Delete" } }, `${forbidden(mine)}${only}`],
    ["PATCH", mine, { metadata: { annotations: { "k8ts.dev/local-path-node": "n2" } } }, `${forbidden(mine)}${only}`],
    ["PATCH", theirs, { spec: { capacity: { storage: "2Gi" } } }, `${forbidden(theirs)}${own}`],
    ["DELETE", theirs, undefined, `${forbidden(theirs)}${own}`],
    ["DELETE", mine, undefined, "200"],
    ["PATCH", mine, { metadata: { finalizers: null } }, "200"],
  ] as const) {
    assert.equal(await ask(server, N1, body === undefined ? [method, at(uid)] : [method, at(uid), body]), answer, `${method} ${uid}`);
  }
});

test("NodeRestriction: a node gives back a claim that is placed on it, and changes nothing else", async () => {
  const { server } = await started();
  await using _server = server;
  const give = { metadata: { annotations: { "volume.kubernetes.io/selected-node": null } } };
  const refusal = (name: string) => `403 persistentvolumeclaims "${name}" is forbidden: may only update PVC status`;

  for (const [name, patch, answer] of [
    ["theirs", give, refusal("theirs")],
    ["mine", { metadata: { annotations: { "volume.kubernetes.io/selected-node": "n2" } } }, refusal("mine")],
    ["mine", { metadata: { annotations: { ...give.metadata.annotations, "example.com/kept": null } } }, refusal("mine")],
    ["mine", { ...give, spec: { volumeName: "v" } }, refusal("mine")],
    ["mine", give, "200"],
  ] as const) {
    assert.equal(await ask(server, N1, ["PATCH", `${CLAIMS}/${name}`, patch]), answer);
  }
});
