import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../testing/server.ts";

const JOBS = "/apis/batch/v1/namespaces/default/jobs";
const FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas";
const CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses";
const ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses";
const ENDPOINTS = "/api/v1/namespaces/default/endpoints";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };

test("deleting a Job without a propagation policy returns a warning about its Pods", async () => {
  await using server = await startServer();
  for (const name of ["a", "b"]) await server.call("POST", JOBS, { metadata: { name }, spec: { template } });

  const warned = await server.call("DELETE", `${JOBS}/a`);
  const said = await server.call("DELETE", `${JOBS}/b?propagationPolicy=Background`);
  const all = await server.call("DELETE", JOBS);

  assert.match(String(warned.headers["warning"]), /child pods are preserved by default when jobs are deleted/);
  assert.match(String(all.headers["warning"]), /child pods are preserved by default/);
  assert.equal(said.headers["warning"], undefined);
});

test("system PriorityClasses cannot be deleted, others can", async () => {
  await using server = await startServer();
  await server.call("POST", CLASSES, { metadata: { name: "mine" }, value: 1 });

  const refused = await server.call("DELETE", `${CLASSES}/system-node-critical`);

  const why = "this is a system priority class and cannot be deleted";
  const message = `priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: ${why}`;
  assert.deepEqual([refused.code, refused.body.message], [403, message]);
  assert.equal((await server.call("DELETE", `${CLASSES}/mine`)).code, 200);
  assert.equal((await server.call("DELETE", `${CLASSES}/none`)).code, 404);
});

test("a table of FlowSchemas is sorted by matching precedence, and a list by name", async () => {
  await using server = await startServer();

  const table = (await server.call("GET", FLOWS, undefined, TABLE)).body.rows.map(({ cells }: { cells: string[] }) => cells[0]);
  const list = (await server.call("GET", FLOWS)).body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);

  assert.deepEqual([table[0], table[1], table.at(-1)], ["exempt", "probes", "catch-all"]);
  assert.deepEqual(list, list.toSorted());
});

test("an IPAddress takes its generateName as its name, and a LimitRange without a name is named by its uid", async () => {
  await using server = await startServer();
  const spec = { parentRef: { resource: "services", namespace: "default", name: "web" } };

  const address = await server.call("POST", ADDRESSES, { metadata: { generateName: "192.0.2.7" }, spec });
  const limits = await server.call("POST", "/api/v1/namespaces/default/limitranges", { spec: { limits: [] } });

  assert.equal(address.body.metadata.name, "192.0.2.7");
  assert.equal(limits.body.metadata.name, limits.body.metadata.uid);
});

test("every verb on a deprecated version returns a warning", async () => {
  await using server = await startServer();
  const object = { metadata: { name: "e" }, subsets: [] };
  const answers = [
    await server.call("GET", ENDPOINTS),
    await server.call("POST", ENDPOINTS, object),
    await server.call("GET", `${ENDPOINTS}/e`),
    await server.call("DELETE", `${ENDPOINTS}/e`),
  ];

  for (const { headers } of answers) assert.match(String(headers["warning"]), /v1 Endpoints is deprecated in v1\.33\+/);
});

test("a write through the scale subresource is validated and returns warnings like any other write", async () => {
  await using server = await startServer();
  const labels = { a: "b" };
  const nodeSelector = { "beta.kubernetes.io/os": "linux" };
  const spec = {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { nodeSelector, containers: [{ name: "c", image: "i" }] } },
  };
  await server.call("POST", DEPLOYMENTS, { metadata: { name: "d" }, spec });

  const scaled = await server.call("PUT", `${DEPLOYMENTS}/d/scale`, { metadata: { name: "d" }, spec: { replicas: 2 } });

  assert.equal(scaled.code, 200);
  assert.match(String(scaled.headers["warning"]), /beta\.kubernetes\.io\/os/);
});

test("a PodDisruptionBudget may have nearly any name, and its metadata is validated last", async () => {
  await using server = await startServer();
  const make = (name: string, minAvailable: number) =>
    server.call("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
      metadata: { name, labels: name === "a/b" ? { "a b": "c" } : {} },
      spec: { minAvailable, selector: {} },
    });
  const fields = ({ body }: { body: { details: { causes: { field: string }[] } } }) => body.details.causes.map(({ field }) => field);

  assert.equal((await make("My_Budget", 1)).code, 201);
  assert.deepEqual(fields(await make("a/b", -1)), ["spec.minAvailable"]);
  assert.deepEqual(fields(await make("a/b", 1)), ["metadata.name", "metadata.labels"]);
});

test("fields that a version conversion sets are owned by the writer", async () => {
  await using server = await startServer();
  const spec = { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, maxReplicas: 3 };

  const { body } = await server.call("POST", "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers", {
    metadata: { name: "h" },
    spec,
  });

  assert.deepEqual(Object.keys(body.metadata.managedFields[0].fieldsV1["f:spec"]).toSorted(), [
    "f:maxReplicas",
    "f:minReplicas",
    "f:scaleTargetRef",
    "f:targetCPUUtilizationPercentage",
  ]);
});

test("the table of a Scale shows desired and current replicas", async () => {
  await using server = await startServer();
  const labels = { a: "b" };
  const spec = {
    replicas: 3,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } },
  };
  await server.call("POST", DEPLOYMENTS, { metadata: { name: "d" }, spec });

  const { body } = await server.call("GET", `${DEPLOYMENTS}/d/scale`, undefined, TABLE);

  assert.deepEqual(
    body.columnDefinitions.map(({ name }: { name: string }) => name),
    ["Name", "Desired", "Available", "Age"],
  );
  assert.deepEqual(body.rows[0].cells, ["d", 3, 0, "0s"]);
});

test("a bytes field that is null is decoded as empty", async () => {
  await using server = await startServer();

  const secret = await server.call("POST", "/api/v1/namespaces/default/secrets", {
    metadata: { name: "s" },
    data: { password: null, user: "YQ==" },
  });
  const map = await server.call("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "m" }, binaryData: { x: null } });

  assert.deepEqual([secret.code, secret.body.data], [201, { password: "", user: "YQ==" }]);
  assert.deepEqual([map.code, map.body.binaryData], [201, { x: "" }]);
});
