import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { AuthenticationError } from "../../framework/authentication.ts";
import type { OpenIdIssuer } from "../../framework/identity.ts";
import type { User } from "../../framework/request.ts";
import { checkClaims, userOfClaims } from "./claims.ts";

const NOW_MS = Date.UTC(2026, 0);
const NOW = NOW_MS / 1_000;

const ISSUER: OpenIdIssuer = {
  url: "https://issuer.example",
  audiences: ["us"],
  usernameClaim: "sub",
  usernamePrefix: "oidc:",
  groupsClaim: "groups",
  groupsPrefix: "g:",
  requiredClaims: {},
  algorithms: ["ES256"],
};

const good: readonly [title: string, claims: JsonObject, audiences?: readonly string[]][] = [
  ["for our audience", { aud: "us", exp: NOW + 1 }],
  ["for our audience among others", { aud: ["them", "us"], exp: NOW + 1 }],
  ["for one of our audiences", { aud: ["b"], exp: NOW + 1 }, ["a", "b"]],
  ["that expires this second", { aud: "us", exp: NOW }],
  ["whose nbf is within the tolerated clock skew", { aud: "us", exp: NOW + 99, nbf: NOW + 60 }],
  ["with another azp, which upstream ignores", { aud: "us", azp: "them", exp: NOW + 1 }],
];

for (const [title, claims, audiences = ["us"]] of good) {
  test(`an OpenID token is valid ${title}`, () =>
    equal(checkClaims({ ...ISSUER, audiences }, claims, NOW_MS), Number(claims["exp"]) * 1_000));
}

const bad: readonly [title: string, claims: JsonObject, message: string, audiences?: readonly string[]][] = [
  ["for another audience", { aud: "them", exp: NOW + 1 }, 'expected audience "us" got ["them"]'],
  ["without an audience", { exp: NOW + 1 }, 'expected audience "us" got []'],
  ["for none of our audiences", { aud: ["c", "d"], exp: NOW + 1 }, 'expected audience in ["a" "b"] got ["c" "d"]', ["b", "a"]],
  [
    "whose audience is a number",
    { aud: 1, exp: NOW + 1 },
    "failed to unmarshal claims: json: cannot unmarshal number into Go value of type string",
  ],
  ["that is expired", { aud: "us", exp: NOW - 1 }, "token is expired (Token Expiry: 2025-12-31 23:59:59 +0000 UTC)"],
  ["without an expiry", { aud: "us" }, "token is expired (Token Expiry: 0001-01-01 00:00:00 +0000 UTC)"],
  [
    "whose expiry is a string",
    { aud: "us", exp: "9999999999" },
    "failed to unmarshal claims: json: cannot unmarshal string into Go value of type int64",
  ],
  [
    "that begins later",
    { aud: "us", exp: NOW + 99, nbf: NOW + 61 },
    "current time 2026-01-01 00:00:00 +0000 UTC before the nbf (not before) time: 2026-01-01 00:01:01 +0000 UTC",
  ],
];

for (const [title, claims, message, audiences = ["us"]] of bad) {
  test(`an OpenID token is rejected ${title}`, () => {
    throws(() => checkClaims({ ...ISSUER, audiences }, claims, NOW_MS), { message: `oidc: verify token: oidc: ${message}` });
  });
}

const users: readonly [title: string, issuer: Partial<OpenIdIssuer>, claims: JsonObject, user: User][] = [
  ["its name is a claim with a prefix", {}, { sub: "1" }, { name: "oidc:1", groups: [] }],
  ["its groups are a list of texts", {}, { sub: "1", groups: ["a", "b"] }, { name: "oidc:1", groups: ["g:a", "g:b"] }],
  ["its group may be one text", {}, { sub: "1", groups: "a" }, { name: "oidc:1", groups: ["g:a"] }],
  ["its groups may be nothing", {}, { sub: "1", groups: null }, { name: "oidc:1", groups: [] }],
  [
    "its UID and what names the token are taken along",
    { uidClaim: "oid" },
    { sub: "1", oid: "7", jti: "t" },
    { name: "oidc:1", uid: "7", groups: [], extra: { "authentication.kubernetes.io/credential-id": ["JTI=t"] } },
  ],
  [
    "an address that was verified is a name",
    { usernameClaim: "email", usernamePrefix: "" },
    { email: "a@b", email_verified: true },
    { name: "a@b", groups: [] },
  ],
  [
    "an email is accepted without email_verified",
    { usernameClaim: "email", usernamePrefix: "" },
    { email: "a@b" },
    { name: "a@b", groups: [] },
  ],
  ["required claims are checked", { requiredClaims: { hd: "b" } }, { sub: "1", hd: "b" }, { name: "oidc:1", groups: [] }],
  ["groups of another claim are ignored", { groupsClaim: "roles" }, { sub: "1", groups: ["a"] }, { name: "oidc:1", groups: [] }],
];

for (const [title, issuer, claims, user] of users) {
  test(`of an OpenID token's user, ${title}`, () => deepEqual(userOfClaims({ ...ISSUER, ...issuer }, claims), user));
}

const rejectedClaims: readonly [issuer: Partial<OpenIdIssuer>, claims: JsonObject, message: string][] = [
  [{}, {}, 'oidc: parse username claims "sub": claim not present'],
  [{ usernameClaim: "constructor" }, { sub: "1" }, 'oidc: parse username claims "constructor": claim not present'],
  [{}, { sub: 1 }, 'oidc: parse username claims "sub": json: cannot unmarshal number into Go value of type string'],
  [{ usernameClaim: "email" }, { email: "a@b", email_verified: false }, "oidc: email not verified"],
  [{ usernameClaim: "email" }, { email: "a@b", email_verified: null }, "oidc: email not verified"],
  [
    { usernameClaim: "email" },
    { email: "a@b", email_verified: "true" },
    "oidc: parse 'email_verified' claim: json: cannot unmarshal string into Go value of type bool",
  ],
  [{}, { sub: "1", groups: [1] }, 'oidc: parse groups claim "groups": json: cannot unmarshal array into Go value of type string'],
  [{}, { sub: "1", groups: { a: "b" } }, 'oidc: parse groups claim "groups": json: cannot unmarshal object into Go value of type string'],
  [
    {},
    { sub: "1", _claim_names: { groups: "src" }, _claim_sources: { src: { endpoint: "https://x" } } },
    "oidc: could not expand distributed claims: the groups must be in the token itself",
  ],
  [{ uidClaim: "oid" }, { sub: "1" }, 'oidc: parse uid claim "oid": claim not present'],
  [{ requiredClaims: { hd: "b" } }, { sub: "1" }, "oidc: required claim hd not present in ID token"],
  [{ requiredClaims: { hd: "b" } }, { sub: "1", hd: "c" }, "oidc: required claim hd value does not match. Got = c, want = b"],
  [
    { requiredClaims: { hd: "b" } },
    { sub: "1", hd: ["b"] },
    "oidc: parse claim hd: json: cannot unmarshal array into Go value of type string",
  ],
];

for (const [issuer, claims, message] of rejectedClaims) {
  test(`the OpenID claims ${JSON.stringify(claims)} are rejected: ${message}`, () => {
    throws(
      () => userOfClaims({ ...ISSUER, ...issuer }, claims),
      (error) => error instanceof AuthenticationError && error.message === message,
    );
  });
}
