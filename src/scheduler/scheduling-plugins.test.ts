/** What happens to a Pod when a plugin throws, rejects or waits after a node was found. */
import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { pods } from "../api/core/v1/pod.ts";
import type { TransportRequest } from "../api/machinery/transport.ts";
import { startScheduledServer, type ScheduledServer } from "../testing/servers/scheduled-server.ts";
import type { PermitAnswer, Plugin, Rejection } from "./framework/plugin.ts";
import { BindingGate, requestsThrough } from "./framework/testing/bindings.ts";
import { aNode, aPod } from "./framework/testing/builders.ts";

const key = (name: string) => ({ namespace: "default", name });
const NO: Rejection = { reasons: ["not now"], resolvable: false };

function assumed({ scheduler }: ScheduledServer): number | undefined {
  const family = scheduler.metrics().find(({ name }) => name === "scheduler_cache_size");
  const sample = family?.type === "gauge" ? family.samples.find(({ labels }) => labels["type"] === "assumed_pods") : undefined;
  return sample === undefined ? undefined : Number(sample.value);
}

/** Throws the first time. */
function throwsOnce(): () => undefined {
  let calls = 0;
  return () => {
    if (calls++ === 0) throw new Error("boom");
    return undefined;
  };
}

describe("a throwing plugin", () => {
  for (const point of ["reserve", "permit", "preBind"] as const) {
    test(`at ${point} fails the attempt: the capacity is free, the failure is reported, and the Pod is retried`, async () => {
      const throwing = throwsOnce();
      const takenBack: string[] = [];
      const allowed: PermitAnswer = { is: "allowed" };
      const plugin: Plugin = {
        name: "Bad",
        ...(point === "reserve" ? { reserve: throwing } : {}),
        ...(point === "permit" ? { permit: () => throwing() ?? allowed } : {}),
        ...(point === "preBind" ? { preBind: async () => throwing() } : {}),
        unreserve: ({ key: of }) => void takenBack.push(of),
      };
      await using cluster = await startScheduledServer({ plugin }, aNode("n1"));

      await cluster.make(aPod("p", { cpu: "3" }));

      const message = point === "preBind" ? 'running PreBind plugin "Bad": boom' : "boom";
      deepEqual(await cluster.eventsOf("p"), [`Warning FailedScheduling ${message}`]);
      equal(cluster.scheduler.waiting(key("p"))?.place, "backoff");
      deepEqual([assumed(cluster), takenBack], [0, ["default/p"]]);
      await cluster.clock.advance(10_000);
      deepEqual(await cluster.places(), ["p on n1"]);
      equal(assumed(cluster), 0);
    });
  }

  test("at unreserve does not prevent a retry", async () => {
    const refuses = throwsOnce();
    const plugin: Plugin = {
      name: "Bad",
      retryOn: [],
      unreserve: () => {
        throw new Error("boom");
      },
      preBind: async () => {
        try {
          return refuses();
        } catch {
          return NO;
        }
      },
    };
    await using cluster = await startScheduledServer({ plugin }, aNode("n1"));

    await cluster.make(aPod("p", { cpu: "3" }));

    equal(cluster.scheduler.waiting(key("p"))?.place, "unschedulable");
    equal(assumed(cluster), 0);
    await cluster.clock.advance(6 * 60_000);
    deepEqual(await cluster.places(), ["p on n1"]);
  });

  test("at postBind has no effect: the Pod is bound", async () => {
    await using cluster = await startScheduledServer({ plugin: { name: "Bad", postBind: throwsOnce() } }, aNode("n1"));

    await cluster.make(aPod("p", { cpu: "3" }), aPod("q", { cpu: "3" }));
    await cluster.clock.advance(10_000);

    deepEqual(await cluster.places(), ["p on n1", "q waits"]);
    deepEqual(await cluster.eventsOf("p"), ["Normal Scheduled Successfully assigned default/p to n1"]);
  });
});

test("Pods that wait at permit, however many, do not block other bindings", async () => {
  const waits: PermitAnswer = { is: "wait", timeoutMs: 60_000, decision: new Promise(() => {}) };
  const plugin: Plugin = {
    name: "Gang",
    retryOn: [],
    permit: ({ pod }) => (pod.metadata.name.startsWith("held") ? waits : { is: "allowed" }),
  };
  await using cluster = await startScheduledServer({ plugin, underWayMax: 2 }, aNode("n1"));

  await cluster.make(aPod("held-1"), aPod("held-2"), aPod("held-3"), aPod("p"), aPod("q"), aPod("r"));

  deepEqual(await cluster.places(), ["held-1 waits", "held-2 waits", "held-3 waits", "p on n1", "q on n1", "r on n1"]);
  deepEqual([assumed(cluster), cluster.scheduler.underWay()], [3, []]);
  await cluster.clock.advance(60_000);
  equal(assumed(cluster), 0);
  deepEqual(await cluster.eventsOf("held-1"), [
    "Warning FailedScheduling 0/1 nodes are available: 1 rejected due to timeout after waiting 1m0s at plugin Gang.",
  ]);
});

test("a scheduler can be stopped while Pods wait at permit; their reservations are released by then", async () => {
  const takenBack: string[] = [];
  const plugin: Plugin = {
    name: "Gang",
    permit: () => ({ is: "wait", timeoutMs: 60_000, decision: new Promise(() => {}) }),
    unreserve: ({ key: of }) => void takenBack.push(of),
  };
  await using cluster = await startScheduledServer({ plugin }, aNode("n1"));
  await cluster.make(aPod("p"));
  equal(assumed(cluster), 1);

  await cluster.scheduler.stop();

  deepEqual(takenBack, ["default/p"]);
  deepEqual([await cluster.places(), await cluster.eventsOf("p")], [["p waits"], []]);
});

for (const point of ["reserve", "permit"] as const) {
  test(`a Pod rejected at ${point} loses its nominated node`, async () => {
    const refuses = (name: string) => (name === "high" ? NO : undefined);
    const plugin: Plugin = {
      name: "Bad",
      retryOn: [],
      ...(point === "reserve"
        ? { reserve: ({ pod }) => refuses(pod.metadata.name) }
        : {
            permit: ({ pod }) => (refuses(pod.metadata.name) === undefined ? { is: "allowed" } : { is: "rejected", rejection: NO }),
          }),
    };
    // Its status does not have it yet, so that it must be the scheduler itself that forgets it.
    const gate = new BindingGate();
    const isOfHigh = ({ verb, subresource, name }: TransportRequest) => verb === "patch" && subresource === "status" && name === "high";
    const around = requestsThrough(isOfHigh, gate.through);
    await using cluster = await startScheduledServer({ plugin, around }, aNode("n1"), aPod("low", { cpu: "3", node: "n1" }));
    await cluster.make(aPod("high", { cpu: "2", priority: 10 }));
    equal(gate.waiting, 1);
    await cluster.clock.advance(20_000);

    await cluster.client.delete(pods, key("low"), { gracePeriodSeconds: 0 });
    await cluster.clock.settle();
    deepEqual(cluster.scheduler.waiting(key("high"))?.refusedBy, new Set(["Bad"]));
    await cluster.make(aPod("big", { cpu: "3" }), aPod("small", { cpu: "2" }));

    deepEqual(await cluster.places(), ["big on n1", "high waits", "small waits"]);
    gate.open();
  });
}

test("a rejected Pod's released reservation does not trigger itself; another's does", async () => {
  const plugin: Plugin = {
    name: "Bad",
    retryOn: [{ of: "assigned-pod", changes: ["deleted"] }],
    preBind: async ({ pod }) => (pod.metadata.name === "p" ? NO : undefined),
  };
  await using cluster = await startScheduledServer({ plugin }, aNode("n1"));

  await cluster.make(aPod("p", { cpu: "3" }));
  await cluster.clock.advance(60_000);

  equal(cluster.scheduler.waiting(key("p"))?.attempts, 1);
  await cluster.make(aPod("q", { node: "n1" }));
  await cluster.client.delete(pods, key("q"), { gracePeriodSeconds: 0 });
  await cluster.clock.settle();
  equal(cluster.scheduler.waiting(key("p"))?.attempts, 2);
});
