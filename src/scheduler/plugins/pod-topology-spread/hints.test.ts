import { test } from "node:test";
import type { TopologySpreadConstraint } from "../../../api/generated/core/v1.ts";
import { checkRetries, made, nodeEvent, podEvent } from "../../framework/testing/call-plugin.ts";
import { aNode, aPod, type PodParts } from "../../framework/testing/builders.ts";
import { aClusterView } from "../../framework/testing/changing-cluster.ts";
import { podTopologySpread } from "./pod-topology-spread.ts";

const plugin = made(podTopologySpread, undefined, { cluster: aClusterView() });

function spread(topologyKey: string, more: Partial<TopologySpreadConstraint> = {}): TopologySpreadConstraint {
  return { topologyKey, maxSkew: 1, whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: { app: "web" } }, ...more };
}

const zones = spread("topology.kubernetes.io/zone");
const racks = spread("rack", { labelSelector: { matchLabels: { app: "db" } } });
const ofApp = (app: string, more: PodParts = {}) => aPod("other", { labels: { app }, node: "n1", ...more });
const inZone = (zone: string, rack?: string) => aNode("n", { zone, ...(rack !== undefined && { labels: { rack } }) });

test("a Pod is retried when a matching one is added, deleted or changed", () => {
  checkRetries(plugin, aPod("waiting", { spread: [zones] }), [
    ["such a Pod comes", podEvent("assigned-pod", "added", ofApp("web")), true],
    ["a matching Pod is deleted", podEvent("assigned-pod", "deleted", ofApp("web")), true],
    ["another Pod comes", podEvent("assigned-pod", "added", ofApp("db")), false],
    ["another Pod is deleted", podEvent("assigned-pod", "deleted", ofApp("db")), false],
    ["such a Pod of another namespace comes", podEvent("assigned-pod", "added", ofApp("web", { namespace: "other" })), false],
    ["a Pod becomes such a one", podEvent("assigned-pod", "labels", ofApp("web"), ofApp("db")), true],
    ["a Pod ceases to be such a one", podEvent("assigned-pod", "labels", ofApp("db"), ofApp("web")), true],
    ["a Pod changes otherwise", podEvent("assigned-pod", "labels", ofApp("web", { labels: { app: "web", a: "b" } }), ofApp("web")), false],
  ]);
});

test("a Pod is retried when its own change affects matching", () => {
  const honors = { ...zones, nodeTaintsPolicy: "Honor" as const };
  const waiting = (parts: PodParts) => aPod("waiting", { spread: [zones], ...parts });
  checkRetries(plugin, waiting({}), [
    ["it becomes one of those that are spread", podEvent("waiting-pod", "labels", waiting({ labels: { app: "web" } }), waiting({})), true],
    ["its labels change otherwise", podEvent("waiting-pod", "labels", waiting({ labels: { a: "b" } }), waiting({})), false],
    ["it tolerates more, which does not matter", podEvent("waiting-pod", "tolerations", waiting({}), waiting({})), false],
  ]);
  checkRetries(plugin, waiting({ spread: [honors] }), [
    [
      "it tolerates more, which matters",
      podEvent("waiting-pod", "tolerations", waiting({ spread: [honors] }), waiting({ spread: [honors] })),
      true,
    ],
  ]);
});

test("a Pod is retried when an eligible node is added, removed, moved or changes its taints", () => {
  const tainted = { ...inZone("a", "r"), spec: { taints: [{ key: "k", effect: "NoSchedule" as const }] } };
  checkRetries(plugin, aPod("waiting", { spread: [zones, racks], nodeSelector: { disk: "ssd" } }), [
    ["a node with all labels comes", nodeEvent("added", inZone("a", "r")), true],
    ["a node without one comes", nodeEvent("added", inZone("a")), false],
    ["a node with all labels is deleted", nodeEvent("deleted", inZone("a", "r")), true],
    ["a node without one of the labels is deleted", nodeEvent("deleted", inZone("a")), false],
    ["a node gets the missing label", nodeEvent("labels", inZone("a", "r"), inZone("a")), true],
    ["a node loses one", nodeEvent("labels", inZone("a"), inZone("a", "r")), true],
    ["a node moves", nodeEvent("labels", inZone("b", "r"), inZone("a", "r")), true],
    ["a node without one moves", nodeEvent("labels", inZone("b"), inZone("a")), false],
    ["a node gets a taint", nodeEvent("taints", tainted, inZone("a", "r")), true],
    [
      "a node is now one that it may be on",
      nodeEvent("labels", aNode("n", { zone: "a", labels: { rack: "r", disk: "ssd" } }), inZone("a", "r")),
      true,
    ],
    [
      "a node gets another label",
      nodeEvent("labels", aNode("n", { zone: "a", labels: { rack: "r", color: "red" } }), inZone("a", "r")),
      false,
    ],
  ]);
});
