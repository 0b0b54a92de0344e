import assert from "node:assert/strict";
import { test } from "node:test";
import { pods } from "../../api/core/v1/pod.ts";
import { secrets } from "../../api/core/v1/secret.ts";
import { serviceAccounts } from "../../api/core/v1/service-account.ts";
import type { Secret } from "../../api/generated/core/v1.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { legacyServiceAccountTokenCleanerController } from "./legacy-service-account-token-cleaner-controller.ts";
import { decideUnusedToken, type TokenDecision } from "./unused-token.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const KEY = { namespace: "default", name: "old" };
const LAST_USED = "kubernetes.io/legacy-token-last-used";
const INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since";
/** Short: an advance of days costs seconds. The virtual time starts at the beginning of 2026. */
const CONTROLLER = legacyServiceAccountTokenCleanerController({ cleanUpPeriodMs: HOUR_MS });

const token = (name: string, labels: Record<string, string> = {}): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "default", labels, annotations: { "kubernetes.io/service-account.name": "robot" } },
  type: "kubernetes.io/service-account-token",
});

const ROBOT = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { name: "robot", namespace: "default" },
  secrets: [{ name: "old" }],
} as const;

const TRACKING = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "kube-apiserver-legacy-service-account-token-tracking", namespace: "kube-system" },
  data: { since: "2025-12-31" },
} as const;

const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "user", namespace: "default" },
  spec: {
    containers: [{ name: "main", image: "web:1" }],
    volumes: [{ name: "token", secret: { secretName: "old" } }],
  },
} as const;

const at = (day: number, hours = 0) => Date.UTC(2026, 0, day, hours);
const DECISIONS: readonly [
  title: string,
  labels: Record<string, string>,
  trackedSince: string | undefined,
  nowMs: number,
  TokenDecision,
][] = [
  ["whose use is not recorded", {}, undefined, at(30), { is: "keep" }],
  ["whose use is recorded since an unknown date", {}, "soon", at(30), { is: "keep" }],
  ["that was used at an unknown date", { [LAST_USED]: "today" }, "2026-01-01", at(30), { is: "keep" }],
  ["whose use is recorded for less than the period", {}, "2026-01-05", at(15, 23), { is: "keep", untilMs: at(16) }],
  ["that was created within the period", {}, "2025-01-01", at(11), { is: "keep", untilMs: at(11) + 1 }],
  ["that was used within the period", { [LAST_USED]: "2026-01-07" }, "2025-01-01", at(17), { is: "keep", untilMs: at(18) }],
  ["that was never used", {}, "2026-01-05", at(16), { is: "invalidate", since: "2026-01-16" }],
  ["that was used before the period", { [LAST_USED]: "2026-01-07" }, "2025-01-01", at(18), { is: "invalidate", since: "2026-01-18" }],
  ["with a malformed date of invalidation", { [INVALID_SINCE]: "x" }, "2025-01-01", at(20), { is: "invalidate", since: "2026-01-20" }],
  ["that is invalid for less than the period", { [INVALID_SINCE]: "2026-01-20" }, "2025-01-01", at(30), { is: "keep", untilMs: at(31) }],
  ["that is invalid for the period", { [INVALID_SINCE]: "2026-01-20" }, "2025-01-01", at(31), { is: "delete" }],
];
for (const [title, labels, trackedSince, nowMs, expected] of DECISIONS) {
  test(`the decision about a token ${title} is: ${expected.is}`, () => {
    const secret = token("old", labels);
    const created = { ...secret, metadata: { ...secret.metadata, creationTimestamp: "2026-01-01T00:00:00Z" } };

    assert.deepEqual(decideUnusedToken(created, { nowMs, cleanUpPeriodMs: 10 * DAY_MS, trackedSince }), expected);
  });
}

async function stateOf(cluster: Given): Promise<string | undefined> {
  const found = (await cluster.list(secrets, "default")).find(({ metadata }) => metadata.name === KEY.name);
  return found === undefined ? "deleted" : found.metadata.labels?.[INVALID_SINCE];
}

async function advance(cluster: Given, hours: number): Promise<void> {
  await cluster.clock.advance(hours * HOUR_MS);
  await cluster.settled();
}

test("an unused token that its account lists is invalidated after the period and deleted after another, each at its time", async () => {
  await using cluster = await given(TRACKING, ROBOT, token("old"), token("manual"));
  await cluster.run(CONTROLLER);

  await advance(cluster, 1);
  assert.equal(await stateOf(cluster), undefined);
  await advance(cluster, 0.5);
  assert.equal(await stateOf(cluster), "2026-01-01");
  await advance(cluster, 23);
  assert.equal(await stateOf(cluster), "2026-01-01");
  await advance(cluster, 0.5);

  assert.equal(await stateOf(cluster), "deleted");
  assert.deepEqual(
    (await cluster.list(secrets, "default")).map(({ metadata }) => [metadata.name, metadata.labels]),
    [["manual", undefined]],
  );
});

test("a token is kept while a Pod uses it, and invalidated when the Pod is deleted", async () => {
  await using cluster = await given(TRACKING, ROBOT, token("old"), POD);
  await cluster.run(CONTROLLER);
  await advance(cluster, 2);
  assert.equal(await stateOf(cluster), undefined);

  await cluster.client.delete(pods, { namespace: "default", name: "user" }, { gracePeriodSeconds: 0 });
  await cluster.settled();

  assert.equal(await stateOf(cluster), "2026-01-01");
});

test("a token that was used today, or that its account no longer lists, is kept", async () => {
  await using cluster = await given(TRACKING, { ...ROBOT, secrets: [{ name: "old" }, { name: "other" }] }, token("old"), token("other"));
  await cluster.run(CONTROLLER);
  const value = { metadata: { labels: { [LAST_USED]: "2026-01-01" } } };
  await cluster.client.patch(secrets, KEY, { type: "merge", value });
  await cluster.client.patch(
    serviceAccounts,
    { namespace: "default", name: "robot" },
    { type: "merge", value: { secrets: [{ name: "old" }] } },
  );

  await advance(cluster, 2);

  assert.deepEqual(cluster.actions, []);
});

test("after a crash at any step the unused tokens are invalidated or deleted, and the one in use stays", () =>
  everyStepMayBeTheLast(
    {
      objects: [
        TRACKING,
        { ...ROBOT, secrets: [{ name: "old" }, { name: "invalid" }, { name: "used" }] },
        token("old"),
        token("invalid", { [INVALID_SINCE]: "2025-01-01" }),
        token("used"),
        { ...POD, spec: { ...POD.spec, volumes: [{ name: "token", secret: { secretName: "used" } }] } },
      ],
      controllers: () => [legacyServiceAccountTokenCleanerController({ cleanUpPeriodMs: 10_000 })],
      restMs: 20_000,
    },
    { deathsMax: rounds({ quick: 4, full: Infinity }), disturbedRuns: rounds({ quick: 1, full: 20 }) },
  ));
