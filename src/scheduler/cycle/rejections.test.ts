import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { Refusals } from "./rejections.ts";
import { fakeNode, rejection } from "./testing/fakes.ts";

const plugins = [{ name: "Fit" }, { name: "Taints" }];

test("rejections are counted by plugin and reason, with a few example nodes", () => {
  const refusals = new Refusals(plugins);
  const tainted = rejection("tainted");

  for (const name of ["a", "b", "c", "d"]) refusals.add(fakeNode(name), tainted, 1);
  refusals.add(fakeNode("e"), rejection("Insufficient cpu", "Insufficient memory"), 0);
  refusals.add(fakeNode("f"), rejection("Insufficient cpu"), 0);

  equal(refusals.size, 6);
  deepEqual(refusals.count(), [
    { plugin: "Taints", reason: "tainted", nodes: 4, examples: ["a", "b", "c"] },
    { plugin: "Fit", reason: "Insufficient cpu", nodes: 2, examples: ["e", "f"] },
    { plugin: "Fit", reason: "Insufficient memory", nodes: 1, examples: ["e"] },
  ]);
});

test("a rejection object shared by two plugins counts for each", () => {
  const refusals = new Refusals(plugins);
  const no = rejection("no");
  refusals.add(fakeNode("a"), no, 0);
  refusals.add(fakeNode("b"), no, 1);
  deepEqual(refusals.count(), [
    { plugin: "Fit", reason: "no", nodes: 1, examples: ["a"] },
    { plugin: "Taints", reason: "no", nodes: 1, examples: ["b"] },
  ]);
});

test("a plugin that allocates a rejection per node is counted, too", () => {
  const refusals = new Refusals(plugins);
  for (let index = 0; index < 100; index++) refusals.add(fakeNode(`n${index}`), rejection(`reason ${index % 20}`), 0);
  const counts = refusals.count();
  equal(counts.length, 20);
  deepEqual(new Set(counts.map(({ nodes }) => nodes)), new Set([5]));
});

test("the rejection of each node and the names of all rejecting plugins are available", () => {
  const refusals = new Refusals(plugins);
  const no = rejection("no");
  refusals.add(fakeNode("a"), no, 1);
  refusals.add(fakeNode("b"), no, 1);
  deepEqual(
    refusals.byNode(),
    new Map([
      ["a", no],
      ["b", no],
    ]),
  );
  deepEqual(refusals.pluginNames(), new Set(["Taints"]));
});
