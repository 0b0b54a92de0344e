import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { replicaSets } from "../../api/apps/v1/replica-set.ts";
import type { ReplicaSet } from "../../api/generated/apps/v1.ts";
import { labelSelectorFromObject, type LabelSelectorObject } from "../../api/machinery/selectors/label-selector.ts";
import type { KubeObject, ObjectMeta } from "../../api/machinery/object.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { itsControllerOrAdopters, keepSelectors } from "./adopters.ts";
import type { Change } from "../runtime/controller.ts";
import { keyText } from "../runtime/keys.ts";
import { stub } from "../../base/testing/stub.ts";
import { buildPod } from "../../api/testing/pod.ts";

const readSelector = keepSelectors(labelSelectorFromObject);
const keys = itsControllerOrAdopters(replicaSets, ({ spec }: ReplicaSet) => readSelector(spec?.selector));

const SETS = [
  aSet("web", { matchLabels: { app: "web" } }),
  aSet("also-web", { matchExpressions: [{ key: "app", operator: "In", values: ["web", "api"] }] }),
  aSet("api", { matchLabels: { app: "api" } }),
  aSet("everything", {}),
];

function aSet(name: string, selector: LabelSelectorObject): ReplicaSet {
  return { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name, namespace: "default" }, spec: { selector } };
}

function aPod(metadata: Partial<ObjectMeta>): KubeObject {
  return buildPod({ metadata: { name: "p", namespace: "default", ...metadata } });
}

function woken(change: Change): readonly string[] {
  const read = stub<Reader>({ list: (_kind: unknown, namespace?: string) => (namespace === "default" ? SETS : []) });
  return [...keys(change, read)].map(keyText);
}

const WEB = { labels: { app: "web" } };
const API = { labels: { app: "api" } };
const OF_WEB = { ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "1", controller: true }] };
const OF_JOB = { ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "web", uid: "2", controller: true }] };
const TERMINATING = { deletionTimestamp: "2026-01-01T00:00:00Z" };

for (const { it, change, enqueues } of [
  { it: "a controlled one enqueues its controller only", change: added({ ...WEB, ...OF_WEB }), enqueues: ["default/web"] },
  { it: "one of a controller of another kind enqueues nothing", change: added({ ...WEB, ...OF_JOB }), enqueues: [] },
  { it: "an orphan enqueues all controllers that match it", change: added(WEB), enqueues: ["default/web", "default/also-web"] },
  { it: "an orphan of another namespace enqueues nothing", change: added({ ...WEB, namespace: "other" }), enqueues: [] },
  { it: "an orphan that is terminating enqueues nothing", change: added({ ...WEB, ...TERMINATING }), enqueues: [] },
  { it: "a deleted orphan enqueues nothing", change: { is: "deleted", object: aPod(WEB) } as const, enqueues: [] },
  { it: "an orphan whose labels stay enqueues nothing", change: updated(WEB, { ...WEB, resourceVersion: "1" }), enqueues: [] },
  {
    it: "an orphan with changed labels enqueues the controllers that match it now",
    change: updated(API, WEB),
    enqueues: ["default/also-web", "default/api"],
  },
  {
    it: "a released one enqueues its former controller and those that match it",
    change: updated(API, { ...API, ...OF_WEB }),
    enqueues: ["default/web", "default/also-web", "default/api"],
  },
  {
    it: "one whose labels change enqueues its controller",
    change: updated({ ...API, ...OF_WEB }, { ...WEB, ...OF_WEB }),
    enqueues: ["default/web"],
  },
  {
    it: "a deleted one enqueues its controller",
    change: { is: "deleted", object: aPod({ ...WEB, ...OF_WEB }) } as const,
    enqueues: ["default/web"],
  },
]) {
  test(`changed objects: ${it}`, () => {
    deepEqual(woken(change), enqueues);
  });
}

function added(metadata: Partial<ObjectMeta>): Change {
  return { is: "added", object: aPod(metadata) };
}

function updated(metadata: Partial<ObjectMeta>, previous: Partial<ObjectMeta>): Change {
  return { is: "updated", object: aPod(metadata), previous: aPod(previous) };
}

for (const { it, selector } of [
  { it: "is missing", selector: undefined },
  { it: "selects everything", selector: {} },
  { it: "is malformed", selector: { matchExpressions: [{ key: "a", operator: "Like" }] } },
]) {
  test(`a selector that ${it} is ignored`, () => {
    equal(readSelector(selector), undefined);
    equal(readSelector(selector), undefined);
  });
}

test("a selector is parsed once per object", () => {
  const selector = { matchLabels: { app: "web" } };

  equal(readSelector(selector), readSelector(selector));
});
