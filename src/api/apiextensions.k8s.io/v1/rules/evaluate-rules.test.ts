import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { beginTick, CALL_STEPS_MAX, stepsOfTick, TICK_STEPS } from "../../../../cel/values/meter.ts";
import type { FieldError } from "../../../machinery/field-error.ts";
import { PAUSE } from "../../../machinery/validation-errors.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { celRules } from "./cel-rules.ts";
import { ruleEvaluation } from "./evaluate-rules.ts";

/** Evaluates all rules; returns the errors, and the steps between two pauses. */
function evaluated(schema: JsonSchema, value: object): { readonly errors: readonly FieldError[]; readonly steps: readonly number[] } {
  const errors: FieldError[] = [];
  const steps: number[] = [];
  beginTick();
  for (const error of ruleEvaluation(celRules, schema)?.(value as never, undefined) ?? []) {
    if (error === PAUSE) steps.push(stepsOfTick());
    else errors.push(error);
  }
  return { errors, steps: [...steps, stepsOfTick()] };
}

test("short rules of a long list pause when they have taken the steps of a tick together", () => {
  const items: JsonSchema = { type: "integer", "x-kubernetes-validations": [{ rule: "self >= 0" }, { rule: "self < 19999" }] };
  const schema: JsonSchema = { type: "object", properties: { list: { type: "array", items } } };

  const { errors, steps } = evaluated(schema, { list: Array.from({ length: 20_000 }, (_, index) => index) });

  equal(errors.map(({ field }) => field).join(), "list[19999]");
  ok(steps.length > 2, `${steps.length} ticks`);
  ok(Math.max(...steps) <= TICK_STEPS + CALL_STEPS_MAX, `${Math.max(...steps)} steps`);
});

test("a long rule is evaluated in slices", () => {
  const list: JsonSchema = { type: "array", items: { type: "integer" } };
  const rules = [{ rule: "self.list.all(i, i >= 0) && self.list.map(i, i + 1).filter(i, i > 50000).size() == 0" }];
  const schema: JsonSchema = { type: "object", properties: { list }, "x-kubernetes-validations": rules };

  const { errors, steps } = evaluated(schema, { list: Array.from({ length: 30_000 }, (_, index) => index) });

  equal(errors.length, 0);
  ok(steps.length > 2, `${steps.length} ticks`);
  ok(Math.max(...steps) <= TICK_STEPS + CALL_STEPS_MAX, `${Math.max(...steps)} steps`);
});

test("rules are compiled when they are first evaluated, with pauses", () => {
  const rules = Array.from({ length: 1_000 }, (_, index) => ({ rule: `self.a + ${index} >= 0` }));
  const schema: JsonSchema = { type: "object", properties: { a: { type: "integer" } }, "x-kubernetes-validations": rules };

  const { errors, steps } = evaluated(schema, { a: 1 });

  equal(errors.length, 0);
  ok(steps.length > 2, `${steps.length} ticks`);
  ok(Math.max(...steps) <= TICK_STEPS + CALL_STEPS_MAX, `${Math.max(...steps)} steps`);
});
