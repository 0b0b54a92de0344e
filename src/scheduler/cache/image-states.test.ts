import assert from "node:assert/strict";
import { test } from "node:test";
import { aNode } from "../framework/testing/builders.ts";
import { ImageStates, type NodeImages } from "./image-states.ts";

const NONE: NodeImages = new Map();

function nodeWith(name: string, ...images: readonly string[]) {
  return aNode(name, { images: images.map((image) => ({ names: image.split(" "), sizeBytes: 10 })) });
}

function counts(images: NodeImages): Record<string, number> {
  return Object.fromEntries([...images].map(([name, { nodes }]) => [name, nodes]));
}

test("an image is found by each of its names, and counted once per node", () => {
  const states = new ImageStates();

  const a = states.put(nodeWith("a", "web web:1", "web db"), undefined, NONE);
  const b = states.put(nodeWith("b", "web"), undefined, NONE);

  assert.deepEqual(counts(a), { web: 2, "web:1": 1, db: 1 });
  assert.deepEqual(counts(b), { web: 2 });
  assert.equal(states.size, 3);
});

test("removing a node or an image updates the counts of the others at once, and drops unused images", () => {
  const states = new ImageStates();
  const first = nodeWith("a", "web", "db");
  const a = states.put(first, undefined, NONE);
  const b = states.put(nodeWith("b", "web", "db"), undefined, NONE);

  const later = states.put(nodeWith("a", "db"), first, a);
  assert.deepEqual([counts(later), counts(b)], [{ db: 2 }, { web: 1, db: 2 }]);

  states.release(b);
  assert.deepEqual([counts(later), states.size], [{ db: 1 }, 1]);
});

test("a node update with the same images keeps its record", () => {
  const states = new ImageStates();
  const first = nodeWith("a", "web web:1");
  const held = states.put(first, undefined, NONE);

  assert.equal(states.put(nodeWith("a", "web web:1"), first, held), held);
  assert.notEqual(states.put(nodeWith("a", "web web:2"), first, held), held);
});

test("the image size is that of the first node", () => {
  const states = new ImageStates();
  states.put(aNode("a", { images: [{ names: ["web"], sizeBytes: 5 }] }), undefined, NONE);

  const images = states.put(aNode("b", { images: [{ names: ["web"], sizeBytes: 6 }, { names: ["db"] }] }), undefined, NONE);

  assert.deepEqual(
    [images.get("web"), images.get("db")],
    [
      { sizeBytes: 5, nodes: 2 },
      { sizeBytes: 0, nodes: 1 },
    ],
  );
});
