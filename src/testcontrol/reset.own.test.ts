/** Resets, snapshots, forks and virtual time, as clients over HTTP and HTTPS see them. */
import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import { after, before, test } from "node:test";
import { configMaps } from "../api/core/v1/config-map.ts";
import { nodes } from "../api/core/v1/node.ts";
import { pods } from "../api/core/v1/pod.ts";
import type { Client, WatchEvent } from "../client/client.ts";
import { becomes } from "../testing/becomes.ts";
import { callControl, startControlled, type Controlled } from "./testing/controlled.ts";

let controlled: Controlled;
let client: Client;

before(async () => {
  controlled = await startControlled({ isVirtual: true, nodes: 2 });
  client = await controlled.client();
});
after(() => controlled[Symbol.asyncDispose]());

const RESET = "/v1/clusters/main/reset";

function configMap(name: string, data: Record<string, string> = {}) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name }, data } as const;
}

async function names(of: Client = client): Promise<readonly string[]> {
  const { items } = await of.list(configMaps, { namespace: "default" });
  return items.map(({ metadata }) => metadata.name).filter((name) => name !== "kube-root-ca.crt");
}

async function reset(snapshot?: string) {
  const { code, body } = await controlled.call("POST", RESET, snapshot === undefined ? {} : { snapshot });
  equal(code, 200, JSON.stringify(body));
  return body;
}

test("a reset empties the cluster, keeps its address and credentials, and its resourceVersions only grow", async () => {
  const written = await client.create(configMaps, configMap("written"));
  const { generation, resourceVersion } = await reset();

  deepEqual(await names(), []);
  equal((await client.list(nodes)).items.length, 2);
  equal(generation, controlled.control.cluster("main").generation);
  ok(Number(resourceVersion) > Number(written.metadata.resourceVersion));
  const again = await client.create(configMaps, configMap("written"));
  ok(Number(again.metadata.resourceVersion) > Number(resourceVersion));
});

test("a reset to a named snapshot restores its objects with their uids, as often as needed", async () => {
  await reset();
  const prepared = await client.create(configMaps, configMap("prepared", { a: "1" }));
  const taken = await controlled.call("PUT", "/v1/snapshots/prepared");
  equal(taken.code, 200);

  for (let round = 0; round < 2; round++) {
    await client.create(configMaps, configMap(`of-round-${round}`));
    await client.update(configMaps, { ...(await client.get(configMaps, { namespace: "default", name: "prepared" })), data: { a: "2" } });
    await reset("prepared");
    deepEqual(await names(), ["prepared"]);
    const restored = await client.get(configMaps, { namespace: "default", name: "prepared" });
    deepEqual([restored.metadata.uid, restored.data], [prepared.metadata.uid, { a: "1" }]);
  }
});

test("the components for the next reset to a snapshot are started ahead, also if resets alternate", async () => {
  const { control } = controlled;
  await controlled.call("PUT", "/v1/snapshots/spared");
  const arePrepared = async () => ["spared", "empty"].map((name) => control.cluster("main").isPrepared(control.snapshots.get(name)));

  await reset("spared");
  await becomes(async () => (await arePrepared())[0], true);
  equal((await reset("spared")).wasPrepared, true);
  await reset();
  await becomes(arePrepared, [true, true]);
  equal((await reset("spared")).wasPrepared, true);

  equal((await controlled.call("DELETE", "/v1/snapshots/spared")).code, 200);
});

test("20 resets back to back serve the snapshot each time, and the components of the last one run", async () => {
  await reset();
  await client.create(configMaps, configMap("kept"));
  await controlled.call("PUT", "/v1/snapshots/in-a-row");
  for (const snapshot of ["in-a-row", undefined]) {
    let last = 0;
    for (let round = 0; round < 20; round++) {
      const { resourceVersion } = await reset(snapshot);
      ok(Number(resourceVersion) > last);
      last = Number(resourceVersion);
    }
    deepEqual(await names(), snapshot === undefined ? [] : ["kept"]);
    const metadata = { namespace: "default", name: "after" };
    await client.create(pods, { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [{ name: "c", image: "any" }] } });
    await controlled.call("POST", "/v1/clusters/main/time/settle");
    equal((await client.get(pods, metadata)).status?.phase, "Running");
  }
  equal((await controlled.call("DELETE", "/v1/snapshots/in-a-row")).code, 200);
});

test("writes between resets back to back are never seen after the reset", async () => {
  for (let round = 0; round < 5; round++) {
    await client.create(configMaps, configMap(`of-round-${round}`));
    await reset();
    deepEqual(await names(), []);
  }
});

/** Types of the events until the watch ends; of an error, its reason. */
test("resourceVersions also grow when resets alternate between snapshots", async () => {
  await controlled.call("PUT", "/v1/snapshots/alternating");
  const revisions: number[] = [];
  for (const snapshot of ["alternating", undefined, "alternating", undefined, undefined]) {
    revisions.push(Number((await reset(snapshot)).resourceVersion));
  }
  deepEqual(
    revisions,
    revisions.toSorted((a, b) => a - b),
  );
  equal((await controlled.call("DELETE", "/v1/snapshots/alternating")).code, 200);
});

async function startWatch(resourceVersion: string) {
  const seen: string[] = [];
  let over!: () => void;
  const ended = new Promise<void>((resolve) => (over = resolve));
  const event = (event: WatchEvent): void => void seen.push(event.type === "ERROR" ? event.error.reason : event.type);
  await client.watch(configMaps, { namespace: "default", resourceVersion }, { event, ended: over });
  return { seen, ended };
}

test("a watch ends at a reset, and watching on from an earlier resourceVersion is answered with 410", async () => {
  await reset();
  const { resourceVersion = "" } = (await client.list(configMaps, { namespace: "default" })).metadata;
  const before = await startWatch(resourceVersion);
  await client.create(configMaps, configMap("watched"));
  await reset();
  await before.ended;

  const after = await startWatch(resourceVersion);
  await after.ended;

  deepEqual([before.seen, after.seen], [["ADDED"], ["Expired"]]);
});

test("virtual time passes only on request, and a Pod becomes ready when it is due", async () => {
  await reset();
  const beforeMs = Date.parse((await controlled.call("GET", "/v1/clusters/main/time")).body.now);
  const annotations = { "simulated.k8ts.dev/ready-after": "5m" };
  const metadata = { namespace: "default", name: "slow", annotations };
  await client.create(pods, { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [{ name: "c", image: "any" }] } });
  const isReady = async (): Promise<boolean> => {
    const { status } = await client.get(pods, { namespace: "default", name: "slow" });
    return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
  };

  equal((await controlled.call("POST", "/v1/clusters/main/time/settle")).code, 200);
  equal(await isReady(), false);
  await controlled.call("POST", "/v1/clusters/main/time/advance", { duration: "6m" });
  equal(await isReady(), true);
  equal(Date.parse((await controlled.call("GET", "/v1/clusters/main/time")).body.now) - beforeMs, 360_000);
});

test("a fork has the same objects and credentials at another address, and is independent", async () => {
  await reset();
  await client.create(configMaps, configMap("shared"));
  const { body: fork } = await controlled.call("POST", "/v1/clusters", { name: "side" });
  const { body: main } = await controlled.call("GET", "/v1/clusters/main");
  notEqual(fork.server, main.server);
  equal(fork.clientCertificate, main.clientCertificate);
  equal(fork.now, main.now);
  const side = await controlled.client({ cluster: "side" });
  await side.create(configMaps, configMap("aside"));

  deepEqual([await names(side), await names()], [["aside", "shared"], ["shared"]]);
  equal((await controlled.call("POST", "/v1/clusters", { name: "side" })).body.reason, "Conflict");
  equal((await controlled.call("DELETE", "/v1/clusters/side")).code, 200);
  equal((await controlled.call("GET", "/v1/clusters/side")).code, 404);
});

const REJECTED: readonly { call: [string, string, unknown?]; code: number; says: RegExp }[] = [
  { call: ["POST", RESET, { snapshot: "nix" }], code: 404, says: /^Snapshot "nix" does not exist; Take it first/ },
  { call: ["POST", RESET, { snapsot: "nix" }], code: 400, says: /^Unknown field "snapsot"; Did you mean "snapshot"\?/ },
  { call: ["POST", RESET, "{"], code: 400, says: /^The body is not valid JSON/ },
  { call: ["POST", RESET, "[]"], code: 400, says: /^The body must be a JSON object/ },
  { call: ["POST", RESET, `{"seed":"${"9".repeat(70_000)}"}`], code: 413, says: /^The body is larger than 65536 bytes/ },
  { call: ["GET", RESET], code: 405, says: /^GET is not supported by \/v1\/clusters\/main\/reset; Use POST/ },
  { call: ["GET", "/v2"], code: 404, says: /^There is nothing at \/v2; GET \/openapi.json/ },
  { call: ["PUT", "/v1/snapshots/empty"], code: 409, says: /^Snapshot "empty" cannot be replaced/ },
  { call: ["PUT", "/v1/snapshots/Not_A_Name"], code: 400, says: /^snapshot must be a name of lower-case letters/ },
  { call: ["DELETE", "/v1/clusters/main"], code: 409, says: /^Cluster "main" cannot be removed/ },
  { call: ["POST", "/v1/clusters/main/time/advance", {}], code: 400, says: /^duration is required/ },
  {
    call: ["POST", "/v1/clusters/main/time/advance", { duration: "-1s" }],
    code: 400,
    says: /^duration must be a duration of at most 366d/,
  },
];

for (const { call, code, says } of REJECTED) {
  test(`${call[0]} ${call[1]} ${JSON.stringify(call[2] ?? "").slice(0, 40)} is rejected with ${code}, a message and a remedy`, async () => {
    const answer = await controlled.call(...call);

    equal(answer.code, code);
    match(`${answer.body.message}; ${answer.body.remedy}`, says);
  });
}

test("every request but that for the OpenAPI document needs the token and this machine's Host", async () => {
  const wrong = await callControl(`${controlled.url}/v1/clusters`, { method: "GET", token: "another" });
  deepEqual([wrong.code, wrong.body.reason], [401, "Unauthorized"]);

  const { code, body } = await callControl(`${controlled.url}/openapi.json`, { method: "GET", token: "" });
  equal(code, 200);
  equal(body.openapi, "3.0.3");
  ok(body.paths["/v1/clusters/{cluster}/reset"].post.requestBody.content["application/json"].schema.properties.snapshot);
});
