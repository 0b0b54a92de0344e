import assert from "node:assert/strict";
import test from "node:test";
import { encodeBase64 } from "../../../api/machinery/codec/base64.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { bytesOf, REQUESTS } from "../../../api/machinery/x509/testing/samples.ts";
import { ALL_ALLOWED, aPod, ask, make, nodeUser, startNodeCluster } from "../../testing/node-cluster.ts";

const N1 = nodeUser("n1");
const LEASES = "/apis/coordination.k8s.io/v1/namespaces";
const SLICES = "/apis/resource.k8s.io/v1/resourceslices";
const REQUESTS_PATH = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

test("NodeRestriction: a node may write only the Lease of its own name", async () => {
  await using server = await startNodeCluster(ALL_ALLOWED);
  const path = `${LEASES}/kube-node-lease/leases`;
  await make(server, path, { metadata: { name: "n2" } });
  await make(server, `${LEASES}/ns/leases`, { metadata: { name: "n1" } });
  const namespace = 'can only access leases in the "kube-node-lease" system namespace';
  const name = "can only access node lease with the same name as the requesting node";
  const refusal = (lease: string, why: string) => `403 leases.coordination.k8s.io "${lease}" is forbidden: ${why}`;

  for (const [method, target, body, answer] of [
    ["POST", path, { metadata: { name: "n3" } }, refusal("n3", name)],
    ["POST", path, { metadata: { generateName: "n1" } }, refusal("n1", name)],
    ["POST", path, { metadata: { name: "n1" } }, "201"],
    ["PATCH", `${path}/n1`, { spec: { holderIdentity: "n1" } }, "200"],
    ["PATCH", `${path}/n2`, { spec: { holderIdentity: "n1" } }, refusal("n2", name)],
    ["DELETE", `${path}/n2`, undefined, refusal("n2", name)],
    ["DELETE", `${path}/n1`, undefined, "200"],
    ["POST", `${LEASES}/other/leases`, { metadata: { name: "n1" } }, refusal("n1", namespace)],
    ["PATCH", `${LEASES}/ns/leases/n1`, {}, refusal("n1", namespace)],
    ["DELETE", `${LEASES}/ns/leases/n1`, undefined, refusal("n1", namespace)],
  ] as const) {
    assert.equal(await ask(server, N1, body === undefined ? [method, target] : [method, target, body]), answer, `${method} ${target}`);
  }
});

test("NodeRestriction: a node may write only the CSINode of its own name", async () => {
  await using server = await startNodeCluster(ALL_ALLOWED);
  const path = "/apis/storage.k8s.io/v1/csinodes";
  const named = (name: string): JsonObject => ({ metadata: { name }, spec: { drivers: [] } });
  await make(server, path, named("n2"));
  const refusal = (name: string) =>
    `403 csinodes.storage.k8s.io "${name}" is forbidden: can only access CSINode with the same name as the requesting node`;

  assert.equal(await ask(server, N1, ["POST", path, named("n3")]), refusal("n3"));
  assert.equal(await ask(server, N1, ["POST", path, named("n1")]), "201");
  assert.equal(await ask(server, N1, ["PATCH", `${path}/n1`, { metadata: { labels: { a: "b" } } }]), "200");
  assert.equal(await ask(server, N1, ["PATCH", `${path}/n2`, { metadata: { labels: { a: "b" } } }]), refusal("n2"));
  assert.equal(await ask(server, N1, ["DELETE", `${path}/n2`]), refusal("n2"));
  assert.equal(await ask(server, N1, ["DELETE", `${path}/n1`]), "200");
});

test("NodeRestriction: a node creates and deletes only its own ResourceSlices, also by deletecollection", async () => {
  await using server = await startNodeCluster(ALL_ALLOWED);
  const slice = (name: string, where: JsonObject): JsonObject => ({
    metadata: { name },
    spec: { driver: "d.io", pool: { name: "p", generation: 1, resourceSliceCount: 1 }, ...where },
  });
  const refusal = (name: string, verb: string) =>
    `403 resourceslices.resource.k8s.io "${name}" is forbidden: can only ${verb} ResourceSlice with the same NodeName as the requesting node`;
  await make(server, SLICES, slice("theirs", { nodeName: "n2" }));

  assert.equal(await ask(server, N1, ["POST", SLICES, slice("mine", { nodeName: "n1" })]), "201");
  assert.equal(await ask(server, N1, ["POST", SLICES, slice("new", { nodeName: "n2" })]), refusal("new", "create"));
  assert.equal(await ask(server, N1, ["POST", SLICES, slice("all", { allNodes: true })]), refusal("all", "create"));
  assert.equal(await ask(server, N1, ["DELETE", `${SLICES}/theirs`]), refusal("theirs", "delete"));
  assert.equal(await ask(server, N1, ["DELETE", SLICES]), refusal("Unknown", "delete"));
  assert.equal(await ask(server, N1, ["DELETE", `${SLICES}?fieldSelector=spec.nodeName%3Dn1`]), "200");
  assert.equal((await server.call("GET", `${SLICES}/theirs`)).code, 200);
});

test("NodeRestriction: a node may update only the resize status of a claim", async () => {
  await using server = await startNodeCluster(ALL_ALLOWED);
  const path = "/api/v1/namespaces/ns/persistentvolumeclaims";
  const claim = { metadata: { name: "c" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } };
  await make(server, path, claim);
  await make(
    server,
    "/api/v1/namespaces/ns/pods",
    aPod("p", { nodeName: "n1", volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] }),
  );
  const forbidden = '403 persistentvolumeclaims "c" is forbidden: ';
  const others = `${forbidden}node "n1" is not allowed to update fields other than status.quantity and status.conditions: `;

  for (const [patch, answer] of [
    [{ status: { capacity: { storage: "2Gi" } } }, "200"],
    [{ status: { conditions: [{ type: "FileSystemResizePending", status: "True" }] } }, "200"],
    [{ status: { allocatedResources: { storage: "2Gi" }, allocatedResourceStatuses: { storage: "NodeResizeInProgress" } } }, "200"],
    [{ metadata: { labels: {} }, spec: { resources: { requests: { storage: "1024Mi" } } } }, "200"],
    [{ status: { phase: "Lost" } }, `${others}status.phase`],
    [{ metadata: { labels: { a: "b" }, finalizers: ["a.b/c"] } }, `${others}metadata.labels, metadata.finalizers`],
    [{ spec: { volumeName: "v" } }, `${others}spec.volumeName`],
  ] as const) {
    assert.equal(await ask(server, N1, ["PATCH", `${path}/c/status`, patch]), answer);
  }
  assert.equal(await ask(server, N1, ["PATCH", `${path}/c`, {}]), `${forbidden}may only update PVC status`);
  assert.equal(await ask(server, N1, ["DELETE", `${path}/c`]), `${forbidden}may only update PVC status`);
});

test("NodeRestriction: a node may request certificates for its own name only", async () => {
  await using server = await startNodeCluster();
  const request = encodeBase64(bytesOf(REQUESTS.P256));
  const asked = (signerName: string, text = request): JsonObject => ({
    metadata: { name: "r" },
    spec: { signerName, request: text, usages: ["client auth"] },
  });
  const create = (user: string, object: JsonObject) => ask(server, nodeUser(user), ["POST", `${REQUESTS_PATH}?dryRun=All`, object]);
  const refusal = '403 certificatesigningrequests.certificates.k8s.io "r" is forbidden: ';

  // The request is for the node "ä".
  for (const signer of ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"]) {
    assert.equal(await create("ä", asked(signer)), "201");
    assert.equal(await create("n1", asked(signer)), `${refusal}can only create a node CSR with CN=system:node:n1`);
    assert.equal(
      await create("n1", asked(signer, encodeBase64(bytesOf("none")))),
      `${refusal}unable to parse csr: PEM block type must be CERTIFICATE REQUEST`,
    );
  }
  assert.equal(await create("n1", asked("example.com/other")), "201");
});

test("NodeRestriction: a node without a node name may not write, and users who are not nodes are not restricted", async () => {
  await using server = await startNodeCluster(ALL_ALLOWED);
  const secret = { metadata: { name: "s" } };
  const path = "/api/v1/namespaces/ns/secrets";

  const why = 'could not determine node from user "system:node:"';
  assert.equal(await ask(server, nodeUser(""), ["POST", path, secret]), `403 secrets "s" is forbidden: ${why}`);
  assert.equal(await ask(server, nodeUser(""), ["POST", path, { metadata: {} }]), `403 secrets "Unknown" is forbidden: ${why}`);
  assert.equal(
    await ask(server, { name: "system:node:n1", groups: [] }, ["PATCH", "/api/v1/nodes/n2", { metadata: { labels: { "k8s.io/a": "b" } } }]),
    "200",
  );
  assert.equal(await ask(server, N1, ["POST", path, secret]), "201");
});
