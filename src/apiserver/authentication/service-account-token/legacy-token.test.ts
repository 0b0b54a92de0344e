import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { AUDIENCE, signed, startTokenServer, type TokenServer } from "./testing/token-server.ts";

const CLAIM = "kubernetes.io/serviceaccount/";
const SECRETS = "namespaces/default/secrets";
const LAST_USED = "kubernetes.io/legacy-token-last-used";
const INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since";
const MERGE = { "content-type": "application/merge-patch+json" };

interface Prepared extends TokenServer {
  readonly claims: JsonObject;
}

async function prepared(): Promise<Prepared> {
  const server = await startTokenServer();
  const account = await server.make("namespaces/default/serviceaccounts", { metadata: { name: "a" } });
  const claims = {
    iss: "kubernetes/serviceaccount",
    sub: "system:serviceaccount:default:a",
    [`${CLAIM}namespace`]: "default",
    [`${CLAIM}secret.name`]: "s",
    [`${CLAIM}service-account.name`]: "a",
    [`${CLAIM}service-account.uid`]: account.metadata.uid,
  };
  return { ...server, claims };
}

/** Creates the Secret that holds the token and returns it. */
async function keep(server: TokenServer, token: string): Promise<string> {
  const metadata = { name: "s", annotations: { "kubernetes.io/service-account.name": "a" } };
  await server.make(SECRETS, { metadata, type: "kubernetes.io/service-account-token", data: { token: btoa(token) } });
  return token;
}

test("the token in a Secret authenticates its service account, and the Secret records its use", async () => {
  await using server = await prepared();
  const token = await keep(server, signed(server.claims));

  const review = await server.review(token);

  deepEqual(review, {
    authenticated: true,
    user: {
      username: "system:serviceaccount:default:a",
      uid: server.claims[`${CLAIM}service-account.uid`],
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    },
    audiences: [AUDIENCE],
  });
  const { metadata } = (await server.call("GET", `/api/v1/${SECRETS}/s`)).body;
  deepEqual(metadata.labels, { [LAST_USED]: "2026-01-01" });
});

test("the last-used date of a Secret is written once a day", async () => {
  await using server = await prepared();
  const token = await keep(server, signed(server.claims));
  const labelled = async (): Promise<readonly [string, string]> => {
    equal(await server.codeWith(token), 200);
    const { metadata } = (await server.call("GET", `/api/v1/${SECRETS}/s`)).body;
    return [metadata.labels[LAST_USED], metadata.resourceVersion];
  };

  const first = await labelled();
  await server.clock.advance(3_600_000);
  const second = await labelled();
  await server.clock.advance(86_400_000);
  const third = await labelled();

  deepEqual(second, first);
  equal(third[0], "2026-01-02");
});

for (const [what, spoil, error] of [
  ["without a subject", { sub: null }, "sub claim is missing"],
  ["without a namespace", { [`${CLAIM}namespace`]: null }, "namespace claim is missing"],
  ["without a Secret name", { [`${CLAIM}secret.name`]: null }, "secretName claim is missing"],
  ["without an account name", { [`${CLAIM}service-account.name`]: null }, "serviceAccountName claim is missing"],
  ["without an account uid", { [`${CLAIM}service-account.uid`]: null }, "serviceAccountUID claim is missing"],
  ["with the subject of another account", { sub: "system:serviceaccount:default:b" }, "sub claim is invalid"],
  ["with an invalid namespace", { sub: "system:serviceaccount:A:a", [`${CLAIM}namespace`]: "A" }, "sub claim is invalid"],
  ["that differs from its Secret", { extra: "x" }, "Token does not match server's copy"],
  ["whose Secret does not exist", { [`${CLAIM}secret.name`]: "t" }, "Token has been invalidated"],
] as const) {
  test(`a Secret token ${what} is rejected`, async () => {
    await using server = await prepared();
    await keep(server, signed(server.claims));

    const review = await server.review(signed({ ...server.claims, ...spoil }));

    equal(review.error, `[invalid bearer token, ${error}]`);
  });
}

test("a Secret token is invalid as soon as its Secret is deleted or changed, or its account is deleted", async () => {
  for (const [end, error] of [
    [["DELETE", `${SECRETS}/s`], "Token has been invalidated"],
    [["PATCH", `${SECRETS}/s`, { data: { token: null } }], "Token does not match server's copy"],
    [["DELETE", "namespaces/default/serviceaccounts/a"], 'serviceaccounts "a" not found'],
  ] as const) {
    await using server = await prepared();
    const token = await keep(server, signed(server.claims));
    equal(await server.codeWith(token), 200);
    const [method, path, body] = end;

    await server.call(method, `/api/v1/${path}`, body, MERGE);

    equal((await server.review(token)).error, `[invalid bearer token, ${error}]`);
    equal(await server.codeWith(token), 401);
  }
});

test("a Secret token that was marked invalid is rejected, and its use is recorded", async () => {
  await using server = await prepared();
  const token = await keep(server, signed(server.claims));
  await server.call("PATCH", `/api/v1/${SECRETS}/s`, { metadata: { labels: { [INVALID_SINCE]: "2025-12-31" } } }, MERGE);

  const { error } = await server.review(token);

  equal(
    error,
    "[invalid bearer token, the token in secret default/s for service account default/a has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the 'kubernetes.io/legacy-token-invalid-since' label from the secret to temporarily allow use of this token]",
  );
  equal((await server.call("GET", `/api/v1/${SECRETS}/s`)).body.metadata.labels[LAST_USED], "2026-01-01");
});

test("the use of an auto-generated Secret token returns a warning", async () => {
  await using server = await prepared();
  const token = await keep(server, signed(server.claims));
  await server.call("PATCH", "/api/v1/namespaces/default/serviceaccounts/a", { secrets: [{ name: "s" }] }, MERGE);

  const { code, headers } = await server.call("GET", "/api/v1/namespaces", undefined, { authorization: `Bearer ${token}` });

  const sentence =
    "Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.";
  deepEqual([code, headers["warning"]], [200, [`299 - "${sentence}"`]]);
});
