/** Faults and simulated nodes, as a client of the cluster over HTTPS notices them. */
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { get } from "node:https";
import { after, before, beforeEach, test } from "node:test";
import { configMaps } from "../api/core/v1/config-map.ts";
import { nodes } from "../api/core/v1/node.ts";
import { pods } from "../api/core/v1/pod.ts";
import { isStatusError } from "../api/machinery/status-error.ts";
import type { Client } from "../client/client.ts";
import { startControlled, type Controlled } from "./testing/controlled.ts";

const MAIN = "/v1/clusters/main";

let controlled: Controlled;
let client: Client;

before(async () => {
  controlled = await startControlled({ isVirtual: true, nodes: 2 });
  client = await controlled.client({ userAgent: "faulty/1.0" });
});
after(() => controlled[Symbol.asyncDispose]());
beforeEach(() => control("POST", "/reset"));

async function control(method: string, path: string, body?: unknown) {
  const answer = await controlled.call(method, `${MAIN}${path}`, body);
  equal(answer.code, 200, JSON.stringify(answer.body));
  return answer.body;
}

function create(name: string) {
  return client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name } });
}

test("a status fault answers a number of matching requests, counts them, and is cleared by a reset", async () => {
  await control("POST", "/faults", { match: { verb: "create", resource: "configmaps" }, status: { code: 409 }, times: 1 });

  await rejects(create("a"), (error: unknown) => isStatusError(error) && error.reason === "Conflict" && error.code === 409);
  await create("a");
  const { faults } = await control("GET", "/faults");
  deepEqual([faults[0].matched, faults[0].injected, faults[0].id], [2, 1, faults[0].id]);
  match(faults[0].id, /^fault-\d+$/);
  await control("POST", "/reset");
  deepEqual((await control("GET", "/faults")).faults, []);
});

/** Without the retries of a client library. */
async function rawGet(path: string, userAgent: string) {
  const { server, certificateAuthority: ca, clientCertificate: cert, clientKey: key } = await control("GET", "");
  const request = get(`${server}${path}`, { ca, cert, key, headers: { "user-agent": userAgent }, agent: false });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return { code: response.statusCode, retryAfter: response.headers["retry-after"] };
}

test("faults match the user agent and the user, and a 429 has Retry-After", async () => {
  const status = { code: 429, retryAfterSeconds: 3 };
  await control("POST", "/faults", { match: { userAgent: "faulty/*", user: "kubernetes-admin", verb: "list" }, status });

  deepEqual(await rawGet("/api/v1/nodes", "another/1.0"), { code: 200, retryAfter: undefined });
  deepEqual(await rawGet("/api/v1/nodes", "faulty/2.0"), { code: 429, retryAfter: "3" });
});

test("a reset connection is an error of the client, and without the fault the request is served", async () => {
  const read = () => client.get(configMaps, { namespace: "default", name: "kube-root-ca.crt" });
  await control("POST", "/faults", { match: { name: "kube-root-ca.crt" }, resetConnection: true });
  await rejects(read());

  await control("DELETE", "/faults");
  await read();
});

test("a delay passes in the cluster's time", async () => {
  await control("POST", "/faults", { match: { verb: "create" }, delay: "5m" });
  let isDone = false;
  const creating = create("late").then((created) => {
    isDone = true;
    return created;
  });

  await control("POST", "/time/advance", { duration: "4m" });
  equal(isDone, false);
  while (!isDone) await control("POST", "/time/advance", { duration: "1m" });
  equal((await creating).metadata.name, "late");
});

/** Resolves with the names of the events when the watch has ended. */
async function watch() {
  const seen: string[] = [];
  const { resourceVersion = "" } = (await client.list(configMaps, { namespace: "default" })).metadata;
  let over!: () => void;
  const ended = new Promise<readonly string[]>((resolve) => (over = () => resolve(seen)));
  const event = (each: { readonly type: string; readonly object?: { readonly metadata: { readonly name: string } } }) =>
    void seen.push(each.object?.metadata.name ?? each.type);
  await client.watch(configMaps, { namespace: "default", resourceVersion }, { event, ended: over });
  return ended;
}

test("a watch is dropped after a number of events, and running watches on request", async () => {
  await control("POST", "/faults", { match: { resource: "configmaps" }, dropWatch: { afterEvents: 2 }, times: 1 });
  const dropped = watch();
  // The watch begins with the list's revision, so no event is missed.
  for (let count = 0; (await control("GET", "/faults")).faults[0].injected === 0; count++) await create(`before-${count}`);
  for (const name of ["x", "y", "z"]) await create(name);
  equal((await dropped).length, 2);

  const running = watch();
  const drop = async () => (await control("POST", "/watches/drop", { match: { userAgent: "faulty*" }, how: "reset" })).dropped;
  for (let count = 0; (await drop()) === 0; count++) await create(`again-${count}`);
  await running;
});

const SCHEDULER = "system:kube-scheduler";

function createPod(name: string) {
  const spec = { containers: [{ name: "a", image: "example.com/a" }] };
  return client.create(pods, { apiVersion: "v1", kind: "Pod", metadata: { namespace: "default", name }, spec });
}

async function nodeOf(name: string) {
  return (await client.get(pods, { namespace: "default", name })).spec?.nodeName ?? "none";
}

test("a fault that names the user of a component applies to its requests, and others do not", async () => {
  const status = { code: 500 };
  await control("POST", "/faults", { match: { user: SCHEDULER, resource: "pods", subresource: "binding" }, status, times: 1 });
  await control("POST", "/faults", { match: { verb: "create", subresource: "binding" }, status });
  await createPod("a");

  await control("POST", "/time/settle");
  const [own, other] = (await control("GET", "/faults")).faults;
  deepEqual([own.injected, other.matched, await nodeOf("a")], [1, 0, "none"]);
  await control("POST", "/time/advance", { duration: "10m" });
  equal((await nodeOf("a")) === "none", false);
});

test("a component whose watches are dropped resumes them, and a delay passes in the cluster's time", async () => {
  await control("POST", "/faults", { match: { user: SCHEDULER, subresource: "binding" }, delay: "5m" });
  const { dropped } = await control("POST", "/watches/drop", { match: { user: SCHEDULER, resource: "pods" } });
  ok(dropped > 0);
  await createPod("a");

  await control("POST", "/time/advance", { duration: "4m" });
  equal(await nodeOf("a"), "none");
  await control("POST", "/time/advance", { duration: "2m" });
  equal((await nodeOf("a")) === "none", false);
});

const REJECTED: readonly { fault: object; says: RegExp }[] = [
  { fault: {}, says: /^The fault does nothing; Set delay, status, resetConnection or dropWatch/ },
  { fault: { status: { code: 200 } }, says: /^status.code must be an integer from 400 to 599, is 200/ },
  { fault: { status: {} }, says: /^status.code is required/ },
  { fault: { match: { verb: "fetch" }, delay: 1 }, says: /^match.verb must be one of get, list, watch/ },
  { fault: { match: { kind: "Pod" }, delay: 1 }, says: /^Unknown field "match.kind"/ },
  { fault: { delay: "2h" }, says: /^delay must be a duration of at most 1h/ },
  { fault: { probability: 2, delay: 1 }, says: /^probability must be a number from 0 to 1, is 2/ },
  { fault: { status: { code: 500 }, resetConnection: true }, says: /exclude each other; Add one fault for each/ },
];

for (const { fault, says } of REJECTED) {
  test(`the fault ${JSON.stringify(fault)} is rejected`, async () => {
    const { code, body } = await controlled.call("POST", `${MAIN}/faults`, fault);
    equal(code, 400);
    match(`${body.message}; ${body.remedy}`, says);
  });
}

async function aPod(name: string, nodeName: string): Promise<void> {
  const spec = { nodeName, containers: [{ name: "c", image: "any" }] };
  await client.create(pods, { apiVersion: "v1", kind: "Pod", metadata: { namespace: "default", name }, spec });
  await control("POST", "/time/advance", { duration: "1s" });
}

async function restarts(name: string): Promise<number | undefined> {
  return (await client.get(pods, { namespace: "default", name })).status?.containerStatuses?.[0]?.restartCount;
}

async function readyStatus(name: string): Promise<string | undefined> {
  const { status } = await client.get(nodes, { name });
  return status?.conditions?.find(({ type }) => type === "Ready")?.status;
}

for (const { word, state, restartCount } of [
  { word: "cut-off", state: "cutOff", restartCount: 0 },
  { word: "stop", state: "stopped", restartCount: 1 },
]) {
  test(`a node after ${word} is reported as lost; when it starts, its containers have ${restartCount} restarts`, async () => {
    await aPod("p", "node-1");
    deepEqual(await control("POST", `/nodes/node-1/${word}`), { name: "node-1", state });
    await control("POST", "/time/advance", { duration: "1m" });
    equal(await readyStatus("node-1"), "Unknown");

    deepEqual(await control("POST", "/nodes/node-1/start"), { name: "node-1", state: "running" });
    await control("POST", "/time/advance", { duration: "1m" });
    equal(await readyStatus("node-1"), "True");
    equal(await restarts("p"), restartCount);
  });
}

test("nodes are added, listed and removed, and a snapshot keeps the state of a stopped one", async () => {
  deepEqual(await control("POST", "/nodes", { name: "extra" }), { name: "extra", state: "running" });
  await control("POST", "/nodes/extra/stop");
  await controlled.call("PUT", "/v1/snapshots/with-extra");
  await control("DELETE", "/nodes/extra");
  equal((await controlled.call("POST", `${MAIN}/nodes/extra/start`)).code, 404);
  equal((await controlled.call("POST", `${MAIN}/nodes`, { name: "node-0" })).code, 409);

  await control("POST", "/reset", { snapshot: "with-extra" });

  const { nodes: listed } = await control("GET", "/nodes");
  deepEqual(listed, [
    { name: "node-0", state: "running" },
    { name: "node-1", state: "running" },
    { name: "extra", state: "stopped" },
  ]);
});

test("every answer has exactly the fields of the OpenAPI document", async () => {
  const { paths } = (await controlled.call("GET", "/openapi.json")).body;
  await control("POST", "/faults", { delay: 1, match: { verb: "get" } });
  for (const path of ["", "/time", "/nodes", "/faults"]) {
    const schema = paths[`/v1/clusters/{cluster}${path}`].get.responses["200"].content["application/json"].schema;
    conforms(await control("GET", path), schema, path);
  }
});

interface Schema {
  readonly type?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

function conforms(value: unknown, { type, required = [], properties = {}, items = {} }: Schema, path: string): void {
  if (type === "array") return (value as unknown[]).forEach((each, index) => conforms(each, items, `${path}[${index}]`));
  if (type !== "object") return;
  const given = Object.keys(value as object);
  deepEqual(
    required.filter((name) => !given.includes(name)),
    [],
    `required fields of ${path}`,
  );
  for (const name of given) {
    ok(properties[name] !== undefined, `${path}.${name} is declared`);
    conforms((value as Record<string, unknown>)[name], properties[name], `${path}.${name}`);
  }
}
