import { test } from "node:test";
import { equal } from "node:assert/strict";
import { DELETION_COST_ANNOTATION, deletionCost, parseDeletionCost } from "./deletion-cost.ts";
import { sentPod } from "./testing/pods.ts";

for (const { text, cost } of [
  { text: "0", cost: 0 },
  { text: "7", cost: 7 },
  { text: "-5", cost: -5 },
  { text: "-05", cost: -5 },
  { text: "-0", cost: 0 },
  { text: "2147483647", cost: 2_147_483_647 },
  { text: "-2147483648", cost: -2_147_483_648 },
  { text: "2147483648", cost: undefined },
  { text: "-2147483649", cost: undefined },
  { text: "", cost: undefined },
  { text: "-", cost: undefined },
  { text: "+7", cost: undefined },
  { text: "07", cost: undefined },
  { text: "1.5", cost: undefined },
  { text: "1e3", cost: undefined },
]) {
  test(`a deletion cost of "${text}" ${cost === undefined ? "is malformed" : `is ${cost}`}`, () => {
    equal(parseDeletionCost(text), cost);
    equal(deletionCost(sentPod({ metadata: { annotations: { [DELETION_COST_ANNOTATION]: text } } })), cost ?? 0);
  });
}

test("the default deletion cost is 0", () => {
  equal(deletionCost(sentPod({})), 0);
});
