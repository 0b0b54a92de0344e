import { equal } from "node:assert/strict";
import { test } from "node:test";
import { selectorText } from "./selector-text.ts";

test("a selector is formatted as Go prints it", () => {
  const expression = { key: "app", operator: "In", values: ["lone", "b"] };
  equal(
    selectorText({ matchLabels: { x: "1", app: "lone" }, matchExpressions: [expression] }),
    "&LabelSelector{MatchLabels:map[string]string{app: lone,x: 1,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:app,Operator:In,Values:[lone b],},},}",
  );
  equal(selectorText({}), "&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},}");
});
