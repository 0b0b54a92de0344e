import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer, type StartedServer } from "../testing/server.ts";

const A = "/api/v1/namespaces/default/configmaps/a";
const JSON_PATCH = "application/json-patch+json";
const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const APPLY = "application/apply-patch+yaml";
const UNKNOWN_KIND = /no kind "Zz" is registered for version "v1" in scheme "pkg\/runtime\/scheme.go:111"$/;

async function withConfigMap(): Promise<StartedServer> {
  const server = await startServer();
  await server.call("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "a", labels: { l: "1" } } });
  return server;
}

for (const [what, type, body, code, message] of [
  ["a change of kind by merge", MERGE, { kind: "Zz" }, 422, UNKNOWN_KIND],
  ["a change of kind by JSON patch", JSON_PATCH, [{ op: "replace", path: "/kind", value: "Zz" }], 422, UNKNOWN_KIND],
  [
    "a patch that removes metadata",
    JSON_PATCH,
    [{ op: "remove", path: "/metadata" }],
    400,
    /^the name of the object \(a based on URL\) was undeterminable/,
  ],
  ["invalid JSON", MERGE, "{", 400, /^error decoding patch: unexpected end of JSON input$/],
  ["invalid JSON in a strategic merge", STRATEGIC, "{", 400, /^unexpected end of JSON input$/],
  ["another media type", "application/json", {}, 415, /^415: Unsupported Media Type$/],
  ["an applied list", `${APPLY}`, "[]", 400, /while decoding JSON: json: cannot unmarshal array into Go value of type map/],
  ["an empty apply", APPLY, "", 400, /^invalid object type: \/, Kind=$/],
  [
    "an applied object of another kind",
    APPLY,
    "{apiVersion: v1, kind: Zz, metadata: {name: a}}",
    400,
    /^invalid object type: \/v1, Kind=Zz$/,
  ],
] as const) {
  test(`${what} is rejected with ${code}`, async () => {
    await using server = await withConfigMap();

    const answer = await server.call("PATCH", `${A}?fieldManager=m`, body, { "content-type": type });

    assert.equal(answer.code, code);
    assert.match(answer.body.message, message);
  });
}

test("a strategic merge patch needs no kind", async () => {
  await using server = await withConfigMap();

  const { code, body } = await server.call("PATCH", A, { kind: "Zz", apiVersion: "zz/v1" }, { "content-type": STRATEGIC });

  assert.deepEqual([code, body.kind, body.apiVersion], [200, "ConfigMap", "v1"]);
});

const UNKNOWN = ['unknown field "foo"', 'unknown field "metadata.bar"'];

for (const [what, type, body, sentences] of [
  ["unknown fields of a merge patch", MERGE, { metadata: { bar: 1 }, foo: 1 }, UNKNOWN],
  ["unknown fields of a strategic merge", STRATEGIC, { metadata: { bar: 1 }, foo: 1 }, UNKNOWN],
  ["a duplicate field", MERGE, '{"metadata":{"labels":{"a":"b","a":"c"}}}', ['duplicate field "metadata.labels.a"']],
  [
    "unknown fields in operations and in their result",
    JSON_PATCH,
    [{ op: "add", path: "/foo", value: 1, why: "so" }],
    ['json patch unknown field "[0].why"', 'unknown field "foo"'],
  ],
] as const) {
  test(`${what}: one warning each by default, one error if strict, nothing if ignored`, async () => {
    await using server = await withConfigMap();
    const patch = (validation: string) => server.call("PATCH", `${A}?fieldValidation=${validation}`, body, { "content-type": type });

    const [strict, ignored, warned] = [await patch("Strict"), await patch("Ignore"), await patch("")];

    assert.deepEqual(
      warned.headers["warning"],
      sentences.map((sentence) => `299 - "${sentence.replaceAll('"', '\\"')}"`),
    );
    assert.deepEqual([strict.code, strict.body.details.kind], [422, undefined]);
    assert.ok(strict.body.message.endsWith(`strict decoding error: ${sentences.join(", ")}`), strict.body.message);
    assert.deepEqual([ignored.code, ignored.headers["warning"]], [200, undefined]);
  });
}

test("applying a new object with a uid is a conflict, and with a resourceVersion is not", async () => {
  await using server = await startServer();
  const apply = (name: string, metadata: string) =>
    server.call(
      "PATCH",
      `/api/v1/namespaces/default/configmaps/${name}?fieldManager=m`,
      `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}, ${metadata}}}`,
      { "content-type": APPLY },
    );

  const [withUid, withVersion] = [await apply("one", "uid: u"), await apply("two", 'resourceVersion: "1"')];

  assert.equal(withUid.code, 409);
  assert.match(withUid.body.message, /: uid mismatch: the provided object specified uid u, and no existing object was found$/);
  assert.equal(withVersion.code, 201);
});

test("owners in another version of the kind keep the fields that others do not change", async () => {
  await using server = await startServer();
  const path = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
  const spec = { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" } };
  await server.call("POST", `${path("v1")}?fieldManager=one`, { metadata: { name: "h" }, spec });

  const { body } = await server.call("PATCH", `${path("v2")}/h?fieldManager=two`, { spec: { maxReplicas: 5 } }, { "content-type": MERGE });

  assert.deepEqual(
    body.metadata.managedFields.map(({ manager, apiVersion, fieldsV1 }: Record<string, Record<string, object>>) => [
      manager,
      apiVersion,
      "f:maxReplicas" in fieldsV1!["f:spec"]!,
      "f:scaleTargetRef" in fieldsV1!["f:spec"]!,
    ]),
    [
      ["one", "autoscaling/v1", false, true],
      ["two", "autoscaling/v2", true, false],
    ],
  );
});

test("an apply with invalid base64 gets upstream's error and is not logged as unexpected", async () => {
  await using server = await startServer();
  const config = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, data: { a: "not base64 !" } };

  const { code, body } = await server.call("PATCH", "/api/v1/namespaces/default/secrets/s?fieldManager=m", config, {
    "content-type": "application/apply-patch+yaml",
  });

  assert.deepEqual(
    [code, body.reason, body.message],
    [
      500,
      undefined,
      "failed to convert new object (/s; /v1, Kind=Secret) to proper version: unable to convert unstructured object to /v1, Kind=Secret: error decoding from json: illegal base64 data at input byte 3",
    ],
  );
});
