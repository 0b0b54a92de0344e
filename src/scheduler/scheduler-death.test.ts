/**
 * A scheduler may die between any two requests, above all after it decided (assumed) and before it bound. The next one starts from current
 * state; nothing may be lost, bound twice or bound beyond a node's capacity.
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { persistentVolumeClaims } from "../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../api/core/v1/persistent-volume.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../api/generated/core/v1.ts";
import type { Client } from "../client/client.ts";
import { rounds, testSeed } from "../testing/rounds.ts";
import { runCrashingSchedulers, type SchedulerCrashes } from "../testing/servers/scheduler-crashes.ts";
import { aNode, aPod } from "./framework/testing/builders.ts";
import { brokenRules } from "./framework/testing/naive-rules.ts";
import { provisionSelected } from "./framework/testing/provisioner.ts";
import { aClaim, aStorageClass, aVolume, HOSTNAME, volumesOf } from "./framework/testing/volumes.ts";

const RUNS = rounds({ quick: 15, full: 400 });
/** Maximum number of crash points of the first test, spread evenly. */
const DEATHS_MAX = rounds({ quick: 20, full: 1_000 });

/** The same of the last test. */
const VOLUME_DEATHS_MAX = rounds({ quick: 8, full: 1_000 });

/** Capacity for four, and for all if the one of lower priority is evicted. */
const CROWD = [
  ...["n1", "n2", "n3"].map((name) => aNode(name, { cpu: "2" })),
  aPod("low", { cpu: "2", node: "n1", priority: 0 }),
  ...["p1", "p2", "p3", "p4", "p5"].map((name) => aPod(name, { cpu: "1", priority: 5 })),
];

/** The names of the Pods, sorted. */
function boundOf({ bindings }: Pick<SchedulerCrashes, "bindings">): readonly string[] {
  return bindings.map((binding) => binding.split(" ")[0] ?? "").toSorted();
}

function checkOnce({ bindings, over }: SchedulerCrashes, how: string): void {
  const names = boundOf({ bindings });
  deepEqual(names, [...new Set(names)], `${how}: a Pod was bound more than once: ${bindings.join(", ")}`);
  deepEqual(over, [], `${how}: a node has more than it can hold`);
}

test("a scheduler that crashes after any request loses nothing and does nothing twice", async () => {
  const undisturbed = await runCrashingSchedulers({ objects: CROWD, deaths: [], seed: 1 });
  checkOnce(undisturbed, "Undisturbed");
  const expected = boundOf(undisturbed);
  deepEqual(expected, ["p1", "p2", "p3", "p4", "p5"]);
  ok(undisturbed.calls > 10, `${undisturbed.calls} requests`);
  const stride = Math.max(1, Math.ceil(undisturbed.calls / DEATHS_MAX));

  for (let death = 1; death <= undisturbed.calls; death += stride) {
    const lives = await runCrashingSchedulers({ objects: CROWD, deaths: [death], seed: 1 });
    const how = `It died after request ${death} of ${undisturbed.calls}`;
    checkOnce(lives, how);
    deepEqual(boundOf(lives), expected, how);
    deepEqual(lives.end.placed.map(({ metadata }) => metadata.name).toSorted(), expected, `${how}: who was asked to leave is gone`);
  }
});

const cpu = fc.constantFrom("250m", "500m", "1", "1500m");
const lives = fc.record({
  nodes: fc.array(fc.constantFrom("1", "2", "3"), { minLength: 1, maxLength: 3 }),
  pods: fc.array(cpu, { minLength: 1, maxLength: 12 }),
  deaths: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 }),
  seed: fc.nat(1_000),
});

test("under random crashes and network faults no Pod is bound twice, none beyond capacity, and none waits while a node is feasible", async () => {
  await fc.assert(
    fc.asyncProperty(lives, async ({ nodes, pods, deaths, seed }) => {
      const objects = [
        ...nodes.map((of, index) => aNode(`n${index}`, { cpu: of })),
        ...pods.map((of, index) => aPod(`p${index}`, { cpu: of, preemptionPolicy: "Never" })),
      ];
      const lived = await runCrashingSchedulers({
        objects,
        deaths,
        seed,
        disturbance: { delayMsMax: 300, repeats: 0.2, cuts: 0.05, failures: 0.1 },
      });
      checkOnce(lived, "At the end");
      const { end } = lived;
      deepEqual(
        end.waiting
          .filter((pod) => end.nodes.some((node) => brokenRules(pod, node, end).length === 0))
          .map(({ metadata }) => metadata.name),
        [],
      );
    }),
    { numRuns: RUNS, seed: testSeed() },
  );
});

/** Two existing volumes for the first two claims; the others are provisioned. The last two Pods share a claim. */
const WITH_VOLUMES = [
  ...["n1", "n2"].map((name) => aNode(name, { cpu: "4", labels: { [HOSTNAME]: name } })),
  aStorageClass("local"),
  aStorageClass("fast", { provisioner: "fast.example" }),
  ...["n1", "n2"].map((node) => aVolume(`v-${node}`, { className: "local", nodes: [node] })),
  ...["a", "b"].map((name) => aClaim(name, { className: "local" })),
  ...["c", "d"].map((name) => aClaim(name, { className: "fast" })),
  ...["a", "b", "c"].map((name) => aPod(`p${name}`, { ...volumesOf(name), cpu: "1" })),
  ...["pd", "pe"].map((name) => aPod(name, { ...volumesOf("d"), cpu: "1" })),
];

test("a scheduler that crashes after any request binds every claim once, to a volume that its Pod's node can access", async () => {
  const controllers = ["persistentvolume-binder-controller"];
  const run = async (deaths: readonly number[]) => {
    const ends: { claims: readonly PersistentVolumeClaim[]; volumes: readonly PersistentVolume[] } = { claims: [], volumes: [] };
    const everyClaim = new Map<string, Set<string>>();
    const eachSecond = async (client: Client): Promise<void> => {
      await provisionSelected(client);
      Object.assign(ends, {
        claims: (await client.list(persistentVolumeClaims)).items,
        volumes: (await client.list(persistentVolumes)).items,
      });
      for (const { metadata, spec } of ends.claims) {
        const names = everyClaim.get(metadata.name) ?? new Set();
        everyClaim.set(metadata.name, spec?.volumeName === undefined ? names : names.add(spec.volumeName));
      }
    };
    const lives = await runCrashingSchedulers({ objects: WITH_VOLUMES, deaths, seed: 1, controllers, eachSecond });
    return { lives, ends, everyClaim };
  };
  const undisturbed = await run([]);
  const { calls } = undisturbed.lives;
  const stride = Math.max(1, Math.ceil(calls / VOLUME_DEATHS_MAX));
  for (const deaths of [[], ...Array.from({ length: Math.ceil(calls / stride) }, (_, index) => [1 + index * stride])]) {
    const { lives, ends, everyClaim } = deaths.length === 0 ? undisturbed : await run(deaths);
    const how = `It died after request ${deaths.join()} of ${calls}`;
    checkOnce(lives, how);
    deepEqual(boundOf(lives), ["pa", "pb", "pc", "pd", "pe"], how);
    deepEqual(
      [...everyClaim].map(([name, volumes]) => [name, volumes.size]),
      ["a", "b", "c", "d"].map((name) => [name, 1]),
      how,
    );
    equal(ends.volumes.length, 4, `${how}: no volume was provisioned twice`);
    for (const { spec, metadata } of lives.end.placed) {
      const claim = ends.claims.find(({ metadata: { name } }) => name === spec?.volumes?.[0]?.persistentVolumeClaim?.claimName);
      const volume = ends.volumes.find(({ metadata: { name } }) => name === claim?.spec?.volumeName);
      equal(volume?.spec?.claimRef?.uid, claim?.metadata.uid, how);
      const [term] = volume?.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
      deepEqual(term?.matchExpressions?.[0]?.values, [spec?.nodeName], `${how}: ${metadata.name}`);
    }
  }
});
