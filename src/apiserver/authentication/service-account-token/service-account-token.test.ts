import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { startServer } from "../../testing/server.ts";
import {
  AUDIENCE,
  KEY,
  OTHER_KEY,
  payloadOf,
  signed,
  signedText,
  startTokenServer,
  TOKENS,
  toBase64Url,
  type TokenServer,
} from "./testing/token-server.ts";

const DEFAULT = "namespaces/default";

async function prepared(): Promise<TokenServer> {
  const server = await startTokenServer();
  await server.make(`${DEFAULT}/serviceaccounts`, { metadata: { name: "a" } });
  return server;
}

function podOf(name: string, more: JsonObject = {}): JsonObject {
  return { metadata: { name }, spec: { serviceAccountName: "a", containers: [{ name: "c", image: "i" }], ...more } };
}

function boundTo(kind: string, name: string): JsonObject {
  return { boundObjectRef: { kind, apiVersion: "v1", name } };
}

test("a service account token authenticates the account", async () => {
  await using server = await prepared();
  const token = await server.request();

  const review = await server.review(token);
  const self = await server.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, { authorization: `Bearer ${token}` });

  const { jti, "kubernetes.io": own } = payloadOf(token);
  const user = {
    username: "system:serviceaccount:default:a",
    uid: own.serviceaccount.uid,
    groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    extra: { "authentication.kubernetes.io/credential-id": [`JTI=${jti}`] },
  };
  deepEqual(review, { authenticated: true, user, audiences: [AUDIENCE] });
  deepEqual(self.body.status, { userInfo: user });
});

const NOT_OURS = "invalid bearer token";
const BAD_SIGNATURE = "[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]";

for (const [what, spoil, error] of [
  ["garbage", () => "garbage", NOT_OURS],
  ["garbage in three parts", () => "a.b.c", NOT_OURS],
  ["one of another issuer", (claims) => signed({ ...claims, iss: "https://other" }), NOT_OURS],
  ["one without an issuer", ({ iss: _iss, ...claims }) => signed(claims), NOT_OURS],
  ["one with the algorithm none", (claims) => `${toBase64Url('{"alg":"none"}')}.${toBase64Url(JSON.stringify(claims))}.`, BAD_SIGNATURE],
  ["one of another key", (claims) => signed(claims, OTHER_KEY), "[invalid bearer token, invalid signature, no keys found]"],
  [
    "one with a duplicate claim",
    (claims) => signedText('{"alg":"ES256"}', JSON.stringify(claims).replace("{", '{"sub":"x",')),
    "[invalid bearer token, json: duplicate key 'sub' in object]",
  ],
  ["one that expired within the clock skew", (claims) => signed({ ...claims, exp: claims["iat"] ?? 0, nbf: 0, iat: 0 }), undefined],
  [
    "one that expired a minute ago",
    (claims) => signed({ ...claims, exp: (claims["iat"] as number) - 61 }),
    "[invalid bearer token, service account token has expired]",
  ],
  [
    "one that is valid from tomorrow",
    (claims) => signed({ ...claims, nbf: (claims["iat"] as number) + 86_400 }),
    "[invalid bearer token, service account token is not valid yet]",
  ],
  [
    "one for another audience",
    (claims) => signed({ ...claims, aud: ["vault", 'a"b'] }),
    `[invalid bearer token, token audiences ["vault" "a\\"b"] is invalid for the target audiences ["${AUDIENCE}"]]`,
  ],
  ["one without an audience", ({ aud: _aud, ...claims }) => signed(claims), undefined],
  ["one of a former issuer", (claims) => signed({ ...claims, iss: "https://former.example" }), undefined],
  [
    "one without Kubernetes claims",
    ({ "kubernetes.io": _own, ...claims }) => signed(claims),
    "[invalid bearer token, resource name may not be empty]",
  ],
] as readonly (readonly [string, (claims: JsonObject) => string, string | undefined])[]) {
  test(`of service account tokens, ${what} is ${error === undefined ? "accepted" : "rejected"}`, async () => {
    await using server = await prepared();
    const token = spoil(payloadOf(await server.request()));

    const review = await server.review(token);
    const again = await server.review(token);

    deepEqual([review.authenticated, review.error], error === undefined ? [true, undefined] : [undefined, error]);
    deepEqual(again, review);
    if (error !== undefined) deepEqual(review.user, {});
    equal(await server.codeWith(token), error === undefined ? 200 : 401);
  });
}

test("a TokenReview returns the matching audiences in the requested order", async () => {
  await using server = await prepared();
  const token = await server.request({ audiences: ["vault", "registry"] });

  deepEqual((await server.review(token, ["registry", "other", "vault"])).audiences, ["registry", "vault"]);
  equal(
    (await server.review(token, ["other"])).error,
    '[invalid bearer token, token audiences ["vault" "registry"] is invalid for the target audiences ["other"]]',
  );
  equal(await server.codeWith(token), 401);
});

test("a service account token expires", async () => {
  await using server = await prepared();
  const token = await server.request();

  await server.clock.advance(3_660_000);
  equal(await server.codeWith(token), 200);
  await server.clock.advance(1_000);

  equal(await server.codeWith(token), 401);
});

for (const { kind, path, object } of [
  { kind: "Pod", path: `${DEFAULT}/pods`, object: podOf("x") },
  { kind: "Secret", path: `${DEFAULT}/secrets`, object: { metadata: { name: "x" } } },
  { kind: "Node", path: "nodes", object: { metadata: { name: "x" } } },
]) {
  test(`a token bound to a ${kind} is invalid as soon as it is deleted, even if recreated under the same name`, async () => {
    await using server = await prepared();
    const first = await server.make(path, object);
    const token = await server.request(boundTo(kind, "x"));
    equal(await server.codeWith(token), 200);

    await server.call("DELETE", `/api/v1/${path}/x?gracePeriodSeconds=0`);

    equal(await server.codeWith(token), 401);
    equal((await server.review(token)).error, "[invalid bearer token, service account token has been invalidated]");
    const second = await server.make(path, object);
    const what = kind.toLowerCase();
    equal(
      (await server.review(token)).error,
      `[invalid bearer token, ${what} UID (${second.metadata.uid}) does not match service account ${what} ref claim (${first.metadata.uid})]`,
    );
    equal(await server.codeWith(token), 401);
  });
}

test("a token is invalid as soon as its service account is deleted, even if recreated under the same name", async () => {
  await using server = await prepared();
  const token = await server.request();
  equal(await server.codeWith(token), 200);

  await server.call("DELETE", `/api/v1/${DEFAULT}/serviceaccounts/a`);

  equal((await server.review(token)).error, '[invalid bearer token, serviceaccounts "a" not found]');
  const { metadata } = await server.make(`${DEFAULT}/serviceaccounts`, { metadata: { name: "a" } });
  equal(
    (await server.review(token)).error,
    `[invalid bearer token, service account UID (${metadata.uid}) does not match claim (${payloadOf(token)["kubernetes.io"].serviceaccount.uid})]`,
  );
  equal(await server.codeWith(token), 401);
});

test("the token of a terminating Pod is valid for a minute beyond its grace period", async () => {
  await using server = await prepared();
  await server.make("nodes", { metadata: { name: "n" } });
  await server.make(`${DEFAULT}/pods`, podOf("x", { nodeName: "n" }));
  const token = await server.request({ ...boundTo("Pod", "x"), expirationSeconds: 3_600 });
  await server.call("DELETE", `/api/v1/${DEFAULT}/pods/x?gracePeriodSeconds=30`);

  equal(await server.codeWith(token), 200);
  await server.clock.advance(90_000);
  equal(await server.codeWith(token), 200);
  await server.clock.advance(1_000);

  equal(await server.codeWith(token), 401);
});

test("the token of a Pod names its node, and stays valid without it", async () => {
  await using server = await prepared();
  const node = await server.make("nodes", { metadata: { name: "n" } });
  await server.make(`${DEFAULT}/pods`, podOf("x", { nodeName: "n" }));
  const token = await server.request(boundTo("Pod", "x"));

  await server.call("DELETE", "/api/v1/nodes/n");

  const { user } = await server.review(token);
  deepEqual(user.extra["authentication.kubernetes.io/node-uid"], [node.metadata.uid]);
  deepEqual(user.extra["authentication.kubernetes.io/pod-name"], ["x"]);
});

test("a server without a signing key accepts no service account tokens", async () => {
  await using server = await startServer({ identity: { anonymous: true, bootstrapTokens: false, openIdIssuers: [] } });

  equal(
    (await server.call("GET", "/api", undefined, { authorization: `Bearer ${signed({ iss: TOKENS.issuers[0] ?? "" }, KEY)}` })).code,
    401,
  );
});
