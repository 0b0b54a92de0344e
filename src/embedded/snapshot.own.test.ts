/** "snapshot() and startCluster({ from }) do the same through a file", which the commands of the store can read and write, too. */
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Node, Pod } from "../api/generated/core/v1.ts";
import { aConfigMap, aDeployment } from "../testing/clients/manifests.ts";
import type { Cluster } from "./cluster.ts";
import { startCluster } from "./start-cluster.ts";
import { isRolledOut } from "./conditions.ts";
import { LAUNCHER } from "../testing/servers/launcher.ts";

const directory = mkdtempSync(join(tmpdir(), "k8ts-test-"));
after(() => rmSync(directory, { recursive: true, force: true }));
const k8ts = (...args: readonly string[]): string => execFileSync(process.execPath, [LAUNCHER, ...args], { encoding: "utf8" });
const podsOf = (cluster: Cluster) => cluster.until<Pod>("pods", () => true);
const nodesOf = async (cluster: Cluster) => (await cluster.until<Node>("nodes", () => true)).map(({ metadata }) => metadata.name);

async function playing(): Promise<Cluster> {
  const cluster = await startCluster({ nodes: { count: 3, capacity: { cpu: "2" } }, clock: "virtual" });
  await cluster.apply(aDeployment("web", { replicas: 6 }));
  await cluster.until("deployment/web", isRolledOut);
  await cluster.nodes.stop("node-2");
  await cluster.advance("10s");
  return cluster;
}

test("a cluster from a snapshot has the same objects, nodes and time, and continues", async () => {
  const file = join(directory, "whole.k8ts");
  await using cluster = await playing();
  await cluster.snapshot(file);

  await using again = await startCluster({ from: file, clock: "virtual" });

  equal(statSync(file).mode & 0o777, 0o600);
  equal(again.clock.now(), cluster.clock.now());
  deepEqual(await podsOf(again), await podsOf(cluster));
  deepEqual(again.nodes.names(), ["node-0", "node-1", "node-2"]);
  equal(again.nodes.isRunning("node-2"), false);
  equal((await again.get<Node>("node/node-0")).status?.capacity?.["cpu"], "2");
  await again.apply(aDeployment("late", { replicas: 2 }));
  await again.until("deployment/late", isRolledOut);
  const uids = [...(await podsOf(again)), ...(await podsOf(cluster))].map(({ metadata }) => metadata.uid);
  equal(new Set(uids).size, 8, "what is made later has uids of its own");
});

test("requested nodes override those of the snapshot, and settings alone change only settings", async () => {
  const file = join(directory, "nodes.k8ts");
  await using cluster = await playing();
  await cluster.snapshot(file);

  await using fewer = await startCluster({ from: file, clock: "virtual", nodes: 1 });
  deepEqual(fewer.nodes.names(), ["node-0"]);
  deepEqual(await nodesOf(fewer), ["node-0", "node-1", "node-2"]);
  await using same = await startCluster({
    from: file,
    clock: "virtual",
    nodes: { simulation: { rules: [{ settings: { readyAfter: "1h" } }] } },
  });
  deepEqual(same.nodes.names(), ["node-0", "node-1", "node-2"]);
});

test("a snapshot of virtual time can continue in real time", async () => {
  const file = join(directory, "real.k8ts");
  await using cluster = await playing();
  await cluster.snapshot(file);
  await using again = await startCluster({ from: file });
  equal((await podsOf(again)).length, 6);
});

test("`k8ts store restore` reads a snapshot, and a cluster starts from one of `k8ts store snapshot`", async () => {
  const [file, dataDirectory, back] = [join(directory, "a.k8ts"), join(directory, "restored"), join(directory, "b.k8ts")];
  await using cluster = await playing();
  await cluster.snapshot(file);

  match(k8ts("store", "restore", file, "--data-dir", dataDirectory), /^Restored revision \d+ from /);
  k8ts("store", "snapshot", back, "--data-dir", dataDirectory);
  await using again = await startCluster({ from: back, clock: "virtual", nodes: 3 });

  deepEqual(
    (await podsOf(again)).map(({ metadata }) => metadata.uid),
    (await podsOf(cluster)).map(({ metadata }) => metadata.uid),
  );
});

test("a snapshot can become a store on disk, which persists later changes", async () => {
  const [file, dataDirectory] = [join(directory, "disk.k8ts"), join(directory, "on-disk")];
  await using cluster = await playing();
  await cluster.snapshot(file);
  const store = { driver: "embedded", dataDirectory } as const;
  {
    await using first = await startCluster({ from: file, store, clock: "virtual" });
    equal(first.parts[0]?.description, `in ${dataDirectory}`);
    await first.apply(aConfigMap("kept", { by: "first" }));
  }
  await using second = await startCluster({ store, clock: "virtual", nodes: 2 });
  deepEqual((await second.get("configmap/kept"))["data" as never], { by: "first" });
  await second.apply(aDeployment("late", { replicas: 2 }));
  await second.until("deployment/late", isRolledOut);
  const uids = (await podsOf(second)).map(({ metadata }) => metadata.uid);
  equal(new Set(uids).size, uids.length, "the seed is the same, and still no uid is given twice");
  await rejects(
    startCluster({ from: file, store: { driver: "embedded", dataDirectory: join(directory, "on-disk") } }),
    /Cannot start from|is in use|process/,
  );
});

const DAMAGES: readonly (readonly [string, (bytes: Buffer) => Buffer, RegExp])[] = [
  ["cut off", (bytes) => bytes.subarray(0, bytes.length / 2), /^Error: Cannot start from .*: Cannot read the snapshot: it is cut off/],
  ["changed in the middle", (bytes) => Buffer.concat([bytes.subarray(0, 5_000), Buffer.from("x"), bytes.subarray(5_001)]), /damaged/i],
  ["none at all", () => Buffer.from("apiVersion: v1\n"), /damaged/i],
  ["empty", () => Buffer.alloc(0), /damaged/i],
  ["changed behind its end", (bytes) => Buffer.from(bytes.toString("latin1").replace('"nowMs"', '"nowMs'), "latin1"), /damaged/i],
];

for (const [what, damage, error] of DAMAGES) {
  test(`a snapshot that is ${what} is rejected with a message, and nothing stays open`, async () => {
    const [file, dataDirectory] = [join(directory, "damaged.k8ts"), join(directory, `damaged-${what.replaceAll(" ", "-")}`)];
    await using cluster = await startCluster({ clock: "virtual" });
    await cluster.snapshot(file);
    writeFileSync(file, damage(readFileSync(file)));

    for (const clock of ["virtual", "real"] as const) await rejects(startCluster({ from: file, clock }), error);
    const store = { driver: "embedded", dataDirectory } as const;
    await rejects(startCluster({ from: file, store }), error);
    await using empty = await startCluster({ store });
    equal((await nodesOf(empty)).length, 1);
  });
}

test("a path that cannot be written is reported, and nothing is left behind", async () => {
  await using cluster = await startCluster({ clock: "virtual" });
  await rejects(cluster.snapshot(join(directory, "no", "such", "a.k8ts")), /^Error: Cannot write a snapshot to .*a\.k8ts: ENOENT/);
  deepEqual(
    readdirSync(directory).filter((name) => name.endsWith(".partial")),
    [],
  );
});
