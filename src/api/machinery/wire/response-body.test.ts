import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json, JsonObject } from "../object.ts";
import type { Verb } from "../resource.ts";
import { isReason } from "../status-error.ts";
import { readObject, responseOf } from "./response-body.ts";

function bytesOf(value: Json): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

function answered(verb: Verb, value: Json, warning?: string) {
  return responseOf({ verb, code: 200, body: bytesOf(value), warning });
}

const ALLOW_LIST = { apiVersion: "example.com/v1", kind: "AllowList", metadata: { name: "a" } };
const SUCCESS = { apiVersion: "v1", kind: "Status", status: "Success" };

const forms: readonly [verb: Verb, value: JsonObject, is: "object" | "list" | "value"][] = [
  ["get", ALLOW_LIST, "object"],
  ["create", ALLOW_LIST, "object"],
  ["update", ALLOW_LIST, "object"],
  ["patch", ALLOW_LIST, "object"],
  ["delete", ALLOW_LIST, "object"],
  ["get", { ...ALLOW_LIST, items: [] }, "object"],
  ["list", { apiVersion: "v1", kind: "PodList", metadata: {}, items: [] }, "list"],
  ["list", { apiVersion: "v1", kind: "PodList", metadata: {}, items: null }, "list"],
  ["list", { apiVersion: "v1", kind: "PodList" }, "list"],
  ["list", { apiVersion: "example.com/v1", kind: "Herd", metadata: {}, items: [] }, "list"],
  ["list", SUCCESS, "value"],
  ["deletecollection", { apiVersion: "v1", kind: "PodList", metadata: {}, items: [] }, "list"],
  ["deletecollection", SUCCESS, "value"],
];
for (const [verb, value, is] of forms) {
  test(`the response ${JSON.stringify(value)} to ${verb} is recognised as ${is}`, () => {
    assert.equal(answered(verb, value).is, is);
  });
}

test("list items without kind get the list's kind, also for a kind whose name ends in List", () => {
  const list = answered("list", { apiVersion: "example.com/v1", kind: "AllowListList", items: [{ metadata: { name: "a" } }] });
  assert(list.is === "list");
  assert.deepEqual(list.items, [ALLOW_LIST]);
});

test("list items that are not objects are rejected", () => {
  for (const item of [null, 5, []])
    assert.throws(
      () => answered("list", { kind: "PodList", items: [item] }),
      (error) => isReason(error, "InternalError") && /its items must be objects/.test(error.message),
    );
});

test("each warning is returned as one sentence, whatever it contains", () => {
  assert.deepEqual(answered("get", ALLOW_LIST, '299 - "a, \\"b\\"" "Sat, 25 Aug 2012 23:34:45 GMT", 299 k8s "c"').warnings, [
    'a, "b"',
    "c",
  ]);
});

test("plain text instead of a JSON document is reported as such", () => {
  const text = new TextEncoder().encode("ok");
  assert.throws(() => readObject(text, { path: "/healthz", mediaType: "text/plain; charset=utf-8" }), {
    message: "Internal error occurred: Cannot read the response of /healthz: it is not JSON but text/plain; charset=utf-8",
  });
  assert.throws(
    () => readObject(text, { path: "/version", mediaType: "application/json" }),
    /Cannot read the response of \/version: invalid character/,
  );
});
