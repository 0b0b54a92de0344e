import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeEnvelope, decodeProtobuf } from "../../api/machinery/codec/protobuf/protobuf.ts";
import { parseYaml } from "../../api/machinery/codec/yaml/yaml.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { schemaOf } from "../../api/schemas.ts";
import { startServer, type StartedServer } from "../testing/server.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const PROTOBUF = { accept: "application/vnd.kubernetes.protobuf" };

async function withMaps(): Promise<StartedServer> {
  const server = await startServer();
  await server.call("POST", MAPS, { metadata: { name: "a", labels: { x: "y" } }, data: { é: undefined, key: "wert ü 😀" } });
  await server.call("POST", MAPS, { metadata: { name: "b" }, binaryData: { raw: "AAEC" } });
  return server;
}

test("a list contains exactly its objects, without their kind", async () => {
  await using server = await withMaps();
  const objects = [(await server.call("GET", `${MAPS}/a`)).body, (await server.call("GET", `${MAPS}/b`)).body];

  const list = (await server.call("GET", MAPS)).body;

  const items = objects.map(({ kind: _kind, apiVersion: _apiVersion, ...item }) => item);
  const metadata = { resourceVersion: String(await server.store.currentRevision()) };
  assert.deepEqual(list, { kind: "ConfigMapList", apiVersion: "v1", metadata, items });
});

test("protobuf, YAML and pretty JSON have the same content as JSON", async () => {
  await using server = await withMaps();
  const json = (await server.call("GET", `${MAPS}/a`)).body;

  const protobuf = await server.call("GET", `${MAPS}/a`, undefined, PROTOBUF);
  const envelope = decodeEnvelope(protobuf.bytes);
  const decoded = decodeProtobuf(envelope.raw, schemaOf("io.k8s.api.core.v1.ConfigMap"));
  assert.deepEqual({ ...decoded, kind: envelope.kind, apiVersion: envelope.apiVersion }, json);
  const yaml = await server.call("GET", `${MAPS}/a`, undefined, { accept: "application/yaml" });
  assert.deepEqual(parseYaml(yaml.bytes).value, json);
  const pretty = await server.call("GET", `${MAPS}/a?pretty=true`);
  assert.deepEqual(pretty.body, json);
  assert.match(pretty.text, /^\{\n {2}"/);
  assert.deepEqual(
    [protobuf, yaml, pretty].map(({ headers }) => headers["content-type"]),
    [PROTOBUF.accept, "application/yaml", "application/json"],
  );
});

test("pretty JSON keeps all digits of a number", async () => {
  await using server = await startServer();
  const path = "/api/v1/namespaces/default/pods";
  const toleration = `{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":9007199254740993}`;
  await server.call(
    "POST",
    path,
    `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}],"tolerations":[${toleration}]}}`,
  );

  const { text } = await server.call("GET", `${path}/a?pretty=true`);

  assert.match(text, /\n +"tolerationSeconds": 9007199254740993\n/);
});

test("a list in protobuf decodes to the list", async () => {
  await using server = await withMaps();
  const { body } = await server.call("GET", MAPS);

  const { raw, kind } = decodeEnvelope((await server.call("GET", MAPS, undefined, PROTOBUF)).bytes);

  const decoded = decodeProtobuf(raw, schemaOf("io.k8s.api.core.v1.ConfigMapList"));
  assert.equal(kind, "ConfigMapList");
  assert.deepEqual(JSON.parse(JSON.stringify(decoded["items"])), body.items);
});

test("errors are encoded in the requested media type, and in JSON if it is not supported", async () => {
  await using server = await withMaps();

  const protobuf = await server.call("GET", `${MAPS}/none`, undefined, PROTOBUF);
  const status = decodeProtobuf(decodeEnvelope(protobuf.bytes).raw, schemaOf("io.k8s.apimachinery.pkg.apis.meta.v1.Status"));
  assert.deepEqual([protobuf.code, status["reason"], status["code"]], [404, "NotFound", 404]);
  const html = await server.call("GET", `${MAPS}/a`, undefined, { accept: "text/html" });
  assert.deepEqual([html.code, html.body.reason], [406, "NotAcceptable"]);
});

test("tables and PartialObjectMetadata are built from the same objects", async () => {
  await using server = await withMaps();
  const table = (await server.call("GET", MAPS, undefined, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" })).body;
  const partial = (
    await server.call("GET", MAPS, undefined, { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" })
  ).body;

  assert.deepEqual(
    table.columnDefinitions.map(({ name }: { name: string }) => name),
    ["Name", "Data", "Age"],
  );
  assert.deepEqual(
    table.rows.map(({ cells }: { cells: unknown[] }) => cells.slice(0, 2)),
    [
      ["a", 1],
      ["b", 1],
    ],
  );
  assert.deepEqual(
    table.rows.map(({ object }: { object: KubeObject }) => object.kind),
    ["PartialObjectMetadata", "PartialObjectMetadata"],
  );
  assert.equal(partial.kind, "PartialObjectMetadataList");
  assert.deepEqual(partial.items[0].metadata, (await server.call("GET", `${MAPS}/a`)).body.metadata);
  assert.equal(partial.items[0].data, undefined);
});

test("a large list is encoded in several pieces that form one document", async () => {
  await using server = await startServer();
  const value = "x".repeat(400_000);
  for (const name of ["a", "b", "c", "d", "e"]) await server.call("POST", MAPS, { metadata: { name }, data: { value } });

  const { body, bytes } = await server.call("GET", MAPS);

  assert.equal(body.items.length, 5);
  assert(bytes.length > 2_000_000);
});

/** The encoding, version and kind of a watch frame. */
function frameForm(bytes: Uint8Array): string {
  const start = bytes.findIndex((_, index) => ENVELOPE_MARK.every((byte, offset) => bytes[index + offset] === byte));
  if (start < 0) {
    const { object } = JSON.parse(new TextDecoder().decode(bytes)) as { object: KubeObject };
    return `JSON ${object.apiVersion} ${object.kind}`;
  }
  const { apiVersion, kind } = decodeEnvelope(bytes.subarray(start));
  return `protobuf ${apiVersion} ${kind}`;
}

const ENVELOPE_MARK = new TextEncoder().encode("k8s\0");
const METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=";

test("watchers of one change that requested different representations each get their own", async () => {
  await using server = await startServer();
  const autoscalers = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
  const rows: readonly [form: string, path: string, accept: string][] = [
    ["JSON autoscaling/v2 HorizontalPodAutoscaler", autoscalers("v2"), "application/json"],
    ["JSON autoscaling/v1 HorizontalPodAutoscaler", autoscalers("v1"), "application/json"],
    ["protobuf autoscaling/v2 HorizontalPodAutoscaler", autoscalers("v2"), PROTOBUF.accept],
    ["protobuf autoscaling/v1 HorizontalPodAutoscaler", autoscalers("v1"), PROTOBUF.accept],
    ["JSON meta.k8s.io/v1 PartialObjectMetadata", autoscalers("v2"), `${METADATA_ONLY}v1`],
    ["JSON meta.k8s.io/v1beta1 PartialObjectMetadata", autoscalers("v2"), `${METADATA_ONLY}v1beta1`],
    ["JSON v1 Event", "/api/v1/namespaces/default/events", "application/json"],
    ["JSON events.k8s.io/v1 Event", "/apis/events.k8s.io/v1/namespaces/default/events", "application/json"],
  ];
  const calls = await Promise.all(rows.map(([, path, accept]) => server.watch(`${path}?watch=1`, { accept })));
  await server.clock.settle();

  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };
  const made = [
    await server.call("POST", autoscalers("v2"), { metadata: { name: "a" }, spec: { maxReplicas: 3, scaleTargetRef } }),
    await server.call("POST", "/api/v1/namespaces/default/events", {
      metadata: { name: "e" },
      involvedObject: { namespace: "default" },
      message: "m",
    }),
  ];

  for (const { code, text } of made) assert.equal(code, 201, text);
  assert.deepEqual(
    calls.map(({ chunks }) => chunks.map(({ bytes }) => frameForm(bytes))),
    rows.map(([form]) => [form]),
  );
  const [core, renamed] = calls.slice(-2).map(({ events }) => events[0]?.object);
  assert.deepEqual([core.message, core.note, renamed.message, renamed.note], ["m", undefined, undefined, "m"]);
});

test("in a watch of tables a bookmark is a table with one row that carries the bookmark's metadata", async () => {
  await using server = await withMaps();
  const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const initial = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

  const call = await server.watch(`${MAPS}?${initial}&includeObject=None`, { accept });
  await server.clock.settle();

  const tables = call.events.map(({ type, object }) => ({ type, rows: object.rows, hasColumns: object.columnDefinitions !== null }));
  assert.deepEqual(
    tables.map(({ type, rows, hasColumns }) => [type, rows.length, hasColumns]),
    [
      ["ADDED", 1, true],
      ["ADDED", 1, false],
      ["BOOKMARK", 1, false],
    ],
  );
  const { cells, object } = tables.at(-1)?.rows[0] ?? {};
  assert.deepEqual(cells, ["", "", ""]);
  assert.deepEqual([object.kind, object.metadata.annotations], ["PartialObjectMetadata", { "k8s.io/initial-events-end": "true" }]);
});
