import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { pods } from "../api/core/v1/pod.ts";
import type { Pod } from "../api/generated/core/v1.ts";
import { StatusError } from "../api/machinery/status-error.ts";
import type { Client } from "../client/client.ts";
import { driven } from "../testing/driven.ts";
import { given, type Given } from "../testing/given.ts";
import { effectsOn, type EffectsOptions } from "./effects.ts";
import type { Effects } from "./framework/plugin.ts";
import { aNode, aPod } from "./framework/testing/builders.ts";

const { signal } = new AbortController();

interface World {
  readonly cluster: Given;
  readonly effects: Effects;
  /** "Preempted Preempting victim/high: …" */
  readonly recorded: string[];
  /** Requests with an effect. */
  done<T>(work: Promise<T>): Promise<T>;
  pod(name: string): Promise<Pod>;
}

async function start(cluster: Given, options: Partial<EffectsOptions> = {}): Promise<World> {
  const recorded: string[] = [];
  const { client, clock } = cluster;
  const effects = effectsOn({
    client,
    clock,
    events: {
      record({ metadata }, { type, reason, action, message, related }) {
        recorded.push(`${type} ${reason} ${action} ${metadata.name}/${related?.metadata.name}: ${message}`);
      },
    },
    ...options,
  });
  const done = <T>(work: Promise<T>): Promise<T> => driven(clock, work);
  return { cluster, effects, recorded, done, pod: (name) => done(client.get(pods, { namespace: "default", name })) };
}

/** A running Pod of a node. */
function victim(parts: Parameters<typeof aPod>[1] = {}): Pod {
  return aPod("victim", { node: "n", ...parts });
}

test("binding assigns the intended Pod, and no other of its name", async () => {
  await using cluster = await given(aNode("n"), aPod("web"));
  const { effects, done, pod } = await start(cluster);
  const web = await pod("web");

  await rejects(done(effects.bind({ ...web, metadata: { ...web.metadata, uid: "another" } }, "n", signal)), { reason: "Conflict" });
  equal((await pod("web")).spec?.nodeName, undefined);
  await done(effects.bind(web, "n", signal));

  equal((await pod("web")).spec?.nodeName, "n");
  await rejects(done(effects.bind(web, "other", signal)), { reason: "Conflict" });
});

test("a binding executed by the server succeeds, also if its response was lost", async () => {
  await using cluster = await given(aNode("n"), aPod("web"));
  const { effects, done, pod } = await start(cluster);
  const web = await pod("web");
  await done(effects.bind(web, "n", signal));

  await done(effects.bind(web, "n", signal));

  equal((await pod("web")).spec?.nodeName, "n");
});

test("a preemption victim gets DisruptionTarget, is deleted with its own grace period, and gets the event", async () => {
  await using cluster = await given(aNode("n"), victim({ spec: { terminationGracePeriodSeconds: 7 } }), aPod("high"));
  const { effects, recorded, done, pod } = await start(cluster);
  const high = await pod("high");

  await done(effects.preempt(await pod("victim"), high, "n", signal));

  const { metadata, status } = await pod("victim");
  equal(metadata.deletionGracePeriodSeconds, 7);
  deepEqual(
    status?.conditions?.filter(({ type }) => type === "DisruptionTarget"),
    [
      {
        type: "DisruptionTarget",
        status: "True",
        reason: "PreemptionByScheduler",
        message: "default-scheduler: preempting to accommodate a higher priority pod",
        observedGeneration: 1,
        lastProbeTime: null,
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ],
  );
  deepEqual(recorded, [`Normal Preempted Preempting victim/high: Preempted by pod ${high.metadata.uid} on node n`]);
});

for (const { how, stale } of [
  { how: "was deleted", stale: (pod: Pod) => ({ ...pod, metadata: { ...pod.metadata, name: "missing" } }) },
  { how: "was replaced", stale: (pod: Pod) => ({ ...pod, metadata: { ...pod.metadata, uid: "another" } }) },
  {
    how: "was replaced and is already marked",
    stale: (pod: Pod) => {
      const message = "default-scheduler: preempting to accommodate a higher priority pod";
      const target = { type: "DisruptionTarget", status: "True" as const, reason: "PreemptionByScheduler", message };
      const conditions = [{ ...target, lastTransitionTime: "2026-01-01T00:00:00Z" }];
      return { ...pod, metadata: { ...pod.metadata, uid: "another" }, status: { ...pod.status, conditions } };
    },
  },
]) {
  test(`a victim that ${how} is not an error: nothing is changed and no event emitted`, async () => {
    await using cluster = await given(aNode("n"), victim(), aPod("high"));
    const { effects, recorded, done, pod } = await start(cluster);
    const before = await pod("victim");

    await done(effects.preempt(stale(before), await pod("high"), "n", signal));

    deepEqual(await pod("victim"), before);
    deepEqual(recorded, []);
  });
}

test("a victim that waits at permit is requeued and not deleted", async () => {
  await using cluster = await given(aNode("n"), victim(), aPod("high"));
  const { effects, recorded, done, pod } = await start(cluster, { sendBack: ({ metadata }) => metadata.name === "victim" });
  const before = await pod("victim");
  const high = await pod("high");

  await done(effects.preempt(before, high, "n", signal));

  deepEqual(await pod("victim"), before);
  deepEqual(recorded, [
    `Normal Preempted Preempting victim/high: Preempted by pod ${high.metadata.uid} on node n (in kube-scheduler memory).`,
  ]);
});

test("a nomination is cleared on the intended Pod, if it exists", async () => {
  await using cluster = await given(aPod("lower", { nominatedNode: "n" }), aPod("other"));
  const { effects, done, pod } = await start(cluster);
  const lower = await pod("lower");
  const other = await pod("other");
  equal(lower.status?.nominatedNodeName, "n");

  await done(effects.clearNomination({ ...lower, metadata: { ...lower.metadata, uid: "another" } }, other, signal));
  deepEqual(await pod("lower"), lower);
  await done(effects.clearNomination(lower, other, signal));
  await done(effects.clearNomination(other, lower, signal));
  await done(effects.clearNomination({ ...lower, metadata: { ...lower.metadata, name: "missing" } }, other, signal));

  equal((await pod("lower")).status?.nominatedNodeName, undefined);
  deepEqual(await pod("other"), other);
});

for (const { reason, failures, attempts, fails } of [
  { reason: "ServiceUnavailable", failures: 3, attempts: 4, fails: false },
  { reason: "InternalError", failures: 4, attempts: 4, fails: true },
  { reason: "Forbidden", failures: 1, attempts: 1, fails: true },
] as const) {
  test(`a status write that fails ${failures} times with ${reason} is attempted ${attempts} times`, async () => {
    await using cluster = await given(aPod("lower", { nominatedNode: "n" }));
    const at: number[] = [];
    const patch: Client["patch"] = (...request) => {
      at.push(cluster.clock.now() - startMs);
      if (at.length <= failures) return Promise.reject(new StatusError(reason, "not now"));
      return cluster.client.patch(...request);
    };
    const client = { ...cluster.client, patch, with: () => client } as Client;
    const { effects, pod } = await start(cluster, { client });
    const lower = await pod("lower");
    const startMs = cluster.clock.now();

    const cleared = effects.clearNomination(lower, lower, signal).then(
      () => false,
      () => true,
    );
    await cluster.clock.advance(1_000);

    equal(await cleared, fails);
    deepEqual(at, [0, 10, 60, 310].slice(0, attempts));
  });
}

test("every write of the scheduler carries the scheduled Pod and the version of the decision as cause", async () => {
  await using cluster = await given(aNode("n"), aPod("web"), victim(), aPod("lower", { nominatedNode: "n" }));
  const { effects, done, pod } = await start(cluster);
  const [web, low, lower] = [await pod("web"), await pod("victim"), await pod("lower")];

  await done(effects.preempt(low, web, "n", signal));
  await done(effects.clearNomination(lower, web, signal));
  await done(effects.bind(web, "n", signal));

  const { items } = await done(cluster.client.document("/debug/k8ts/causes?resource=pods"));
  const writes = items as readonly { name: string; resourceVersion: string; cause?: unknown }[];
  const cause = { controller: "default-scheduler", key: "default/web", object: "pods default/web", revision: web.metadata.resourceVersion };
  deepEqual(
    writes.flatMap(({ name, cause: why }) => (why === undefined ? [] : [[name, why]])),
    [
      ["victim", { ...cause, reason: "Preempting" }],
      ["victim", { ...cause, reason: "Preempting" }],
      ["lower", { ...cause, reason: "Preempting" }],
      ["web", { ...cause, reason: "Scheduled" }],
    ],
  );
  equal(writes.at(-1)?.resourceVersion, (await pod("web")).metadata.resourceVersion);
});
