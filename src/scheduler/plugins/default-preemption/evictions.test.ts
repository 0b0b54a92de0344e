import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { Effects } from "../../framework/plugin.ts";
import { NO_DEVICE_EFFECTS } from "../../framework/device-view.ts";
import { NO_STORAGE_EFFECTS } from "../../framework/storage-view.ts";
import { aNode, aPod, nodeInfo, podInfo } from "../../framework/testing/builders.ts";
import { preemptionIn, type PreemptionParts } from "./testing/preemption.ts";
import { whatIfOf } from "./testing/what-if.ts";

const HIGH = aPod("high", { cpu: "4", priority: 100 });
const HELD_BACK = { reasons: ["waiting for the preemption for this pod to be finished"], resolvable: false };

/** Four victims, most important first. */
function victims(): Pod[] {
  return ["a", "b", "c", "d"].map((name, index) => aPod(name, { cpu: "1", priority: 50 - index, node: "n" }));
}

/** Effects that complete when the test says so. */
class SlowEffects implements Effects {
  readonly begun: string[] = [];
  readonly storage = NO_STORAGE_EFFECTS;
  readonly devices = NO_DEVICE_EFFECTS;
  readonly #open = new Map<string, { done(): void; fail(error: Error): void }>();

  bind(): Promise<void> {
    return Promise.resolve();
  }

  preempt(victim: Pod): Promise<void> {
    return this.#wait(`preempt ${victim.metadata.name}`);
  }

  clearNomination(pod: Pod): Promise<void> {
    return this.#wait(`clear ${pod.metadata.name}`);
  }

  #wait(what: string): Promise<void> {
    this.begun.push(what);
    return new Promise((done, fail) => this.#open.set(what, { done, fail }));
  }

  async end(what: string, error?: Error): Promise<void> {
    if (error === undefined) this.#open.get(what)?.done();
    else this.#open.get(what)?.fail(error);
    // Everything that waits for it, transitively.
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  }
}

function begin(pods: Pod[], parts: PreemptionParts = {}) {
  const effects = new SlowEffects();
  const seen = [HIGH, ...pods];
  const plugin = preemptionIn({ pods: seen, effects, ...parts });
  const info = podInfo(HIGH);
  const answer = plugin.postFilter(info, whatIfOf(info, nodeInfo(aNode("n"), ...pods)));
  if (answer.is !== "nominated") throw new Error(answer.message);
  return { effects, seen, plugin, act: () => answer.act(new AbortController().signal) };
}

test("a preemptor is gated from its nomination until its last victim's eviction was requested", async () => {
  const { effects, plugin, act } = begin(victims());
  deepEqual(plugin.preEnqueue(HIGH), HELD_BACK);
  equal(plugin.preEnqueue(aPod("other")), undefined);

  const acted = act();
  await effects.end("");
  deepEqual(effects.begun, ["preempt a", "preempt b", "preempt c"]);
  for (const name of ["c", "a", "b"]) await effects.end(`preempt ${name}`);
  deepEqual(effects.begun.at(-1), "preempt d");
  deepEqual(plugin.preEnqueue(HIGH), HELD_BACK);
  await effects.end("preempt d");
  await acted;

  equal(plugin.preEnqueue(HIGH), undefined);
});

for (const { how, last } of [
  { how: "leaves", last: aPod("d", { deletedAt: "2026-01-01T00:00:00Z" }) },
  { how: "is deleted", last: undefined },
  { how: "is replaced by another Pod of its name", last: aPod("d", { uid: "another" }) },
]) {
  test(`a preemptor is released as soon as its last victim ${how}`, async () => {
    const { effects, seen, plugin, act } = begin(victims());
    const acted = act();
    seen.splice(4, 1, ...(last === undefined ? [] : [last]));
    // The others are not evicted yet, so that the last one's deletion does not count.
    deepEqual(plugin.preEnqueue(HIGH), HELD_BACK);
    await effects.end("");
    for (const name of ["a", "b", "c"]) await effects.end(`preempt ${name}`);

    equal(plugin.preEnqueue(HIGH), undefined);

    await effects.end("preempt d");
    await acted;
  });
}

test("if an eviction fails, the last victim is spared and the preemptor released", async () => {
  const { effects, plugin, act } = begin(victims());
  const acted = rejects(act(), /no connection/);
  await effects.end("");

  await effects.end("preempt b", new Error("no connection"));
  deepEqual(plugin.preEnqueue(HIGH), HELD_BACK);
  for (const name of ["a", "c"]) await effects.end(`preempt ${name}`);
  await acted;

  deepEqual(effects.begun, ["preempt a", "preempt b", "preempt c"]);
  equal(plugin.preEnqueue(HIGH), undefined);
});

test("if the last eviction fails, the preemptor is released", async () => {
  const { effects, plugin, act } = begin(
    victims()
      .slice(0, 1)
      .map((pod) => ({ ...pod, spec: { ...pod.spec, containers: aPod("x", { cpu: "4" }).spec?.containers ?? [] } })),
  );
  const acted = rejects(act(), /no connection/);
  await effects.end("");

  await effects.end("preempt a", new Error("no connection"));
  await acted;

  equal(plugin.preEnqueue(HIGH), undefined);
});

test("at most sixteen evictions are in flight, and none is started after a failure", async () => {
  const many = Array.from({ length: 40 }, (_, index) => aPod(`v${index}`, { cpu: "100m", node: "n" }));
  const { effects, act } = begin(many);
  const acted = rejects(act(), /no connection/);
  await effects.end("");
  equal(effects.begun.length, 16);

  await effects.end("preempt v0");
  equal(effects.begun.length, 17);
  await effects.end("preempt v1", new Error("no connection"));
  for (let index = 2; index < 17; index++) await effects.end(`preempt v${index}`);
  await acted;

  equal(effects.begun.length, 17);
});

test("nominations of lower priority on the node are cleared; a failure to do so does not stop the evictions", async () => {
  const nominated = { n: [aPod("lower", { priority: 99 }), aPod("equal", { priority: 100 }), aPod("lowest")] };
  const { effects, act } = begin(victims(), { nominated });
  const acted = rejects(act(), /no connection/);

  await effects.end("");
  await effects.end("clear lower", new Error("no connection"));
  await effects.end("clear lowest");
  for (const name of ["a", "b", "c", "d"]) await effects.end(`preempt ${name}`);
  await acted;

  deepEqual(effects.begun, ["clear lower", "clear lowest", "preempt a", "preempt b", "preempt c", "preempt d"]);
});

test("if all victims are already terminating, nothing is done and the preemptor is not gated", async () => {
  const leaving = victims().map((pod) => ({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }));
  const { effects, plugin, act } = begin(leaving, { nominated: { n: [aPod("lower")] } });

  equal(plugin.preEnqueue(HIGH), undefined);
  await act();

  deepEqual(effects.begun, []);
});

test("a gated preemptor is reconsidered when a Pod of its nominated node is deleted", () => {
  const [rule] = preemptionIn({}).retryOn;
  const gone = (node: string) => ({ of: "assigned-pod" as const, changes: new Set(["deleted" as const]), pod: aPod("a", { node }) });
  const isWorthIt = (pod: Pod, node: string) => rule?.of === "assigned-pod" && rule.isWorthIt?.(pod, gone(node));

  equal(isWorthIt(aPod("high", { nominatedNode: "n" }), "n"), true);
  equal(isWorthIt(aPod("high", { nominatedNode: "n" }), "m"), false);
  equal(isWorthIt(aPod("high"), "m"), true);
});
