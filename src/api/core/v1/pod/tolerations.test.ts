import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Taint, Toleration } from "../../../generated/core/v1.ts";
import { tolerates, tolerationsOf, untoleratedTaint } from "./tolerations.ts";

const DEDICATED: Taint = { key: "dedicated", value: "db", effect: "NoExecute" };

const CASES: readonly (readonly [it: string, toleration: Toleration, is: boolean])[] = [
  ["of the same key, value and effect covers it", { key: "dedicated", operator: "Equal", value: "db", effect: "NoExecute" }, true],
  ["without an operator compares values", { key: "dedicated", value: "db" }, true],
  ["of another value does not", { key: "dedicated", value: "web" }, false],
  ["of another key does not", { key: "other", operator: "Exists" }, false],
  ["of another effect does not", { key: "dedicated", operator: "Exists", effect: "NoSchedule" }, false],
  ["with the operator Exists matches any value", { key: "dedicated", operator: "Exists" }, true],
  ["of everything covers it", { operator: "Exists" }, true],
  ["that compares numbers does not", { key: "dedicated", operator: "Gt", value: "1" }, false],
];

for (const [it, toleration, is] of CASES) {
  test(`a toleration ${it}`, () => equal(tolerates(toleration, DEDICATED), is));
}

test("of several tolerations the first that matches a taint is used", () => {
  const short: Toleration = { operator: "Exists", tolerationSeconds: 5 };
  deepEqual(tolerationsOf([DEDICATED], [{ key: "x", operator: "Exists" }, short, { operator: "Exists" }]), [short]);
});

test("a single untolerated taint suffices", () => {
  equal(tolerationsOf([DEDICATED, { key: "x", effect: "NoExecute" }], [{ key: "dedicated", operator: "Exists" }]), undefined);
});

for (const [effect, keepsAway] of [
  ["NoSchedule", true],
  ["NoExecute", true],
  ["PreferNoSchedule", false],
] as const) {
  test(`an untolerated taint with the effect ${effect} ${keepsAway ? "repels" : "does not repel"} a Pod`, () => {
    const taint: Taint = { key: "x", effect };
    equal(untoleratedTaint([DEDICATED, taint], [{ key: "dedicated", operator: "Exists" }]), keepsAway ? taint : undefined);
    equal(untoleratedTaint([taint], [{ key: "x", operator: "Exists" }]), undefined);
  });
}
