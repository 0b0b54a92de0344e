/**
 * Forged tokens. What a token claims (its algorithm, its key, where to find its key, its issuer) only selects from what the server already
 * trusts. Each row takes a valid token and makes one thing of it wrong.
 */
import { deepEqual, equal } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import { p256Key } from "../../src/api/machinery/x509/p256-signer.ts";
import {
  AUDIENCE,
  ISSUER,
  KEY,
  OTHER_KEY,
  payloadOf,
  signed,
  signedText,
  toBase64Url,
  TOKENS,
} from "../../src/apiserver/authentication/service-account-token/testing/token-server.ts";
import { writeToken } from "../../src/api/machinery/codec/json-web-token-writer.ts";
import type { Identity, OpenIdIssuer } from "../../src/apiserver/framework/identity.ts";
import { startGuardedServer, type CallAnswer, type SentHeaders, type StartedServer } from "../../src/apiserver/testing/server.ts";
import { encodeBase64Url } from "../../src/api/machinery/codec/base64-url.ts";

const ADMIN = { authorization: "Bearer administrator" };
const OPEN_ID = p256Key(0x0_1dcn);
const OPEN_ID_ISSUER: OpenIdIssuer = {
  url: "https://people.example",
  audiences: ["cluster"],
  usernameClaim: "sub",
  usernamePrefix: "people:",
  groupsClaim: "groups",
  groupsPrefix: "people:",
  requiredClaims: {},
  algorithms: ["ES256"],
};
/** URLs from which keys were requested. */
const fetched: string[] = [];

const IDENTITY: Identity = {
  anonymous: true,
  bootstrapTokens: true,
  serviceAccounts: TOKENS,
  staticTokens: new Map([["administrator", { name: "admin", groups: ["system:masters"] }]]),
  openIdIssuers: [OPEN_ID_ISSUER],
  openId: {
    fetch(url) {
      fetched.push(url);
      const discovery = { issuer: OPEN_ID_ISSUER.url, jwks_uri: "https://people.example/keys" };
      return Promise.resolve(url.endsWith("/keys") ? { keys: [{ ...OPEN_ID.verifier.jwk, kid: "people" }] } : discovery);
    },
    readKey: () => ({ ...OPEN_ID.verifier, keyId: "people" }),
  },
};

let server: StartedServer;
/** A valid token of the service account "a". */
let good: string;

const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";

async function make(path: string, object: JsonObject): Promise<CallAnswer["body"]> {
  const { code, text } = await server.call("POST", path, object, ADMIN);
  equal(code, 201, text);
  return JSON.parse(text);
}

async function tokenOf(account: string, spec: JsonObject = {}): Promise<string> {
  return (await make(`${ACCOUNTS}/${account}/token`, { spec })).status.token;
}

/** Returns the authenticated user; undefined if the request is rejected. */
async function whoIs(headers: SentHeaders): Promise<string | undefined> {
  const { code, body } = await server.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, headers);
  return code === 401 ? undefined : code === 403 ? "system:anonymous" : body.status.userInfo.username;
}

const bearer = (token: string): SentHeaders => ({ authorization: `Bearer ${token}` });

before(async () => {
  server = await startGuardedServer({ identity: IDENTITY });
  for (const name of ["a", "b"]) await make(ACCOUNTS, { metadata: { name } });
  good = await tokenOf("a");
});
after(() => server[Symbol.asyncDispose]());

test("the token that all others are derived from is valid", async () => {
  equal(await whoIs(bearer(good)), "system:serviceaccount:default:a");
});

/** The payload of the valid token, with other claims. */
const withClaims = (claims: JsonObject): JsonObject => ({ ...payloadOf(good), ...claims });
const payload = (claims: JsonObject = {}): string => JSON.stringify(withClaims(claims));
const part = (number: number): string => good.split(".")[number] ?? "";
const header = (more: JsonObject): string => JSON.stringify({ alg: "ES256", kid: KEY.verifier.keyId, ...more });
/** A header chosen by the attacker over the payload, signed with the attacker's key. */
function forged(more: JsonObject): string {
  const message = `${toBase64Url(header(more))}.${toBase64Url(payload())}`;
  return `${message}.${encodeBase64Url(OTHER_KEY.signer.sign(new TextEncoder().encode(message)))}`;
}
const SECOND = 1_767_225_600;

const FORGED: readonly (readonly [it: string, token: () => string])[] = [
  ["without a signature", () => `${part(0)}.${part(1)}.`],
  ["without a signature and its dot", () => `${part(0)}.${part(1)}`],
  [
    "with the signature of another token",
    () => `${part(0)}.${toBase64Url(payload({ sub: "system:serviceaccount:kube-system:x" }))}.${part(2)}`,
  ],
  ["with a signature of zeros (psychic signatures)", () => `${part(0)}.${part(1)}.${encodeBase64Url(new Uint8Array(64))}`],
  ["with an additional empty part", () => `${good}.`],
  ["with the algorithm none", () => `${toBase64Url(header({ alg: "none" }))}.${toBase64Url(payload())}.`],
  ["with the algorithm None and a signature", () => `${toBase64Url(header({ alg: "None" }))}.${toBase64Url(payload())}.${part(2)}`],
  ["without an algorithm", () => signedText(JSON.stringify({ kid: KEY.verifier.keyId }), payload())],
  ["with an algorithm that is a list", () => signedText(header({ alg: ["ES256"] }), payload())],
  ["with a symmetric algorithm", () => signedText(header({ alg: "HS256" }), payload())],
  ["with another algorithm for our type of key", () => signedText(header({ alg: "ES384" }), payload())],
  ["with another algorithm written in lower case", () => signedText(header({ alg: "es256" }), payload())],
  ["with two algorithms", () => signedText(`{"alg":"none","alg":"ES256","kid":"${KEY.verifier.keyId}"}`, payload())],
  ["signed by an unknown key", () => signed(withClaims({}), OTHER_KEY)],
  ["signed by an unknown key with our key ID", () => forged({})],
  ["signed by an unknown key without a key ID", () => forged({ kid: "" })],
  ["that contains its own key (jwk)", () => forged({ jwk: OTHER_KEY.verifier.jwk, kid: "x" })],
  ["that contains its own key with our key ID", () => forged({ jwk: OTHER_KEY.verifier.jwk })],
  ["that names the URL of its keys (jku)", () => forged({ jku: "https://evil.example/keys", kid: "x" })],
  ["that names the URL of its certificate (x5u)", () => forged({ x5u: "https://evil.example/certificate" })],
  ["that contains its certificate (x5c)", () => forged({ x5c: ["AAAA"] })],
  ["whose key ID is a path", () => forged({ kid: "../../../../dev/null" })],
  ["whose key ID is an SQL injection", () => forged({ kid: "x' UNION SELECT 'key" })],
  ["whose key ID is a member of every object", () => forged({ kid: "__proto__" })],
  ["whose key ID is a number", () => signedText(header({ kid: 1 }), payload())],
  ["with an unknown critical header", () => signedText(header({ crit: ["b64"], b64: false }), payload())],
  ["with a compressed payload", () => signedText(header({ zip: "DEF" }), "x")],
  ["that has expired", () => signed(withClaims({ exp: SECOND - 61 }))],
  ["that has expired, with the time as a string", () => signed(withClaims({ exp: "99999999999" }))],
  ["that is not yet valid", () => signed(withClaims({ nbf: SECOND + 120 }))],
  ["that was issued in the future", () => signed(withClaims({ iat: SECOND + 120 }))],
  ["that never expires, since its expiry is not a number", () => signed(withClaims({ exp: null, nbf: "x" }))],
  ["for another audience", () => signed(withClaims({ aud: ["https://other.example"] }))],
  ["for an audience with ours as prefix", () => signed(withClaims({ aud: [`${AUDIENCE}.evil.example`] }))],
  ["for a nested list of audiences", () => signed(withClaims({ aud: [[AUDIENCE]] }))],
  ["of an unknown issuer", () => signed(withClaims({ iss: "https://other.example" }))],
  ["of an issuer that differs at the end", () => signed(withClaims({ iss: `${ISSUER}/` }))],
  ["without an issuer", () => signed(withClaims({ iss: null }))],
  ["of the legacy issuer, without our claims", () => signed(withClaims({ iss: "kubernetes/serviceaccount" }))],
  [
    "of a service account with another uid",
    () => signed(withClaims({ "kubernetes.io": { namespace: "default", serviceaccount: { name: "a", uid: "x" } } })),
  ],
  [
    "of a service account that does not exist",
    () =>
      signed(
        withClaims({
          sub: "system:serviceaccount:default:c",
          "kubernetes.io": { namespace: "default", serviceaccount: { name: "c", uid: "x" } },
        }),
      ),
  ],
  ["with a duplicate claim", () => signedText(header({}), payload().replace("{", `{"sub":"system:admin",`))],
  ["with spaces in it", () => good.replace(".", " .")],
  ["in standard base64", () => `${good}=`],
  ["that is very long", () => `${part(0)}.${"A".repeat(300_000)}.${part(2)}`],
];

for (const [it, token] of FORGED) {
  test(`a token ${it} is rejected`, async () => equal(await whoIs(bearer(token())), undefined));
}

for (const sub of ["system:serviceaccount:kube-system:admin", "system:admin", "system:serviceaccount:default:../kube-system/x"]) {
  test(`a token with the subject ${sub} authenticates as its service account only`, async () => {
    equal(await whoIs(bearer(signed(withClaims({ sub, groups: ["system:masters"] })))), "system:serviceaccount:default:a");
    equal(
      (await server.call("GET", "/api/v1/secrets", undefined, bearer(signed(withClaims({ sub, groups: ["system:masters"] }))))).code,
      403,
    );
  });
}

test("no key URL named by a token was requested", () =>
  deepEqual(
    fetched.filter((url) => !url.startsWith(OPEN_ID_ISSUER.url)),
    [],
  ));

describe("a token is accepted in one place only", () => {
  const protocol = `base64url.bearer.authorization.k8s.io.${"x"}`;
  for (const [it, headers, is] of [
    ["in a query", {}, "system:anonymous"],
    ["as a password", () => ({ authorization: `Basic ${btoa(`x:${good}`)}` }), "system:anonymous"],
    ["without its scheme", () => ({ authorization: good }), "system:anonymous"],
    ["in a cookie", () => ({ cookie: `token=${good}` }), "system:anonymous"],
    ["in a proxy header", () => ({ "x-forwarded-access-token": good, "proxy-authorization": `Bearer ${good}` }), "system:anonymous"],
    [
      "as a subprotocol without a WebSocket",
      () => ({ "sec-websocket-protocol": `base64url.bearer.authorization.k8s.io.${toBase64Url(good)}, v4.channel.k8s.io` }),
      "system:anonymous",
    ],
    [
      "as a subprotocol that is not base64",
      () => ({ connection: "Upgrade", upgrade: "websocket", "sec-websocket-protocol": `${protocol}!, v4.channel.k8s.io` }),
      undefined,
    ],
    [
      "as the only subprotocol",
      () => ({
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-protocol": `base64url.bearer.authorization.k8s.io.${toBase64Url(good)}`,
      }),
      undefined,
    ],
    [
      "as two subprotocols",
      () => ({
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-protocol": [`${protocol}x`, `base64url.bearer.authorization.k8s.io.${toBase64Url(good)}`, "v4"].join(", "),
      }),
      undefined,
    ],
    ["after an invalid one in the same header", () => ({ authorization: `Bearer x, Bearer ${good}` }), undefined],
    ["after an invalid one in another header", () => ({ authorization: ["Bearer x", `Bearer ${good}`] }), undefined],
  ] as const) {
    test(it, async () => {
      const sent = typeof headers === "function" ? headers() : headers;
      const path = it === "in a query" ? `?access_token=${good}&token=${good}` : "";
      const { code, body } = await server.call("POST", `/apis/authentication.k8s.io/v1/selfsubjectreviews${path}`, {}, sent);
      equal(code, is === undefined ? 401 : 403, JSON.stringify(body));
    });
  }
});

describe("a token is invalid once its bound object is deleted", () => {
  const bound = (kind: string, name: string) => ({ boundObjectRef: { kind, apiVersion: "v1", name } });
  const pod = (name: string) => ({
    metadata: { name },
    spec: { serviceAccountName: "a", nodeName: "n", containers: [{ name: "c", image: "i" }] },
  });
  for (const [kind, path, object] of [
    ["Pod", "/api/v1/namespaces/default/pods", pod("x")],
    ["Secret", "/api/v1/namespaces/default/secrets", { metadata: { name: "x" } }],
    ["Node", "/api/v1/nodes", { metadata: { name: "x" } }],
  ] as const) {
    test(`a token bound to a deleted ${kind} is invalid, also if one of the same name is created`, async () => {
      await make(path, object);
      const token = await tokenOf("a", bound(kind, "x"));
      equal(await whoIs(bearer(token)), "system:serviceaccount:default:a");

      await server.call("DELETE", `${path}/x?gracePeriodSeconds=0`, undefined, ADMIN);
      equal(await whoIs(bearer(token)), undefined);
      await make(path, object);
      equal(await whoIs(bearer(token)), undefined);
    });
  }
  test("a token of a deleted service account is invalid, also if one of the same name is created", async () => {
    await make(ACCOUNTS, { metadata: { name: "brief" } });
    const token = await tokenOf("brief");
    await server.call("DELETE", `${ACCOUNTS}/brief`, undefined, ADMIN);
    await make(ACCOUNTS, { metadata: { name: "brief" } });
    equal(await whoIs(bearer(token)), undefined);
  });
  test("no token is issued for a Pod of another service account, nor for one that does not exist", async () => {
    await make("/api/v1/namespaces/default/pods", pod("of-a"));
    for (const [account, name] of [
      ["b", "of-a"],
      ["a", "none"],
    ]) {
      const { code } = await server.call("POST", `${ACCOUNTS}/${account}/token`, { spec: bound("Pod", name ?? "") }, ADMIN);
      equal(code === 201, false, name);
    }
  });
  test("a service account has no permission to request tokens, not even its own", async () => {
    for (const name of ["a", "b"]) equal((await server.call("POST", `${ACCOUNTS}/${name}/token`, { spec: {} }, bearer(good))).code, 403);
  });
});

describe("an OIDC issuer authenticates only its own users", () => {
  const personal = (claims: JsonObject, key = OPEN_ID) =>
    writeToken(
      { iss: OPEN_ID_ISSUER.url, aud: "cluster", sub: "ann", exp: SECOND + 3_600, ...claims },
      { signer: key.signer, keyId: "people" },
    );
  test("a valid OIDC token authenticates", async () => equal(await whoIs(bearer(personal({}))), "people:ann"));
  for (const [it, claims, key] of [
    ["for another audience", { aud: "other" }],
    ["that has expired", { exp: SECOND - 3_600 }],
    ["signed by a key that is not the issuer's", {}, OTHER_KEY],
    ["that claims our own issuer", { iss: ISSUER, aud: AUDIENCE }],
    ["that claims an issuer with a longer name", { iss: `${OPEN_ID_ISSUER.url}.evil.example` }],
    ["whose user is not a string", { sub: ["ann"] }],
  ] as const) {
    test(`an OIDC token ${it} is rejected`, async () => equal(await whoIs(bearer(personal(claims as JsonObject, key))), undefined));
  }
  test("system: users and groups of an OIDC token get the configured prefix", async () => {
    const { body } = await server.call(
      "POST",
      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      {},
      bearer(personal({ sub: "system:admin", groups: ["system:masters"] })),
    );
    const { username, groups } = body.status.userInfo;
    deepEqual([username, groups], ["people:system:admin", ["people:system:masters", "system:authenticated"]]);
  });
  test("our key does not sign for the OIDC issuer, nor its key for ours", async () => {
    equal(await whoIs(bearer(personal({}, KEY))), undefined);
    equal(await whoIs(bearer(signed(withClaims({}), OPEN_ID))), undefined);
  });
});

describe("a bootstrap token is for joining, until it expires", () => {
  const secret = (id: string, data: Record<string, string>): JsonObject => ({
    metadata: { name: `bootstrap-token-${id}`, namespace: "kube-system" },
    type: "bootstrap.kubernetes.io/token",
    stringData: { "token-id": id, "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true", ...data },
  });
  const SECRETS = "/api/v1/namespaces/kube-system/secrets";
  const after = "2026-01-01T01:00:00Z";
  for (const [it, id, data, is] of [
    ["a valid one", "good00", { expiration: after }, "system:bootstrap:good00"],
    ["one that has expired", "ended0", { expiration: "2025-12-31T00:00:00Z" }, undefined],
    ["one whose expiration is not a time", "notime", { expiration: "never" }, undefined],
    ["one that is for signing only", "sign00", { "usage-bootstrap-authentication": "false", "usage-bootstrap-signing": "true" }, undefined],
    ["one whose Secret has another name", "other0", { "token-id": "good00" }, undefined],
    ["one that claims a system group", "group0", { "auth-extra-groups": "system:masters" }, undefined],
    [
      "one that claims a group with only the right prefix",
      "group1",
      { "auth-extra-groups": "system:bootstrappers:a,system:masters" },
      undefined,
    ],
  ] as const) {
    test(it, async () => {
      await make(SECRETS, secret(id, data));
      equal(await whoIs(bearer(`${id}.0123456789abcdef`)), is);
    });
  }
  for (const [it, token] of [
    ["with a wrong secret", "good00.0123456789abcdee"],
    ["with a secret that is too long", "good00.0123456789abcdef0"],
    ["in upper case", "GOOD00.0123456789ABCDEF"],
    ["without a secret", "good00."],
    ["with a path as its ID", "../x00.0123456789abcdef"],
  ]) {
    test(`a bootstrap token ${it} is rejected`, async () => equal(await whoIs(bearer(token ?? "")), undefined));
  }
  test("a Secret of another namespace or another type is no bootstrap token", async () => {
    await make("/api/v1/namespaces/default/secrets", { ...secret("place0", {}), metadata: { name: "bootstrap-token-place0" } });
    await make(SECRETS, { ...secret("type00", {}), type: "Opaque" });
    deepEqual([await whoIs(bearer("place0.0123456789abcdef")), await whoIs(bearer("type00.0123456789abcdef"))], [undefined, undefined]);
  });
  test("a bootstrap token does not permit reading Secrets", async () => {
    for (const path of [`${SECRETS}/bootstrap-token-good00`, SECRETS, "/api/v1/nodes", "/api/v1/namespaces"])
      equal((await server.call("GET", path, undefined, bearer("good00.0123456789abcdef"))).code, 403);
  });
});

test("a TokenReview requires permission, and reveals of an invalid token only that it is invalid", async () => {
  const review = { spec: { token: good } };
  equal((await server.call("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review, bearer(good))).code, 403);
  const { body } = await server.call("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token: forged({}) } }, ADMIN);
  deepEqual([body.status.authenticated, body.status.user], [undefined, {}]);
});
