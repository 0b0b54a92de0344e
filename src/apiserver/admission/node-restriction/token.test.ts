import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import type { StartedServer } from "../../testing/server.ts";
import { aPod, ask, make, nodeUser, startNodeCluster } from "../../testing/node-cluster.ts";

const NS = "/api/v1/namespaces/ns";
const N1 = nodeUser("n1");
const RBAC = "/apis/rbac.authorization.k8s.io/v1";

/** Pods of the account `sa`: `mine` with a projected token and `mounting` with volumes, both on n1; `theirs` on n2. */
async function withPods(): Promise<{ readonly server: StartedServer; readonly uids: ReadonlyMap<string, string> }> {
  const server = await startNodeCluster();
  await make(server, `${NS}/serviceaccounts`, { metadata: { name: "sa" } });
  await make(server, `${NS}/serviceaccounts`, { metadata: { name: "other" } });
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  await make(server, `${NS}/persistentvolumeclaims`, { metadata: { name: "bound" }, spec: { ...spec, volumeName: "v" } });
  await make(server, `${NS}/persistentvolumeclaims`, { metadata: { name: "unbound" }, spec });
  const csi = { driver: "driver", volumeHandle: "h" };
  await make(server, "/api/v1/persistentvolumes", {
    metadata: { name: "v" },
    spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, csi },
  });
  for (const [name, audience] of [
    ["driver", "for-claims"],
    ["inline", "for-inline"],
    ["pd.csi.storage.gke.io", "for-disks"],
  ]) {
    const tokenRequests = [{ audience }];
    await make(server, "/apis/storage.k8s.io/v1/csidrivers", {
      metadata: { name },
      spec: { tokenRequests, volumeLifecycleModes: ["Ephemeral"] },
    });
  }
  const sources = [{ serviceAccountToken: { path: "t", audience: "projected" } }];
  const pods: Readonly<Record<string, JsonObject>> = {
    mine: { nodeName: "n1", volumes: [{ name: "a", projected: { sources } }] },
    claiming: { nodeName: "n1", volumes: [{ name: "a", persistentVolumeClaim: { claimName: "bound" } }] },
    waiting: {
      nodeName: "n1",
      volumes: [
        { name: "a", persistentVolumeClaim: { claimName: "unbound" } },
        { name: "e", ephemeral: template(spec) },
      ],
    },
    inline: { nodeName: "n1", volumes: [{ name: "a", csi: { driver: "inline" } }] },
    lost: { nodeName: "n1", volumes: [{ name: "a", csi: { driver: "missing" } }] },
    disk: { nodeName: "n1", volumes: [{ name: "a", gcePersistentDisk: { pdName: "d" } }] },
    theirs: { nodeName: "n2" },
  };
  const uids = new Map<string, string>();
  for (const [name, pod] of Object.entries(pods)) {
    const made = await make(server, `${NS}/pods`, aPod(name, { ...pod, serviceAccountName: "sa" }));
    uids.set(name, made.metadata.uid);
  }
  return { server, uids };
}

function template(spec: JsonObject): JsonObject {
  return { volumeClaimTemplate: { spec } };
}

const REFUSAL = '403 serviceaccounts "sa" is forbidden: ';
const UNBOUND = `${REFUSAL}node requested token not bound to a pod`;

/** The plugin's error; any later error (there is no signing key here) counts as "admitted". */
async function tokenFor(server: StartedServer, spec: JsonObject, account = "sa"): Promise<string> {
  const answer = await ask(server, N1, ["POST", `${NS}/serviceaccounts/${account}/token`, { spec }]);
  return /^40[34] /.test(answer) ? answer : "admitted";
}

test("NodeRestriction: a node may request tokens for pods bound to it", async () => {
  const { server, uids } = await withPods();
  await using _server = server;
  const of = (name: string, changes: JsonObject = {}): JsonObject => ({
    audiences: ["projected"],
    boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid: uids.get(name) ?? "x", ...changes },
  });
  const recreated = "does not match the UID in record. The object might have been deleted and then recreated";

  for (const [spec, answer] of [
    [of("mine"), "admitted"],
    [{ audiences: ["projected"] }, UNBOUND],
    [of("mine", { kind: "Secret" }), UNBOUND],
    [of("mine", { kind: "Node" }), UNBOUND],
    [of("mine", { apiVersion: "v2" }), UNBOUND],
    [of("", { uid: "x" }), UNBOUND],
    [of("mine", { uid: "" }), `${REFUSAL}node requested token with a pod binding without a uid`],
    [of("mine", { uid: "x" }), `${REFUSAL}the UID in the bound object reference (x) ${recreated}`],
    [of("gone"), '404 pod "gone" not found'],
    [of("theirs"), `${REFUSAL}node requested token bound to a pod scheduled on a different node`],
  ] as const) {
    assert.equal(await tokenFor(server, spec), answer);
  }
  assert.match(await tokenFor(server, of("mine"), "other"), /^403 .*no relationship found between node 'n1' and this object$/);
});

const AUDIENCES: readonly [pod: string, audiences: readonly string[], why: string][] = [
  ["mine", ["projected"], ""],
  ["mine", ["x"], unasked("x")],
  ["mine", [], unasked("")],
  ["mine", ["projected", "x"], "node may only request 0 or 1 audiences"],
  ["claiming", ["for-claims"], ""],
  ["claiming", ["for-inline"], unasked("for-inline")],
  ["inline", ["for-inline"], ""],
  ["disk", ["for-disks"], ""],
  ["lost", ["x"], 'error validating audience "x": csidriver.storage.k8s.io "missing" not found'],
  ["waiting", ["x"], 'error validating audience "x": [persistentvolume "" not found, persistentvolumeclaim "waiting-e" not found]'],
];

function unasked(audience: string): string {
  return `audience "${audience}" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience`;
}

test("NodeRestriction: a node may request tokens for audiences that the pod declares", async () => {
  const { server, uids } = await withPods();
  await using _server = server;
  for (const [name, audiences, why] of AUDIENCES) {
    const boundObjectRef = { apiVersion: "v1", kind: "Pod", name, uid: uids.get(name) ?? "" };
    assert.equal(await tokenFor(server, { audiences, boundObjectRef }), why === "" ? "admitted" : `${REFUSAL}${why}`);
  }
});

test("NodeRestriction: a role may allow nodes to request tokens for audiences that no pod declares", async () => {
  const { server, uids } = await withPods();
  await using _server = server;
  const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: "mine", uid: uids.get("mine") ?? "" };
  const rules = [{ apiGroups: [""], resources: ["registry"], resourceNames: ["sa"], verbs: ["request-serviceaccounts-token-audience"] }];
  const apiGroup = "rbac.authorization.k8s.io";
  await make(server, `${RBAC}/clusterroles`, { metadata: { name: "r" }, rules });
  const roleRef = { apiGroup, kind: "ClusterRole", name: "r" };
  await make(server, `${RBAC}/clusterrolebindings`, {
    metadata: { name: "r" },
    roleRef,
    subjects: [{ apiGroup, kind: "Group", name: "system:nodes" }],
  });

  assert.equal(await tokenFor(server, { audiences: ["registry"], boundObjectRef }), "admitted");
  assert.equal(await tokenFor(server, { audiences: ["others"], boundObjectRef }), `${REFUSAL}${unasked("others")}`);
});
