import { test } from "node:test";
import { deepEqual, equal, rejects } from "node:assert/strict";
import { replicaSets } from "../../api/apps/v1/replica-set.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { parseLabelSelector } from "../../api/machinery/selectors/label-selector.ts";
import type { Client } from "../../client/client.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { given, type Given } from "../../testing/given.ts";
import { claim, type ClaimOptions } from "./adoption.ts";
import type { Pass } from "../runtime/controller.ts";
import { controllerReference } from "../runtime/keys.ts";
import { anOrphan, podsOf, POD_SPEC, setLabels } from "../runtime/testing/pods.ts";
import { stub } from "../../base/testing/stub.ts";

const WEB = { namespace: "default", name: "web" };
const LABELS = { app: "web" };
const SET = {
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: { ...WEB, finalizers: ["example.com/hold"] },
  spec: { selector: { matchLabels: LABELS }, template: { metadata: { labels: LABELS }, spec: POD_SPEC } },
} as const;

type Options = Partial<ClaimOptions<Awaited<ReturnType<typeof theSet>>, Pod>>;

/** Names of the ReplicaSet's objects afterwards. `options.owner`: as it was read, possibly stale. */
async function claimed(cluster: Given, options: Options = {}): Promise<readonly string[]> {
  const owner = options.owner ?? (await theSet(cluster));
  const all = await podsOf(cluster);
  const read = stub<Reader>({
    controlledBy: () => all.filter((pod) => controllerReference(pod)?.uid === owner.metadata.uid),
    uncontrolled: () => all.filter((pod) => controllerReference(pod) === undefined),
  });
  const pass = { read, write: cluster.client, ...options.pass } as Pass;
  const mine = await claim({ owner, ownerKind: replicaSets, kind: pods, selector: parseLabelSelector("app=web"), ...options, pass });
  return mine.map(({ metadata }) => metadata.name);
}

function theSet(cluster: Given) {
  return cluster.client.get(replicaSets, WEB);
}

async function ownersOf(cluster: Given): Promise<Readonly<Record<string, string | undefined>>> {
  return Object.fromEntries((await podsOf(cluster)).map((pod) => [pod.metadata.name, controllerReference(pod)?.name]));
}

test("matching orphans are adopted, others are not", async () => {
  const taken = { apiVersion: "batch/v1", kind: "Job", name: "job", uid: "j1", controller: true };
  const ofJob = { ...anOrphan("b-of-job", LABELS), metadata: { ...anOrphan("b-of-job", LABELS).metadata, ownerReferences: [taken] } };
  await using cluster = await given(SET, anOrphan("c", LABELS), anOrphan("a", LABELS), anOrphan("stranger", { app: "x" }), ofJob);

  deepEqual(await claimed(cluster), ["a", "c"]);

  deepEqual(await ownersOf(cluster), { a: "web", "b-of-job": "job", c: "web", stranger: undefined });
});

test("an adopted object keeps its other owners", async () => {
  const other = { apiVersion: "v1", kind: "ConfigMap", name: "map", uid: "m1" };
  const owned = { ...anOrphan("a", LABELS), metadata: { ...anOrphan("a", LABELS).metadata, ownerReferences: [other] } };
  await using cluster = await given(SET, owned);

  await claimed(cluster);
  deepEqual((await podsOf(cluster))[0]?.metadata.ownerReferences?.map(({ name }) => name).toSorted(), ["map", "web"]);

  await setLabels(cluster, "a", { app: "x" });
  await claimed(cluster);
  deepEqual((await podsOf(cluster))[0]?.metadata.ownerReferences, [other]);
});

test("objects that no longer match are released, also terminating ones; the result is ordered by name", async () => {
  await using cluster = await given(SET, anOrphan("b", LABELS), anOrphan("c", LABELS), anOrphan("d", LABELS));
  await claimed(cluster);
  await setLabels(cluster, "b", { app: "x" });
  await setLabels(cluster, "c", { app: "x" });
  await cluster.client.delete(pods, { namespace: "default", name: "c" });
  await cluster.client.create(pods, anOrphan("a", LABELS));

  deepEqual(await claimed(cluster), ["a", "d"]);

  deepEqual(await ownersOf(cluster), { a: "web", b: undefined, c: undefined, d: "web" });
});

test("ignored objects are neither adopted nor released nor returned", async () => {
  await using cluster = await given(SET, anOrphan("a", LABELS), anOrphan("b", LABELS));
  await claimed(cluster, { considers: ({ metadata }) => metadata.name === "a" });
  await setLabels(cluster, "a", { app: "x" });

  deepEqual(await claimed(cluster, { considers: () => false }), []);

  deepEqual(await ownersOf(cluster), { a: "web", b: undefined });
});

test("objects that do not belong are released although the selector matches", async () => {
  await using cluster = await given(SET, anOrphan("a", LABELS), anOrphan("b", LABELS));
  await claimed(cluster);

  deepEqual(await claimed(cluster, { belongs: ({ metadata }) => metadata.name === "a" }), ["a"]);

  deepEqual(await ownersOf(cluster), { a: "web", b: undefined });
});

test("terminating objects are not adopted", async () => {
  await using cluster = await given(SET, anOrphan("a", LABELS));
  await cluster.client.delete(pods, { namespace: "default", name: "a" });

  deepEqual(await claimed(cluster), []);
});

test("a terminating owner keeps its objects, and adopts and releases nothing", async () => {
  await using cluster = await given(SET, anOrphan("a", LABELS), anOrphan("b", LABELS));
  await claimed(cluster);
  await cluster.client.delete(replicaSets, WEB);
  await setLabels(cluster, "a", { app: "x" });
  await cluster.client.create(pods, anOrphan("c", LABELS));

  deepEqual(await claimed(cluster), ["b"]);

  deepEqual(await ownersOf(cluster), { a: "web", b: "web", c: undefined });
});

test("an owner that was just deleted, or replaced, adopts nothing", async () => {
  await using cluster = await given(SET, anOrphan("a", LABELS));
  const owner = await theSet(cluster);
  await cluster.client.delete(replicaSets, WEB);
  await rejects(claimed(cluster, { owner }), { reason: "Conflict", message: /it has just been deleted$/ });

  await cluster.client.patch(replicaSets, WEB, { type: "merge", value: { metadata: { finalizers: null } } });
  await cluster.client.create(replicaSets, SET);
  await rejects(claimed(cluster, { owner }), { reason: "Conflict", message: /it is another one by now$/ });

  deepEqual(await ownersOf(cluster), { a: undefined });
});

test("objects deleted meanwhile are not returned, and a failed adoption does not prevent others", async () => {
  await using cluster = await given(SET, anOrphan("a", LABELS), anOrphan("b", LABELS), anOrphan("c", LABELS));
  const { client } = cluster;
  const racing: Client["patch"] = async (kind, key, patch, options) => {
    if (key.name === "a") await client.delete(kind, key, { gracePeriodSeconds: 0 });
    if (key.name === "b" && isFirst) throw new Error("no connection");
    return client.patch(kind, key, patch, options);
  };
  let isFirst = true;
  const pass = { write: { ...client, get: client.get.bind(client), patch: racing } } as Pass;

  await rejects(claimed(cluster, { pass }), { message: "no connection" });
  deepEqual(await ownersOf(cluster), { b: undefined, c: "web" });

  isFirst = false;
  deepEqual(await claimed(cluster, { pass }), ["b", "c"]);
  equal((await ownersOf(cluster))["b"], "web");
});

test("another object of the same name is not adopted instead", async () => {
  await using cluster = await given(SET, anOrphan("a", LABELS));
  const { client } = cluster;
  const racing: Client["patch"] = async (kind, key, patch, options) => {
    await client.delete(kind, key, { gracePeriodSeconds: 0 });
    await client.create(pods, anOrphan("a", { app: "x" }));
    return client.patch(kind, key, patch, options);
  };
  const pass = { write: { ...client, get: client.get.bind(client), patch: racing } } as Pass;

  await rejects(claimed(cluster, { pass }), { reason: "Invalid", message: /metadata.uid/ });
  deepEqual(await ownersOf(cluster), { a: undefined });
});
