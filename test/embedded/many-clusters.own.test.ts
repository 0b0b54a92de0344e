/** Many clusters in one process are independent, and close cleanly. */
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { createServer } from "node:net";
import { once } from "node:events";
import { test } from "node:test";
import type { Pod } from "../../src/api/generated/core/v1.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import { aConfigMap, aDeployment } from "../../src/testing/clients/manifests.ts";
import { virtualClock } from "../../src/testing/virtual-clock.ts";
import type { ClusterOptions } from "../../src/embedded/cluster.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { isRolledOut } from "../../src/embedded/conditions.ts";

const TEN = Array.from({ length: 10 }, (_, index) => index);

test("ten concurrent clusters with workloads are unaffected by others that close or fail to start", async () => {
  const names = await Promise.all(
    TEN.map(async (index) => {
      await using cluster = await startCluster({ nodes: 1 + (index % 3), clock: index % 2 === 0 ? "virtual" : "real", seed: index });
      const going = startCluster().then((other) => other.close());
      const failing = rejects(startCluster({ nodes: { labels: { "not a label": "" } } }), /Node "node-0" is invalid: metadata.labels/);
      await cluster.apply([aConfigMap("who", { index: String(index) }), aDeployment("web", { replicas: index + 1 })]);
      await cluster.until("deployment/web", isRolledOut);
      await Promise.all([going, failing]);
      const mine = await cluster.until<Pod>("pods", (all) => all.length > 0);
      equal(mine.length, index + 1);
      deepEqual((await cluster.get("configmap/who"))["data" as never], { index: String(index) });
      return mine.map(({ metadata }) => metadata.uid);
    }),
  );
  const uids = names.flat();
  equal(new Set(uids).size, uids.length, "clusters with different seeds have different uids");
});

test("advancing the clock of one cluster does not affect others", async () => {
  await using a = await startCluster({ clock: "virtual" });
  await using b = await startCluster({ clock: "virtual" });
  const startMs = b.clock.now();
  await Promise.all([a.advance("6m"), b.apply(aConfigMap("a"))]);
  deepEqual([a.clock.now() - startMs, b.clock.now() - startMs], [360_000, 0]);
});

test("clusters with a shared clock share its time and close one after the other", async () => {
  const clock = virtualClock();
  const [a, b] = await Promise.all([startCluster({ clock }), startCluster({ clock, seed: 2 })]);
  await Promise.all([a.advance("10s"), b.advance("20s"), a.apply(aConfigMap("a")), b.apply(aConfigMap("b"))]);
  equal(clock.monotonic(), 20_000);
  await a.close();
  await b.apply(aConfigMap("c"));
  await b.close();
});

for (const clock of ["virtual", "real"] as const) {
  test(`under ${clock} time, closing a cluster rejects pending and later waits`, async () => {
    const cluster = await startCluster({ clock });
    const waiting = [cluster.until("pods", () => false, { within: "1h" }), cluster.until("pod/a", () => false, { within: "1h" })];
    const refused = waiting.map((promise) => rejects(promise, /^Error: (This cluster is closed|pods? .*was not as expected)/));
    const asked = Promise.allSettled(TEN.map((index) => cluster.apply(aConfigMap(`a-${index}`))));
    await Promise.all([cluster.close(), cluster.close(), cluster[Symbol.asyncDispose]()]);
    await Promise.all(refused);
    await asked;

    const late: readonly (() => Promise<unknown>)[] = [
      () => cluster.get("pod/a"),
      () => cluster.apply(aConfigMap("a")),
      () => cluster.delete("pod/a"),
      () => cluster.client.list(pods),
      () => cluster.until("pods", () => true),
      () => cluster.advance("1s"),
      () => cluster.settle(),
      () => cluster.fork(),
      () => cluster.snapshot("/nowhere"),
      () => cluster.nodes.add(),
      () => cluster.logs("a"),
      () => cluster.exec("a", ["true"]),
    ];
    for (const act of late) await rejects(act, /^Error: This cluster is closed$/);
    await cluster.close();
  });
}

test("all errors of a scheduler configuration are reported at once, before anything starts", async () => {
  const scheduler = { percentageOfNodesToScore: 200, profiles: [{ schedulerName: "a" }, { schedulerName: "a" }] };
  await rejects(startCluster({ scheduler, from: "package.json" }), ({ message }: Error) => {
    match(message, /^Cannot use the scheduler configuration:\n/);
    match(message, /profiles\[1\]\.schedulerName: Duplicate value: "a"/);
    match(message, /percentageOfNodesToScore: Invalid value: 200/);
    return true;
  });
});

const WRONG: readonly (readonly [ClusterOptions, RegExp])[] = [
  [{ nodes: -1 }, /^RangeError: Cannot start -1 nodes: the number must be an integer of 0 or more$/],
  [{ nodes: { count: 1.5 } }, /^RangeError: Cannot start 1.5 nodes/],
  [
    { nodes: { simulation: { rules: [{ settings: { phase: "x" } as never }] } } },
    /Cannot simulate: rules\[0\]\.settings\.phase is not a setting/,
  ],
  [{ nodes: { namePrefix: "Bad_" } }, /Node "Bad_0" is invalid: metadata.name/],
  [{ controllers: ["deploymint", "*"] }, /^Error: Cannot select controllers: .*deploymint/],
  [{ from: "nowhere.k8ts" }, /^Error: Cannot start from nowhere.k8ts: ENOENT/],
];

for (const clock of ["virtual", "real"] as const) {
  for (const [options, error] of WRONG) {
    test(`under ${clock} time, startCluster rejects ${JSON.stringify(options)} with a reason`, async () => {
      await rejects(startCluster({ clock, ...options }), error);
    });
  }

  test(`under ${clock} time, startCluster reports a port that is in use`, async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port: securePort } = taken.address() as { readonly port: number };
    await rejects(
      startCluster({ clock, listen: { securePort } }),
      /^Error: Cannot listen on 127.0.0.1:\d+: process \d+ \(.*\) already listens there; stop it, or choose another port with listen\.securePort/,
    );
    taken.close();
  });
}
