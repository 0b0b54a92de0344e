import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer, type CallAnswer, type StartedServer } from "../testing/server.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const YAML = { "content-type": "application/yaml" };
const MERGE = { "content-type": "application/merge-patch+json" };
const JSON_PATCH = { "content-type": "application/json-patch+json" };
const STRATEGIC = { "content-type": "application/strategic-merge-patch+json" };
const APPLY = { "content-type": "application/apply-patch+yaml" };
const PROTOBUF = { "content-type": "application/vnd.kubernetes.protobuf" };

interface Row {
  readonly it: string;
  readonly method?: string;
  readonly path?: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly code: number;
  readonly says?: RegExp;
}

const deep = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);
const aliasBomb = [
  "a0: &a0 [x,x,x,x,x,x,x,x,x,x]",
  ...Array.from({ length: 9 }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(10)}]`),
].join("\n");

const rows: readonly Row[] = [
  { it: "invalid JSON", body: "{", code: 400, says: /unexpected end of JSON input/ },
  { it: "no body", body: "", code: 400 },
  { it: "JSON that is not an object", body: "[]", code: 400 },
  { it: "null", body: "null", code: 422 },
  { it: "bytes that are not UTF-8", body: Uint8Array.of(0xff, 0xfe, 0xfd), code: 400 },
  { it: "a field of a wrong type", body: '{"metadata":{"name":"a"},"data":{"x":1}}', code: 400, says: /data/ },
  { it: "metadata of a wrong type", body: '{"metadata":"a"}', code: 400, says: /metadata/ },
  {
    it: "an unknown field under Strict",
    path: `${MAPS}?fieldValidation=Strict`,
    body: '{"metadata":{"name":"a"},"dta":{}}',
    code: 400,
    says: /unknown field "dta"/,
  },
  {
    it: "a duplicate field under Strict",
    path: `${MAPS}?fieldValidation=Strict`,
    body: '{"metadata":{"name":"a"},"data":{},"data":{}}',
    code: 400,
    says: /duplicate field "data"/,
  },
  { it: "another kind", body: '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}', code: 400 },
  {
    it: "several errors at once",
    body: '{"metadata":{"name":"A_","labels":{"-":"-"}},"data":{"?":"x"}}',
    code: 422,
    says: /metadata\.name.*metadata\.labels.*data\[\?\]/,
  },
  { it: "JSON nested 1,001 deep", body: `{"data":${deep(1_001, '{"a":', "}").replace(/^(.*?)(}+)$/, "$11$2")}}`, code: 400 },
  { it: "lists nested 100,000 deep", body: `{"data":${deep(100_000, "[", "]")}}`, code: 400 },
  { it: "YAML nested 100,000 deep", body: deep(100_000, "[", "]"), headers: YAML, code: 400 },
  { it: "a YAML alias bomb", body: aliasBomb, headers: YAML, code: 400, says: /excessive aliasing/ },
  { it: "a YAML alias of itself", body: "a: &a [*a]", headers: YAML, code: 400 },
  { it: "500,000 YAML aliases", body: `a: &a x\nb: [${"*a,".repeat(500_000)}]`, headers: YAML, code: 400, says: /excessive aliasing/ },
  { it: "100,000 YAML tags in a row", body: `a: ${"!!str ".repeat(100_000)}x`, headers: YAML, code: 400 },
  { it: "100,000 YAML anchors in a row", body: `a: ${"&a ".repeat(100_000)}x`, headers: YAML, code: 400 },
  { it: "an alias bomb as apply", method: "PATCH", path: `${MAPS}/a?fieldManager=m`, body: aliasBomb, headers: APPLY, code: 400 },
  { it: "protobuf without its magic prefix", body: Uint8Array.of(1, 2, 3), headers: PROTOBUF, code: 400 },
  {
    it: "protobuf of lengths only",
    body: Uint8Array.of(0x6b, 0x38, 0x73, 0, 0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f),
    headers: PROTOBUF,
    code: 400,
  },
  { it: "an unknown media type", body: "x", headers: { "content-type": "text/plain" }, code: 415 },
  {
    it: "an unknown patch type",
    method: "PATCH",
    path: `${MAPS}/a`,
    body: "{}",
    headers: { "content-type": "application/json" },
    code: 415,
  },
  { it: "an invalid JSON patch", method: "PATCH", path: `${MAPS}/a`, body: '{"op":"add"}', headers: JSON_PATCH, code: 400 },
  {
    it: "a JSON patch to the prototype",
    method: "PATCH",
    path: `${MAPS}/a`,
    body: '[{"op":"add","path":"/__proto__/polluted","value":"x"}]',
    headers: JSON_PATCH,
    code: 422,
  },
  { it: "a name with an encoded slash", path: `${MAPS}/a%2fb`, method: "GET", code: 404 },
  { it: "a name of two dots", path: `${MAPS}/..`, method: "GET", code: 400 },
  { it: "a namespace of two dots", path: "/api/v1/namespaces/%2e%2e/configmaps", method: "GET", code: 400 },
  { it: "a name with NUL", path: `${MAPS}/a%00`, method: "GET", code: 404 },
  { it: "an unpaired surrogate in a path", path: `${MAPS}/%ed%a0%80`, method: "GET", code: 400 },
  { it: "an invalid escape in a path", path: `${MAPS}/%zz`, method: "GET", code: 400 },
  { it: "a resource called __proto__", path: "/api/v1/namespaces/default/__proto__", method: "GET", code: 404 },
  { it: "a subresource called constructor", path: `${MAPS}/a/constructor`, method: "GET", code: 404 },
  { it: "an invalid label selector", path: `${MAPS}?labelSelector=%3D%3D%3D`, method: "GET", code: 400 },
  { it: "a field that is not selectable", path: `${MAPS}?fieldSelector=__proto__%3Dx`, method: "GET", code: 400 },
  { it: "a limit that is not a number", path: `${MAPS}?limit=x`, method: "GET", code: 400 },
];

async function send(server: StartedServer, row: Row): Promise<CallAnswer> {
  return server.call(row.method ?? "POST", row.path ?? MAPS, row.body, row.headers);
}

for (const row of rows) {
  test(`${row.it} gets ${row.code}, and nothing is written`, async () => {
    await using server = await startServer();
    await server.call("POST", MAPS, { metadata: { name: "a" } });
    const revision = await server.store.currentRevision();

    const { code, body, text } = await send(server, row);

    assert.equal(code, row.code, text.slice(0, 500));
    assert.deepEqual([body.kind, body.status, body.code], ["Status", "Failure", row.code]);
    if (row.says !== undefined) assert.match(body.message, row.says);
    assert(text.length < 20_000, "a response does not repeat the input at length");
    assert.equal(await server.store.currentRevision(), revision);
    assert.equal((await server.call("GET", `${MAPS}/a`)).code, 200, "the server continues to serve");
  });
}

test("__proto__ and constructor are stored and returned as ordinary keys, and no prototype is changed", async () => {
  await using server = await startServer();
  const text =
    '{"metadata":{"name":"constructor","labels":{"__proto__":"x","constructor":"y"},"annotations":{"__proto__":"z"}},"data":{"__proto__":"a","constructor":"b","toString":"c"}}';
  const check = async (at: string) => {
    const { body } = await server.call("GET", `${MAPS}/constructor`);
    const special = Object.entries(body.data).filter(([key]) => ["__proto__", "constructor", "toString"].includes(key));
    assert.deepEqual(
      special.toSorted(([a], [b]) => (a < b ? -1 : 1)),
      [
        ["__proto__", "a"],
        ["constructor", "b"],
        ["toString", "c"],
      ],
      at,
    );
  };

  const created = await server.call("POST", MAPS, text);
  // A label may not begin with an underscore.
  assert.equal(created.code, 422, created.text);
  const allowed = text.replace(
    '"labels":{"__proto__":"x","constructor":"y"},"annotations":{"__proto__":"z"}',
    '"labels":{"constructor":"y"}',
  );
  assert.equal((await server.call("POST", MAPS, allowed)).code, 201);
  await check("after JSON");
  await server.call("PATCH", `${MAPS}/constructor`, '{"data":{"__proto__":"a","more":"d"}}', MERGE);
  await check("after a merge patch");
  await server.call("PATCH", `${MAPS}/constructor`, '{"data":{"__proto__":"a","other":"e"}}', STRATEGIC);
  await check("after a strategic merge patch");
  await server.call("PATCH", `${MAPS}/constructor`, '[{"op":"replace","path":"/data/__proto__","value":"a"}]', JSON_PATCH);
  await check("after a JSON patch");
  const applied = await server.call(
    "PATCH",
    `${MAPS}/constructor?fieldManager=m&force=1`,
    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"constructor"},"data":{"__proto__":"a"}}`,
    APPLY,
  );
  assert.equal(applied.code, 200, applied.text);
  await check("after an apply");
  assert.equal((await server.call("GET", `${MAPS}?labelSelector=constructor%3Dy`)).body.items.length, 1);
  assert.equal((await server.call("GET", `${MAPS}?labelSelector=toString`)).body.items.length, 0);
  assert.equal(({} as { polluted?: string }).polluted, undefined);
});

test("an unpaired surrogate in a value is returned as upstream returns it", async () => {
  await using server = await startServer();

  const { code, body } = await server.call("POST", MAPS, '{"metadata":{"name":"a"},"data":{"x":"\\ud800"}}');

  assert.deepEqual([code, body.data.x], [201, "\ufffd"]);
});
