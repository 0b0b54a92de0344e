import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../api/machinery/object.ts";
import { startServer } from "../testing/server.ts";

const SETS = "/apis/apps/v1/namespaces/default/replicasets";
const PODS = "/api/v1/namespaces/default/pods";
const REVISIONS = "/apis/apps/v1/namespaces/default/controllerrevisions";
const MERGE = { "content-type": "application/merge-patch+json" };
const STRATEGIC = { "content-type": "application/strategic-merge-patch+json" };
const JSON_PATCH = { "content-type": "application/json-patch+json" };
const APPLY = { "content-type": "application/apply-patch+yaml" };
const YAML = { "content-type": "application/yaml" };

/** A ReplicaSet with `replicas` in this spelling. */
function setWith(replicas: string): string {
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  const spec = { replicas: "HERE", selector: { matchLabels: { a: "b" } }, template };
  return JSON.stringify({ apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name: "a" }, spec }).replace('"HERE"', replicas);
}

function podWith(seconds: string): string {
  const spec = { activeDeadlineSeconds: "HERE", containers: [{ name: "c", image: "i" }] };
  return JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec }).replace('"HERE"', seconds);
}

for (const literal of ["1.0", "1e2", "1E2", "10e-1", "2147483648", "1.50"]) {
  test(`replicas: ${literal} is rejected with upstream's message in a create, an update, a merge patch and a JSON patch`, async () => {
    await using server = await startServer();
    assert.equal((await server.call("POST", SETS, setWith("2"))).code, 201);
    const problem = `json: cannot unmarshal number ${literal} into Go struct field ReplicaSetSpec.spec.replicas of type int32`;

    const created = await server.call("POST", SETS, setWith(literal));
    const updated = await server.call("PUT", `${SETS}/a`, setWith(literal));
    const merged = await server.call("PATCH", `${SETS}/a`, `{"spec":{"replicas":${literal}}}`, MERGE);
    const patched = await server.call("PATCH", `${SETS}/a`, `[{"op":"replace","path":"/spec/replicas","value":${literal}}]`, JSON_PATCH);

    const sentence = `ReplicaSet in version "v1" cannot be handled as a ReplicaSet: ${problem}`;
    assert.deepEqual([created.code, created.body.message], [400, sentence]);
    assert.deepEqual([updated.code, updated.body.message], [400, sentence]);
    for (const { code, text } of [merged, patched]) {
      assert.equal(code, 422);
      assert.ok(text.includes(problem), text);
    }
  });
}

test("YAML, apply and strategic merge accept 1.0 as an integer, as upstream", async () => {
  await using server = await startServer();
  const yaml = setWith("1.0").replace("{", " {");

  const answers = [
    await server.call("POST", SETS, yaml, YAML),
    await server.call("PATCH", `${SETS}/a?fieldManager=m`, setWith("1.0"), APPLY),
    await server.call("PATCH", `${SETS}/a`, '{"spec":{"replicas":3.0}}', STRATEGIC),
  ];

  assert.deepEqual(
    answers.map(({ code }) => code),
    [201, 200, 200],
  );
  assert.equal((await server.call("GET", `${SETS}/a`)).body.spec.replicas, 3);
});

for (const literal of ["9223372036854775808", "-9223372036854775809", "123456789012345678901234567890"]) {
  test(`${literal} in an int64 field is rejected with its digits`, async () => {
    await using server = await startServer();

    const { code, body } = await server.call("POST", PODS, podWith(literal));

    const problem = `json: cannot unmarshal number ${literal} into Go struct field PodSpec.spec.activeDeadlineSeconds of type int64`;
    assert.deepEqual([code, body.message], [400, `Pod in version "v1" cannot be handled as a Pod: ${problem}`]);
  });
}

test("integers between 2^53 and 2^63 keep all their digits in get, list, watch, patch and apply", async () => {
  await using server = await startServer();
  const literal = "9007199254740993";
  const watch = await server.watch(`${REVISIONS}?watch=true`);
  const revision = `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"a"},"revision":${literal},"data":{"a":${literal}}}`;
  const wanted = [`"data":{"a":${literal}}`, `"revision":${literal}`];

  const texts = [
    (await server.call("POST", REVISIONS, revision)).text,
    (await server.call("GET", `${REVISIONS}/a`)).text,
    (await server.call("GET", REVISIONS)).text,
    (await server.call("PATCH", `${REVISIONS}/a`, '{"metadata":{"labels":{"a":"b"}}}', MERGE)).text,
    (await server.call("PATCH", `${REVISIONS}/a`, '{"metadata":{"labels":{"a":"c"}}}', STRATEGIC)).text,
    (await server.call("PATCH", `${REVISIONS}/a?fieldManager=m&force=true`, revision, APPLY)).text,
    (await server.call("GET", `${REVISIONS}/a`, undefined, { accept: "application/yaml" })).text,
  ];
  await server.clock.settle();
  const events = watch.chunks.map(({ bytes }) => new TextDecoder().decode(bytes)).join("");

  for (const text of [...texts.slice(0, -1), events]) for (const part of wanted) assert.ok(text.includes(part), text);
  assert.match(texts.at(-1) ?? "", new RegExp(`a: ${literal}\n[^]*revision: ${literal}\n`));
});

test("numbers beyond 64 bits are kept unchanged in schemaless data", async () => {
  await using server = await startServer();
  const data = '{"a":9223372036854775808,"b":[18446744073709551616]}';

  const { text } = await server.call("POST", REVISIONS, `{"metadata":{"name":"a"},"revision":1,"data":${data}}`);

  assert.ok(text.includes(data), text);
  assert.ok((await server.call("GET", `${REVISIONS}/a`)).text.includes(data));
});

test("a quantity that was sent as a number keeps its spelling", async () => {
  await using server = await startServer();
  const pod: JsonObject = {
    metadata: { name: "a" },
    spec: { containers: [{ name: "c", image: "i", resources: { limits: { cpu: "HERE" } } }] },
  };

  const { body } = await server.call("POST", PODS, JSON.stringify(pod).replace('"HERE"', "1e3"));

  assert.equal(body.spec.containers[0].resources.limits.cpu, "1e3");
});
