import assert from "node:assert/strict";
import { test } from "node:test";
import type { Toleration } from "../../../api/generated/core/v1.ts";
import { mergeTolerations } from "./merge-tolerations.ts";

const EVERYTHING: Toleration = { operator: "Exists" };
const KEY: Toleration = { key: "k", operator: "Exists" };
const VALUE: Toleration = { key: "k", operator: "Equal", value: "v" };
const UNSAID: Toleration = { key: "k", value: "v" };
const EFFECT: Toleration = { ...VALUE, effect: "NoSchedule" };
const SHORT: Toleration = { key: "k", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 };
const LONG: Toleration = { ...SHORT, tolerationSeconds: 9 };
const FOREVER: Toleration = { key: "k", operator: "Exists", effect: "NoExecute" };
const LESS: Toleration = { key: "k", operator: "Lt", value: "5" };

for (const [what, first, second, merged] of [
  ["nothing and nothing", [], [], []],
  ["what differs stays, in order", [EFFECT], [{ key: "m", operator: "Exists" }], [EFFECT, { key: "m", operator: "Exists" }]],
  ["of equal ones the first", [VALUE, KEY], [KEY], [KEY]],
  ["of equal ones the first, in its place", [EFFECT, SHORT], [EFFECT], [EFFECT, SHORT]],
  ["everything covers all, wherever it stands", [VALUE, SHORT], [EVERYTHING, EFFECT], [EVERYTHING]],
  ["a key covers its values and effects", [EFFECT, LONG], [KEY], [KEY]],
  ["a value covers its effects", [VALUE], [EFFECT], [VALUE]],
  ["a value without operator is covered by no value", [UNSAID], [VALUE], [UNSAID]],
  ["a value without operator covers", [EFFECT], [UNSAID], [UNSAID]],
  ["an effect covers no other", [EFFECT], [{ ...VALUE, effect: "NoExecute" }], [EFFECT, { ...VALUE, effect: "NoExecute" }]],
  ["longer covers shorter", [SHORT], [LONG], [LONG]],
  ["for ever covers all", [LONG, SHORT], [FOREVER], [FOREVER]],
  ["a while does not cover for ever", [FOREVER], [LONG], [FOREVER]],
  ["comparing covers only itself", [LESS, LESS], [{ ...LESS, effect: "NoSchedule" }], [LESS, { ...LESS, effect: "NoSchedule" }]],
] as const satisfies readonly (readonly [string, readonly Toleration[], readonly Toleration[], readonly Toleration[]])[]) {
  test(`mergeTolerations: ${what}`, () => {
    assert.deepEqual(mergeTolerations(first, second), merged);
  });
}
