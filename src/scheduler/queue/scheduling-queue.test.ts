import assert from "node:assert/strict";
import { test } from "node:test";
import { countedSignal } from "../../base/testing/counted-signal.ts";
import type { RetryRule } from "../framework/cluster-event.ts";
import type { Plugin } from "../framework/plugin.ts";
import type { PodInfo } from "../framework/pod-info.ts";
import type { PodParts } from "../framework/testing/builders.ts";
import { NO_NODES } from "./retry-rules.ts";
import type { OutsideEvent } from "./scheduling-queue.ts";
import {
  anError,
  aPodInfo,
  fail,
  nodeAdded,
  nodeChanged,
  placeOf,
  podBound,
  podDeleted,
  popAll,
  queueWith,
  refusedBy,
} from "./testing/queue-harness.ts";

const onNodes: RetryRule = { of: "node", changes: ["added", "labels"] };
/** Can be helped by nodes only. */
const picky: Plugin = { name: "Picky", retryOn: [onNodes] };
const freed: Plugin = { name: "Freed", retryOn: [{ of: "assigned-pod", changes: ["deleted"] }] };
const stubborn: Plugin = { name: "Stubborn", retryOn: [] };
const unsure: Plugin = { name: "Unsure" };
const gate: Plugin = {
  name: "Gate",
  retryOn: [{ of: "waiting-pod", changes: ["ungated"] }],
  preEnqueue: (pod) => ((pod.spec?.schedulingGates?.length ?? 0) > 0 ? { reasons: ["gated"], resolvable: false } : undefined),
};
const all = [picky, freed, stubborn, unsure, gate];
const namespaceEvent: OutsideEvent = { of: "namespace", namespace: { apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } } };

// ── the order ───────────────────────────────────────────────────────────────────────────────────────

test("Pods are popped by importance, and equal ones in order of arrival", () => {
  const harness = queueWith(all);
  for (const name of ["a", "b"]) harness.queue.add(aPodInfo(name));
  harness.queue.add(aPodInfo("urgent", { priority: 10 }));
  harness.queue.add(aPodInfo("c"));

  assert.deepEqual(popAll(harness), ["urgent", "a", "b", "c"]);
});

test("a Pod whose priority changes is reordered", () => {
  const harness = queueWith(all);
  for (const name of ["a", "b"]) harness.queue.add(aPodInfo(name));

  harness.queue.update(aPodInfo("b", { priority: 10 }));

  assert.deepEqual(popAll(harness), ["b", "a"]);
});

test("a waiting pop gets the first in order of those added at once, and each Pod is popped once", async () => {
  const { queue } = queueWith(all);
  const waiting = [queue.pop(), queue.pop()];

  queue.add(aPodInfo("a"));
  queue.add(aPodInfo("urgent", { priority: 10 }));

  assert.deepEqual(
    (await Promise.all(waiting)).map(({ info }) => info.key),
    ["default/urgent", "default/a"],
  );
});

test("a completed pop no longer listens to its signal", async () => {
  const { queue } = queueWith(all);
  const stop = countedSignal();
  const waiting = queue.pop(stop.signal);

  queue.add(aPodInfo("a"));
  await waiting;

  assert.equal(stop.listenerCount(), 0);
});

test("a waiting pop rejects on abort or disposal, and no Pod is lost", async () => {
  const harness = queueWith(all);
  const stop = new AbortController();
  const stopped = harness.queue.pop(stop.signal);
  stop.abort(new Error("Enough"));
  await assert.rejects(stopped, /Enough/);
  await assert.rejects(harness.queue.pop(stop.signal), /Enough/);

  const closed = harness.queue.pop();
  harness.queue[Symbol.dispose]();
  await assert.rejects(closed, /closed/);
  await assert.rejects(harness.queue.pop(), /closed/);

  harness.queue.add(aPodInfo("a"));
  assert.deepEqual(popAll(harness), ["a"]);
});

// ── which events make a rejected Pod worth a retry ──────────────────────────────────────────────────

const onlyBig: Plugin = {
  name: "OnlyBig",
  retryOn: [{ of: "node", changes: ["added"], isWorthIt: (_pod, { node }) => node.metadata.name === "big" }],
};
const thrower: Plugin = {
  name: "Thrower",
  retryOn: [
    {
      of: "node",
      changes: ["added"],
      isWorthIt: () => {
        throw new Error("A mistake of the plugin");
      },
    },
  ],
};

const retries: readonly {
  readonly by: readonly string[];
  readonly event: OutsideEvent;
  readonly isTried: boolean;
  readonly title: string;
}[] = [
  { title: "an event that its rule names", by: ["Picky"], event: nodeAdded(), isTried: true },
  { title: "another change that its rule names", by: ["Picky"], event: nodeChanged("labels"), isTried: true },
  { title: "several changes, one of them named", by: ["Picky"], event: nodeChanged("taints", "labels"), isTried: true },
  { title: "a change that its rule does not name", by: ["Picky"], event: nodeChanged("taints"), isTried: false },
  { title: "the same change of something else", by: ["Picky"], event: podBound(), isTried: false },
  { title: "an update without a change", by: ["Unsure"], event: nodeChanged(), isTried: false },
  { title: "an event that helps only a plugin that did not refuse it", by: ["Freed"], event: nodeAdded(), isTried: false },
  { title: "an event that helps one of two that refused it", by: ["Freed", "Picky"], event: nodeAdded(), isTried: true },
  { title: "anything, if the plugin has no rules", by: ["Unsure"], event: podBound(), isTried: true },
  { title: "a namespace, if the plugin has no rules", by: ["Unsure"], event: namespaceEvent, isTried: true },
  { title: "nothing, if the plugin has an empty list", by: ["Stubborn"], event: nodeAdded(), isTried: false },
  { title: "anything, if the plugin is unknown", by: ["Stranger"], event: podBound(), isTried: true },
  { title: "an event whose hint accepts it", by: ["OnlyBig"], event: nodeAdded("big"), isTried: true },
  { title: "an event whose hint rejects it", by: ["OnlyBig"], event: nodeAdded("small"), isTried: false },
  { title: "an event whose hint fails", by: ["Thrower"], event: nodeAdded(), isTried: true },
  { title: "a node is added, if none existed", by: [NO_NODES], event: nodeAdded(), isTried: true },
  { title: "a node's labels change, if none existed", by: [NO_NODES], event: nodeChanged("labels"), isTried: false },
];

for (const { title, by, event, isTried } of retries) {
  test(`a Pod rejected by ${by.join(" and ")} is ${isTried ? "" : "not "}retried after ${title}`, () => {
    const harness = queueWith([...all, onlyBig, thrower]);
    harness.queue.add(aPodInfo("p"));
    fail(harness, "p", refusedBy(...by));

    harness.queue.moveAllOn(event);

    assert.equal(placeOf(harness, "p"), isTried ? "backoff" : "unschedulable");
  });

  test(`a Pod in flight, rejected later by ${by.join(" and ")}, is ${isTried ? "" : "not "}retried after ${title}`, () => {
    const harness = queueWith([...all, onlyBig, thrower]);
    harness.queue.add(aPodInfo("p"));
    const taken = harness.queue.tryPop();

    harness.queue.moveAllOn(event);
    harness.queue.putBack(taken?.info.uid ?? "", refusedBy(...by));

    assert.equal(placeOf(harness, "p"), isTried ? "backoff" : "unschedulable");
  });
}

test("a Pod rejected by an unknown plugin is retried on events that no known plugin handles", () => {
  const harness = queueWith([picky]);
  harness.queue.add(aPodInfo("p"));
  fail(harness, "p", refusedBy("Stranger"));

  harness.queue.moveAllOn(podBound());

  assert.equal(placeOf(harness, "p"), "backoff");
});

test("events before a Pod was popped do not count when it is requeued", () => {
  const harness = queueWith(all);
  for (const name of ["early", "late"]) harness.queue.add(aPodInfo(name));
  const early = harness.queue.tryPop();

  harness.queue.moveAllOn(nodeAdded());
  const late = harness.queue.tryPop();
  for (const taken of [early, late]) harness.queue.putBack(taken?.info.uid ?? "", refusedBy("Picky"));

  assert.deepEqual([placeOf(harness, "early"), placeOf(harness, "late")], ["backoff", "unschedulable"]);
});

test("an event moves only the Pods that it concerns, in flight or not", () => {
  const harness = queueWith(all);
  for (const name of ["low", "high", "flying"]) harness.queue.add(aPodInfo(name, { priority: name === "low" ? 1 : 5 }));
  fail(harness, "high", refusedBy("Freed"));
  const flying = harness.queue.tryPop();
  fail(harness, "low", refusedBy("Freed"));

  harness.queue.moveAllOn(podDeleted(), ({ priority }) => priority <= 1);
  harness.queue.putBack(flying?.info.uid ?? "", refusedBy("Freed"));

  assert.deepEqual(
    ["low", "high", "flying"].map((name) => placeOf(harness, name)),
    ["backoff", "unschedulable", "unschedulable"],
  );
});

test("a Pod in flight for longer than the event log counts as helped", () => {
  const harness = queueWith(all);
  harness.queue.add(aPodInfo("p"));
  const taken = harness.queue.tryPop();

  for (let count = 0; count < 10_000; count++) harness.queue.moveAllOn(podBound());
  harness.queue.putBack(taken?.info.uid ?? "", refusedBy("Picky"));

  assert.equal(placeOf(harness, "p"), "backoff");
});

test("an event irrelevant to ten thousand waiting Pods evaluates none of them, and a relevant one only those concerned", () => {
  const asked: string[] = [];
  const hinting = (name: string, rule: RetryRule): Plugin => ({
    name,
    retryOn: [{ ...rule, isWorthIt: ({ metadata }: PodInfo["pod"]) => asked.push(metadata.name ?? "") < 0 }],
  });
  const plugins = [hinting("OnNodes", onNodes), hinting("OnPods", { of: "assigned-pod", changes: ["deleted"] })];
  const harness = queueWith(plugins);
  for (let index = 0; index < 10_000; index++) harness.queue.add(aPodInfo(`p${index}`));
  for (let index = 0; index < 10_000; index++) fail(harness, `p${index}`, refusedBy(index < 3 ? "OnPods" : "OnNodes"));

  for (let count = 0; count < 10_000; count++) harness.queue.moveAllOn(podBound());
  assert.deepEqual(asked, []);

  const considered: string[] = [];
  harness.queue.moveAllOn(podDeleted(), ({ key }) => considered.push(key) > 0);
  assert.deepEqual([considered.length, asked], [3, ["p0", "p1", "p2"]]);
});

// ── its own changes ─────────────────────────────────────────────────────────────────────────────────

const tolerant: Plugin = { name: "Tolerant", retryOn: [{ of: "waiting-pod", changes: ["tolerations"] }] };
const toleration = { key: "dedicated", operator: "Exists" } as const;

const ownChanges: readonly { readonly by: string; readonly after: PodParts; readonly isTried: boolean }[] = [
  { by: "Tolerant", after: { tolerations: [toleration] }, isTried: true },
  { by: "Tolerant", after: { labels: { app: "web" } }, isTried: false },
  { by: "Picky", after: { tolerations: [toleration] }, isTried: false },
  { by: "Unsure", after: { phase: "Pending", annotations: { note: "1" } }, isTried: true },
];

for (const { by, after, isTried } of ownChanges) {
  test(`a Pod rejected by ${by} is ${isTried ? "" : "not "}retried when it changes to ${JSON.stringify(after)}, in flight or not`, () => {
    const harness = queueWith([...all, tolerant]);
    for (const name of ["waiting", "flying"]) harness.queue.add(aPodInfo(name));
    fail(harness, "waiting", refusedBy(by));
    const flying = harness.queue.tryPop();

    for (const name of ["waiting", "flying"]) harness.queue.update(aPodInfo(name, after));
    harness.queue.putBack(flying?.info.uid ?? "", refusedBy(by));

    const expected = isTried ? "backoff" : "unschedulable";
    assert.deepEqual([placeOf(harness, "waiting"), placeOf(harness, "flying")], [expected, expected]);
    assert.deepEqual(harness.queue.find("default/flying")?.info.pod, aPodInfo("flying", after).pod);
  });
}

test("a change seen by one attempt does not count for the next", () => {
  const harness = queueWith([...all, tolerant]);
  harness.queue.add(aPodInfo("p"));
  const taken = harness.queue.tryPop();
  harness.queue.update(aPodInfo("p", { tolerations: [toleration] }));
  harness.queue.putBack(taken?.info.uid ?? "", refusedBy("Tolerant"));

  fail(harness, "p", refusedBy("Tolerant"));

  assert.equal(placeOf(harness, "p"), "unschedulable");
});

test("an unchanged Pod update is ignored", () => {
  const harness = queueWith(all);
  const first = aPodInfo("p");
  const versioned = { ...first, pod: { ...first.pod, metadata: { ...first.pod.metadata, resourceVersion: "7" } } };
  harness.queue.add(versioned);
  fail(harness, "p", refusedBy("Unsure"));

  harness.queue.update({ ...versioned, pod: { ...versioned.pod } });

  assert.equal(placeOf(harness, "p"), "unschedulable");
});

// ── time ────────────────────────────────────────────────────────────────────────────────────────────

const backoffs: readonly { readonly failures: string; readonly endsAfterMs: number }[] = [
  // Backoffs end with the whole second in which they expire.
  { failures: "r", endsAfterMs: 2_000 },
  { failures: "rr", endsAfterMs: 3_000 },
  { failures: "rrr", endsAfterMs: 5_000 },
  { failures: "rrrr", endsAfterMs: 9_000 },
  { failures: "rrrrr", endsAfterMs: 11_000 },
  { failures: "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr", endsAfterMs: 11_000 },
  { failures: "e", endsAfterMs: 2_000 },
  { failures: "ee", endsAfterMs: 3_000 },
  // Errors have their own count, which a rejection resets.
  { failures: "rrre", endsAfterMs: 2_000 },
  { failures: "eeer", endsAfterMs: 2_000 },
  { failures: "eeere", endsAfterMs: 2_000 },
  { failures: "rrer", endsAfterMs: 5_000 },
];

for (const { failures, endsAfterMs } of backoffs) {
  test(`a Pod that failed ${failures} (rejected, error) backs off until ${endsAfterMs} ms after the last`, async () => {
    const harness = queueWith(all);
    harness.queue.add(aPodInfo("p"));
    for (const letter of failures) {
      harness.queue.activate(aPodInfo("p").uid);
      fail(harness, "p", letter === "r" ? refusedBy("Picky") : anError);
    }
    harness.queue.moveAllOn(nodeAdded());
    assert.deepEqual([placeOf(harness, "p"), harness.queue.find("default/p")?.retriedAtMs], ["backoff", endsAfterMs]);

    await harness.clock.advance(endsAfterMs - 1);
    const before = placeOf(harness, "p");
    await harness.clock.advance(1);

    assert.deepEqual([before, placeOf(harness, "p")], ["backoff", "active"]);
  });
}

test("backoff counts from the last attempt: a Pod that waited long enough for an event is active at once", async () => {
  const harness = queueWith(all);
  harness.queue.add(aPodInfo("p"));
  fail(harness, "p", refusedBy("Picky"));

  await harness.clock.advance(2_000);
  harness.queue.moveAllOn(nodeAdded());

  assert.equal(placeOf(harness, "p"), "active");
});

test("a rejected Pod is popped early from backoff if nothing else is active; one that failed with an error is not", async () => {
  const harness = queueWith(all);
  for (const name of ["refused", "failed"]) harness.queue.add(aPodInfo(name));
  fail(harness, "refused", refusedBy("Picky"));
  fail(harness, "failed", anError);
  const next = harness.queue.pop();

  harness.queue.moveAllOn(nodeAdded());

  assert.equal((await next).info.key, "default/refused");
  assert.deepEqual([popAll(harness), placeOf(harness, "failed")], [[], "backoff"]);
});

test("a Pod in backoff yields to any active one", () => {
  const harness = queueWith(all);
  harness.queue.add(aPodInfo("refused", { priority: 10 }));
  fail(harness, "refused", refusedBy("Picky"));
  harness.queue.moveAllOn(nodeAdded());
  harness.queue.add(aPodInfo("fresh"));

  assert.deepEqual(popAll(harness), ["fresh", "refused"]);
});

test("within the same second the more important Pod leaves backoff first", async () => {
  const harness = queueWith(all);
  const failAt = async (name: string, priority: number, waitMs: number) => {
    harness.queue.add(aPodInfo(name, { priority }));
    fail(harness, name, refusedBy("Picky"));
    await harness.clock.advance(waitMs);
  };
  await failAt("first", 0, 500);
  await failAt("important", 5, 500);
  await failAt("later", 10, 0);
  harness.queue.moveAllOn(nodeAdded());

  assert.deepEqual(popAll(harness), ["important", "first", "later"]);
});

test("an unhelped Pod is flushed after exactly five minutes", async () => {
  const harness = queueWith(all);
  harness.queue.add(aPodInfo("p"));
  await harness.clock.advance(1_234);
  fail(harness, "p", refusedBy("Stubborn"));

  await harness.clock.advance(5 * 60_000 - 1);
  const before = placeOf(harness, "p");
  await harness.clock.advance(1);

  assert.deepEqual([before, placeOf(harness, "p")], ["unschedulable", "active"]);
});

test("one timer serves all deadlines, and none is left when the queue is disposed", async () => {
  const harness = queueWith(all);
  for (const name of ["a", "b", "c"]) harness.queue.add(aPodInfo(name));
  fail(harness, "a", refusedBy("Picky"));
  fail(harness, "b", anError);
  fail(harness, "c", refusedBy("Stubborn"));
  await harness.clock.settle();
  assert.equal(harness.clock.sleeping, 1);

  harness.queue[Symbol.dispose]();
  await harness.clock.settle();

  assert.equal(harness.clock.sleeping, 0);
});

test("an empty queue has no timer", async () => {
  const { clock, queue } = queueWith(all);
  queue.add(aPodInfo("p"));
  queue.done(queue.tryPop()?.info.uid ?? "");
  await clock.settle();

  assert.deepEqual([clock.sleeping, queue.list()], [0, []]);
});

// ── gates, pending, activate ────────────────────────────────────────────────────────────────────────

test("a gated Pod stays gated, whatever happens, until its own change ungates it", async () => {
  const harness = queueWith(all);
  harness.queue.add(aPodInfo("p", { gates: ["a", "b"] }));
  for (const event of [nodeAdded(), podBound(), podDeleted(), namespaceEvent]) harness.queue.moveAllOn(event);
  harness.queue.activate(aPodInfo("p").uid);
  harness.queue.update(aPodInfo("p", { gates: ["b"] }));
  await harness.clock.advance(3_600_000);
  assert.deepEqual([placeOf(harness, "p"), harness.queue.find("default/p")?.gatedBy], ["gated", "Gate"]);

  harness.queue.update(aPodInfo("p"));

  assert.deepEqual([placeOf(harness, "p"), harness.queue.find("default/p")?.gatedBy], ["active", undefined]);
});

test("a gate with other dependencies is re-evaluated when its rule says so, and only then", () => {
  let isOpen = false;
  let asked = 0;
  const turnstile: Plugin = {
    name: "Turnstile",
    retryOn: [onNodes],
    preEnqueue: () => (asked++, isOpen ? undefined : { reasons: ["closed"], resolvable: false }),
  };
  const harness = queueWith([turnstile]);
  harness.queue.add(aPodInfo("p"));
  harness.queue.moveAllOn(podBound());
  harness.queue.moveAllOn(nodeAdded());
  assert.deepEqual([asked, placeOf(harness, "p")], [2, "gated"]);

  isOpen = true;
  harness.queue.moveAllOn(podBound());
  assert.deepEqual([asked, placeOf(harness, "p")], [2, "gated"]);

  harness.queue.moveAllOn(nodeAdded());
  assert.deepEqual([asked, placeOf(harness, "p")], [3, "active"]);
});

test("a gate without an opinion is re-evaluated for events of its own rule that help a rejecting plugin", () => {
  let isBusy = false;
  const busy: Plugin = {
    name: "Busy",
    retryOn: [{ of: "assigned-pod", changes: ["deleted"], isWorthIt: () => false }],
    preEnqueue: () => (isBusy ? { reasons: ["busy"], resolvable: false } : undefined),
  };
  const harness = queueWith([...all, busy]);
  for (const name of ["freed", "picky"]) harness.queue.add(aPodInfo(name));
  fail(harness, "freed", refusedBy("Freed", "Picky"));
  fail(harness, "picky", refusedBy("Picky"));
  isBusy = true;
  harness.queue.moveAllOn(nodeAdded());
  isBusy = false;

  harness.queue.moveAllOn(nodeAdded());
  assert.deepEqual([placeOf(harness, "freed"), placeOf(harness, "picky")], ["gated", "gated"]);

  harness.queue.moveAllOn(podDeleted());
  assert.deepEqual([placeOf(harness, "freed"), placeOf(harness, "picky")], ["backoff", "gated"]);

  for (const name of ["freed", "picky"]) harness.queue.askGates(aPodInfo(name).uid);
  assert.deepEqual([placeOf(harness, "freed"), placeOf(harness, "picky")], ["backoff", "backoff"]);
});

test("preEnqueue runs before every retry, and a throwing one gates", () => {
  let isBroken = false;
  const broken: Plugin = {
    name: "Broken",
    preEnqueue: () => {
      if (isBroken) throw new Error("A mistake of the plugin");
      return undefined;
    },
  };
  const harness = queueWith([...all, broken]);
  harness.queue.add(aPodInfo("p"));
  fail(harness, "p", refusedBy("Picky"));

  isBroken = true;
  harness.queue.moveAllOn(nodeAdded());

  assert.equal(harness.queue.find("default/p")?.gatedBy, "Broken");
});

test("an event for a pending plugin also ends the backoff; one for another plugin does not", () => {
  const failure = { is: "refused", by: new Set(["Freed", "Picky"]), pendingOn: new Set(["Freed"]) } as const;
  const harness = queueWith(all);
  for (const name of ["a", "b"]) harness.queue.add(aPodInfo(name));
  fail(harness, "a", failure);
  harness.queue.moveAllOn(nodeAdded());
  assert.equal(placeOf(harness, "a"), "backoff");

  fail(harness, "b", failure);
  harness.queue.moveAllOn(podDeleted());
  assert.equal(placeOf(harness, "b"), "active");
});

test("an activated Pod becomes active at once, from wherever it waited", () => {
  const harness = queueWith(all);
  for (const name of ["unschedulable", "backoff", "failed"]) harness.queue.add(aPodInfo(name));
  fail(harness, "unschedulable", refusedBy("Stubborn"));
  fail(harness, "backoff", refusedBy("Picky"));
  fail(harness, "failed", anError);
  harness.queue.moveAllOn(nodeAdded());

  for (const { info } of harness.queue.list()) harness.queue.activate(info.uid);
  harness.queue.activate("unknown");

  assert.deepEqual(harness.queue.counts(), { active: 3, backoff: 0, unschedulable: 0, gated: 0, "in-flight": 0 });
});

test("an event for a pending plugin takes precedence over activation in flight", () => {
  const harness = queueWith(all);
  harness.queue.add(aPodInfo("p"));
  const taken = harness.queue.tryPop();

  harness.queue.moveAllOn(podDeleted());
  harness.queue.activate(taken?.info.uid ?? "");
  harness.queue.putBack(taken?.info.uid ?? "", { is: "refused", by: new Set(), pendingOn: new Set(["Freed"]) });

  assert.equal(placeOf(harness, "p"), "active");
});

test("a Pod activated in flight is retried after its backoff, this time only", () => {
  const harness = queueWith(all);
  harness.queue.add(aPodInfo("p"));
  const taken = harness.queue.tryPop();

  harness.queue.activate(taken?.info.uid ?? "");
  harness.queue.putBack(taken?.info.uid ?? "", refusedBy("Stubborn"));
  assert.equal(placeOf(harness, "p"), "backoff");

  fail(harness, "p", refusedBy("Stubborn"));
  assert.equal(placeOf(harness, "p"), "unschedulable");
});

// ── adding and deleting ────────────────────────────────────────────────────────────────────────────

test("a Pod can be deleted from every place, and is then nowhere", async () => {
  const harness = queueWith(all);
  const names = ["unschedulable", "backoff", "flying", "active"];
  for (const name of names) harness.queue.add(aPodInfo(name));
  harness.queue.add(aPodInfo("gated", { gates: ["a"] }));
  fail(harness, "unschedulable", refusedBy("Stubborn"));
  fail(harness, "backoff", anError);
  const flying = harness.queue.tryPop();
  assert.deepEqual(harness.queue.counts(), { active: 1, backoff: 1, unschedulable: 1, gated: 1, "in-flight": 1 });

  for (const name of [...names, "gated", "unknown"]) harness.queue.delete(aPodInfo(name).uid);
  harness.queue.putBack(flying?.info.uid ?? "", anError);
  harness.queue.done(flying?.info.uid ?? "");
  await harness.clock.advance(3_600_000);

  assert.deepEqual(harness.queue.counts(), { active: 0, backoff: 0, unschedulable: 0, gated: 0, "in-flight": 0 });
  assert.deepEqual(harness.queue.list(), []);
});

test("a recreated Pod of the same name is another one, and events of the former do not affect it", () => {
  const harness = queueWith(all);
  harness.queue.add(aPodInfo("p", { uid: "1" }));
  harness.queue.tryPop();

  harness.queue.update(aPodInfo("p", { uid: "2" }));
  harness.queue.putBack("1", anError);
  assert.deepEqual(
    harness.queue.list().map(({ info, place }) => [info.uid, place]),
    [["2", "active"]],
  );

  harness.queue.delete("1");
  assert.equal(harness.queue.find("default/p")?.info.uid, "2");
});

test("the place of a Pod and what it waits for are visible", async () => {
  const harness = queueWith(all);
  const info = aPodInfo("p");
  harness.queue.add(info);
  await harness.clock.advance(100);
  fail(harness, "p", { is: "refused", by: new Set(["Picky"]), pendingOn: new Set(["Freed"]) });

  assert.deepEqual(harness.queue.find("default/p"), {
    place: "unschedulable",
    info,
    attempts: 1,
    queuedAtMs: 100,
    refusedBy: new Set(["Picky"]),
    pendingOn: new Set(["Freed"]),
    retriedAtMs: 300_100,
  });
  assert.equal(harness.queue.find("default/q"), undefined);
});

test("a popped Pod carries its attempts and the time since it became ready", async () => {
  const harness = queueWith(all);
  await harness.clock.advance(50);
  harness.queue.add(aPodInfo("p"));
  fail(harness, "p", anError);
  await harness.clock.advance(10_000);

  const taken = harness.queue.tryPop();

  assert.deepEqual([taken?.attempts, taken?.firstActiveAtMs, taken?.queuedAtMs], [2, 50, 50]);
});

// ── nominations ─────────────────────────────────────────────────────────────────────────────────────

test("a Pod that names a node is nominated from when it is ready until it is deleted; a gated one is not", () => {
  const { queue, nominator } = queueWith(all);
  queue.add(aPodInfo("p", { nominatedNode: "a" }));
  queue.add(aPodInfo("gated", { nominatedNode: "a", gates: ["g"] }));
  assert.deepEqual(
    nominator.nominatedPods("a").map(({ key }) => key),
    ["default/p"],
  );

  queue.delete(aPodInfo("p").uid);
  assert.deepEqual(nominator.nominatedPods("a"), []);
});

test("a decided nomination survives Pod updates; a Pod being bound gets none from an old status", () => {
  const { queue, nominator } = queueWith(all);
  for (const name of ["preemptor", "bound"]) queue.add(aPodInfo(name, { nominatedNode: "old" }));
  queue.tryPop();
  queue.tryPop();
  nominator.nominate(aPodInfo("preemptor"), "a");
  nominator.delete(aPodInfo("bound").uid);

  const after = aPodInfo("preemptor", { nominatedNode: "a", labels: { app: "web" } });
  queue.update(after);
  queue.update(aPodInfo("bound", { nominatedNode: "old", labels: { app: "web" } }));

  assert.deepEqual([nominator.nominatedPods("a"), nominator.nominatedPods("old")], [[after], []]);
});
