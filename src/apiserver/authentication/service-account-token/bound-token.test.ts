import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, KubeObject } from "../../../api/machinery/object.ts";
import { boundToken } from "./bound-token.ts";
import { type BoundClaims, boundPayload } from "../../shared/bound-claims.ts";

const NOW_MS = 1_700_000_000_500;
const CLAIMS: BoundClaims = {
  issuer: "i",
  audiences: ["x", "y"],
  id: "j",
  nowMs: NOW_MS,
  expirationSeconds: 600,
  namespace: "n",
  serviceAccount: { name: "a", uid: "1" },
};
const COMMON = { iss: "i", sub: "system:serviceaccount:n:a", aud: ["x", "y"], iat: 1_700_000_000, nbf: 1_700_000_000, jti: "j" };
const ACCOUNT = { namespace: "n", serviceaccount: { name: "a", uid: "1" } };

const payloads: readonly { readonly of: string; readonly claims: Partial<BoundClaims>; readonly exp?: number; readonly own: JsonObject }[] =
  [
    { of: "an account alone", claims: {}, own: {} },
    { of: "a Secret", claims: { secret: { name: "s", uid: "2" } }, own: { secret: { name: "s", uid: "2" } } },
    { of: "a Node", claims: { node: { name: "o", uid: "3" } }, own: { node: { name: "o", uid: "3" } } },
    { of: "a Pod that is nowhere yet", claims: { pod: { name: "p", uid: "4" } }, own: { pod: { name: "p", uid: "4" } } },
    {
      of: "a Pod on a node",
      claims: { pod: { name: "p", uid: "4" }, node: { name: "o", uid: "3" } },
      own: { pod: { name: "p", uid: "4" }, node: { name: "o", uid: "3" } },
    },
    {
      of: "a Pod on a node that is not there",
      claims: { pod: { name: "p", uid: "4" }, node: { name: "o", uid: "" } },
      own: { pod: { name: "p", uid: "4" }, node: { name: "o" } },
    },
    {
      of: "a Pod whose token lives longer",
      claims: { pod: { name: "p", uid: "4" }, expirationSeconds: 31_536_000, warnAfterSeconds: 3_607 },
      exp: 1_731_536_000,
      own: { pod: { name: "p", uid: "4" }, warnafter: 1_700_003_607 },
    },
  ];

for (const { of, claims, exp = 1_700_000_600, own } of payloads) {
  test(`the token bound to ${of} has the same claims as upstream's`, () => {
    deepEqual(boundPayload({ ...CLAIMS, ...claims }), { ...COMMON, exp, "kubernetes.io": { ...ACCOUNT, ...own } });
  });
}

test("the user of a bound token has name, uid, two groups, and extra fields from the claims", () => {
  const bound = { pod: { name: "p", uid: "4" }, node: { name: "o", uid: "3" } };

  deepEqual(boundToken(boundPayload({ ...CLAIMS, ...bound })).user, {
    name: "system:serviceaccount:n:a",
    uid: "1",
    groups: ["system:serviceaccounts", "system:serviceaccounts:n"],
    extra: {
      "authentication.kubernetes.io/credential-id": ["JTI=j"],
      "authentication.kubernetes.io/node-name": ["o"],
      "authentication.kubernetes.io/node-uid": ["3"],
      "authentication.kubernetes.io/pod-name": ["p"],
      "authentication.kubernetes.io/pod-uid": ["4"],
    },
  });
  equal(boundToken({ ...boundPayload(CLAIMS), jti: null }).user.extra, undefined);
});

test("a Pod's token names the node, which need not exist", () => {
  const payload = boundPayload({ ...CLAIMS, pod: { name: "p", uid: "4" }, node: { name: "o", uid: "3" } });

  deepEqual(
    boundToken(payload).references.map(({ kind: { plural }, namespace, name }) => [plural, namespace, name]),
    [
      ["serviceaccounts", "n", "a"],
      ["pods", "n", "p"],
    ],
  );
});

for (const [what, atMs, message] of [
  ["from a minute before it begins", 1_699_999_940_000, undefined],
  ["until a minute after it ends", 1_700_000_660_000, undefined],
  ["not earlier", 1_699_999_939_999, "service account token is not valid yet"],
  ["not later", 1_700_000_660_001, "service account token has expired"],
] as const) {
  test(`a bound token is valid ${what}`, () => {
    const token = boundToken(boundPayload(CLAIMS));

    if (message === undefined) token.checkTimes(atMs);
    else throws(() => token.checkTimes(atMs), { name: "AuthenticationError", message });
  });
}

test("a token issued in the future is rejected, and one without an issue time is accepted", () => {
  const { exp: _exp, nbf: _nbf, iat: _iat, ...timeless } = boundPayload(CLAIMS);

  throws(() => boundToken({ ...timeless, iat: 1_700_000_061 }).checkTimes(1_700_000_000_000), {
    message: "service account token is issued in the future",
  });
  boundToken(timeless).checkTimes(0);
  boundToken({ ...timeless, exp: 1_700_000_000.9 }).checkTimes(1_700_000_060_000);
});

for (const [claim, value, message] of [
  ["exp", "5", "go-jose/go-jose/jwt: expected number value to unmarshal NumericDate"],
  ["aud", 5, "go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience"],
  ["aud", [5], "go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience"],
  ["aud", null, "go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience"],
  ["sub", 5, "json: cannot unmarshal number into Go value of type string"],
  ["jti", [], "json: cannot unmarshal array into Go value of type string"],
  ["kubernetes.io", "x", "json: cannot unmarshal string into Go value of type serviceaccount.kubernetes"],
  ["kubernetes.io", { pod: true }, "json: cannot unmarshal bool into Go value of type serviceaccount.ref"],
  ["kubernetes.io", { pod: { uid: {} } }, "json: cannot unmarshal object into Go value of type string"],
] as const) {
  test(`a bound token with ${claim} ${JSON.stringify(value)} is rejected as malformed`, () => {
    throws(() => boundToken({ ...boundPayload(CLAIMS), [claim]: value }), { name: "AuthenticationError", message });
  });
}

function object(uid: string, deletionTimestamp?: string): KubeObject {
  return { metadata: { name: "x", uid, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) } } as KubeObject;
}

// Half a second less than a minute before NOW_MS, and half a second more.
const JUST_DELETED = "2023-11-14T22:12:21Z";
const LONG_DELETED = "2023-11-14T22:12:20Z";
const INVALIDATED = "service account token has been invalidated";

for (const [bound, word] of [
  ["pod", "pod"],
  ["secret", "secret"],
  ["node", "node"],
] as const) {
  for (const [what, found, message] of [
    ["there", object("4"), undefined],
    ["being deleted", object("4", JUST_DELETED), undefined],
    ["not there", undefined, INVALIDATED],
    ["long deleted", object("4", LONG_DELETED), INVALIDATED],
    ["another one", object("5"), `${word} UID (5) does not match service account ${word} ref claim (4)`],
  ] as const) {
    test(`a token whose ${bound} is ${what} is ${message === undefined ? "accepted" : "rejected"}`, () => {
      const token = boundToken(boundPayload({ ...CLAIMS, [bound]: { name: "x", uid: "4" } }));

      const judge = () => token.judge([object("1"), found], NOW_MS);

      if (message === undefined) deepEqual(judge(), {});
      else throws(judge, { name: "AuthenticationError", message });
    });
  }
}

for (const [what, own, found, message] of [
  ["is not there", {}, undefined, 'serviceaccounts "a" not found'],
  ["is another one", {}, object("9"), "service account UID (9) does not match claim (1)"],
  ["was deleted long ago", {}, object("1", LONG_DELETED), "service account n/a has been deleted"],
  ["has no name", { serviceaccount: {} }, undefined, "resource name may not be empty"],
  ["has no namespace", { namespace: "" }, undefined, "the server could not find the requested resource"],
] as const) {
  test(`a token whose service account ${what} is rejected`, () => {
    const token = boundToken({ ...boundPayload(CLAIMS), "kubernetes.io": { ...ACCOUNT, ...own } });

    throws(() => token.judge([found], NOW_MS), { name: "AuthenticationError", message });
  });
}
