/**
 * A node that was taken over: its kubelet's certificate lets one act as system:node:n1, which must not reach anything that is not on
 * that node. Published ways around the Node authorizer and NodeRestriction, asked of a whole server.
 */
import { deepEqual, equal } from "node:assert/strict";
import { after, before, test } from "node:test";
import { DEFAULT_ADMISSION_CONFIG } from "../../src/apiserver/framework/admission-config.ts";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import type { User } from "../../src/apiserver/framework/request.ts";
import { admittingServer } from "../../src/apiserver/testing/admitting-server.ts";
import { aPod } from "../../src/apiserver/testing/node-cluster.ts";
import type { StartedServer } from "../../src/apiserver/testing/server.ts";
import { attempt, EVE, make, mustBeRefused, startEscapeServer, type Sent } from "./cluster.ts";

const NODE: User = { name: "system:node:n1", groups: ["system:nodes"] };
const VICTIM = "/api/v1/namespaces/victim";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const DRA = "/apis/resource.k8s.io/v1/namespaces/victim";

let server: StartedServer;
/** The uid of the attacker's Node. */
let uid: string;

before(async () => {
  const disabledPlugins = ["ServiceAccount"];
  server = await startEscapeServer({ config: { admission: { ...DEFAULT_ADMISSION_CONFIG, disabledPlugins } } });
  for (const name of ["n1", "n2"]) {
    const node = await make(server, "/api/v1/nodes", { metadata: { name, labels: { pool: name } } });
    if (name === "n1") uid = node.metadata.uid;
    await make(server, LEASES, { metadata: { name } });
    await make(server, `${VICTIM}/serviceaccounts`, { metadata: { name: `on-${name}` } });
    await make(server, `${VICTIM}/secrets`, { metadata: { name: `of-${name}` }, stringData: { key: "x" } });
    const volumes = [{ name: "s", secret: { secretName: `of-${name}` } }];
    await make(server, `${VICTIM}/pods`, aPod(`on-${name}`, { nodeName: name, serviceAccountName: `on-${name}`, volumes }));
  }
  await make(server, `${VICTIM}/pods`, aPod("waiting", {}));
  await make(server, `${DRA}/resourceclaims`, { metadata: { name: "claim" }, spec: {} });
});
after(() => server[Symbol.asyncDispose]());

/** A mirror Pod of the attacker's node. */
function mirror(spec: JsonObject, metadata: JsonObject = {}) {
  const ownerReferences = [{ apiVersion: "v1", kind: "Node", name: "n1", uid, controller: true }];
  return aPod(
    "mirror",
    { nodeName: "n1", ...spec },
    {
      annotations: { "kubernetes.io/config.mirror": "x" },
      ownerReferences,
      ...metadata,
    },
  );
}

const ATTEMPTS: readonly (readonly [it: string, sends: () => Sent])[] = [
  ["the Secret of a Pod on another node", () => ["GET", `${VICTIM}/secrets/of-n2`]],
  ["a Secret that no Pod uses", () => ["GET", `${VICTIM}/secrets/treasure`]],
  ["all Secrets", () => ["GET", "/api/v1/secrets"]],
  ["all Secrets of a namespace", () => ["GET", `${VICTIM}/secrets`]],
  ["the Secrets of a namespace except one", () => ["GET", `${VICTIM}/secrets?fieldSelector=metadata.name%21%3Dx`]],
  ["a watch of a Secret of another node", () => ["GET", `${VICTIM}/secrets?watch=1&fieldSelector=metadata.name%3Dof-n2`]],
  ["writing a Secret that it may read", () => ["PATCH", `${VICTIM}/secrets/of-n1`, { data: {} }]],
  ["a ConfigMap that no Pod of its uses", () => ["GET", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"]],
  ["Pods of another node", () => ["GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn2"]],
  ["all Pods", () => ["GET", "/api/v1/pods"]],
  ["a Pod of another node", () => ["GET", `${VICTIM}/pods/on-n2`]],
  ["a status of a Pod of another node", () => ["PATCH", `${VICTIM}/pods/on-n2/status`, { status: { phase: "Failed" } }]],
  ["deletion of a Pod of another node", () => ["DELETE", `${VICTIM}/pods/on-n2`]],
  ["eviction of a Pod of another node", () => ["POST", `${VICTIM}/pods/on-n2/eviction`, { metadata: { name: "on-n2" } }]],
  [
    "a Pod that waits, taken by a binding",
    () => ["POST", `${VICTIM}/pods/waiting/binding`, { metadata: { name: "waiting" }, target: { kind: "Node", name: "n1" } }],
  ],
  ["commands in a Pod", () => ["POST", `${VICTIM}/pods/on-n2/exec?command=sh`]],
  [
    "labels of its own Pod, by which Services choose",
    () => ["PATCH", `${VICTIM}/pods/on-n1/status`, { metadata: { labels: { app: "db" } } }],
  ],
  ["a Pod that is no mirror", () => ["POST", `${VICTIM}/pods`, aPod("new", { nodeName: "n1" })]],
  ["a mirror Pod on another node", () => ["POST", `${VICTIM}/pods`, mirror({ nodeName: "n2" })]],
  [
    "a mirror Pod that uses a Secret",
    () => ["POST", `${VICTIM}/pods`, mirror({ volumes: [{ name: "s", secret: { secretName: "treasure" } }] })],
  ],
  [
    "a mirror Pod that uses a Secret in its environment",
    () => ["POST", `${VICTIM}/pods`, mirror({ containers: [{ name: "c", image: "i", envFrom: [{ secretRef: { name: "treasure" } }] }] })],
  ],
  ["a mirror Pod with a pull Secret", () => ["POST", `${VICTIM}/pods`, mirror({ imagePullSecrets: [{ name: "treasure" }] })]],
  ["a mirror Pod of a service account", () => ["POST", `${VICTIM}/pods`, mirror({ serviceAccountName: "on-n2" })]],
  [
    "a mirror Pod with a claim of devices (CVE-2025-4563)",
    () => ["POST", `${VICTIM}/pods`, mirror({ resourceClaims: [{ name: "r", resourceClaimName: "claim" }] })],
  ],
  [
    "a claim of devices, put into a status (CVE-2025-4563)",
    () => ["PATCH", `${VICTIM}/pods/on-n1/status`, { status: { resourceClaimStatuses: [{ name: "r", resourceClaimName: "claim" }] } }],
  ],
  ["a claim of devices that none of its Pods has", () => ["GET", `${DRA}/resourceclaims/claim`]],
  [
    "a mirror Pod that another owns",
    () => ["POST", `${VICTIM}/pods`, mirror({}, { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n2", uid }] })],
  ],
  [
    "a token of an account that runs elsewhere",
    () => ["POST", `${VICTIM}/serviceaccounts/on-n2/token`, { spec: { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "on-n2" } } }],
  ],
  ["a token of its own account, bound to no Pod", () => ["POST", `${VICTIM}/serviceaccounts/on-n1/token`, { spec: {} }]],
  [
    "a token of its own account, bound to another's Pod",
    () => ["POST", `${VICTIM}/serviceaccounts/on-n1/token`, { spec: { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "on-n2" } } }],
  ],
  ["another Node", () => ["PATCH", "/api/v1/nodes/n2", { spec: { unschedulable: true } }]],
  ["the status of another Node", () => ["PATCH", "/api/v1/nodes/n2/status", { status: { addresses: [] } }]],
  [
    "a label of its own that keeps workloads apart",
    () => ["PATCH", "/api/v1/nodes/n1", { metadata: { labels: { "node-restriction.kubernetes.io/tenant": "a" } } }],
  ],
  [
    "the role of a control plane",
    () => ["PATCH", "/api/v1/nodes/n1", { metadata: { labels: { "node-role.kubernetes.io/control-plane": "" } } }],
  ],
  [
    "that role by way of the status",
    () => ["PATCH", "/api/v1/nodes/n1/status", { metadata: { labels: { "node-role.kubernetes.io/control-plane": "" } } }],
  ],
  ["its own taints", () => ["PATCH", "/api/v1/nodes/n1", { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } }]],
  [
    "an owner, with whose deletion its Node goes and comes back without taints (CVE-2025-5187)",
    () => ["PATCH", "/api/v1/nodes/n1", { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n2", uid }] } }],
  ],
  [
    "that owner by way of the status (CVE-2025-5187)",
    () => ["PATCH", "/api/v1/nodes/n1/status", { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n2", uid }] } }],
  ],
  ["its own deletion", () => ["DELETE", "/api/v1/nodes/n1"]],
  ["another Node, to be made", () => ["POST", "/api/v1/nodes", { metadata: { name: "n3" } }]],
  ["the lease of another node", () => ["PATCH", `${LEASES}/n2`, { spec: { holderIdentity: "n1" } }]],
  ["the lease of a leader", () => ["PATCH", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler", {}]],
  ["the way through another node's kubelet", () => ["GET", "/api/v1/nodes/n2/proxy/pods"]],
  ["being somebody else", () => ["GET", `${VICTIM}/secrets/treasure`, undefined, { "impersonate-user": "root" }]],
  [
    "being another node",
    () => ["GET", `${VICTIM}/secrets/of-n2`, undefined, { "impersonate-user": "system:node:n2", "impersonate-group": "system:nodes" }],
  ],
];

for (const [it, sends] of ATTEMPTS) test(it, () => mustBeRefused(server, NODE, { sends: sends(), gets: 403 }));

test("a mirror Pod says nothing of its status, so no claim of devices comes into it that way (CVE-2025-4563)", async () => {
  const status = { resourceClaimStatuses: [{ name: "r", resourceClaimName: "claim" }] };
  const { code, body } = await attempt(server, NODE, ["POST", `${VICTIM}/pods`, { ...mirror({}), status }]);

  deepEqual([code, body.status.resourceClaimStatuses], [201, undefined]);
  equal((await attempt(server, NODE, ["GET", `${DRA}/resourceclaims/claim`])).code, 403);
});

test("who judges an update of a Node is shown what is stored as what it was, whatever the update says (CVE-2021-25735)", async () => {
  const shown: unknown[] = [];
  const transport = admittingServer({ plugins: [{ name: "Judge", validate: ({ oldObject }) => void shown.push(oldObject) }] });
  const nodes = { group: "", version: "v1", plural: "nodes" } as const;
  const spec = { providerID: "cloud://1", taints: [{ key: "k", effect: "NoSchedule" }] };
  await transport.request({ verb: "create", ...nodes, object: { metadata: { name: "n", labels: { tenant: "a" } }, spec } });
  const before = await transport.request({ verb: "get", ...nodes, name: "n" });

  const changed = { metadata: { name: "n", labels: { tenant: "b" } }, spec: { providerID: "cloud://1" } };
  await transport.request({ verb: "update", ...nodes, name: "n", object: changed });

  deepEqual(shown.at(-1), before.is === "object" ? before.object : undefined);
});

test("what runs on the node is the node's, so that what is refused is refused for where it is", async () => {
  for (const path of [
    `${VICTIM}/secrets/of-n1`,
    `${VICTIM}/pods/on-n1`,
    "/api/v1/nodes/n1",
    "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1",
  ])
    equal((await attempt(server, NODE, ["GET", path])).code, 200, path);
});

test("the name of a node without its group, and its group without the name, are no node", async () => {
  for (const user of [
    { name: "system:node:n1", groups: [] },
    { name: "n1", groups: ["system:nodes"] },
    { name: "system:node:", groups: ["system:nodes"] },
  ])
    equal((await attempt(server, user, ["GET", `${VICTIM}/secrets/of-n1`])).code, 403, user.name);
});

test("once its last Pod is gone, what the Pod used is nobody's on that node", async () => {
  await make(server, `${VICTIM}/secrets`, { metadata: { name: "brief" } });
  await make(server, `${VICTIM}/pods`, aPod("brief", { nodeName: "n1", volumes: [{ name: "s", secret: { secretName: "brief" } }] }));
  equal((await attempt(server, NODE, ["GET", `${VICTIM}/secrets/brief`])).code, 200);

  await server.call("DELETE", `${VICTIM}/pods/brief?gracePeriodSeconds=0`);

  equal((await attempt(server, NODE, ["GET", `${VICTIM}/secrets/brief`])).code, 403);
});

test("a Pod of a namespace does not lend its node the Secret of that name in another", async () => {
  await make(
    server,
    "/api/v1/namespaces/own/pods",
    aPod("same", { nodeName: "n1", volumes: [{ name: "s", secret: { secretName: "treasure" } }] }),
  );
  equal((await attempt(server, NODE, ["GET", "/api/v1/namespaces/own/secrets/treasure"])).code, 200);
  equal((await attempt(server, NODE, ["GET", `${VICTIM}/secrets/treasure`])).code, 403);
  equal((await attempt(server, EVE, ["GET", "/api/v1/namespaces/own/secrets/treasure"])).code, 403);
});
