import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import {
  AUDIENCE,
  headerOf,
  KEY,
  payloadOf,
  startTokenServer,
  TOKENS,
  type TokenServer,
} from "../../authentication/service-account-token/testing/token-server.ts";
import type { ServiceAccountTokens } from "../../framework/identity.ts";
import { startServer, type CallAnswer } from "../../testing/server.ts";

const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";

function podOf(name: string, spec: JsonObject = {}): JsonObject {
  return { metadata: { name }, spec: { serviceAccountName: "a", containers: [{ name: "c", image: "i" }], ...spec } };
}

interface Prepared extends TokenServer {
  ask(body: JsonObject, query?: string): Promise<CallAnswer>;
}

async function prepared(settings: Partial<ServiceAccountTokens> = {}): Promise<Prepared> {
  const server = await startTokenServer(settings);
  await server.make("namespaces/default/serviceaccounts", { metadata: { name: "a" } });
  await server.make("nodes", { metadata: { name: "n" } });
  await server.make("namespaces/default/pods", podOf("p", { nodeName: "n" }));
  await server.make("namespaces/default/pods", podOf("q", { nodeName: "gone" }));
  await server.make("namespaces/default/pods", podOf("other", { serviceAccountName: "b" }));
  await server.make("namespaces/default/secrets", { metadata: { name: "s" } });
  return { ...server, ask: (body, query = "") => server.call("POST", `${ACCOUNTS}/a/token${query}`, body) };
}

function bound(kind: string, name: string, more: JsonObject = {}): JsonObject {
  return { spec: { boundObjectRef: { kind, apiVersion: "v1", name, ...more } } };
}

test("a TokenRequest defaults to the API's audience and one hour", async () => {
  await using server = await prepared();

  const { code, body, headers } = await server.ask({});

  const { uid } = (await server.call("GET", `${ACCOUNTS}/a`)).body.metadata;
  const { token, ...status } = body.status;
  assert.equal(code, 201);
  assert.equal(headers["warning"], undefined);
  assert.deepEqual([body.kind, body.apiVersion], ["TokenRequest", "authentication.k8s.io/v1"]);
  assert.deepEqual(body.metadata, { name: "a", namespace: "default", uid, creationTimestamp: "2026-01-01T00:00:00Z" });
  assert.deepEqual(body.spec, { audiences: [AUDIENCE], expirationSeconds: 3600, boundObjectRef: null });
  assert.deepEqual(status, { expirationTimestamp: "2026-01-01T01:00:00Z" });
  assert.deepEqual(headerOf(token), { alg: "ES256", kid: KEY.verifier.keyId });
  const { jti, ...claims } = payloadOf(token);
  assert.match(jti, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(claims, {
    iss: TOKENS.issuers[0],
    sub: "system:serviceaccount:default:a",
    aud: [AUDIENCE],
    iat: 1_767_225_600,
    nbf: 1_767_225_600,
    exp: 1_767_229_200,
    "kubernetes.io": { namespace: "default", serviceaccount: { name: "a", uid } },
  });
});

test("each token has a unique id, and the response keeps the metadata of the request", async () => {
  await using server = await prepared();

  const first = await server.ask({ metadata: { name: "a", labels: { x: "y" } } });
  const second = await server.ask({});

  assert.deepEqual(first.body.metadata.labels, { x: "y" });
  assert.notEqual(payloadOf(first.body.status.token).jti, payloadOf(second.body.status.token).jti);
});

for (const [kind, name, refers, claims] of [
  ["Pod", "p", {}, ["pod", "node"]],
  ["Pod", "p", { apiVersion: "" }, ["pod", "node"]],
  ["Secret", "s", {}, ["secret"]],
  ["Node", "n", {}, ["node"]],
] as const) {
  test(`a token can be bound to a ${kind}${"apiVersion" in refers ? " without a version" : ""}`, async () => {
    await using server = await prepared();
    const path = { Pod: "namespaces/default/pods/p", Secret: "namespaces/default/secrets/s", Node: "nodes/n" }[kind];
    const { uid } = (await server.call("GET", `/api/v1/${path}`)).body.metadata;

    const { body } = await server.ask(bound(kind, name, { uid, ...refers }));

    const { namespace: _namespace, serviceaccount: _account, ...own } = payloadOf(body.status.token)["kubernetes.io"];
    assert.deepEqual(Object.keys(own).toSorted(), [...claims].toSorted());
    assert.deepEqual(own[kind.toLowerCase()], { name, uid });
    assert.equal(body.spec.boundObjectRef.name, name);
  });
}

test("a Pod's token contains the uid of its node, if the node exists", async () => {
  await using server = await prepared();
  const { uid } = (await server.call("GET", "/api/v1/nodes/n")).body.metadata;

  const there = await server.ask(bound("Pod", "p"));
  const gone = await server.ask(bound("Pod", "q"));

  assert.deepEqual(payloadOf(there.body.status.token)["kubernetes.io"].node, { name: "n", uid });
  assert.deepEqual(payloadOf(gone.body.status.token)["kubernetes.io"].node, { name: "gone" });
});

for (const [what, spec, settings, lives] of [
  ["of a Pod, for this API and the usual hour", { boundObjectRef: { kind: "Pod", name: "p" } }, {}, [31_536_000, 3_607]],
  ["of no Pod", {}, {}, [3_607, undefined]],
  ["of a Secret", { boundObjectRef: { kind: "Secret", name: "s" } }, {}, [3_607, undefined]],
  ["for others, too", { boundObjectRef: { kind: "Pod", name: "p" }, audiences: [AUDIENCE, "x"] }, {}, [3_607, undefined]],
  ["for another time", { boundObjectRef: { kind: "Pod", name: "p" }, expirationSeconds: 3_600 }, {}, [3_600, undefined]],
  ["where that is switched off", { boundObjectRef: { kind: "Pod", name: "p" } }, { extendsExpiration: false }, [3_607, undefined]],
] as const) {
  const [lifeSeconds, warnAfterSeconds] = lives;
  test(`a token ${what} is valid for ${lifeSeconds} s`, async () => {
    await using server = await prepared(settings);

    const { body } = await server.ask({ spec: { expirationSeconds: 3_607, ...spec } });

    const { exp, iat, "kubernetes.io": own } = payloadOf(body.status.token);
    assert.deepEqual([exp - iat, own.warnafter], [lifeSeconds, warnAfterSeconds === undefined ? undefined : iat + warnAfterSeconds]);
    // The response reports the requested expiry.
    const asked = "expirationSeconds" in spec ? spec.expirationSeconds : 3_607;
    assert.equal(Date.parse(body.status.expirationTimestamp) / 1_000 - iat, asked);
  });
}

test("the token lifetime is capped at the maximum, and the response reports it", async () => {
  await using server = await prepared({ maxExpirationSeconds: 3_600 });

  const { body, headers } = await server.ask({ spec: { expirationSeconds: 7_200 } });

  assert.deepEqual(headers["warning"], ['299 - "requested expiration of 7200 seconds shortened to 3600 seconds"']);
  assert.deepEqual([body.spec.expirationSeconds, body.status.expirationTimestamp], [3_600, "2026-01-01T01:00:00Z"]);
});

test("a dry-run TokenRequest returns a token, as upstream", async () => {
  await using server = await prepared();

  const { body } = await server.ask({}, "?dryRun=All");

  assert.equal(await server.codeWith(body.status.token), 200);
});

const RECREATED = "does not match the UID in record. The object might have been deleted and then recreated";

for (const [what, body, code, message] of [
  [
    "of another account than the path's",
    { metadata: { name: "b" } },
    422,
    'TokenRequest.authentication.k8s.io "a" is invalid: metadata.name: Invalid value: "b": must match the service account name if specified',
  ],
  [
    "of another namespace",
    { metadata: { namespace: "b" } },
    400,
    "the namespace of the provided object does not match the namespace sent on the request",
  ],
  [
    "for too short",
    { spec: { expirationSeconds: 1 } },
    422,
    'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes',
  ],
  ["bound to a missing Pod", bound("Pod", "x"), 404, 'pods "x" not found'],
  ["bound to a missing Secret", bound("Secret", "x"), 404, 'secrets "x" not found'],
  ["bound to a missing Node", bound("Node", "x"), 404, 'nodes "x" not found'],
  [
    "bound to a Pod of another account",
    bound("Pod", "other"),
    400,
    'cannot bind token for serviceaccount "a" to pod running with different serviceaccount name.',
  ],
  [
    "bound to a recreated Pod",
    bound("Pod", "p", { uid: "u" }),
    409,
    `Operation cannot be fulfilled on Pod "p": the UID in the bound object reference (u) ${RECREATED}`,
  ],
  [
    "bound to a recreated Node",
    bound("Node", "n", { uid: "u" }),
    409,
    `Operation cannot be fulfilled on Node "n": the UID in the bound object reference (u) ${RECREATED}`,
  ],
  ["bound to something else", bound("ConfigMap", "x"), 400, "cannot bind token to object of type /v1, Kind=ConfigMap"],
  [
    "bound to a Pod of another group",
    bound("Pod", "p", { apiVersion: "apps/v1" }),
    400,
    "cannot bind token to object of type apps/v1, Kind=Pod",
  ],
  ["bound to a reference without a name", { spec: { boundObjectRef: {} } }, 400, "cannot bind token to object of type /, Kind="],
  ["bound to a Pod without a name", { spec: { boundObjectRef: { kind: "Pod" } } }, 400, "Name parameter required."],
] as readonly (readonly [string, JsonObject, number, string])[]) {
  test(`a TokenRequest ${what} is rejected with ${code}`, async () => {
    await using server = await prepared();

    const answer = await server.ask(body);

    assert.deepEqual([answer.code, answer.body.message], [code, message]);
  });
}

test("a TokenRequest for a recreated account is rejected", async () => {
  await using server = await prepared();
  const { uid } = (await server.call("GET", `${ACCOUNTS}/a`)).body.metadata;

  const { code, body } = await server.ask({ metadata: { uid: "u" } });

  assert.equal(code, 409);
  assert.equal(
    body.message,
    `Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "a": the UID in the token request (u) does not match the UID of the service account (${uid})`,
  );
  assert.equal((await server.ask({ metadata: { uid } })).code, 201);
});

test("a TokenRequest for a missing account or without a signing key is rejected", async () => {
  await using server = await startServer();
  await server.call("POST", ACCOUNTS, { metadata: { name: "a" } });

  const unknown = await server.call("POST", `${ACCOUNTS}/other/token`, {});
  const unsigned = await server.call("POST", `${ACCOUNTS}/a/token`, {});

  assert.deepEqual([unknown.code, unknown.body.message], [404, 'serviceaccounts "other" not found']);
  assert.equal(unsigned.code, 503);
});

test("a TokenRequest can be sent as YAML and as protobuf", async () => {
  await using server = await prepared();

  for (const accept of ["application/yaml", "application/vnd.kubernetes.protobuf"]) {
    const { code, headers } = await server.call("POST", `${ACCOUNTS}/a/token`, {}, { accept });
    assert.deepEqual([code, headers["content-type"]], [201, accept]);
  }
});
