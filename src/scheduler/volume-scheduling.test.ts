/** Pods with volumes on a real API server with the real binder: what is written, waited for, reported, and released. */
import { deepEqual, equal, match } from "node:assert/strict";
import { describe, test } from "node:test";
import { persistentVolumeClaims } from "../api/core/v1/persistent-volume-claim.ts";
import { pods } from "../api/core/v1/pod.ts";
import type { Client } from "../client/client.ts";
import { startScheduledServer, type ScheduledServer } from "../testing/servers/scheduled-server.ts";
import { requestsThrough } from "./framework/testing/bindings.ts";
import { aNode, aPod } from "./framework/testing/builders.ts";
import { provisionSelected } from "./framework/testing/provisioner.ts";
import { aClaim, aStorageClass, aVolume, HOSTNAME, volumesOf } from "./framework/testing/volumes.ts";

const BINDER = { controllers: ["persistentvolume-binder-controller"] };
const NODES = ["n1", "n2"].map((name) => aNode(name, { labels: { [HOSTNAME]: name } }));
const LOCAL = aStorageClass("local");
const FAST = aStorageClass("fast", { provisioner: "fast.example" });
const key = (name: string) => ({ namespace: "default", name });

/** "c Bound v", "d Pending on n1". */
async function claimsOf(client: Client): Promise<readonly string[]> {
  const { items } = await client.list(persistentVolumeClaims);
  return items.map(({ metadata, spec, status }) => {
    const node = metadata.annotations?.["volume.kubernetes.io/selected-node"];
    return [metadata.name, status?.phase, spec?.volumeName, node && `on ${node}`].filter((part) => part !== undefined).join(" ");
  });
}

async function nominationOf(client: Client, name: string): Promise<string | undefined> {
  return (await client.get(pods, key(name))).status?.nominatedNodeName;
}

function pendingOf(cluster: ScheduledServer): number {
  const family = cluster.scheduler.metrics().find(({ name }) => name === "scheduler_cache_size");
  const samples = family?.type === "gauge" ? family.samples : [];
  return Number(samples.find(({ labels }) => labels?.["type"] === "assumed_pods")?.value ?? 0);
}

test("Pods get existing volumes on their nodes, each claim its own, the smallest that fits", async () => {
  const volume = (name: string, size: string, node: string) => aVolume(name, { className: "local", size, nodes: [node] });
  await using cluster = await startScheduledServer(
    BINDER,
    ...[...NODES, LOCAL, volume("v1", "1Gi", "n1"), volume("v2", "5Gi", "n2"), volume("v3", "2Gi", "n2")],
  );
  const claim = (name: string, size: string) => aClaim(name, { className: "local", size });

  await cluster.make(claim("a", "4Gi"), claim("b", "2Gi"), claim("c", "1Gi"));
  for (const name of ["a", "b", "c"]) await cluster.make(aPod(`p${name}`, volumesOf(name)));
  await cluster.clock.advance(5_000);

  deepEqual(await cluster.places(), ["pa on n2", "pb on n2", "pc on n1"]);
  deepEqual(await claimsOf(cluster.client), ["a Bound v2", "b Bound v3", "c Bound v1"]);
  equal(pendingOf(cluster), 0);
});

describe("a Pod whose volume is provisioned", () => {
  const objects = [...NODES, FAST, aClaim("c", { className: "fast" })];

  test("waits for it on its node, and is bound once it is there", async () => {
    await using cluster = await startScheduledServer(BINDER, ...objects);
    await cluster.make(aPod("p", { ...volumesOf("c"), nodeSelector: { [HOSTNAME]: "n2" } }));
    deepEqual([await cluster.places(), await claimsOf(cluster.client)], [["p waits"], ["c Pending on n2"]]);
    equal(await nominationOf(cluster.client, "p"), "n2");

    await provisionSelected(cluster.client);
    await cluster.clock.settle();

    deepEqual([await cluster.places(), await nominationOf(cluster.client, "p")], [["p on n2"], undefined]);
    deepEqual(await cluster.eventsOf("p"), ["Normal Scheduled Successfully assigned default/p to n2"]);
  });

  test("is scheduled again when its provisioner gives the node up", async () => {
    await using cluster = await startScheduledServer(BINDER, ...objects);
    await cluster.make(aPod("p", volumesOf("c")));
    const value = { metadata: { annotations: { "volume.kubernetes.io/selected-node": null } } };
    await cluster.client.patch(persistentVolumeClaims, key("c"), { type: "merge", value });
    await cluster.clock.settle();

    const failed = 'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "c"';
    deepEqual(await cluster.eventsOf("p"), [`Warning FailedScheduling ${failed}`]);
    equal(await nominationOf(cluster.client, "p"), undefined);
    await cluster.clock.advance(10_000);
    await provisionSelected(cluster.client);
    await cluster.clock.settle();
    match((await cluster.places()).join(), /^p on n/);
  });

  test("is scheduled again after the timeout, for the same node", async () => {
    await using cluster = await startScheduledServer(BINDER, ...objects);
    await cluster.make(aPod("p", volumesOf("c")));
    const before = await claimsOf(cluster.client);
    await cluster.clock.advance(601_000);

    const failed = 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded';
    deepEqual(await cluster.eventsOf("p"), [`Warning FailedScheduling ${failed}`]);
    await cluster.clock.advance(10_000);
    deepEqual(await claimsOf(cluster.client), before);
    await provisionSelected(cluster.client);
    await cluster.clock.settle();
    match((await cluster.places()).join(), /^p on n/);
  });

  test("releases its node when it is deleted", async () => {
    await using cluster = await startScheduledServer(BINDER, ...objects);
    await cluster.make(aPod("p", volumesOf("c")));
    equal(pendingOf(cluster), 1);

    await cluster.client.delete(pods, key("p"), { gracePeriodSeconds: 0 });
    await cluster.clock.settle();

    deepEqual([pendingOf(cluster), cluster.scheduler.underWay()], [0, []]);
  });

  test("does not hold up others, however many wait", async () => {
    const waiting = ["a", "b", "d", "e"];
    const claims = waiting.map((name) => aClaim(name, { className: "fast" }));
    await using cluster = await startScheduledServer({ ...BINDER, underWayMax: 2 }, ...NODES, FAST, ...claims);
    await cluster.make(...waiting.map((name) => aPod(`p${name}`, volumesOf(name))), aPod("q"));

    match((await cluster.places()).join(), /^pa waits,pb waits,pd waits,pe waits,q on n/);
  });

  test("shares the node of a claim that another Pod waits for", async () => {
    await using cluster = await startScheduledServer(BINDER, ...objects);
    await cluster.make(aPod("p", volumesOf("c")), aPod("q", volumesOf("c")));
    await provisionSelected(cluster.client);
    await cluster.clock.settle();

    const places = await cluster.places();
    equal(places[0]?.replace("p on ", ""), places[1]?.replace("q on ", ""));
    deepEqual(await cluster.eventsOf("q"), [`Normal Scheduled Successfully assigned default/${places[1]?.replace("on", "to")}`]);
  });
});

test("a claim that changes while its node is written is written again, without a failed attempt", async () => {
  const admin: { client?: Client } = {};
  let writes = 0;
  const disturbed = requestsThrough(
    ({ verb, plural }) => verb === "update" && plural === "persistentvolumeclaims" && writes++ === 0,
    async (_request, send) => {
      await admin.client?.patch(persistentVolumeClaims, key("c"), { type: "merge", value: { metadata: { labels: { other: "yes" } } } });
      return send();
    },
  );
  await using cluster = await startScheduledServer({ ...BINDER, around: disturbed }, ...NODES, FAST, aClaim("c", { className: "fast" }));
  admin.client = cluster.client;

  await cluster.make(aPod("p", volumesOf("c")));
  await provisionSelected(cluster.client);
  await cluster.clock.settle();

  match((await cluster.places()).join(), /^p on n/);
  equal((await cluster.eventsOf("p")).length, 1);
});

test("a Pod preempts the user of a claim with access mode ReadWriteOncePod", async () => {
  const claim = aClaim("c", { boundTo: "v", spec: { accessModes: ["ReadWriteOncePod"] } });
  const volume = aVolume("v", { spec: { accessModes: ["ReadWriteOncePod"] } });
  await using cluster = await startScheduledServer({}, ...NODES, volume, claim);
  await cluster.make(aPod("low", { ...volumesOf("c"), priority: 1 }));
  await cluster.make(aPod("equal", { ...volumesOf("c"), priority: 1 }), aPod("high", { ...volumesOf("c"), priority: 10 }));

  const inUse = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";
  const [event = ""] = await cluster.eventsOf("equal");
  equal(event.startsWith(`Warning FailedScheduling 0/2 nodes are available: 2 ${inUse}.`), true, event);
  await cluster.client.delete(pods, key("low"), { gracePeriodSeconds: 0 });
  await cluster.clock.advance(10_000);
  const places = await cluster.places();
  match(places.join(), /^equal waits,high on n/);
});
