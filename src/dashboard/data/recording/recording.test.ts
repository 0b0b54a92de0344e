import { deepEqual, equal, match, throws } from "node:assert/strict";
import { test } from "node:test";
import { startServer, type StartedServer } from "../../../apiserver/testing/server.ts";
import { CAUSES_PATH, DIFF_PATH, TIMELINE_PATH, type CauseList, type ObjectDiff, type Timeline } from "../../../explain/explain-api.ts";
import { ClusterApi } from "../cluster-api.ts";
import { exchangeConnection } from "../exchange-connection.ts";
import { fetchKinds } from "../kinds.ts";
import { pastConnection } from "../time/past-connection.ts";
import { parseRecording } from "./parse-recording.ts";
import { recordingText, recordRange } from "./record-range.ts";
import { recordingConnection } from "./recording-connection.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const MERGE = { "content-type": "application/merge-patch+json" };

/** ConfigMaps "a", which changes and is deleted, and "b", which is created; a Secret. The recording begins after the creation of "a". */
async function recorded(started: StartedServer, hasSecrets = false) {
  const { call, clock, server } = started;
  const first = await call("POST", MAPS, { metadata: { name: "a" }, data: { x: "1" } });
  await call("POST", "/api/v1/namespaces/default/secrets", { metadata: { name: "s" }, stringData: { password: "swordfish" } });
  await clock.advance(1_000);
  const second = await call("PATCH", `${MAPS}/a?fieldManager=changer`, { data: { x: "2" } }, MERGE);
  await call("DELETE", `${MAPS}/a`);
  const last = await call("POST", MAPS, { metadata: { name: "b" } });
  await clock.advance(1_000);
  const api = new ClusterApi(exchangeConnection({ exchange: server.exchange }));
  const revisions = [first, second, last].map(({ body }) => String(body.metadata.resourceVersion)) as [string, string, string];
  const recording = await recordRange({
    ...{ api, kinds: await fetchKinds(api), hasSecrets, signal: new AbortController().signal, progress: () => undefined },
    from: { revision: revisions[0], timeMs: clock.now() - 2_000 },
    to: { revision: revisions[2], timeMs: clock.now() },
  });
  return { recording, revisions, api };
}

test("a recording answers lists at its revisions, causes, timeline and differences as the server did", async () => {
  await using started = await startServer();
  const { recording, revisions, api: server } = await recorded(started);
  const connection = recordingConnection(parseRecording(recordingText(recording)));
  const api = new ClusterApi(connection);
  const [first, second, last] = revisions;

  const namesAt = async (revision: string, of: ClusterApi = new ClusterApi(pastConnection(connection, { revision }))) => {
    const { items } = await of.get<{ items: { metadata: { name: string } }[] }>(`${MAPS}?limit=500`);
    return items.map(({ metadata }) => metadata.name).join();
  };
  for (const revision of [first, second, last])
    equal(await namesAt(revision), await namesAt(revision, new ClusterApi(pastConnection(server.connection, { revision }))), revision);
  const diffQuery = `${DIFF_PATH}?resource=configmaps&namespace=default&name=a&from=${first}&to=${second}`;
  deepEqual((await api.get<ObjectDiff>(diffQuery)).changes, (await server.get<ObjectDiff>(diffQuery)).changes);
  deepEqual(
    (await api.get<CauseList>(CAUSES_PATH)).items.map(({ verb, name }) => `${verb} ${name}`),
    ["create s", "patch a", "delete a", "create b"],
  );
  const { items } = await api.get<Timeline>(TIMELINE_PATH);
  deepEqual([items[0]?.revision, items.at(-1)?.revision], [first, last]);
  deepEqual(
    (await fetchKinds(api)).map(({ plural }) => plural),
    recording.kinds.map(({ plural }) => plural),
  );
});

test("a recording has Secrets only if they are wanted, and says that they are missing", async () => {
  for (const hasSecrets of [false, true]) {
    await using started = await startServer();
    const { recording } = await recorded(started, hasSecrets);
    const text = recordingText(recording);
    equal(text.includes(btoa("swordfish")), hasSecrets);
    equal(recording.missing.includes("Secrets were left out."), !hasSecrets);
  }
});

test("lists of a recording have pages, tables and selectors; other requests are errors", async () => {
  await using started = await startServer();
  const { recording } = await recorded(started);
  const api = new ClusterApi(recordingConnection(recording));
  const outcome = (path: string, method = "GET") => api.json({ path, method }).then(JSON.stringify, (error: Error) => error.message);
  match(await outcome("/api/v1/namespaces?limit=1"), /"continue":"1"/);
  match(await outcome("/api/v1/namespaces?limit=1&continue=1"), /"items":\[\{/);
  match(await outcome("/api/v1/namespaces?fieldSelector=metadata.name%3Ddefault"), /"name":"default"/);
  match(await outcome("/api/v1/namespaces?labelSelector=kubernetes.io/metadata.name%3Dnone"), /"items":\[\]/);
  match(await outcome("/api/v1/namespaces?labelSelector=a!%3Db"), /cannot be selected/);
  match(await outcome("/api/v1/namespaces/nothing"), /not found/);
  match(await outcome("/api/v1/namespaces", "POST"), /cannot be changed/);
  match(await outcome("/version"), /does not contain/);
  const { rows } = await api.json<{ rows: unknown[] }>({ path: "/api/v1/namespaces", accept: "application/json;as=Table" });
  equal(rows.length > 0, true);
});

const INSTANT = { revision: "1", time: "2026-01-01T00:00:00Z" };
const VALID = { kind: "ClusterRecording", apiVersion: "debug.k8ts.io/v1", from: INSTANT, to: INSTANT, kinds: [], versions: [], causes: [] };
const POD_KIND = { group: "", version: "v1", kind: "Pod", plural: "pods", isNamespaced: true, columns: [], items: [] };

test("a file that is not a well-formed recording is rejected with a reason", () => {
  const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
  const rows: readonly [string, RegExp][] = [
    ["", /it is not JSON/],
    ["[]", /it is not a recording/],
    ['{"kind":"ClusterRecording","apiVersion":"debug.k8ts.io/v9"}', /it is not a recording/],
    [JSON.stringify({ ...VALID, from: { revision: "1; drop", time: "" } }), /from.time is malformed/],
    [JSON.stringify({ ...VALID, from: { ...INSTANT, revision: "x" } }), /from.revision is malformed/],
    [JSON.stringify({ ...VALID, kinds: {} }), /kinds is malformed/],
    [JSON.stringify({ ...VALID, kinds: [{ ...POD_KIND, plural: "../../secrets" }] }), /plural name of a kind is malformed/],
    [JSON.stringify({ ...VALID, kinds: [{ ...POD_KIND, items: [{ object: { metadata: {} } }] }] }), /name of an object is malformed/],
    [JSON.stringify({ ...VALID, kinds: [{ ...POD_KIND, items: [{ object: 1 }] }] }), /an object is malformed/],
    [JSON.stringify({ ...VALID, causes: [{}] }), /a cause is malformed/],
    [JSON.stringify(VALID).replace("{", '{"__proto__":{"x":1},'), /__proto__/],
    [JSON.stringify(VALID).replace("{", `{"deep":${nested(200)},`), /more than 100 levels/],
    [JSON.stringify(VALID).replace("{", `{"deep":${nested(100_000)},`), /more than 100 levels/],
  ];
  for (const [text, message] of rows) throws(() => parseRecording(text), message, text.slice(0, 100));
});

test("members of a recording with another type than pages rely on are dropped", () => {
  const metadata = {
    name: "x",
    labels: { a: 1, b: "c" },
    ownerReferences: "none",
    finalizers: [1, "f"],
    managedFields: [{ fieldsV1: { "k:{": {} } }],
  };
  const object = { apiVersion: 1, kind: "Pod", metadata: { ...metadata, uid: {} }, spec: { containers: 7 } };
  const kinds = [{ ...POD_KIND, verbs: ["delete"], items: [{ object, cells: ["a", {}, 1, null] }] }];
  const { kinds: read } = parseRecording(JSON.stringify({ ...VALID, kinds }));

  deepEqual(read[0]?.verbs, ["get", "list", "watch"]);
  deepEqual(read[0]?.items[0]?.cells, ["a", null, 1, null]);
  deepEqual(read[0]?.items[0]?.object.metadata, {
    ...{ name: "x", labels: { b: "c" }, annotations: {}, finalizers: ["f"], ownerReferences: [] },
    managedFields: [{ manager: "", time: "", operation: "Update" }],
  });
});
