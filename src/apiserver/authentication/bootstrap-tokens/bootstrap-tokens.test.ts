import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { encodeBase64 } from "../../../api/machinery/codec/base64.ts";
import type { Secret } from "../../../api/generated/core/v1.ts";
import { createLogger, type LogLine } from "../../../base/logger.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import type { Objects } from "../../framework/objects.ts";
import { startGuardedServer } from "../../testing/server.ts";
import { contextOf } from "../testing/shown.ts";
import { bootstrapTokens, judge } from "./bootstrap-tokens.ts";
import { stub } from "../../../base/testing/stub.ts";

const NOW_MS = Date.UTC(2026, 0);
const SHOWN = { id: "abcdef", secretPart: "0123456789abcdef", nowMs: NOW_MS };

const GOOD: Readonly<Record<string, string>> = {
  "token-id": "abcdef",
  "token-secret": "0123456789abcdef",
  "usage-bootstrap-authentication": "true",
};

function secretOf(values: Readonly<Record<string, string>>, more: Partial<Secret> = {}): Secret {
  const data = Object.entries(values).map(([key, value]) => [key, encodeBase64(new TextEncoder().encode(value))]);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "bootstrap-token-abcdef" },
    type: "bootstrap.kubernetes.io/token",
    data: Object.fromEntries(data) as Record<string, string>,
    ...more,
  };
}

const groups: readonly [title: string, extra: Readonly<Record<string, string>>, groups: readonly string[]][] = [
  ["is in the bootstrappers group", {}, ["system:bootstrappers"]],
  [
    "is in those groups that its Secret names, each once and in order",
    { "auth-extra-groups": "system:bootstrappers:z,system:bootstrappers:a:b-c,system:bootstrappers:z" },
    ["system:bootstrappers", "system:bootstrappers:a:b-c", "system:bootstrappers:z"],
  ],
  ["may end later", { expiration: "2026-01-01T00:00:01Z" }, ["system:bootstrappers"]],
  ["may have an expiry in another time zone", { expiration: "2025-12-31T23:30:00-01:00" }, ["system:bootstrappers"]],
];

for (const [title, extra, expected] of groups) {
  test(`the user of a bootstrap token ${title}`, () => deepEqual(judge(secretOf({ ...GOOD, ...extra }), SHOWN), { groups: expected }));
}

const wrong: readonly [title: string, secret: Secret, about: string][] = [
  ["has another secret part", secretOf({ ...GOOD, "token-secret": "0123456789abcdeF" }), "token-secret"],
  ["has only the beginning of the secret part", secretOf({ ...GOOD, "token-secret": "0123456789" }), "token-secret"],
  ["has no secret part", secretOf({ ...GOOD, "token-secret": "" }), "token-secret"],
  ["has another id", secretOf({ ...GOOD, "token-id": "abcdeg" }), "token-id"],
  ["has ended", secretOf({ ...GOOD, expiration: "2026-01-01T00:00:00Z" }), "expired"],
  ["has an invalid expiry", secretOf({ ...GOOD, expiration: "never" }), "expired"],
  ["is not for authentication", secretOf({ ...GOOD, "usage-bootstrap-authentication": "yes" }), "usage-bootstrap-authentication"],
  ["names a group outside system:bootstrappers", secretOf({ ...GOOD, "auth-extra-groups": "system:masters" }), "auth-extra-groups"],
  [
    "names a group outside system:bootstrappers after a valid one",
    secretOf({ ...GOOD, "auth-extra-groups": "system:bootstrappers:a,system:masters" }),
    "auth-extra-groups",
  ],
  [
    "hides a group behind a line break",
    secretOf({ ...GOOD, "auth-extra-groups": "system:bootstrappers:a\nsystem:masters" }),
    "auth-extra-groups",
  ],
  ["names an empty group", secretOf({ ...GOOD, "auth-extra-groups": "system:bootstrappers:" }), "auth-extra-groups"],
  ["is of another type", secretOf(GOOD, { type: "Opaque" }), "type"],
  ["is being deleted", secretOf(GOOD, { metadata: { name: "x", deletionTimestamp: "2026-01-01T00:00:00Z" } }), "deleted"],
  ["has invalid base64", secretOf(GOOD, { data: { "token-secret": "%" } }), "token-secret"],
];

for (const [title, secret, about] of wrong) {
  test(`a bootstrap token is rejected if its Secret ${title}, and the log reveals no value`, () => {
    const found = judge(secret, SHOWN);

    equal("wrong" in found && found.wrong.includes(about), true, JSON.stringify(found));
    equal(JSON.stringify(found).includes("0123456789"), false);
  });
}

test("guessing bootstrap tokens does not flood the log", async () => {
  const lines: LogLine[] = [];
  const clock = virtualClock();
  const log = createLogger({ sink: (line) => lines.push(line), clock, level: "debug" });
  const objects = stub<Objects>({ get: () => Promise.resolve(secretOf(GOOD)) });
  const authenticator = bootstrapTokens({ ...contextOf({ bootstrapTokens: true }, { clock, objects }), log });

  equal(await authenticator?.authenticateToken("abcdef.ffffffffffffffff", []), undefined);

  deepEqual(
    lines.map(({ level }) => level),
    ["debug"],
  );
});

test("a bootstrap token is valid until its Secret is deleted or expires", async () => {
  const staticTokens = new Map([["admin", { name: "admin", groups: ["system:masters"] }]]);
  await using server = await startGuardedServer({ identity: { anonymous: true, bootstrapTokens: true, staticTokens, openIdIssuers: [] } });
  const admin = { authorization: "Bearer admin" };
  const whoAmI = async () => {
    const authorization = "Bearer abcdef.0123456789abcdef";
    const { code, body } = await server.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, { authorization });
    return code === 201 ? body.status.userInfo : code;
  };
  const secrets = "/api/v1/namespaces/kube-system/secrets";
  const secret = secretOf({ ...GOOD, expiration: "2026-01-01T00:10:00Z" });

  equal(await whoAmI(), 401);
  equal((await server.call("POST", secrets, JSON.stringify(secret), admin)).code, 201);
  const user = { username: "system:bootstrap:abcdef", groups: ["system:bootstrappers", "system:authenticated"] };
  deepEqual(await whoAmI(), user);
  await server.clock.advance(599_000);
  deepEqual(await whoAmI(), user);
  await server.clock.advance(1_000);
  equal(await whoAmI(), 401);

  await server.call("DELETE", `${secrets}/bootstrap-token-abcdef`, undefined, admin);
  await server.call("POST", secrets, JSON.stringify(secretOf(GOOD)), admin);
  deepEqual(await whoAmI(), user);
  await server.call("DELETE", `${secrets}/bootstrap-token-abcdef`, undefined, admin);
  equal(await whoAmI(), 401);
});
