import { equal } from "node:assert/strict";
import { test } from "node:test";
import type { Node, PersistentVolume } from "../../api/generated/core/v1.ts";
import type { CSINode } from "../../api/generated/storage.k8s.io/v1.ts";
import { chooseNode, type NodeWish } from "./choose-node.ts";

function node(name: string, ready: "True" | "Unknown" = "True"): Node {
  const conditions = [{ type: "Ready", status: ready }] as const;
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels: { "d/node": name } }, status: { conditions } };
}

function csiNode(name: string, driver: string): CSINode {
  const drivers = [{ name: driver, nodeID: name }];
  return { apiVersion: "storage.k8s.io/v1", kind: "CSINode", metadata: { name }, spec: { drivers } };
}

function volumeOn(name: string): PersistentVolume {
  const matchExpressions = [{ key: "d/node", operator: "In", values: [name] }] as const;
  const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
  return { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "pv" }, spec: { nodeAffinity } };
}

const VIEW = {
  nodes: [node("c"), node("b"), node("a", "Unknown"), node("other")],
  csiNodes: [csiNode("a", "d"), csiNode("b", "d"), csiNode("c", "d"), csiNode("other", "e")],
};

const ROWS: readonly { readonly title: string; readonly wish: Omit<NodeWish, "driver">; readonly chosen: string | undefined }[] = [
  { title: "the first ready node with the driver", wish: {}, chosen: "b" },
  { title: "the preferred node", wish: { preferred: "c" }, chosen: "c" },
  { title: "another node while the preferred one is not ready", wish: { preferred: "a" }, chosen: "b" },
  { title: "another node if the preferred one does not have the driver", wish: { preferred: "other" }, chosen: "b" },
  { title: "the selected node", wish: { selected: "c" }, chosen: "c" },
  { title: "no other than the selected node while that is not ready", wish: { selected: "a" }, chosen: undefined },
  { title: "another node if the selected one does not have the driver", wish: { selected: "other" }, chosen: "b" },
  { title: "the node that has access to the volume", wish: { volume: volumeOn("c"), preferred: "b" }, chosen: "c" },
  { title: "none while the only node with access is not ready", wish: { volume: volumeOn("a") }, chosen: undefined },
];

for (const { title, wish, chosen } of ROWS) {
  test(`the built-in sidecars call a driver on ${title}`, () => {
    equal(chooseNode({ driver: "d", ...wish }, VIEW), chosen);
  });
}
