import { deepEqual, equal, match, ok, rejects, throws } from "node:assert/strict";
import { test } from "node:test";
import type { FlowSchema, PriorityLevelConfiguration } from "../../api/generated/flowcontrol.apiserver.k8s.io/v1.ts";
import { builtInFlowSchemas, builtInPriorityLevels } from "../../api/flowcontrol.apiserver.k8s.io/v1/built-in.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { dumpPriorityLevels, dumpQueues, dumpRequests } from "./dump.ts";
import { Fairness } from "./fairness.ts";
import type { FlowRequest } from "../framework/flow-request.ts";
import { OverloadError } from "../framework/overload.ts";
import { documentRequest, flowRequest, flowSchema, JANE, priorityLevel, queuing, user } from "./testing/flow-requests.ts";
import type { Seat } from "../framework/concurrency.ts";

const JOE = user("joe");
const ROOT = user("root", "system:masters");
const NODE = user("system:node:a", "system:nodes");

interface Objects {
  levels: readonly PriorityLevelConfiguration[];
  schemas: readonly FlowSchema[];
}

const BUILT_IN: Objects = {
  levels: builtInPriorityLevels.map(({ object }) => object),
  schemas: builtInFlowSchemas.map(({ object }) => object),
};

function fairnessOf(objects: Objects, serverTotal = 600) {
  const clock = virtualClock();
  const ignored: string[] = [];
  const fairness = new Fairness({
    clock,
    serverTotal,
    waitLimitMs: 15_000,
    estimate: { objectCount: () => undefined, watchCount: () => 0 },
    ignored: (kind, name, problem) => ignored.push(`${kind} ${name}: ${problem}`),
  });
  fairness.setObjects(() => objects);
  const admit = (request: FlowRequest, options = {}) => fairness.admit(request, fairness.classify(request), options);
  const current = (level: string) => fairness.levels().find(({ name }) => name === level)?.currentLimit;
  return { clock, fairness, ignored, admit, current };
}

/** One seat for all users, three queues of two. */
const SMALL: Objects = {
  levels: [priorityLevel("small", queuing(95, 3, 1, 2))],
  schemas: [flowSchema("all", { level: "small" })],
};
const ONE = 1;

function now(seat: Seat | Promise<Seat>): Seat {
  ok(!(seat instanceof Promise), "the request has to wait");
  return seat;
}

test("a request belongs to the first matching FlowSchema by precedence and to its priority level", () => {
  const { fairness } = fairnessOf(BUILT_IN);
  const lease = { group: "coordination.k8s.io", plural: "leases", verb: "update", name: "a" };
  const manager = user("system:kube-controller-manager");
  const account = user("system:serviceaccount:kube-system:deployment-controller", "system:serviceaccounts");
  const rows: readonly [request: FlowRequest, schema: string, level: string, distinguisher: string][] = [
    [flowRequest({ user: ROOT }), "exempt", "exempt", ""],
    [documentRequest("/healthz"), "probes", "exempt", ""],
    [documentRequest("/version"), "global-default", "global-default", "jane"],
    [flowRequest(), "global-default", "global-default", "jane"],
    [flowRequest({ user: NODE, ...lease, namespace: "kube-node-lease" }), "system-node-high", "node-high", "system:node:a"],
    [flowRequest({ user: NODE, plural: "nodes", subresource: "status", namespace: "" }), "system-node-high", "node-high", "system:node:a"],
    [flowRequest({ user: NODE }), "system-nodes", "system", "system:node:a"],
    [flowRequest({ user: manager, ...lease }), "system-leader-election", "leader-election", manager.name],
    [flowRequest({ user: manager }), "kube-controller-manager", "workload-high", "default"],
    [flowRequest({ user: account }), "kube-system-service-accounts", "workload-high", "default"],
    [
      flowRequest({ user: user("system:serviceaccount:a:b", "system:serviceaccounts") }),
      "service-accounts",
      "workload-low",
      "system:serviceaccount:a:b",
    ],
    [flowRequest({ user: { name: "stranger", groups: [] } }), "catch-all", "catch-all", "stranger"],
  ];
  for (const [request, schema, level, distinguisher] of rows) {
    const flow = fairness.classify(request);
    deepEqual([flow.flowSchema, flow.level.name, flow.distinguisher], [schema, level, distinguisher], JSON.stringify(request));
  }
});

test("without any object the mandatory FlowSchemas and levels apply", () => {
  const { fairness } = fairnessOf({ levels: [], schemas: [] });
  equal(fairness.classify(flowRequest({ user: ROOT })).flowSchema, "exempt");
  equal(fairness.classify(flowRequest()).flowSchema, "catch-all");
  deepEqual(
    fairness.levels().map(({ name, limits }) => [name, limits.nominal]),
    [
      ["catch-all", 600],
      ["exempt", 0],
    ],
  );
});

test("a FlowSchema with a missing level does not match, and an invalid level counts as missing", () => {
  const broken = priorityLevel("broken", { nominalConcurrencyShares: 1, limitResponse: { type: "Queue" } });
  const { fairness, ignored } = fairnessOf({
    levels: [broken, ...SMALL.levels],
    schemas: [
      flowSchema("lost", { level: "none", matchingPrecedence: 1 }),
      flowSchema("bad", { level: "broken", matchingPrecedence: 2 }),
      ...SMALL.schemas,
    ],
  });
  equal(fairness.classify(flowRequest()).flowSchema, "all");
  match(ignored[0] ?? "", /broken: broken union structure for limit response/);
});

test("free seats are assigned synchronously; then requests queue, and full queues reject with Retry-After", async () => {
  const { admit, fairness } = fairnessOf(SMALL, ONE);
  const first = now(admit(flowRequest()));
  const waiting = [admit(flowRequest()), admit(flowRequest())];
  throws(
    () => admit(flowRequest()),
    (error: unknown) => error instanceof OverloadError && error.code === 429 && error.details?.retryAfterSeconds === 1,
  );
  first.release();
  first.release();
  (await waiting[0])?.release();
  (await waiting[1])?.release();
  deepEqual(
    fairness.levels().map(({ name, queueSet: { dispatched, rejected, isIdle } }) => [name, dispatched, rejected, isIdle]),
    [
      ["catch-all", 0, 0, true],
      ["exempt", 0, 0, true],
      ["small", 3, 1, true],
    ],
  );
});

test("a request waits for a quarter of its timeout at most, or until it is cancelled", async () => {
  const { admit, clock, fairness } = fairnessOf(SMALL, ONE);
  now(admit(flowRequest()));
  const cancelled = new AbortController();
  const short = admit(flowRequest(), { timeoutMs: 4_000 }) as Promise<Seat>;
  const gone = admit(flowRequest({ user: JOE }), { signal: cancelled.signal }) as Promise<Seat>;
  const codes: string[] = [];
  short.catch(() => codes.push("short"));
  gone.catch(() => codes.push("gone"));
  await clock.advance(999);
  deepEqual(codes, []);
  cancelled.abort();
  await clock.advance(1);
  deepEqual(codes, ["gone", "short"]);
  await rejects(short, OverloadError);
  equal(fairness.levels().find(({ name }) => name === "small")?.queueSet.cancelled, 2);
});

test("a user with 500 requests does not delay another user's request beyond its fair share", async () => {
  const level = priorityLevel("small", queuing(95, 128, 6, 500));
  const { admit, clock } = fairnessOf({ levels: [level], schemas: SMALL.schemas }, ONE);
  const order: string[] = [];
  const execute = async (by: typeof JANE) => {
    const seat = await admit(flowRequest({ user: by }), { timeoutMs: 240_000 });
    order.push(by.name);
    await clock.sleep(10);
    seat.release();
  };
  const all = Array.from({ length: 500 }, () => execute(JANE));
  all.push(execute(JOE));
  await clock.advance(10_000);
  await Promise.all(all);
  // Jane has a hand of 6 queues, Joe another: he is served among the first of each.
  ok(order.indexOf("joe") <= 12, `joe was served as number ${order.indexOf("joe")}`);
});

test("a busy level borrows idle seats after 10 seconds, and returns them when their owner needs them", async () => {
  const { admit, clock, current } = fairnessOf(BUILT_IN);
  const seats = Array.from({ length: 90 }, () => admit(flowRequest(), { timeoutMs: 240_000 }));
  const before = current("global-default") ?? 0;
  ok(seats.filter((seat) => seat instanceof Promise).length > 0, "some wait");
  await clock.advance(10_000);
  ok((current("global-default") ?? 0) >= 90, `${before} became ${current("global-default")}`);
  for (const seat of seats) (await seat).release();
  for (const name of ["node-high", "leader-election", "workload-high"]) ok((current(name) ?? 0) > 0, name);
});

test("limits are adjusted for all periods that passed while idle", async () => {
  const quiet = fairnessOf(BUILT_IN);
  const polled = fairnessOf(BUILT_IN);
  for (const { admit, clock, fairness } of [quiet, polled]) {
    const seats = Array.from({ length: 20 }, () => now(admit(flowRequest())));
    await clock.advance(5_000);
    for (const seat of seats) seat.release();
    for (let period = 0; period < 40; period++) {
      await clock.advance(10_000);
      if (fairness === polled.fairness) fairness.levels();
    }
  }
  const limits = ({ fairness }: typeof quiet) => fairness.levels().map(({ name, currentLimit }) => [name, currentLimit]);
  deepEqual(limits(quiet), limits(polled));
});

test("a changed object applies from the next request on, and dispatches waiting requests", async () => {
  const objects: Objects = { ...SMALL };
  const { admit, fairness } = fairnessOf(objects, ONE * 100);
  objects.levels = [priorityLevel("small", queuing(1, 3, 1, 2)), priorityLevel("other", queuing(99, 3, 1, 2))];
  fairness.changed();
  now(admit(flowRequest()));
  const waits = admit(flowRequest()) as Promise<Seat>;
  ok(waits instanceof Promise);
  objects.levels = SMALL.levels;
  fairness.changed();
  (await waits).release();
  objects.schemas = [flowSchema("first", { level: "exempt", matchingPrecedence: 1 }), ...SMALL.schemas];
  fairness.changed();
  equal(fairness.classify(flowRequest()).flowSchema, "first");
});

test("a level whose object was deleted drains before it is removed", () => {
  const objects: Objects = { ...SMALL };
  const { admit, fairness } = fairnessOf(objects, 100);
  const seat = now(admit(flowRequest()));
  objects.levels = [];
  fairness.changed();
  const names = () => fairness.levels().map(({ name, isQuiescing }) => (isQuiescing ? `${name}, quiescing` : name));
  deepEqual(names(), ["catch-all", "exempt", "small, quiescing"]);
  seat.release();
  deepEqual(names(), ["catch-all", "exempt"]);
});

test("closing rejects waiting requests", async () => {
  const { admit, fairness } = fairnessOf(SMALL, ONE);
  now(admit(flowRequest()));
  const waits = admit(flowRequest()) as Promise<Seat>;
  fairness.close();
  await rejects(waits, OverloadError);
});

test("the dumps have upstream's columns, aligned, with rows for waiting and executing requests", () => {
  const { admit, fairness } = fairnessOf(SMALL, ONE);
  now(admit(flowRequest()));
  void (admit(flowRequest({ verb: "get", name: "a" })) as Promise<Seat>).catch(() => undefined);
  const levels = fairness.levels();
  deepEqual(dumpPriorityLevels(levels).split("\n").slice(0, 2), [
    "PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, DispatchedRequests, RejectedRequests, TimedoutRequests, CancelledRequests",
    "catch-all,         0,            true,   false,       0,               0,                 0,                  0,                0,                0",
  ]);
  match(dumpPriorityLevels(levels), /^small, +1, +false, +false, +1, +1, +1, +0, +0, +0$/m);
  match(dumpQueues(levels), /^small, +\d, +1, +1, +1, +0\.00300000ss, +1, +1, +0\.00300000ss$/m);
  const options = { withDetails: true, wallMs: () => Date.UTC(2026, 0, 1) };
  const lines = dumpRequests(levels, options).split("\n");
  match(lines[0] ?? "", /^PriorityLevelName, FlowSchemaName, QueueIndex, RequestIndexInQueue, FlowDistingsher, ArriveTime, .*SubResource$/);
  match(
    lines[1] ?? "",
    /^small, +all, +\d, +0, +jane, +2026-01-01T00:00:00Z, +1, +0, +0s, +0001-01-01T00:00:00Z, +jane, +get, +\/api\/v1\/namespaces\/default\/pods\/a, +default, +a, +v1, +pods, +$/,
  );
  match(lines[2] ?? "", /^small, +all, +\d, +-1, .*2026-01-01T00:00:00Z, +jane, +list, /);
});
