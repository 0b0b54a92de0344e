import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { test } from "node:test";
import { isReason } from "../../api/machinery/status-error.ts";
import { encodeBase64 } from "../../api/machinery/codec/base64.ts";
import type { Identity } from "../framework/identity.ts";
import type { Objects } from "../framework/objects.ts";
import { AuthenticationChain, withAuthenticatedGroup } from "./chain.ts";
import { certificateOf, contextOf, requestShowing, type RequestCredentials } from "./testing/shown.ts";
import { stub } from "../../base/testing/stub.ts";

const CLIENTS = "clients";

function chainOf(identity: Partial<Identity> = {}): AuthenticationChain {
  const staticTokens = new Map([["good", { name: "bob", uid: "1", groups: ["dev"] }]]);
  return new AuthenticationChain(contextOf({ clientAuthority: CLIENTS, staticTokens, ...identity }));
}

/** "name: groups", or the reason of the rejection. */
async function whoIs(shown: RequestCredentials, identity: Partial<Identity> = {}): Promise<string> {
  try {
    const { user } = await chainOf(identity).authenticate(requestShowing(shown));
    return `${user.name}: ${user.groups.join(" ")}`;
  } catch (error) {
    if (isReason(error, "Unauthorized") && error.message === "Unauthorized") return "Unauthorized";
    throw error;
  }
}

const bearer = (authorization: string): RequestCredentials => ({ headers: { authorization } });
const BOB = "bob: dev system:authenticated";
const ALICE = "alice: ops system:authenticated";
const ANONYMOUS = "system:anonymous: system:unauthenticated";
const alice = certificateOf({ commonName: "alice", organizations: ["ops"], authorities: [CLIENTS] });
const stranger = certificateOf({ commonName: "alice", organizations: ["ops"] });

const rows: readonly [title: string, shown: RequestCredentials, who: string][] = [
  ["a request without credentials is anonymous", {}, ANONYMOUS],
  ["a valid token authenticates its user", bearer("Bearer good"), BOB],
  ["the scheme is case-insensitive", bearer("bEaReR good"), BOB],
  ["text after the token is ignored", bearer("Bearer good more"), BOB],
  ["surrounding blanks are ignored", bearer("  Bearer good  "), BOB],
  ["an unknown token is rejected", bearer("Bearer other"), "Unauthorized"],
  ["a token prefix is rejected", bearer("Bearer goo"), "Unauthorized"],
  ["the name of an inherited property is not a token", bearer("Bearer __proto__"), "Unauthorized"],
  ["another scheme is no credential", bearer("Basic Z29vZA=="), ANONYMOUS],
  ["a scheme alone is no credential", bearer("Bearer"), ANONYMOUS],
  ["a token after two spaces is ignored", bearer("Bearer  good"), ANONYMOUS],
  ["a token in the query is ignored", { query: "access_token=good&token=good&authorization=Bearer+good" }, ANONYMOUS],
  ["a client certificate authenticates its user", { certificate: alice }, ALICE],
  ["a client certificate takes precedence over a token", { certificate: alice, ...bearer("Bearer good") }, ALICE],
  ["a client certificate suffices beside an invalid token", { certificate: alice, ...bearer("Bearer other") }, ALICE],
  ["a certificate of an untrusted CA is rejected", { certificate: stranger }, "Unauthorized"],
  ["a valid token suffices beside an invalid certificate", { certificate: stranger, ...bearer("Bearer good") }, BOB],
];

for (const [title, shown, who] of rows) {
  test(title, async () => equal(await whoIs(shown), who));
}

test("anonymous requests are rejected where anonymous authentication is disabled, authenticated ones are not", async () => {
  equal(await whoIs({}, { anonymous: false }), "Unauthorized");
  equal(await whoIs(bearer("Bearer good"), { anonymous: false }), BOB);
});

test("anonymous requests can be limited to some paths", async () => {
  const identity = { anonymousPaths: ["/livez", "/readyz"] };
  equal(await whoIs({ path: "/livez" }, identity), ANONYMOUS);
  equal(await whoIs({ path: "/livez/ping" }, identity), "Unauthorized");
  equal(await whoIs({ path: "/livez", ...bearer("Bearer other") }, identity), "Unauthorized");
});

const PROTOCOL = "base64url.bearer.authorization.k8s.io.";
const encoded = (token: string) => `${PROTOCOL}${encodeBase64(new TextEncoder().encode(token)).replaceAll("=", "")}`;

function socket(protocols: string, more: Readonly<Record<string, string>> = {}): RequestCredentials {
  return { headers: { connection: "keep-alive, Upgrade", upgrade: "WebSocket", "sec-websocket-protocol": protocols, ...more } };
}

const socketRows: readonly [title: string, shown: RequestCredentials, who: string][] = [
  ["a token among the subprotocols authenticates its user", socket(`${encoded("good")}, v5.channel.k8s.io`), BOB],
  ["an invalid token among the subprotocols is rejected", socket(`${encoded("other")}, x`), "Unauthorized"],
  ["a token as the only subprotocol is rejected: none would be left to select", socket(encoded("good")), "Unauthorized"],
  ["two tokens among the subprotocols are rejected", socket(`${encoded("good")},${encoded("good")},x`), "Unauthorized"],
  ["a subprotocol token in standard base64 is rejected", socket(`${PROTOCOL}a+b, x`), "Unauthorized"],
  ["a subprotocol token that is not UTF-8 is rejected", socket(`${PROTOCOL}_w, x`), "Unauthorized"],
  ["an empty subprotocol token is no credential", socket(`${PROTOCOL}, x`), ANONYMOUS],
  ["subprotocols without a token are no credential", socket("x, y"), ANONYMOUS],
  ["a valid header suffices beside an invalid subprotocol", socket(`${PROTOCOL}!, x`, { authorization: "Bearer good" }), BOB],
  ["a valid subprotocol suffices beside an invalid header", socket(`${encoded("good")}, x`, { authorization: "Bearer other" }), BOB],
  ["subprotocols are ignored without an upgrade", { headers: { "sec-websocket-protocol": `${encoded("good")}, x` } }, ANONYMOUS],
  ["subprotocols are ignored for another upgrade", socket(`${encoded("good")}, x`, { upgrade: "SPDY/3.1" }), ANONYMOUS],
];

for (const [title, shown, who] of socketRows) {
  test(title, async () => equal(await whoIs(shown), who));
}

test("two spaces before a bearer token yield a warning that the token was ignored", async () => {
  const { warnings = [] } = await chainOf().authenticate(requestShowing(bearer("Bearer  good")));

  deepEqual(warnings, ["the provided Authorization header contains extra space before the bearer token, and is ignored"]);
});

test("authentication names the authenticator that found the user", async () => {
  equal((await chainOf().authenticate(requestShowing(bearer("Bearer good")))).by, "static token");
  equal((await chainOf().authenticate(requestShowing({}))).by, "no credential");
});

test("the same user is the same object in each request, so that authorization results can be cached", () => {
  const chain = chainOf();
  const [first, second] = [0, 1].map(() => chain.authenticate(requestShowing(bearer("Bearer good"))));

  if (first instanceof Promise || second instanceof Promise) throw new Error("Known tokens are not waited for");
  equal(first?.user, second?.user);
});

test("an authenticated user is in system:authenticated unless it is anonymous", () => {
  const groupsOf = (name: string, ...groups: string[]) => withAuthenticatedGroup({ name, groups }).groups;

  deepEqual(groupsOf("bob", "dev"), ["dev", "system:authenticated"]);
  deepEqual(groupsOf("bob", "system:authenticated", "dev"), ["system:authenticated", "dev"]);
  deepEqual(groupsOf("bob", "system:unauthenticated"), ["system:unauthenticated"]);
  deepEqual(groupsOf("system:anonymous", "dev"), ["dev"]);
});

const reviews: readonly [title: string, token: string, audiences: readonly string[], answer: string][] = [
  ["a valid token yields its user and this API's audience", "good", [], "bob for api"],
  ["a valid token matches this API among the requested audiences", "good", ["other", "api"], "bob for api"],
  ["a token without audiences is invalid for others", "good", ["other"], "invalid bearer token"],
  ["an unknown token is invalid", "other", [], "invalid bearer token"],
];

for (const [title, token, audiences, expected] of reviews) {
  test(`in a TokenReview, ${title}`, async () => {
    const answer = await chainOf({ serviceAccounts: forAudience("api") }).reviewToken(token, audiences);
    equal(answer.authenticated ? `${answer.user.name} for ${answer.audiences.join(" ")}` : answer.error, expected);
  });
}

function forAudience(audience: string): NonNullable<Identity["serviceAccounts"]> {
  const signer = { algorithm: "ES256" as const, publicKey: new Uint8Array(), sign: () => new Uint8Array() };
  return { issuers: ["https://issuer"], audiences: [audience], signer, signerKeyId: "", verifiers: [], extendsExpiration: false };
}

test("an unexpected error of an authenticator is not reported as 401", async () => {
  const request = { ...requestShowing(bearer("Bearer good")), headerNames: () => [] };
  const broken = {
    ...request,
    header: () => {
      throw new TypeError("broken");
    },
  };

  throws(() => chainOf().authenticate(broken), TypeError);
  const objects = stub<Objects>({ get: () => Promise.reject(new TypeError("broken")) });
  const chain = new AuthenticationChain(contextOf({ bootstrapTokens: true }, { objects }));
  await rejects(async () => chain.authenticate(requestShowing(bearer("Bearer abcdef.0123456789abcdef"))), TypeError);
});
