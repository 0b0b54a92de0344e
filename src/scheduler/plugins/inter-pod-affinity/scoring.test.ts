import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Affinity, Namespace, PodAffinityTerm } from "../../../api/generated/core/v1.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import { made, scored } from "../../framework/testing/call-plugin.ts";
import { aNode, aPod, nodeInfo, type PodParts } from "../../framework/testing/builders.ts";
import { aClusterView } from "../../framework/testing/changing-cluster.ts";
import { interPodAffinity } from "./inter-pod-affinity.ts";

const ZONE = "topology.kubernetes.io/zone";

function app(value: string, more: Partial<PodAffinityTerm> = {}): PodAffinityTerm {
  return { topologyKey: ZONE, labelSelector: { matchLabels: { app: value } }, ...more };
}

function likes(weight: number, podAffinityTerm: PodAffinityTerm): Affinity {
  return { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm }] } };
}

function dislikes(weight: number, podAffinityTerm: PodAffinityTerm): Affinity {
  return { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm }] } };
}

function needs(podAffinityTerm: PodAffinityTerm): Affinity {
  return { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [podAffinityTerm] } };
}

const web: PodParts = { labels: { app: "web" } };
const db: PodParts = { labels: { app: "db" } };
const blue: Namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "default", labels: { team: "blue" } } };
const red: Namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "other", labels: { team: "red" } } };
const cluster = aClusterView({ namespaces: () => [blue, red] });

let existing = 0;
/** a1 and a2 are in zone a, b1 in zone b, x in none. */
function nodes(pods: Partial<Record<"a1" | "a2" | "b1" | "x", readonly PodParts[]>>): readonly NodeInfo[] {
  const zones = [
    ["a1", "a"],
    ["a2", "a"],
    ["b1", "b"],
    ["x", undefined],
  ] as const;
  return zones.map(([name, zone]) =>
    nodeInfo(aNode(name, zone === undefined ? {} : { zone }), ...(pods[name] ?? []).map((parts) => aPod(`existing${existing++}`, parts))),
  );
}

interface Row {
  readonly when: string;
  readonly args?: unknown;
  readonly pod: PodParts;
  readonly on: Parameters<typeof nodes>[0];
  /** Of a1, a2, b1 and x. */
  readonly expected: readonly number[] | "skip";
}

const ROWS: readonly Row[] = [
  { when: "there are no preferences", pod: web, on: { a1: [web] }, expected: "skip" },
  { when: "what it likes is in one zone", pod: { affinity: likes(5, app("web")) }, on: { a1: [web] }, expected: [100, 100, 0, 0] },
  { when: "what it likes is nowhere", pod: { affinity: likes(5, app("web")) }, on: { a1: [db] }, expected: "skip" },
  {
    when: "what it likes is in another namespace",
    pod: { affinity: likes(5, app("web")) },
    on: { a1: [{ ...web, namespace: "other" }] },
    expected: "skip",
  },
  {
    when: "what it likes is in a namespace that it selects",
    pod: { affinity: likes(5, app("web", { namespaceSelector: { matchLabels: { team: "red" } } })) },
    on: { a1: [{ ...web, namespace: "other" }] },
    expected: [100, 100, 0, 0],
  },
  {
    when: "there is more of it in one zone",
    pod: { affinity: likes(5, app("web")) },
    on: { a1: [web], a2: [web], b1: [web] },
    expected: [100, 100, 50, 0],
  },
  { when: "what it dislikes is in one zone", pod: { affinity: dislikes(5, app("web")) }, on: { a1: [web] }, expected: [0, 0, 100, 100] },
  {
    when: "it likes one more than it dislikes another",
    pod: { affinity: { ...likes(8, app("web")), ...dislikes(5, app("db")) } },
    on: { a1: [web, db], b1: [db] },
    expected: [100, 100, 0, 62],
  },
  { when: "a Pod that is there likes it", pod: web, on: { b1: [{ affinity: likes(7, app("web")) }] }, expected: [0, 0, 100, 0] },
  { when: "a Pod that is there dislikes it", pod: web, on: { b1: [{ affinity: dislikes(7, app("web")) }] }, expected: [100, 100, 0, 100] },
  { when: "a Pod that is there likes others", pod: db, on: { b1: [{ affinity: likes(7, app("web")) }] }, expected: "skip" },
  {
    when: "a Pod of another namespace likes its namespace by label",
    pod: web,
    on: { b1: [{ namespace: "other", affinity: likes(7, app("web", { namespaceSelector: { matchLabels: { team: "blue" } } })) }] },
    expected: [0, 0, 100, 0],
  },
  { when: "a Pod that is there needs it", pod: web, on: { b1: [{ affinity: needs(app("web")) }] }, expected: [0, 0, 100, 0] },
  {
    when: "such a need counts as 1 beside wishes",
    pod: { ...web, affinity: likes(4, app("db")) },
    on: { a1: [db], b1: [{ affinity: needs(app("web")) }] },
    expected: [100, 100, 25, 0],
  },
  {
    when: "such a need counts as configured",
    args: { hardPodAffinityWeight: 8 },
    pod: { ...web, affinity: likes(4, app("db")) },
    on: { a1: [db], b1: [{ affinity: needs(app("web")) }] },
    expected: [50, 50, 100, 0],
  },
  {
    when: "such a need counts for nothing",
    args: { hardPodAffinityWeight: 0 },
    pod: web,
    on: { b1: [{ affinity: needs(app("web")) }] },
    expected: "skip",
  },
  {
    when: "wishes of others are ignored and it has none",
    args: { ignorePreferredTermsOfExistingPods: true },
    pod: web,
    on: { b1: [{ affinity: likes(7, app("web")) }] },
    expected: "skip",
  },
  {
    when: "wishes of others are ignored, but it has some",
    args: { ignorePreferredTermsOfExistingPods: true },
    pod: { ...web, affinity: likes(7, app("db")) },
    on: { a1: [db], b1: [{ affinity: likes(7, app("web")) }] },
    expected: [100, 100, 100, 0],
  },
];

for (const { when, args, pod, on, expected } of ROWS) {
  test(`InterPodAffinity.score when ${when}`, () => {
    deepEqual(scored(made(interPodAffinity, args, { cluster }), aPod("newcomer", pod), nodes(on)), expected);
  });
}
