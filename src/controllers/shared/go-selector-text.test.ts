import { equal } from "node:assert/strict";
import { test } from "node:test";
import { goSelectorText } from "./go-selector-text.ts";

test("a selector is formatted as Go prints it", () => {
  const expression = { key: "app", operator: "In", values: ["lone", "b"] };
  equal(
    goSelectorText({ matchLabels: { x: "1", app: "lone" }, matchExpressions: [expression] }),
    "&LabelSelector{MatchLabels:map[string]string{app: lone,x: 1,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:app,Operator:In,Values:[lone b],},},}",
  );
  equal(goSelectorText({}), "&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},}");
});
