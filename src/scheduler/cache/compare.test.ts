/** The cache equals a rebuild from scratch after any sequence of events, and the comparison detects differences. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Affinity, Node, Pod } from "../../api/generated/core/v1.ts";
import { silentLogger } from "../../base/logger.ts";
import { rounds, testSeed } from "../../testing/rounds.ts";
import type { NodeInfo } from "../framework/node-info.ts";
import type { Snapshot } from "../framework/snapshot.ts";
import { aNode, aPod, podInfo } from "../framework/testing/builders.ts";
import { compareCache, dumpCache } from "./compare.ts";
import { SchedulerCache } from "./scheduler-cache.ts";

const TERM = { topologyKey: "zone", labelSelector: {} };
/** The affinity rules of a Pod are immutable: each has those of its number. */
const RULES: readonly (Affinity | undefined)[] = [
  undefined,
  undefined,
  { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [TERM] } },
  { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: TERM }] } },
];

type Event =
  | { readonly is: "put-node"; readonly node: number; readonly zone: number; readonly cpu: number; readonly images: readonly number[] }
  | { readonly is: "remove-node"; readonly node: number }
  | { readonly is: "put-pod"; readonly pod: number; readonly node: number; readonly cpu: number; readonly ended: boolean }
  | { readonly is: "put-waiting-pod" | "remove-pod" | "forget"; readonly pod: number }
  | { readonly is: "assume"; readonly pod: number; readonly node: number; readonly cpu: number }
  | { readonly is: "snapshot" };

const node = fc.nat(3);
const pod = fc.nat(7);
const cpu = fc.nat(3);
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ is: fc.constant("put-node" as const), node, zone: fc.nat(2), cpu, images: fc.array(fc.nat(3)) }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("remove-node" as const), node }) },
  { weight: 6, arbitrary: fc.record({ is: fc.constant("put-pod" as const), pod, node, cpu, ended: fc.nat(9).map((n) => n === 0) }) },
  { weight: 4, arbitrary: fc.record({ is: fc.constantFrom("put-waiting-pod" as const, "remove-pod" as const, "forget" as const), pod }) },
  { weight: 4, arbitrary: fc.record({ is: fc.constant("assume" as const), pod, node, cpu }) },
  { weight: 3, arbitrary: fc.record({ is: fc.constant("snapshot" as const) }) },
);

/** What the cache has received, in the simplest form. */
class Model {
  readonly nodes = new Map<string, Node>();
  readonly pods = new Map<string, Pod>();
  readonly assumed = new Set<string>();
}

class History {
  readonly cache = new SchedulerCache({ log: silentLogger });
  readonly model = new Model();
  #version = 0;

  apply(event: Event): void {
    switch (event.is) {
      case "put-node":
        return this.#putNode(event);
      case "remove-node":
        this.model.nodes.delete(`n${event.node}`);
        return this.cache.removeNode(`n${event.node}`);
      case "put-pod":
        return this.#putPod(event);
      case "put-waiting-pod":
        return this.cache.putPod(this.#podOf(event.pod, { cpu: 1 }));
      case "remove-pod":
        this.#drop(`u${event.pod}`);
        return this.cache.removePod(`u${event.pod}`);
      case "forget":
        return this.#forget(`u${event.pod}`);
      case "assume":
        return this.#assume(event);
      case "snapshot":
        return;
    }
  }

  #putNode({ node: number, zone, cpu: cpus, images }: Extract<Event, { readonly is: "put-node" }>): void {
    const all = images.map((image) => ({ names: [`image-${image}`, `image-${image}:1`], sizeBytes: 10 * image }));
    const made = aNode(`n${number}`, { zone: `z${zone}`, cpu: `${cpus}`, images: all });
    const observed = { ...made, metadata: { ...made.metadata, resourceVersion: this.#nextVersion() } };
    this.model.nodes.set(observed.metadata.name, observed);
    this.cache.putNode(observed);
  }

  #putPod({ pod: number, node: on, cpu: cpus, ended }: Extract<Event, { readonly is: "put-pod" }>): void {
    const observed = this.#podOf(number, { cpu: cpus, node: `n${on}`, phase: ended ? "Succeeded" : "Running" });
    this.#drop(`u${number}`);
    if (!ended) this.model.pods.set(`u${number}`, observed);
    this.cache.putPod(observed);
  }

  #assume({ pod: number, node: on, cpu: cpus }: Extract<Event, { readonly is: "assume" }>): void {
    const waiting = this.#podOf(number, { cpu: cpus });
    const isNew = !this.model.pods.has(`u${number}`);
    assert.equal(this.cache.assume(podInfo(waiting), `n${on}`), isNew);
    if (!isNew) return;
    this.model.pods.set(`u${number}`, { ...waiting, spec: { containers: [], ...waiting.spec, nodeName: `n${on}` } });
    this.model.assumed.add(`u${number}`);
  }

  #forget(uid: string): void {
    const isAssumed = this.model.assumed.has(uid);
    assert.equal(this.cache.forget(uid), isAssumed);
    if (isAssumed) this.#drop(uid);
  }

  #drop(uid: string): void {
    this.model.pods.delete(uid);
    this.model.assumed.delete(uid);
  }

  /** Some have ports, some want devices; CPU differs by version. */
  #podOf(number: number, parts: { readonly cpu: number; readonly node?: string; readonly phase?: "Running" | "Succeeded" }): Pod {
    const affinity = RULES[number % RULES.length];
    const made = aPod(`p${number}`, {
      ...parts,
      uid: `u${number}`,
      cpu: `${parts.cpu}`,
      ...(number % 2 === 0 && { ports: [8_000 + number] }),
      ...(number % 3 === 0 && { extended: { "example.com/gpu": `${parts.cpu}` } }),
      ...(affinity && { affinity }),
    });
    return { ...made, metadata: { ...made.metadata, resourceVersion: this.#nextVersion() } };
  }

  #nextVersion(): string {
    this.#version += 1;
    return String(this.#version);
  }

  differences(): readonly string[] {
    const { nodes, pods, assumed } = this.model;
    return compareCache(this.cache, { nodes: nodes.values(), pods: pods.values(), assumed });
  }
}

const runs = { numRuns: rounds({ quick: 300, full: 5_000 }), seed: testSeed() };
const events = fc.array(event, { maxLength: 60, size: "max" });

test("the cache equals a rebuild from scratch after any sequence of events", () => {
  fc.assert(
    fc.property(events, (all) => {
      const history = new History();
      for (const one of all) {
        history.apply(one);
        if (one.is === "snapshot") assert.deepEqual(history.differences(), []);
      }
      assert.deepEqual(history.differences(), []);
    }),
    runs,
  );
});

test("the lists of a snapshot are consistent, and a generation identifies one state forever", () => {
  fc.assert(
    fc.property(events, (all) => {
      const history = new History();
      const states = new Map<number, string>();
      const infos = new Map<number, { readonly info: NodeInfo; readonly text: string }>();
      for (const one of all) {
        history.apply(one);
        if (one.is !== "snapshot") continue;
        const snapshot = history.cache.snapshot();
        assertConsistent(snapshot);
        // Another state under an old generation would be mistaken for the old one.
        const state = JSON.stringify([snapshot.nodes.map(({ name }) => name), dumpCache(history.cache).nodes]);
        assert.equal(states.get(snapshot.generation) ?? state, state);
        states.set(snapshot.generation, state);
        for (const info of snapshot.nodes) assert.equal((infos.get(info.generation) ?? record(infos, info)).info, info);
      }
      for (const { info, text } of infos.values()) assert.equal(textOf(info), text, "a NodeInfo never changes");
    }),
    runs,
  );
});

function assertConsistent(snapshot: Snapshot): void {
  const { nodes, generation, nodesWithAffinityPods, nodesWithRequiredAntiAffinityPods } = snapshot;
  // Missing nodes must not be found, nor another in their place.
  for (const name of ["n0", "n1", "n2", "n3"])
    assert.equal(
      snapshot.get(name),
      nodes.find((info) => info.name === name),
    );
  for (const info of [...nodesWithAffinityPods, ...nodesWithRequiredAntiAffinityPods]) assert.ok(nodes.includes(info));
  assert.ok(nodes.every((info) => info.generation <= generation));
}

function record(infos: Map<number, { readonly info: NodeInfo; readonly text: string }>, info: NodeInfo) {
  const entry = { info, text: textOf(info) };
  infos.set(info.generation, entry);
  return entry;
}

/** All but the images, whose counts are cluster-wide. */
function textOf({ node: of, pods, podsWithAffinity, requested, nonZeroRequestedMilliCpu, usedPorts, allocatable }: NodeInfo): string {
  const keys = [pods, podsWithAffinity].map((all) => all.map(({ key, pod: { metadata } }) => [key, metadata.resourceVersion]));
  return JSON.stringify([of, keys, requested, [...requested.scalars], nonZeroRequestedMilliCpu, usedPorts, allocatable]);
}

test("every kind of difference is reported", () => {
  const cache = new SchedulerCache({ log: silentLogger });
  cache.putNode(aNode("a"));
  cache.putNode(aNode("extra"));
  cache.putPod(aPod("p", { node: "a", cpu: "1" }));
  cache.assume(podInfo(aPod("q")), "gone");

  const truth = { nodes: [aNode("a"), aNode("missing")], pods: [aPod("p", { node: "a", cpu: "2" })], assumed: new Set<string>() };
  const observed = compareCache(cache, truth);

  assert.deepEqual(
    observed.map((line) => line.split(" is ")[0]),
    ["node a", "node extra", "node missing", "elsewhere", "assumed"],
  );
  assert.match(observed[0] ?? "", /"requested":\{"cpu":1000\}.+should be.+"requested":\{"cpu":2000\}/);
});
