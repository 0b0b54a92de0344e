import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { test } from "node:test";
import { p256Key, type P256Key } from "../../../api/machinery/x509/p256-signer.ts";
import { encodeBase64Url } from "../../../api/machinery/codec/base64-url.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import type { KeyReader } from "../../../base/crypto/signing.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { AuthenticationError } from "../../framework/authentication.ts";
import type { DocumentFetcher, OpenIdIssuer } from "../../framework/identity.ts";
import { writeToken } from "../../../api/machinery/codec/json-web-token-writer.ts";
import { contextOf } from "../testing/shown.ts";
import { openIdTokens } from "./open-id.ts";

const URL = "https://issuer.example";
const KEYS_URL = "https://keys.example/jwks";
const NOW = Date.UTC(2026, 0) / 1_000;
const [FIRST, SECOND] = [p256Key(11n), p256Key(12n)];

const ISSUER: OpenIdIssuer = {
  url: URL,
  audiences: ["us"],
  usernameClaim: "sub",
  usernamePrefix: "",
  groupsPrefix: "",
  requiredClaims: {},
  algorithms: ["ES256"],
};

/** Identifies the test keys by their x. */
const readKey: KeyReader = (jwk) => {
  const found = [FIRST, SECOND].find(({ verifier }) => verifier.jwk["x"] === jwk["x"]);
  return found === undefined ? undefined : { ...found.verifier, keyId: String(jwk["kid"]) };
};

function tokenOf(claims: JsonObject = {}, key: P256Key = FIRST, keyId = "first"): string {
  return writeToken({ iss: URL, aud: "us", sub: "bob", exp: NOW + 3_600, ...claims }, { signer: key.signer, keyId });
}

/** An issuer with mutable documents. */
function issuerWorld(issuer: Partial<OpenIdIssuer> = {}) {
  const documents: Record<string, JsonObject | Error> = {
    [`${URL}/.well-known/openid-configuration`]: { issuer: URL, jwks_uri: KEYS_URL },
    [KEYS_URL]: { keys: [{ kty: "oct", k: "AA" }, 1, { ...FIRST.verifier.jwk, kid: "first" }] },
  };
  const fetched: string[] = [];
  const fetch: DocumentFetcher = (url) => {
    fetched.push(url);
    const document = documents[url] ?? new Error("not found");
    return document instanceof Error ? Promise.reject(document) : Promise.resolve(document);
  };
  const clock = virtualClock();
  const authenticator = openIdTokens(contextOf({ openIdIssuers: [{ ...ISSUER, ...issuer }], openId: { fetch, readKey } }, { clock }));
  if (authenticator === undefined) throw new Error("An issuer was set");
  const nameOf = async (token: string) => (await authenticator.authenticateToken(token, []))?.user.name;
  return { documents, fetched, clock, authenticator, nameOf };
}

test("a token of a trusted issuer authenticates its user, and the issuer's documents are fetched once", async () => {
  const { nameOf, fetched, authenticator } = issuerWorld();

  deepEqual([await nameOf(tokenOf()), await nameOf(tokenOf({ sub: "eve" }))], ["bob", "eve"]);
  deepEqual(fetched, [`${URL}/.well-known/openid-configuration`, KEYS_URL]);
  const again = authenticator.authenticateToken(tokenOf(), []);
  equal(again instanceof Promise, false, "a cached token is authenticated synchronously");
});

test("the discovery URL can be configured, and a trailing slash of the issuer is not doubled", async () => {
  const elsewhere = issuerWorld({ discoveryUrl: "https://inside/doc" });
  elsewhere.documents["https://inside/doc"] = { issuer: URL, jwks_uri: KEYS_URL };
  await elsewhere.nameOf(tokenOf());
  equal(elsewhere.fetched[0], "https://inside/doc");

  const slash = issuerWorld({ url: `${URL}/` });
  slash.documents[`${URL}/.well-known/openid-configuration`] = { issuer: `${URL}/`, jwks_uri: KEYS_URL };
  equal(await slash.nameOf(tokenOf({ iss: `${URL}/` })), "bob");
});

test("an OpenID token must fulfil the rules for its claims and its user", async () => {
  const { nameOf } = issuerWorld({
    claimRules: [{ expression: "claims.sub != 'eve'", message: "not her" }],
    userRules: [{ expression: "!user.username.startsWith('system:')", message: "a reserved name" }],
  });

  equal(await nameOf(tokenOf()), "bob");
  await rejects(async () => nameOf(tokenOf({ sub: "eve" })), /validation expression 'claims.sub != 'eve'' failed: not her$/);
  await rejects(async () => nameOf(tokenOf({ sub: "system:admin" })), /user info validation rule: .* failed: a reserved name$/);
});

test("expressions map the claims of an OpenID token to its user, before rules for users", async () => {
  const { nameOf } = issuerWorld({
    mappings: { username: "'oidc:' + claims.sub", groups: "['dev']" },
    userRules: [{ expression: "'dev' in user.groups && user.username != 'oidc:eve'", message: "not her" }],
  });

  equal(await nameOf(tokenOf()), "oidc:bob");
  await rejects(async () => nameOf(tokenOf({ sub: "eve" })), /failed: not her$/);
});

const others: readonly [title: string, token: string][] = [
  ["a token in another format", "abcdef.0123456789abcdef"],
  ["a token of another issuer", tokenOf({ iss: "https://other.example" })],
  ["a token of the issuer with a slash more", tokenOf({ iss: `${URL}/` })],
  ["a token with the issuer in other case", tokenOf({ iss: URL.toUpperCase() })],
  ["a token without an issuer", tokenOf({ iss: null })],
  ["an issuer that every object has", tokenOf({ iss: "__proto__" })],
];

for (const [title, token] of others) {
  test(`${title} is ignored by the OpenID authenticator without a request to the issuer`, async () => {
    const { nameOf, fetched } = issuerWorld();
    equal(await nameOf(token), undefined);
    deepEqual(fetched, []);
  });
}

const encode = (value: JsonObject) => encodeBase64Url(new TextEncoder().encode(JSON.stringify(value)));

test("an OpenID token must use an allowed algorithm, never none or a shared secret", () => {
  const [, payload, signature] = tokenOf().split(".");
  for (const alg of ["none", "None", "HS256", "RS256", ""]) {
    const { authenticator, fetched } = issuerWorld();
    const forged = `${encode({ alg })}.${payload}.${alg === "none" ? "" : signature}`;
    throws(() => authenticator.authenticateToken(forged, []), /unsupported algorithm, expected \["ES256"\]/, alg);
    deepEqual(fetched, [], "no request to the issuer");
  }
});

const forged: readonly [title: string, token: string][] = [
  ["by another key", tokenOf({}, SECOND)],
  ["by an unknown key with another key id", tokenOf({}, SECOND, "second")],
  ["for other claims", tokenOf().replace(/\.[^.]+\./, `.${encode({ iss: URL, aud: "us", sub: "admin", exp: NOW + 3_600 })}.`)],
  ["not at all", tokenOf().replace(/[^.]+$/, "")],
  ["with a critical header", tokenOf().replace(/^[^.]+/, encode({ alg: "ES256", kid: "first", crit: ["b64"], b64: false }))],
];

for (const [title, token] of forged) {
  test(`an OpenID token signed ${title} is rejected`, async () => {
    const { authenticator } = issuerWorld();
    await rejects(async () => authenticator.authenticateToken(token, []), AuthenticationError);
  });
}

test("an expired OpenID token is rejected even if it is cached", async () => {
  const { nameOf, clock } = issuerWorld();
  const token = tokenOf({ exp: NOW + 5 });

  equal(await nameOf(token), "bob");
  await clock.advance(5_000);
  equal(await nameOf(token), "bob");
  await clock.advance(1_000);

  await rejects(() => nameOf(token), /token is expired/);
});

test("an OpenID token yields the same user object, also after it was verified again", async () => {
  const { authenticator, clock } = issuerWorld();
  const token = tokenOf();
  const first = await authenticator.authenticateToken(token, []);
  await clock.advance(11_000);
  const second = await authenticator.authenticateToken(token, []);

  equal(first?.user, second?.user);
});

test("rotated keys of an OpenID issuer are fetched when a token needs them", async () => {
  const { nameOf, documents, fetched } = issuerWorld();
  equal(await nameOf(tokenOf()), "bob");
  const changed = tokenOf({}, SECOND, "second");
  await rejects(() => nameOf(changed), AuthenticationError);

  documents[KEYS_URL] = { keys: [{ ...SECOND.verifier.jwk, kid: "second" }] };

  equal(await nameOf(changed), "bob");
  equal(fetched.filter((url) => url === KEYS_URL).length, 3);
  await rejects(() => nameOf(tokenOf({ sub: "old" })), AuthenticationError, "a removed key is no longer valid");
});

test("forged OpenID tokens cause only a limited number of requests to the issuer", async () => {
  const { nameOf, fetched, clock } = issuerWorld();
  equal(await nameOf(tokenOf()), "bob");
  for (let count = 0; count < 50; count++) await rejects(() => nameOf(tokenOf({ count }, SECOND, `k${count}`)), AuthenticationError);
  equal(fetched.length <= 6, true, `${fetched.length} documents were fetched`);
  equal(await nameOf(tokenOf({ sub: "still" })), "still", "good tokens are still good");

  const before = fetched.length;
  await clock.advance(10_000);
  await rejects(() => nameOf(tokenOf({}, SECOND, "later")), AuthenticationError);

  equal(fetched.length, before + 1);
});

test("concurrent requests for the keys of an OpenID issuer share one fetch", async () => {
  const { nameOf, fetched } = issuerWorld();

  deepEqual(await Promise.all([1, 2, 3].map((count) => nameOf(tokenOf({ sub: `u${count}` })))), ["u1", "u2", "u3"]);
  equal(fetched.length, 2);
});

const broken: readonly [title: string, url: string, document: JsonObject | Error][] = [
  ["cannot be reached", `${URL}/.well-known/openid-configuration`, new Error("connect ECONNREFUSED")],
  [
    "has another issuer in its discovery document",
    `${URL}/.well-known/openid-configuration`,
    { issuer: "https://other", jwks_uri: KEYS_URL },
  ],
  ["does not say where its keys are", `${URL}/.well-known/openid-configuration`, { issuer: URL }],
  ["has no JWKS URL", KEYS_URL, new Error("timeout")],
  ["has a JWKS without a list", KEYS_URL, { keys: {} }],
  ["has no keys", KEYS_URL, { keys: [] }],
];

for (const [title, url, document] of broken) {
  test(`tokens of an OpenID issuer that ${title} are rejected until it is repaired`, async () => {
    const { nameOf, documents } = issuerWorld();
    const good = documents[url] as JsonObject;
    documents[url] = document;
    await rejects(() => nameOf(tokenOf()), AuthenticationError);

    documents[url] = good;

    equal(await nameOf(tokenOf()), "bob");
  });
}

test("a request to an unresponsive OpenID issuer times out after 30 seconds", async () => {
  const clock = virtualClock();
  const fetch: DocumentFetcher = (_, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  // Registered as external I/O it would stop virtual time.
  const patient = Object.assign(Object.create(clock) as typeof clock, {
    external: <T>(operation: Promise<T>) => operation,
    sleep: clock.sleep.bind(clock),
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
  });
  const authenticator = openIdTokens(contextOf({ openIdIssuers: [ISSUER], openId: { fetch, readKey } }, { clock: patient }));
  const refused = rejects(async () => authenticator?.authenticateToken(tokenOf(), []), AuthenticationError);

  await clock.advance(30_000);

  await refused;
});
