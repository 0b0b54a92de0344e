import assert from "node:assert/strict";
import { test } from "node:test";
import { bootstrapTokenSecret } from "../../../../testing/fixtures/bootstrap-tokens.ts";
import type { Secret } from "../../../generated/core/v1.ts";
import { bootstrapTokenEndMs, hasBootstrapTokenEnded, signingTokenOf } from "./bootstrap-token.ts";

const NOW_MS = Date.UTC(2026, 0);
const SIGNS = { "usage-bootstrap-signing": "true" };

test("a signing token has an id, a secret and an expiration", () => {
  const token = signingTokenOf(bootstrapTokenSecret("abcdef", { ...SIGNS, expiration: "2026-01-01T01:00:00+01:00" }), NOW_MS - 1);

  assert.deepEqual(token, { id: "abcdef", key: new TextEncoder().encode("0123456789abcdef"), endMs: NOW_MS });
  assert.equal(signingTokenOf(bootstrapTokenSecret("abcdef", SIGNS), NOW_MS)?.endMs, undefined);
});

const UNFIT: readonly [title: string, secret: Secret][] = [
  ["has ended", bootstrapTokenSecret("abcdef", { ...SIGNS, expiration: "2026-01-01T00:00:00Z" })],
  ["ends at no time that there is", bootstrapTokenSecret("abcdef", { ...SIGNS, expiration: "tomorrow" })],
  ["is not for signing", bootstrapTokenSecret("abcdef", { "usage-bootstrap-authentication": "true" })],
  ["has another id than its name", bootstrapTokenSecret("abcdef", { ...SIGNS, "token-id": "abcdeg" })],
  ["has no secret half", bootstrapTokenSecret("abcdef", { ...SIGNS, "token-secret": "" })],
  ["has a name that is none of a token", bootstrapTokenSecret("abcdef", SIGNS, { name: "bootstrap-token-abcdef-2" })],
  ["is in another namespace", bootstrapTokenSecret("abcdef", SIGNS, { namespace: "default" })],
  ["is of another type", { ...bootstrapTokenSecret("abcdef", SIGNS), type: "Opaque" }],
];

for (const [title, secret] of UNFIT) {
  test(`a token does not sign if its Secret ${title}`, () => assert.equal(signingTokenOf(secret, NOW_MS), undefined));
}

test("a token without expiration never expires, and one with a malformed expiration has expired", () => {
  const [endless, unreadable] = [bootstrapTokenSecret("abcdef", {}), bootstrapTokenSecret("abcdef", { expiration: "soon" })];

  assert.deepEqual([bootstrapTokenEndMs(endless), hasBootstrapTokenEnded(endless, NOW_MS)], [undefined, false]);
  assert.equal(hasBootstrapTokenEnded(unreadable, 0), true);
});
