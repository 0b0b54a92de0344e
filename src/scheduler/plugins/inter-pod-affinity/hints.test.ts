import { test } from "node:test";
import type { Affinity, Namespace, PodAffinityTerm } from "../../../api/generated/core/v1.ts";
import type { ClusterEvent } from "../../framework/cluster-event.ts";
import { checkRetries, made, nodeEvent, podEvent } from "../../framework/testing/call-plugin.ts";
import { aNode, aPod, type PodParts } from "../../framework/testing/builders.ts";
import { aClusterView } from "../../framework/testing/changing-cluster.ts";
import { interPodAffinity } from "./inter-pod-affinity.ts";

const ZONE = "topology.kubernetes.io/zone";

function namespace(name: string, team: string): Namespace {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { team } } };
}

function namespaceEvent(now: Namespace, previous?: Namespace): ClusterEvent {
  return { of: "namespace", namespace: now, ...(previous && { previous }) };
}

const cluster = aClusterView({ namespaces: () => [namespace("default", "blue"), namespace("other", "red")] });
const plugin = made(interPodAffinity, undefined, { cluster });

function app(value: string, more: Partial<PodAffinityTerm> = {}): PodAffinityTerm {
  return { topologyKey: ZONE, labelSelector: { matchLabels: { app: value } }, ...more };
}

function near(...terms: readonly PodAffinityTerm[]): Affinity {
  return { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
}

function away(...terms: readonly PodAffinityTerm[]): Affinity {
  return { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
}

const ofApp = (value: string, more: PodParts = {}) => aPod("other", { labels: { app: value }, node: "n1", ...more });
const redTeam: Partial<PodAffinityTerm> = { namespaceSelector: { matchLabels: { team: "red" } } };

test("a Pod with affinity is retried when a matching Pod is added or changed, or a node joins its domain", () => {
  checkRetries(plugin, aPod("waiting", { affinity: near(app("web")) }), [
    ["such a Pod comes", podEvent("assigned-pod", "added", ofApp("web")), true],
    ["another Pod comes", podEvent("assigned-pod", "added", ofApp("db")), false],
    ["such a Pod comes in another namespace", podEvent("assigned-pod", "added", ofApp("web", { namespace: "other" })), false],
    ["a Pod becomes such a one", podEvent("assigned-pod", "labels", ofApp("web"), ofApp("db")), true],
    ["a Pod ceases to be such a one", podEvent("assigned-pod", "labels", ofApp("db"), ofApp("web")), false],
    ["a matching Pod is deleted", podEvent("assigned-pod", "deleted", ofApp("web")), false],
    ["a node with the key comes", nodeEvent("added", aNode("n", { zone: "a" })), true],
    ["a node without the key comes", nodeEvent("added", aNode("n")), false],
    ["a node gets the key", nodeEvent("labels", aNode("n", { zone: "a" }), aNode("n")), true],
    ["a node gets another label", nodeEvent("labels", aNode("n", { labels: { disk: "ssd" } }), aNode("n")), false],
    ["a node moves to another zone", nodeEvent("labels", aNode("n", { zone: "b" }), aNode("n", { zone: "a" })), true],
    ["a node's taints change", nodeEvent("taints", aNode("n"), aNode("n")), false],
    ["its labels change", podEvent("waiting-pod", "labels", aPod("waiting"), aPod("waiting")), true],
  ]);
});

test("a Pod that may be the first of its group is retried when the last one is deleted", () => {
  checkRetries(plugin, aPod("waiting", { labels: { app: "web" }, affinity: near(app("web")) }), [
    ["a Pod of the group is deleted", podEvent("assigned-pod", "deleted", ofApp("web")), true],
    ["one leaves the group", podEvent("assigned-pod", "labels", ofApp("db"), ofApp("web")), true],
    ["another Pod is deleted", podEvent("assigned-pod", "deleted", ofApp("db")), false],
  ]);
});

test("a Pod with anti-affinity is retried when a matching Pod is deleted or changed, or a node changes domains", () => {
  checkRetries(plugin, aPod("waiting", { affinity: away(app("web"), app("db")) }), [
    ["a matching Pod is deleted", podEvent("assigned-pod", "deleted", ofApp("web")), true],
    ["a Pod that matches the second term is deleted", podEvent("assigned-pod", "deleted", ofApp("db")), true],
    ["another Pod is deleted", podEvent("assigned-pod", "deleted", ofApp("cache")), false],
    ["such a Pod comes", podEvent("assigned-pod", "added", ofApp("web")), false],
    ["a Pod ceases to be such a one", podEvent("assigned-pod", "labels", ofApp("cache"), ofApp("web")), true],
    ["a Pod becomes such a one", podEvent("assigned-pod", "labels", ofApp("web"), ofApp("cache")), false],
    ["a node comes", nodeEvent("added", aNode("n")), true],
    ["a node loses the key", nodeEvent("labels", aNode("n"), aNode("n", { zone: "a" })), true],
    ["a node gets the key", nodeEvent("labels", aNode("n", { zone: "a" }), aNode("n")), false],
  ]);
});

test("a Pod rejected by others' anti-affinity is retried when one of those is deleted or a node is added", () => {
  checkRetries(plugin, aPod("waiting", { labels: { app: "web" } }), [
    [
      "a Pod whose anti-affinity matches it is deleted",
      podEvent("assigned-pod", "deleted", ofApp("db", { affinity: away(app("web")) })),
      true,
    ],
    [
      "a Pod whose anti-affinity matches others is deleted",
      podEvent("assigned-pod", "deleted", ofApp("db", { affinity: away(app("db")) })),
      false,
    ],
    [
      "one that keeps away from its namespace by label goes",
      podEvent(
        "assigned-pod",
        "deleted",
        ofApp("db", { namespace: "other", affinity: away(app("web", { namespaceSelector: { matchLabels: { team: "blue" } } })) }),
      ),
      true,
    ],
    ["one that keeps away comes", podEvent("assigned-pod", "added", ofApp("db", { affinity: away(app("web")) })), false],
    ["a node comes", nodeEvent("added", aNode("n")), true],
    ["its namespace gets other labels", namespaceEvent(namespace("default", "green"), namespace("default", "blue")), true],
    ["another namespace gets other labels", namespaceEvent(namespace("other", "green"), namespace("other", "red")), false],
  ]);
});

test("a Pod with a namespace selector is retried when a Pod of a matching namespace is added, or a namespace starts to match", () => {
  checkRetries(plugin, aPod("waiting", { affinity: near(app("web", redTeam)) }), [
    ["such a Pod comes", podEvent("assigned-pod", "added", ofApp("web", { namespace: "other" })), true],
    ["a Pod of its own namespace comes", podEvent("assigned-pod", "added", ofApp("web")), false],
    ["a namespace is selected now", namespaceEvent(namespace("new", "red"), namespace("new", "blue")), true],
    ["a namespace is selected no more", namespaceEvent(namespace("new", "blue"), namespace("new", "red")), true],
    ["a selected namespace comes", namespaceEvent(namespace("new", "red")), true],
    ["another namespace comes", namespaceEvent(namespace("new", "blue")), false],
  ]);
});
