import assert from "node:assert/strict";
import test from "node:test";
import type { TokenRequest } from "../../generated/authentication.k8s.io/v1.ts";
import { problems } from "../../testing/kind.ts";
import { defaultTokenRequest, validateTokenRequest, validateTokenRequestTarget } from "./token-request.ts";

function aRequest(members: { readonly metadata?: object; readonly spec?: TokenRequest["spec"] } = {}): TokenRequest {
  const { metadata = {}, spec } = members;
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: metadata as TokenRequest["metadata"] } as const;
  return spec === undefined ? request : { ...request, spec };
}

test("expirationSeconds of a TokenRequest defaults to an hour", () => {
  assert.deepEqual(defaultTokenRequest(aRequest()).spec, { expirationSeconds: 3600 });
  assert.deepEqual(defaultTokenRequest(aRequest({ spec: { audiences: ["a"] } })).spec, { audiences: ["a"], expirationSeconds: 3600 });
  const said = aRequest({ spec: { expirationSeconds: 0 } });
  assert.equal(defaultTokenRequest(said), said);
});

const ROWS: readonly [expirationSeconds: number | undefined, problems: readonly string[]][] = [
  [undefined, []],
  [600, []],
  [2 ** 32, []],
  [599, ["spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes"]],
  [0, ["spec.expirationSeconds: Invalid value: 0: may not specify a duration less than 10 minutes"]],
  [2 ** 32 + 1, ["spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds"]],
];

for (const [expirationSeconds, expected] of ROWS) {
  test(`a request for a token for ${expirationSeconds ?? "no number of"} seconds is ${expected.length === 0 ? "valid" : "rejected"}`, () => {
    const request = defaultTokenRequest(aRequest(expirationSeconds === undefined ? {} : { spec: { expirationSeconds } }));

    assert.deepEqual(problems(validateTokenRequest(request)), expected);
  });
}

test("the service account in a TokenRequest must be that of the path", () => {
  const problemsOf = (metadata: object): readonly string[] =>
    problems(validateTokenRequestTarget(aRequest({ metadata }), { name: "a", namespace: "n" }));

  assert.deepEqual(problemsOf({}), []);
  assert.deepEqual(problemsOf({ name: "a", namespace: "n" }), []);
  assert.deepEqual(problemsOf({ name: "b", namespace: "m" }), [
    'metadata.name: Invalid value: "b": must match the service account name if specified',
  ]);
  assert.deepEqual(problemsOf({ name: "a", namespace: "m" }), [
    'metadata.namespace: Invalid value: "m": must match the service account namespace if specified',
  ]);
});
