import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Affinity, Namespace, PodAffinityTerm } from "../../../api/generated/core/v1.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import { filtered, made } from "../../framework/testing/call-plugin.ts";
import { aNode, aPod, nodeInfo, type PodParts } from "../../framework/testing/builders.ts";
import { aClusterView, verdicts } from "../../framework/testing/changing-cluster.ts";
import { interPodAffinity } from "./inter-pod-affinity.ts";

const FAR = "node(s) didn't match pod affinity rules";
const NEAR = "node(s) didn't match pod anti-affinity rules";
const UNWELCOME = "node(s) didn't satisfy existing pods anti-affinity rules";

const ZONE = "topology.kubernetes.io/zone";
const HOST = "kubernetes.io/hostname";

/** Pods with this label `app`, in the same zone by default. */
function app(value: string, more: Partial<PodAffinityTerm> = {}): PodAffinityTerm {
  return { topologyKey: ZONE, labelSelector: { matchLabels: { app: value } }, ...more };
}

function near(...terms: readonly PodAffinityTerm[]): Affinity {
  return { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
}

function away(...terms: readonly PodAffinityTerm[]): Affinity {
  return { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
}

let existing = 0;
function pod(parts: PodParts): ReturnType<typeof aPod> {
  return aPod(`existing${existing++}`, parts);
}

/** a1 and a2 are in zone a, b1 in zone b, x in none. */
function nodes(pods: Partial<Record<"a1" | "a2" | "b1" | "x", readonly PodParts[]>>): readonly NodeInfo[] {
  const zones = [
    ["a1", "a"],
    ["a2", "a"],
    ["b1", "b"],
    ["x", undefined],
  ] as const;
  return zones.map(([name, zone]) => nodeInfo(aNode(name, zone === undefined ? {} : { zone }), ...(pods[name] ?? []).map(pod)));
}

const web: PodParts = { labels: { app: "web" } };
const db: PodParts = { labels: { app: "db" } };
const elsewhere: PodParts = { ...web, namespace: "other" };

function namespace(name: string, labels: Record<string, string>): Namespace {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
}

const cluster = aClusterView({
  namespaces: () => [namespace("default", { team: "blue" }), namespace("other", { team: "red" }), namespace("third", {})],
});

interface Row {
  readonly when: string;
  readonly pod: PodParts;
  readonly on: Parameters<typeof nodes>[0];
  /** Of a1, a2, b1 and x. */
  readonly expected: readonly string[];
}

const fits = "fits";
const ROWS: readonly Row[] = [
  { when: "the Pod has no rules", pod: web, on: { a1: [web] }, expected: [fits, fits, fits, fits] },
  {
    when: "its affinity matches a Pod in one zone",
    pod: { affinity: near(app("web")) },
    on: { a1: [web] },
    expected: [fits, fits, FAR, FAR],
  },
  {
    when: "its affinity requires a Pod on the same node",
    pod: { affinity: near(app("web", { topologyKey: HOST })) },
    on: { a1: [web] },
    expected: [fits, FAR, FAR, FAR],
  },
  { when: "no Pod matches its affinity", pod: { affinity: near(app("web")) }, on: { a1: [db] }, expected: [FAR, FAR, FAR, FAR] },
  {
    when: "the matching Pod is in another namespace",
    pod: { affinity: near(app("web")) },
    on: { a1: [elsewhere] },
    expected: [FAR, FAR, FAR, FAR],
  },
  {
    when: "its term lists the other namespace",
    pod: { affinity: near(app("web", { namespaces: ["other"] })) },
    on: { a1: [elsewhere], b1: [web] },
    expected: [fits, fits, FAR, FAR],
  },
  {
    when: "its term selects the other namespace by label",
    pod: { affinity: near(app("web", { namespaceSelector: { matchLabels: { team: "red" } } })) },
    on: { a1: [elsewhere], b1: [web] },
    expected: [fits, fits, FAR, FAR],
  },
  {
    when: "its term excludes namespaces by label",
    pod: {
      affinity: near(app("web", { namespaceSelector: { matchExpressions: [{ key: "team", operator: "NotIn", values: ["blue"] }] } })),
    },
    on: { a1: [elsewhere], b1: [web] },
    expected: [fits, fits, FAR, FAR],
  },
  {
    when: "its term selects and lists namespaces, which add up",
    pod: { affinity: near(app("web", { namespaces: ["default"], namespaceSelector: { matchLabels: { team: "red" } } })) },
    on: { a1: [elsewhere], b1: [web] },
    expected: [fits, fits, fits, FAR],
  },
  {
    when: "its term selects all namespaces",
    pod: { affinity: near(app("web", { namespaceSelector: {} })) },
    on: { a1: [elsewhere], b1: [web] },
    expected: [fits, fits, fits, FAR],
  },
  {
    when: "a term has no selector, which matches nothing",
    pod: { affinity: near({ topologyKey: ZONE }) },
    on: { a1: [web] },
    expected: [FAR, FAR, FAR, FAR],
  },
  {
    when: "a selector is empty, which matches all",
    pod: { affinity: near({ topologyKey: ZONE, labelSelector: {} }) },
    on: { b1: [db] },
    expected: [FAR, FAR, fits, FAR],
  },
  {
    when: "two Pods match one term each, and none matches all",
    pod: { affinity: near(app("web"), { ...app("web"), labelSelector: { matchLabels: { tier: "front" } } }) },
    on: { a1: [web, { labels: { tier: "front" } }], b1: [{ labels: { app: "web", tier: "front" } }] },
    expected: [FAR, FAR, fits, FAR],
  },
  { when: "it is the first of its group", pod: { ...web, affinity: near(app("web")) }, on: {}, expected: [fits, fits, fits, FAR] },
  {
    when: "it is not the first of its group",
    pod: { ...web, affinity: near(app("web")) },
    on: { b1: [web] },
    expected: [FAR, FAR, fits, FAR],
  },
  {
    when: "the only Pod of its group is on a node without the topology key",
    pod: { ...web, affinity: near(app("web")) },
    on: { x: [web] },
    expected: [fits, fits, fits, FAR],
  },
  { when: "its anti-affinity matches a Pod", pod: { affinity: away(app("web")) }, on: { a1: [web] }, expected: [NEAR, NEAR, fits, fits] },
  {
    when: "its anti-affinity has two terms",
    pod: { affinity: away(app("web"), app("db", { topologyKey: HOST })) },
    on: { a1: [web], b1: [db] },
    expected: [NEAR, NEAR, NEAR, fits],
  },
  {
    when: "its anti-affinity lists another namespace than that of the Pods",
    pod: { affinity: away(app("web")) },
    on: { a1: [elsewhere] },
    expected: [fits, fits, fits, fits],
  },
  {
    when: "the anti-affinity of an existing Pod matches it",
    pod: web,
    on: { a1: [{ ...db, affinity: away(app("web")) }] },
    expected: [UNWELCOME, UNWELCOME, fits, fits],
  },
  {
    when: "the anti-affinity of an existing Pod matches others only",
    pod: db,
    on: { a1: [{ ...db, affinity: away(app("web")) }] },
    expected: [fits, fits, fits, fits],
  },
  {
    when: "the anti-affinity of a Pod elsewhere selects its namespace by label",
    pod: web,
    on: { a1: [{ namespace: "other", affinity: away(app("web", { namespaceSelector: { matchLabels: { team: "blue" } } })) }] },
    expected: [UNWELCOME, UNWELCOME, fits, fits],
  },
  {
    when: "the anti-affinity of a Pod elsewhere selects other namespaces by label",
    pod: web,
    on: { a1: [{ namespace: "other", affinity: away(app("web", { namespaceSelector: { matchLabels: { team: "red" } } })) }] },
    expected: [fits, fits, fits, fits],
  },
  {
    when: "one of two anti-affinity terms of an existing Pod matches it, and the node lacks the key of the other",
    pod: web,
    on: { x: [{ affinity: away(app("web"), app("web", { topologyKey: HOST })) }] },
    expected: [fits, fits, fits, UNWELCOME],
  },
  {
    when: "several reasons apply, of which the first is reported",
    pod: { ...web, affinity: { ...near(app("db")), ...away(app("web")) } },
    on: { a1: [web, db, { affinity: away(app("web")) }], b1: [db, { affinity: away(app("web")) }] },
    expected: [NEAR, NEAR, UNWELCOME, FAR],
  },
  {
    when: "a topology key is the name of an Object.prototype member",
    pod: { affinity: near(app("web", { topologyKey: "constructor" })) },
    on: { a1: [web] },
    expected: [FAR, FAR, FAR, FAR],
  },
];

for (const { when, pod: newcomer, on, expected } of ROWS) {
  test(`InterPodAffinity.filter when ${when}`, () => {
    deepEqual(verdicts(made(interPodAffinity, undefined, { cluster }), aPod("newcomer", newcomer), nodes(on)), expected);
  });
}

test("removing Pods from a node may resolve anti-affinity, never affinity", () => {
  const plugin = made(interPodAffinity, undefined, { cluster });
  const one = (parts: PodParts, ...pods: readonly PodParts[]): unknown =>
    filtered(plugin, aPod("newcomer", parts), nodeInfo(aNode("n1", { zone: "a" }), ...pods.map(pod)));

  deepEqual(
    [one({ affinity: near(app("web")) }), one({ affinity: away(app("web")) }, web), one(web, { affinity: away(app("web")) })],
    [
      { reasons: [FAR], resolvable: false },
      { reasons: [NEAR], resolvable: true },
      { reasons: [UNWELCOME], resolvable: true },
    ],
  );
});

test("InterPodAffinity skips a Pod without rules that no existing rule matches", () => {
  const plugin = made(interPodAffinity, undefined, { cluster });

  deepEqual(filtered(plugin, aPod("newcomer", db), nodeInfo(aNode("n1", { zone: "a" }), pod({ affinity: away(app("web")) }))), "skip");
});
