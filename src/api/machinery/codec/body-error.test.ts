import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../object.ts";
import { cannotBeHandled, completeKind, noTypeMeta, readTypeMeta, unrecognized } from "./body-error.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const POD = { group: "", version: "v1", kind: "Pod" };

test("kind and apiVersion of a body default to what the path expects", () => {
  assert.deepEqual(readTypeMeta({ apiVersion: "apps/v1", kind: "Deployment", spec: 1 }), { apiVersion: "apps/v1", kind: "Deployment" });
  assert.deepEqual(completeKind(readTypeMeta({}), POD), POD);
  assert.deepEqual(completeKind({ apiVersion: "apps/v1", kind: "" }, POD), { group: "apps", version: "v1", kind: "Pod" });
  assert.throws(() => completeKind({ apiVersion: "a/b/c", kind: "X" }, POD), { message: "unexpected GroupVersion string: a/b/c" });
});

const STRUCT = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
const ROWS: readonly (readonly [body: Json, message: string])[] = [
  [[], `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ${STRUCT}`],
  [5, `couldn't get version/kind; json parse error: json: cannot unmarshal number into Go value of type ${STRUCT}`],
  [{ kind: 5 }, "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string"],
];
for (const [body, message] of ROWS) {
  test(`${JSON.stringify(body)} has no recognizable kind and is rejected with upstream's message`, () => {
    assert.throws(() => readTypeMeta(body), { message });
  });
}

test("a malformed body with a known kind is rejected with that kind in the message", () => {
  const error = cannotBeHandled({ group: "apps", version: "v1", kind: "Deployment" }, "Deployment", "strict decoding error: x");

  assert.equal(error.message, 'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: x');
  assert.equal(error.code, 400);
});

test("a malformed body without a kind is quoted in part, as text if it may be JSON", () => {
  const message = (body: string) => unrecognized("Pod", noTypeMeta("unexpected end of JSON input"), bytes(body)).message;
  const beginning =
    "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: unexpected end of JSON input";

  assert.equal(message(""), `${beginning} (<empty>)`);
  assert.equal(message("{"), `${beginning} ({)`);
  assert.equal(message(`{${"a".repeat(40)}`), `${beginning} ({${"a".repeat(29)} ...)`);
  assert.equal(message("ab"), `${beginning} (6162)`);
});
