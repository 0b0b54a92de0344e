import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { desiredOrdinals, isDesired, isMember, parsePodName } from "./ordinals.ts";
import { aMember, aSet } from "./testing/sets.ts";

for (const [name, parsed] of [
  ["web-0", { parent: "web", ordinal: 0 }],
  ["web-12", { parent: "web", ordinal: 12 }],
  ["web-1-2", { parent: "web-1", ordinal: 2 }],
  ["web", undefined],
  ["web-x", undefined],
  ["web-", undefined],
  ["web-99999999999", undefined],
] as const) {
  test(`the Pod name "${name}" is parsed as ${JSON.stringify(parsed)}`, () => deepEqual(parsePodName(name), parsed));
}

test("only Pods named after the set are members", () => {
  const members = ["web-0", "web-1-0", "other-0", "web"].map((name) => isMember(aSet(), { ...aMember(0), metadata: { name } }));

  deepEqual(members, [true, false, false, false]);
});

test("the ordinals of a set begin at its start", () => {
  const set = aSet({ ordinals: { start: 3 }, replicas: 2 });

  deepEqual(desiredOrdinals(set), [3, 4]);
  deepEqual(
    [2, 3, 4, 5].map((ordinal) => isDesired(set, ordinal)),
    [false, true, true, false],
  );
  equal(desiredOrdinals(aSet({ replicas: 0 })).length, 0);
});
