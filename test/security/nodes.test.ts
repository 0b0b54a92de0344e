/**
 * A compromised node: its kubelet's certificate authenticates as system:node:n1, which must not reach anything that is not on that node.
 * Published ways around the Node authorizer and NodeRestriction, against a whole server.
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
  ["reading the Secret of a Pod on another node", () => ["GET", `${VICTIM}/secrets/of-n2`]],
  ["reading a Secret that no Pod uses", () => ["GET", `${VICTIM}/secrets/treasure`]],
  ["listing all Secrets", () => ["GET", "/api/v1/secrets"]],
  ["listing all Secrets of a namespace", () => ["GET", `${VICTIM}/secrets`]],
  ["listing the Secrets of a namespace except one", () => ["GET", `${VICTIM}/secrets?fieldSelector=metadata.name%21%3Dx`]],
  ["watching a Secret of another node", () => ["GET", `${VICTIM}/secrets?watch=1&fieldSelector=metadata.name%3Dof-n2`]],
  ["writing a Secret that it may read", () => ["PATCH", `${VICTIM}/secrets/of-n1`, { data: {} }]],
  [
    "reading a ConfigMap that none of its Pods uses",
    () => ["GET", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"],
  ],
  ["listing the Pods of another node", () => ["GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn2"]],
  ["listing all Pods", () => ["GET", "/api/v1/pods"]],
  ["reading a Pod of another node", () => ["GET", `${VICTIM}/pods/on-n2`]],
  ["writing the status of a Pod of another node", () => ["PATCH", `${VICTIM}/pods/on-n2/status`, { status: { phase: "Failed" } }]],
  ["deleting a Pod of another node", () => ["DELETE", `${VICTIM}/pods/on-n2`]],
  ["evicting a Pod of another node", () => ["POST", `${VICTIM}/pods/on-n2/eviction`, { metadata: { name: "on-n2" } }]],
  [
    "binding a pending Pod to itself",
    () => ["POST", `${VICTIM}/pods/waiting/binding`, { metadata: { name: "waiting" }, target: { kind: "Node", name: "n1" } }],
  ],
  ["exec in a Pod", () => ["POST", `${VICTIM}/pods/on-n2/exec?command=sh`]],
  [
    "changing the labels of its own Pod, which Services select",
    () => ["PATCH", `${VICTIM}/pods/on-n1/status`, { metadata: { labels: { app: "db" } } }],
  ],
  ["creating a Pod that is no mirror Pod", () => ["POST", `${VICTIM}/pods`, aPod("new", { nodeName: "n1" })]],
  ["creating a mirror Pod on another node", () => ["POST", `${VICTIM}/pods`, mirror({ nodeName: "n2" })]],
  [
    "creating a mirror Pod that uses a Secret",
    () => ["POST", `${VICTIM}/pods`, mirror({ volumes: [{ name: "s", secret: { secretName: "treasure" } }] })],
  ],
  [
    "creating a mirror Pod that uses a Secret in its environment",
    () => ["POST", `${VICTIM}/pods`, mirror({ containers: [{ name: "c", image: "i", envFrom: [{ secretRef: { name: "treasure" } }] }] })],
  ],
  [
    "creating a mirror Pod with an image pull Secret",
    () => ["POST", `${VICTIM}/pods`, mirror({ imagePullSecrets: [{ name: "treasure" }] })],
  ],
  ["creating a mirror Pod of a service account", () => ["POST", `${VICTIM}/pods`, mirror({ serviceAccountName: "on-n2" })]],
  [
    "creating a mirror Pod with a ResourceClaim (CVE-2025-4563)",
    () => ["POST", `${VICTIM}/pods`, mirror({ resourceClaims: [{ name: "r", resourceClaimName: "claim" }] })],
  ],
  [
    "adding a ResourceClaim to a status (CVE-2025-4563)",
    () => ["PATCH", `${VICTIM}/pods/on-n1/status`, { status: { resourceClaimStatuses: [{ name: "r", resourceClaimName: "claim" }] } }],
  ],
  ["reading a ResourceClaim that none of its Pods has", () => ["GET", `${DRA}/resourceclaims/claim`]],
  [
    "creating a mirror Pod with another owner",
    () => ["POST", `${VICTIM}/pods`, mirror({}, { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n2", uid }] })],
  ],
  [
    "requesting a token of a service account that runs elsewhere",
    () => ["POST", `${VICTIM}/serviceaccounts/on-n2/token`, { spec: { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "on-n2" } } }],
  ],
  ["requesting a token of its own service account, bound to no Pod", () => ["POST", `${VICTIM}/serviceaccounts/on-n1/token`, { spec: {} }]],
  [
    "requesting a token of its own service account, bound to a Pod of another node",
    () => ["POST", `${VICTIM}/serviceaccounts/on-n1/token`, { spec: { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "on-n2" } } }],
  ],
  ["updating another Node", () => ["PATCH", "/api/v1/nodes/n2", { spec: { unschedulable: true } }]],
  ["updating the status of another Node", () => ["PATCH", "/api/v1/nodes/n2/status", { status: { addresses: [] } }]],
  [
    "setting a reserved node-restriction label on itself",
    () => ["PATCH", "/api/v1/nodes/n1", { metadata: { labels: { "node-restriction.kubernetes.io/tenant": "a" } } }],
  ],
  [
    "setting the control-plane role on itself",
    () => ["PATCH", "/api/v1/nodes/n1", { metadata: { labels: { "node-role.kubernetes.io/control-plane": "" } } }],
  ],
  [
    "setting that role through the status",
    () => ["PATCH", "/api/v1/nodes/n1/status", { metadata: { labels: { "node-role.kubernetes.io/control-plane": "" } } }],
  ],
  ["changing its own taints", () => ["PATCH", "/api/v1/nodes/n1", { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } }]],
  [
    "setting an owner, whose deletion recreates its Node without taints (CVE-2025-5187)",
    () => ["PATCH", "/api/v1/nodes/n1", { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n2", uid }] } }],
  ],
  [
    "setting that owner through the status (CVE-2025-5187)",
    () => ["PATCH", "/api/v1/nodes/n1/status", { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n2", uid }] } }],
  ],
  ["deleting its own Node", () => ["DELETE", "/api/v1/nodes/n1"]],
  ["creating another Node", () => ["POST", "/api/v1/nodes", { metadata: { name: "n3" } }]],
  ["updating the lease of another node", () => ["PATCH", `${LEASES}/n2`, { spec: { holderIdentity: "n1" } }]],
  ["updating a leader election lease", () => ["PATCH", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler", {}]],
  ["proxying through another node's kubelet", () => ["GET", "/api/v1/nodes/n2/proxy/pods"]],
  ["impersonating a user", () => ["GET", `${VICTIM}/secrets/treasure`, undefined, { "impersonate-user": "root" }]],
  [
    "impersonating another node",
    () => ["GET", `${VICTIM}/secrets/of-n2`, undefined, { "impersonate-user": "system:node:n2", "impersonate-group": "system:nodes" }],
  ],
];

for (const [it, sends] of ATTEMPTS) test(it, () => mustBeRefused(server, NODE, { sends: sends(), gets: 403 }));

test("the status of a new mirror Pod is dropped, so it adds no ResourceClaim (CVE-2025-4563)", async () => {
  const status = { resourceClaimStatuses: [{ name: "r", resourceClaimName: "claim" }] };
  const { code, body } = await attempt(server, NODE, ["POST", `${VICTIM}/pods`, { ...mirror({}), status }]);

  deepEqual([code, body.status.resourceClaimStatuses], [201, undefined]);
  equal((await attempt(server, NODE, ["GET", `${DRA}/resourceclaims/claim`])).code, 403);
});

test("admission of a Node update sees the stored object as the old one, whatever the update contains (CVE-2021-25735)", async () => {
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

test("a node may access the same for its own Pods, so the location is the reason of the rejections", async () => {
  for (const path of [
    `${VICTIM}/secrets/of-n1`,
    `${VICTIM}/pods/on-n1`,
    "/api/v1/nodes/n1",
    "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1",
  ])
    equal((await attempt(server, NODE, ["GET", path])).code, 200, path);
});

test("neither a node's user name without the group nor the group without the name is a node", async () => {
  for (const user of [
    { name: "system:node:n1", groups: [] },
    { name: "n1", groups: ["system:nodes"] },
    { name: "system:node:", groups: ["system:nodes"] },
  ])
    equal((await attempt(server, user, ["GET", `${VICTIM}/secrets/of-n1`])).code, 403, user.name);
});

test("once its last Pod is deleted, a node loses access to the Pod's references", async () => {
  await make(server, `${VICTIM}/secrets`, { metadata: { name: "brief" } });
  await make(server, `${VICTIM}/pods`, aPod("brief", { nodeName: "n1", volumes: [{ name: "s", secret: { secretName: "brief" } }] }));
  equal((await attempt(server, NODE, ["GET", `${VICTIM}/secrets/brief`])).code, 200);

  await server.call("DELETE", `${VICTIM}/pods/brief?gracePeriodSeconds=0`);

  equal((await attempt(server, NODE, ["GET", `${VICTIM}/secrets/brief`])).code, 403);
});

test("a Pod in one namespace gives its node no access to a Secret of the same name in another", async () => {
  await make(
    server,
    "/api/v1/namespaces/own/pods",
    aPod("same", { nodeName: "n1", volumes: [{ name: "s", secret: { secretName: "treasure" } }] }),
  );
  equal((await attempt(server, NODE, ["GET", "/api/v1/namespaces/own/secrets/treasure"])).code, 200);
  equal((await attempt(server, NODE, ["GET", `${VICTIM}/secrets/treasure`])).code, 403);
  equal((await attempt(server, EVE, ["GET", "/api/v1/namespaces/own/secrets/treasure"])).code, 403);
});
