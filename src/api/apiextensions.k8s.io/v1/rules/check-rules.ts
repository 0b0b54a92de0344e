/** Compiles the validation rules of a definition's schema when it is created or changed, with upstream's errors. */
import { paused, pauseIfTickSpent } from "../../../expression-pauses.ts";
import type { ValidationRule } from "../../../generated/apiextensions.k8s.io/v1.ts";
import { child, element, internalFieldError, invalid, type FieldError } from "../../../machinery/field-error.ts";
import type { JsonObject } from "../../../machinery/object.ts";
import type { RuleCompiler, RulesToCompile } from "../custom-resource-definition/validate-schema.ts";
import { invalidShown } from "../custom-resource-definition/shown-form.ts";
import { costOfAll, type TotalCost } from "./rule-cost.ts";
import { compileRule, type CompiledRule, type RuleLanguage } from "./rule-language.ts";

export interface RuleChecks {
  readonly language: RuleLanguage;
  readonly total: TotalCost;
  /** False for a schema that is unchanged: it was accepted with these costs before. */
  readonly limitsExpressions: boolean;
}

const NO_TYPE =
  "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";

export function ruleChecker(checks: RuleChecks): RuleCompiler {
  return (rules) => checkRules(checks, rules);
}

function* checkRules({ language, total, limitsExpressions }: RuleChecks, rules: RulesToCompile): Iterable<FieldError> {
  const { schema, at, ancestry, uncorrelatedAt } = rules;
  const rulesAt = child(at, "x-kubernetes-validations");
  const isResource = ancestry.length === 1 || schema["x-kubernetes-embedded-resource"] === true;
  const self = language.declare(schema, isResource);
  if (self === undefined) {
    yield internalFieldError(rulesAt, NO_TYPE);
    return;
  }
  const limit = { isLimited: limitsExpressions };
  for (const [index, rule] of (schema["x-kubernetes-validations"] ?? []).entries()) {
    yield* pauseIfTickSpent();
    const ruleAt = child(element(rulesAt, index), "rule");
    const compiled = yield* paused(compileRule(language, self, rule));
    yield* pauseIfTickSpent();
    const cost = costOfAll(compiled.program?.estimatedCost.max ?? 0n, ancestry, self.minSerializedSize);
    const tooCostly = total.add(ruleAt, cost, { what: "estimated rule cost", ...limit });
    if (tooCostly !== undefined) yield tooCostly;
    if (compiled.error !== undefined) yield invalidShown(ruleAt, shownRule(rule), compiled.error);
    const messageAt = child(element(rulesAt, index), "messageExpression");
    if (compiled.messageError !== undefined) yield invalidShown(messageAt, shownRule(rule), compiled.messageError);
    else if (compiled.message !== undefined) {
      const costly = total.add(messageAt, compiled.message.estimatedCost.max, { what: "estimated messageExpression cost", ...limit });
      if (costly !== undefined) yield costly;
    }
    yield* checkOldSelf(compiled, element(rulesAt, index), uncorrelatedAt);
  }
}

function* checkOldSelf({ rule, usesOldSelf }: CompiledRule, at: string, uncorrelatedAt: string | undefined): Iterable<FieldError> {
  if (usesOldSelf && uncorrelatedAt !== undefined) {
    const message = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatedAt}`;
    yield invalid(child(at, "rule"), rule.rule, message);
  }
  if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
    yield invalid(child(at, "optionalOldSelf"), rule.optionalOldSelf, "may not be set if oldSelf is not used in rule");
  }
}

/** Upstream quotes the whole rule, with the names of its type. */
function shownRule(rule: ValidationRule): JsonObject {
  return {
    Rule: rule.rule,
    Message: rule.message ?? "",
    MessageExpression: rule.messageExpression ?? "",
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? "",
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}
