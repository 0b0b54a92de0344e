import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { nodes } from "../api/core/v1/node.ts";
import { pods } from "../api/core/v1/pod.ts";
import type { Pod } from "../api/generated/core/v1.ts";
import { StatusError } from "../api/machinery/status-error.ts";
import type { Transport, TransportRequest } from "../api/machinery/transport.ts";
import { startScheduledServer, type ScheduledServer } from "../testing/servers/scheduled-server.ts";
import { BindingGate, bindingsThrough, requestsThrough, type OnBinding } from "./framework/testing/bindings.ts";
import { aNode, aPod } from "./framework/testing/builders.ts";

const key = (name: string) => ({ namespace: "default", name });
const kill = ({ client }: ScheduledServer, name: string) => client.delete(pods, key(name), { gracePeriodSeconds: 0 });

function conditionOf({ status }: Pod, type: string): Record<string, unknown> {
  const { status: value, reason, message } = status?.conditions?.find((each) => each.type === type) ?? {};
  return { status: value, reason, message };
}

/** Bindings of these Pods fail with this error, that often. */
function failing(error: () => StatusError, times: ReadonlyMap<string, number>): OnBinding {
  const left = new Map(times);
  return (request, send) => {
    const more = left.get(request.name ?? "") ?? 0;
    if (more === 0) return send();
    left.set(request.name ?? "", more - 1);
    return Promise.reject(error());
  };
}

function isStatusPatch({ verb, subresource }: TransportRequest): boolean {
  return verb === "patch" && subresource === "status";
}

function sampleOf({ scheduler }: ScheduledServer, wanted: string): number {
  const family = scheduler.metrics().find(({ name }) => name === wanted);
  const sample = family?.type === "histogram" ? family.samples[0]?.count : family?.samples[0]?.value;
  return Number(sample);
}

const preemptionFigures = (cluster: ScheduledServer) =>
  ["scheduler_preemption_attempts_total", "scheduler_preemption_victims"].map((name) => sampleOf(cluster, name));

describe("preemption", () => {
  test("Pods of lower priority are evicted, the node is kept for the preemptor, and it is bound when they are deleted", async () => {
    await using cluster = await startScheduledServer({}, aNode("n1"), aNode("n2", { unschedulable: true }));
    await cluster.make(aPod("low", { cpu: "2", priority: 1 }), aPod("lower", { cpu: "2", priority: 0 }));

    await cluster.make(aPod("high", { cpu: "2", priority: 10 }));

    const [high, victim, spared] = [await cluster.pod("high"), await cluster.pod("lower"), await cluster.pod("low")];
    equal(high.status?.nominatedNodeName, "n1");
    const message = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.";
    equal(conditionOf(high, "PodScheduled")["reason"], "Unschedulable");
    deepEqual(preemptionFigures(cluster), [1, 1]);
    ok(String(conditionOf(high, "PodScheduled")["message"]).startsWith(message), String(conditionOf(high, "PodScheduled")["message"]));
    deepEqual([victim.metadata.deletionTimestamp !== undefined, spared.metadata.deletionTimestamp], [true, undefined]);
    deepEqual(conditionOf(victim, "DisruptionTarget"), {
      status: "True",
      reason: "PreemptionByScheduler",
      message: "default-scheduler: preempting to accommodate a higher priority pod",
    });
    equal((await cluster.eventsOf("lower")).at(-1), `Normal Preempted Preempted by pod ${high.metadata.uid} on node n1`);

    // It terminates in its own time; until then nothing is decided again, and no Pod of lower priority takes the capacity.
    await cluster.clock.advance(20_000);
    await cluster.make(aPod("sneaky", { cpu: "1", priority: 5, preemptionPolicy: "Never" }));
    deepEqual(await cluster.places(), ["high waits", "low on n1", "lower on n1", "sneaky waits"]);
    equal(cluster.scheduler.waiting(key("high"))?.attempts, 1);
    await kill(cluster, "lower");
    await cluster.clock.settle();

    deepEqual(await cluster.places(), ["high on n1", "low on n1", "sneaky waits"]);
    equal((await cluster.eventsOf("high")).at(-1), "Normal Scheduled Successfully assigned default/high to n1");
  });

  test("a Pod with preemptionPolicy Never waits, and its message says so", async () => {
    await using cluster = await startScheduledServer({}, aNode("n1"));
    await cluster.make(aPod("low", { cpu: "3" }), aPod("high", { cpu: "2", priority: 10, preemptionPolicy: "Never" }));

    deepEqual(await cluster.places(), ["high waits", "low on n1"]);
    equal((await cluster.pod("low")).metadata.deletionTimestamp, undefined);
    match((await cluster.eventsOf("high"))[0] ?? "", /preemption: not eligible due to preemptionPolicy=Never\.$/);
    // An unsuccessful search counts as an attempt, too.
    deepEqual(preemptionFigures(cluster), [1, 0]);
  });

  test("a nomination ends when the node is deleted, and the Pod is placed elsewhere", async () => {
    await using cluster = await startScheduledServer({}, aNode("n1"));
    await cluster.make(aPod("low", { cpu: "3" }), aPod("high", { cpu: "2", priority: 10 }));
    equal((await cluster.pod("high")).status?.nominatedNodeName, "n1");

    await cluster.client.delete(nodes, { name: "n1" });
    await cluster.make(aNode("n2"));
    await cluster.clock.advance(30_000);

    equal((await cluster.pod("high")).spec?.nodeName, "n2");
  });
});

for (const priority of [10, 5]) {
  test(`a nomination that ends lets a Pod of priority ${priority} retry that was rejected for one of priority 10`, async () => {
    await using cluster = await startScheduledServer({}, aNode("n1"), aPod("low", { cpu: "3", node: "n1" }));
    await cluster.make(aPod("high", { cpu: "2", priority: 10 }));
    await cluster.make(aPod("waits", { cpu: "1", priority, preemptionPolicy: "Never" }));
    await cluster.clock.advance(20_000);
    deepEqual(await cluster.places(), ["high waits", "low on n1", "waits waits"]);

    await kill(cluster, "high");
    await cluster.clock.settle();

    deepEqual(await cluster.places(), ["low on n1", "waits on n1"]);
  });
}

test("an event during evictions is not lost: the Pod is retried afterwards", async () => {
  const gate = new BindingGate();
  const around = requestsThrough(({ verb }) => verb === "delete", gate.through);
  await using cluster = await startScheduledServer({ around }, aNode("n1"), aPod("low", { cpu: "3", node: "n1" }));
  await cluster.make(aPod("high", { cpu: "2", priority: 10 }));
  await cluster.clock.advance(20_000);

  await cluster.make(aNode("n2"));
  equal(cluster.scheduler.waiting(key("high"))?.gatedBy, "DefaultPreemption");
  gate.open();
  await cluster.clock.settle();

  deepEqual(await cluster.places(), ["high on n2", "low on n1"]);
});

test("a bound Pod does not get PodScheduled=False afterwards, however slow the server is", async () => {
  const gate = new BindingGate();
  const around = requestsThrough(isStatusPatch, gate.through);
  await using cluster = await startScheduledServer({ around }, aNode("n1", { unschedulable: true }));
  await cluster.make(aPod("p"));
  equal(gate.waiting, 1);

  await cluster.client.patch(nodes, { name: "n1" }, { type: "merge", value: { spec: { unschedulable: null } } });
  await cluster.clock.advance(20_000);
  deepEqual(await cluster.places(), ["p waits"], "the binding waits for what is being written");
  gate.open();
  await cluster.clock.advance(20_000);

  deepEqual(await cluster.places(), ["p on n1"]);
  deepEqual(conditionOf(await cluster.pod("p"), "PodScheduled"), { status: "True", reason: undefined, message: undefined });
});

test("failed evictions are retried later, without overloading the server", async () => {
  let refusals = 5;
  let asked = 0;
  const around = (transport: Transport): Transport => ({
    watch: (request, listener) => transport.watch(request, listener),
    document: (path, options) => transport.document(path, options),
    request(request) {
      if (request.verb !== "delete") return transport.request(request);
      asked++;
      return refusals-- > 0 ? Promise.reject(new StatusError("Forbidden", "not now")) : transport.request(request);
    },
  });
  await using cluster = await startScheduledServer({ around }, aNode("n1"), aPod("low", { cpu: "3", node: "n1" }));

  await cluster.make(aPod("high", { cpu: "2", priority: 10 }));

  equal(asked, 1);
  await cluster.clock.advance(10_000);
  equal(asked, 6);
  ok((await cluster.pod("low")).metadata.deletionTimestamp !== undefined);
});

describe("a binding that fails", () => {
  for (const [title, error] of [
    ["with a conflict", () => new StatusError("Conflict", "the object has been modified")],
    ["in the server", () => new StatusError("InternalError", "the server broke")],
  ] as const) {
    test(`${title} is reported, its capacity is free, and the Pod is retried after a backoff`, async () => {
      const around = bindingsThrough(failing(error, new Map([["p", 2]])));
      await using cluster = await startScheduledServer({ around }, aNode("n1"));
      const { message } = error();

      await cluster.make(aPod("p", { cpu: "3" }));

      deepEqual(conditionOf(await cluster.pod("p"), "PodScheduled"), { status: "False", reason: "SchedulerError", message });
      deepEqual(await cluster.eventsOf("p"), [`Warning FailedScheduling ${message}`]);
      equal(cluster.scheduler.waiting(key("p"))?.place, "backoff");
      // Its capacity is not kept for it.
      await cluster.make(aPod("q", { cpu: "1" }), aPod("r", { cpu: "3", preemptionPolicy: "Never" }));
      deepEqual(await cluster.places(), ["p waits", "q on n1", "r on n1"]);
      await kill(cluster, "r");

      // Backoffs begin and end with whole seconds.
      const { retriedAtMs = 0 } = cluster.scheduler.waiting(key("p")) ?? {};
      const waitMs = retriedAtMs - cluster.clock.monotonic();
      ok(waitMs > 1_000 && waitMs <= 2_000, `${waitMs} ms`);
      await cluster.clock.advance(waitMs - 1);
      equal(cluster.scheduler.waiting(key("p"))?.attempts, 1);
      await cluster.clock.advance(1);
      equal(cluster.scheduler.waiting(key("p"))?.attempts, 2);
      await cluster.clock.advance(3_000);
      deepEqual(await cluster.places(), ["p on n1", "q on n1"]);
      deepEqual(
        cluster.scheduler.decisions(key("p")).map(({ outcome }) => outcome),
        ["failed", "failed", "placed"],
      );
    });
  }

  test("because the Pod was deleted ends the attempt without an event", async () => {
    const around = bindingsThrough(failing(() => new StatusError("NotFound", 'pods "p" not found'), new Map([["p", 9]])));
    await using cluster = await startScheduledServer({ around }, aNode("n1"));

    await cluster.make(aPod("p", { cpu: "3" }), aPod("q", { cpu: "3" }));
    await cluster.clock.advance(20_000);

    deepEqual(await cluster.places(), ["p waits", "q on n1"]);
    deepEqual([await cluster.eventsOf("p"), cluster.scheduler.waiting(key("p"))], [[], undefined]);
  });

  test("is retried with the Pod's newest version", async () => {
    const gate = new BindingGate();
    const fails = failing(() => new StatusError("InternalError", "the server broke"), new Map([["p", 1]]));
    const binding = bindingsThrough((request, send) => gate.through(request, () => fails(request, send)));
    // The failure condition is another version, which the queue would receive in any case.
    const writing = new BindingGate();
    const around = (transport: Transport) => requestsThrough(isStatusPatch, writing.through)(binding(transport));
    await using cluster = await startScheduledServer({ around }, aNode("n1"));
    await cluster.make(aPod("p"));

    await cluster.client.patch(pods, key("p"), { type: "merge", value: { metadata: { labels: { is: "new" } } } });
    await cluster.clock.settle();
    gate.open();
    await cluster.clock.settle();

    const { place, info } = cluster.scheduler.waiting(key("p")) ?? {};
    deepEqual([place, info?.labels], ["backoff", { is: "new" }]);
    writing.open();
    await cluster.clock.advance(10_000);
    deepEqual(await cluster.places(), ["p on n1"]);
  });

  test("helps Pods that wait for the capacity", async () => {
    const gate = new BindingGate();
    const fails = failing(() => new StatusError("InternalError", "the server broke"), new Map([["p", 1]]));
    const around = bindingsThrough((request, send) => gate.through(request, () => fails(request, send)));
    await using cluster = await startScheduledServer({ around }, aNode("n1"));
    await cluster.make(aPod("p", { cpu: "3" }), aPod("q", { cpu: "3" }));
    equal(cluster.scheduler.waiting(key("q"))?.place, "unschedulable");

    gate.open();
    await cluster.clock.advance(20_000);

    deepEqual(await cluster.places(), ["p waits", "q on n1"]);
  });

  test("after the server has executed it has no effect: the Pod is bound once", async () => {
    const lost = new StatusError("ServiceUnavailable", "The connection was lost");
    const around = bindingsThrough(async (_request, send) => {
      await send();
      throw lost;
    });
    await using cluster = await startScheduledServer({ around }, aNode("n1"));

    await cluster.make(aPod("p", { cpu: "3" }), aPod("q", { cpu: "3" }));
    await cluster.clock.advance(60_000);

    deepEqual(await cluster.places(), ["p on n1", "q waits"]);
    deepEqual(await cluster.eventsOf("p"), ["Normal Scheduled Successfully assigned default/p to n1"]);
    deepEqual(conditionOf(await cluster.pod("p"), "PodScheduled")["status"], "True");
    equal(cluster.scheduler.waiting(key("p")), undefined);
  });
});

describe("a Pod deleted between decision and binding", () => {
  test("uses no capacity, and no event is emitted", async () => {
    const gate = new BindingGate();
    await using cluster = await startScheduledServer({ around: bindingsThrough(gate.through) }, aNode("n1"));
    await cluster.make(aPod("p", { cpu: "3" }), aPod("q", { cpu: "3" }));
    equal(gate.waiting, 1);

    await kill(cluster, "p");
    await cluster.clock.settle();
    equal(gate.waiting, 2, "who waited for the room is decided");
    gate.open();
    await cluster.clock.settle();

    deepEqual(await cluster.places(), ["q on n1"]);
    deepEqual(await cluster.eventsOf("p"), []);
  });

  test("is not mistaken for another of its name", async () => {
    const gate = new BindingGate();
    await using cluster = await startScheduledServer(
      { around: bindingsThrough(gate.through) },
      aNode("n1"),
      aNode("n2", { labels: { a: "b" } }),
    );
    await cluster.make(aPod("p", { cpu: "3", nodeSelector: { [HOSTNAME]: "n1" } }));

    await kill(cluster, "p");
    await cluster.make(aPod("p", { nodeSelector: { a: "b" } }));
    gate.open();
    await cluster.clock.advance(10_000);

    deepEqual(await cluster.places(), ["p on n2"]);
    deepEqual(await cluster.eventsOf("p"), ["Normal Scheduled Successfully assigned default/p to n2"]);
  });

  test("and kept by a finalizer is not bound, not retried, and uses no capacity", async () => {
    const gate = new BindingGate();
    await using cluster = await startScheduledServer({ around: bindingsThrough(gate.through) }, aNode("n1"));
    const kept = aPod("p", { cpu: "3" });
    await cluster.make({ ...kept, metadata: { ...kept.metadata, finalizers: ["example.com/keep"] } }, aPod("q", { cpu: "3" }));

    await kill(cluster, "p");
    await cluster.clock.settle();
    equal(gate.waiting, 2, "who waited for the room is decided before the server has answered");
    gate.open();
    await cluster.clock.advance(10 * 60_000);

    deepEqual(await cluster.places(), ["p waits", "q on n1"]);
    equal(cluster.scheduler.waiting(key("p")), undefined);
  });
});

const HOSTNAME = "kubernetes.io/hostname";
