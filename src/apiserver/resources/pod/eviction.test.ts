import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { startServer, type StartedServer } from "../../testing/server.ts";

const PODS = "/api/v1/namespaces/default/pods";
const BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const MERGE = { "content-type": "application/merge-patch+json" };
const REFUSED = "Cannot evict pod as it would violate the pod's disruption budget.";
/** Without a node a Pod is removed immediately; with one, it waits for its grace period. */
const NOW = { deleteOptions: { gracePeriodSeconds: 0 } };

interface Given {
  readonly phase?: string;
  readonly ready?: boolean;
  readonly budget?: JsonObject;
  /** The budget's status. Absent: not processed yet. */
  readonly status?: JsonObject;
}

async function withPods(names: readonly string[], given: Given = {}): Promise<StartedServer> {
  const server = await startServer();
  for (const name of names) {
    await server.call("POST", PODS, { metadata: { name, labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } });
    const conditions = given.ready === false ? [] : [{ type: "Ready", status: "True" }];
    await server.call("PATCH", `${PODS}/${name}/status`, { status: { phase: given.phase ?? "Running", conditions } }, MERGE);
  }
  await addBudget(server, "b", given);
  return server;
}

async function addBudget(server: StartedServer, name: string, { budget = {}, status }: Given): Promise<void> {
  const spec = { minAvailable: 1, selector: { matchLabels: { app: "a" } }, ...budget };
  const made = await server.call("POST", BUDGETS, { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name }, spec });
  assert.equal(made.code, 201, made.text);
  if (status === undefined) return;
  const numbers = { currentHealthy: 2, desiredHealthy: 1, expectedPods: 2, observedGeneration: 1, ...status };
  assert.equal((await server.call("PATCH", `${BUDGETS}/${name}/status`, { status: numbers }, MERGE)).code, 200);
}

function evict(server: StartedServer, name: string, more: JsonObject = {}, query = "") {
  return server.call("POST", `${PODS}/${name}/eviction${query}`, {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name },
    ...NOW,
    ...more,
  });
}

async function exists(server: StartedServer, name: string): Promise<boolean> {
  return (await server.call("GET", `${PODS}/${name}`)).code === 200;
}

test("an eviction uses up the budget, and the next one is rejected", async () => {
  await using server = await withPods(["p", "q"], { status: { disruptionsAllowed: 1 } });

  const first = await evict(server, "p");
  const { status } = (await server.call("GET", `${BUDGETS}/b`)).body;
  const second = await evict(server, "q");

  assert.deepEqual([first.code, first.body.status, await exists(server, "p"), await exists(server, "q")], [201, "Success", false, true]);
  assert.equal(status.disruptionsAllowed, 0);
  assert.deepEqual(status.disruptedPods, { p: "2026-01-01T00:00:00Z" });
  assert.equal(status.conditions[0].reason, "InsufficientPods");
  assert.deepEqual([second.code, second.body.reason, second.body.message], [429, "TooManyRequests", REFUSED]);
  assert.equal(second.headers["retry-after"], undefined);
});

test("of 64 concurrent evictions exactly the allowed number succeed", async () => {
  const names = Array.from({ length: 64 }, (_, index) => `p${index}`);
  await using server = await withPods(names, { status: { disruptionsAllowed: 9, currentHealthy: 64, desiredHealthy: 55 } });

  const codes = (await Promise.all(names.map((name) => evict(server, name)))).map(({ code }) => code);

  const left = await Promise.all(names.map((name) => exists(server, name)));
  assert.deepEqual([codes.filter((code) => code === 201).length, left.filter((is) => !is).length], [9, 9]);
});

const REASONS: readonly [what: string, given: Given, code: number, message: string, cause?: string][] = [
  ["that is not processed yet", {}, 429, REFUSED, "The disruption budget b is still being processed by the server."],
  [
    "that needs all",
    { status: { disruptionsAllowed: 0, desiredHealthy: 2 } },
    429,
    REFUSED,
    "The disruption budget b needs 2 healthy pods and has 2 currently",
  ],
  [
    "that could not be worked out",
    { status: { disruptionsAllowed: 0, conditions: [failedSync("SyncFailed")] } },
    429,
    REFUSED,
    "The disruption budget b does not allow evicting pods currently because it failed sync: found no controllers",
  ],
  [
    "that is closed for a reason",
    { status: { disruptionsAllowed: 0, conditions: [failedSync("Closed")] } },
    429,
    REFUSED,
    "The disruption budget b does not allow evicting pods currently (Closed): found no controllers",
  ],
  [
    "that is closed for none",
    { status: { disruptionsAllowed: 0 } },
    429,
    REFUSED,
    "The disruption budget b does not allow evicting pods currently",
  ],
];

function failedSync(reason: string): JsonObject {
  return {
    type: "DisruptionAllowed",
    status: "False",
    reason,
    message: "found no controllers",
    lastTransitionTime: "2026-01-01T00:00:00Z",
    observedGeneration: 1,
  };
}

for (const [what, given, code, message, cause] of REASONS) {
  test(`an eviction against a budget ${what} is rejected with its reason`, async () => {
    await using server = await withPods(["p"], given);

    const { body, code: answered } = await evict(server, "p");

    assert.deepEqual([answered, body.message], [code, message]);
    assert.deepEqual(body.details.causes, [{ reason: "DisruptionBudget", message: cause }]);
    assert(await exists(server, "p"));
  });
}

const FREE: readonly [what: string, given: Given][] = [
  ["that is not yet valid", { phase: "Pending" }],
  ["that has succeeded", { phase: "Succeeded" }],
  [
    "that is not ready, with a budget that always allows unhealthy Pods",
    { ready: false, budget: { unhealthyPodEvictionPolicy: "AlwaysAllow" } },
  ],
  ["that is not ready, while enough others are healthy", { ready: false, status: { disruptionsAllowed: 0 } }],
  ["without a budget", { budget: { selector: { matchLabels: { app: "other" } } } }],
];

for (const [what, given] of FREE) {
  test(`a Pod ${what} is evicted without being counted`, async () => {
    await using server = await withPods(["p"], given);

    assert.equal((await evict(server, "p")).code, 201);
    assert.equal(await exists(server, "p"), false);
    assert.equal((await server.call("GET", `${BUDGETS}/b`)).body.status.disruptedPods, undefined);
  });
}

test("a Pod with two budgets cannot be evicted", async () => {
  await using server = await withPods(["p"], { status: { disruptionsAllowed: 1 } });
  await addBudget(server, "c", { status: { disruptionsAllowed: 1 } });

  const { code, body } = await evict(server, "p");

  const why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
  assert.deepEqual([code, body.message], [500, why]);
});

test("a dry-run eviction checks the budget and does not use it", async () => {
  await using server = await withPods(["p"], { status: { disruptionsAllowed: 1 } });

  assert.equal((await evict(server, "p", {}, "?dryRun=All")).code, 201);
  assert.equal((await evict(server, "p", { deleteOptions: { dryRun: ["All"] } })).code, 201);
  assert(await exists(server, "p"));
  assert.equal((await server.call("GET", `${BUDGETS}/b`)).body.status.disruptionsAllowed, 1);
  await server.call("PATCH", `${BUDGETS}/b/status`, { status: { disruptionsAllowed: 0 } }, MERGE);
  assert.equal((await evict(server, "p", {}, "?dryRun=All")).code, 429);
});

test("a Pod evicted with a grace period has the DisruptionTarget condition", async () => {
  await using server = await withPods([], {});
  const spec = { containers: [{ name: "c", image: "i" }], nodeName: "n" };
  await server.call("POST", PODS, { metadata: { name: "slow" }, spec });

  assert.equal((await evict(server, "slow", { deleteOptions: {} })).code, 201);
  const { metadata, status } = (await server.call("GET", `${PODS}/slow`)).body;
  assert.equal(metadata.deletionGracePeriodSeconds, 30);
  assert.deepEqual(status.conditions.at(-1).reason, "EvictionByEvictionAPI");
});

test("an eviction checks its preconditions and rejects unsupported delete options", async () => {
  await using server = await withPods(["p"], { status: { disruptionsAllowed: 1 } });

  const stale = await evict(server, "p", { deleteOptions: { preconditions: { resourceVersion: "1" } } });
  const other = await evict(server, "p", { deleteOptions: { preconditions: { uid: "u" } } });
  const unsafe = await evict(server, "p", { deleteOptions: { ignoreStoreReadErrorWithClusterBreakingPotential: true } });
  const wrong = await evict(server, "p", { metadata: { name: "q" } });
  const odd = await evict(server, "p", { deleteOptions: { propagationPolicy: "Sometimes" } });

  assert.deepEqual([stale.code, other.code, unsafe.code, wrong.code], [409, 409, 422, 400]);
  assert.match(unsafe.body.message, /Potential: Invalid value: true: can not be set for pod eviction, try after removing the option$/);
  assert.deepEqual([odd.code, odd.body.details.kind, odd.body.details.causes[0].field], [422, "DeleteOptions", "propagationPolicy"]);
  assert.match(stale.body.message, /the ResourceVersion in the precondition \(1\) does not match/);
  assert.match(other.body.message, /the UID in the precondition \(u\) does not match/);
  assert(await exists(server, "p"));
  assert.equal((await evict(server, "none")).code, 404);
});

test("an Eviction of policy/v1beta1 is accepted, and of any other version rejected", async () => {
  await using server = await withPods(["p"], { status: { disruptionsAllowed: 1 } });

  assert.equal((await evict(server, "p", { apiVersion: "policy/v2" })).code, 400);
  assert.equal((await evict(server, "p", { apiVersion: "policy/v1beta1" })).code, 201);
  assert.equal(await exists(server, "p"), false);
});
