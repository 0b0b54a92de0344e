import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rounds, testSeed } from "../../testing/rounds.ts";
import type { PodInfo } from "./pod-info.ts";
import { CHUNK_MAX, PodList } from "./pod-list.ts";
import { aPod, podInfo } from "./testing/builders.ts";

const PODS: readonly PodInfo[] = Array.from({ length: 3 * CHUNK_MAX }, (_, index) => podInfo(aPod(`p${index}`)));

function names(pods: readonly PodInfo[]): readonly string[] {
  return pods.map(({ key }) => key);
}

test("a list equals an array after any changes, and no change is seen in the list before it", () => {
  const step = fc.record({
    does: fc.constantFrom("add", "remove", "remove many", "replace"),
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  });
  const property = fc.property(fc.integer({ min: 0, max: PODS.length }), fc.array(step, { maxLength: 20 }), (length, steps) => {
    let model = PODS.slice(0, length);
    let list = PodList.of(model);
    for (const [index, { does, at }] of steps.entries()) {
      const [before, beforeModel] = [list, model];
      const position = Math.floor(at * model.length);
      const count = does === "remove many" ? CHUNK_MAX : 1;
      const pod = podInfo(aPod(`new-${index}`));
      if (does === "add") [list, model] = [list.with(pod), [...model, pod]];
      else if (model[position] === undefined) continue;
      else if (does === "replace") [list, model] = [list.replaced(placeOf(list, model[position]), pod), model.with(position, pod)];
      else {
        for (const removed of model.slice(position, position + count)) list = list.removed(placeOf(list, removed));
        model = model.toSpliced(position, count);
      }
      deepEqual(names(list.all), names(model));
      equal(list.length, model.length);
      deepEqual(names(before.all), names(beforeModel));
    }
  });
  fc.assert(property, { numRuns: rounds({ quick: 100, full: 1_000 }), seed: testSeed() });
});

function placeOf(list: PodList, pod: PodInfo) {
  const place = list.find(pod);
  ok(place !== undefined);
  equal(list.at(place), pod);
  deepEqual(list.findUid(pod.uid), place);
  return place;
}

test("a Pod that is not in the list is not found", () => {
  const list = PodList.of(PODS.slice(0, -1));

  deepEqual(
    [list.find(PODS.at(-1) as PodInfo), list.findUid("missing"), PodList.EMPTY.findUid("missing")],
    [undefined, undefined, undefined],
  );
});

test("the array of a usual node is not copied when it is read, nor made twice for a large one", () => {
  const [usual, large] = [PodList.of(PODS.slice(0, 2)), PodList.of(PODS)];

  ok(usual.all === usual.all && large.all === large.all);
  equal(large.all.length, PODS.length);
});
