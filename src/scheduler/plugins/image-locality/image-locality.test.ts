import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Container, Pod } from "../../../api/generated/core/v1.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import { made, scored } from "../../framework/testing/call-plugin.ts";
import { aNode, aPod, nodeInfo } from "../../framework/testing/builders.ts";
import { imageLocality } from "./image-locality.ts";

const plugin = made(imageLocality);
const MIB_BYTES = 1024 * 1024;

type Images = Readonly<Record<string, number>>;

/** The images of a node by their size in MiB. What upstream's formula gives: 100 * (sum of size * share − 23) / (1000 * containers − 23). */
const ROWS: readonly (readonly [when: string, pod: Pod, nodes: readonly Images[], scores: unknown])[] = [
  ["no node reports any", ofImages("a"), [{}, {}], "skip"],
  ["no node has them", ofImages("a"), [{ "b:latest": 500 }, {}], [0, 0]],
  ["each node has one: the larger counts", ofImages("r.io/40", "r.io/250"), [{ "r.io/40:latest": 40 }, { "r.io/250:latest": 250 }], [0, 5]],
  ["one node has both", ofImages("r.io/40", "r.io/300"), [{ "r.io/40:latest": 40, "r.io/300:latest": 300 }, {}], [7, 0]],
  ["one is huge: no more than 1000 per container", ofImages("huge", "tiny"), [{ "huge:latest": 4000 }, { "tiny:latest": 10 }], [100, 0]],
  ["one of three nodes has it", ofImages("huge", "tiny"), [{ "huge:latest": 4000 }, { "tiny:latest": 10 }, {}], [66, 0, 0]],
  ["all nodes have it: it counts in full", ofImages("a"), [{ "a:latest": 500 }, { "a:latest": 500 }], [48, 48]],
  ["the tag is another", ofImages("a:v1"), [{ "a:v2": 500 }, { "a:v1": 500 }], [0, 23]],
  ["the host has a port", ofImages("r.io:5000/a"), [{ "r.io:5000/a:latest": 500 }, {}], [23, 0]],
  ["an init container has the other", withInit("b", "a"), [{ "a:latest": 300, "b:latest": 30 }, {}], [7, 0]],
  ["a volume is an image, and counts as no container", withImageVolume("a", "v"), [{ "v:latest": 300 }, {}], [12, 0]],
  ["two containers have the same", ofImages("a", "a"), [{ "a:latest": 500 }, {}], [24, 0]],
];

for (const [when, pod, nodes, scores] of ROWS) {
  test(`ImageLocality.score when ${when}`, () => deepEqual(scored(plugin, pod, nodes.map(nodeWith)), scores));
}

function ofImages(...images: string[]): Pod {
  return aPod("p", { images });
}

function withInit(image: string, initImage: string): Pod {
  const init: Container = { name: "init", image: initImage };
  return aPod("p", { images: [image], initContainers: [init] });
}

function withImageVolume(image: string, reference: string): Pod {
  return aPod("p", {
    images: [image],
    spec: {
      volumes: [
        { name: "v", image: { reference } },
        { name: "e", emptyDir: {} },
      ],
    },
  });
}

function nodeWith(images: Images, index: number): NodeInfo {
  const list = Object.entries(images).map(([name, size]) => ({ names: [name], sizeBytes: size * MIB_BYTES }));
  return nodeInfo(aNode(`n${index}`, { images: list }));
}
