/** Validation of a FlowSchema's spec with upstream's messages. Not here: the single rules (validate-rules.ts). */
import { deepEqual } from "../../../../base/deep.ts";
import type { FlowSchemaSpec, PriorityLevelConfigurationReference } from "../../../generated/flowcontrol.apiserver.k8s.io/v1.ts";
import { element, invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { validateDnsSubdomain } from "../../../machinery/names.ts";
import { mandatoryFlowSchemaSpec } from "../built-in.ts";
import { shownSpec } from "./shown.ts";
import { validateRule } from "./validate-rules.ts";

const MATCHING_PRECEDENCE_MAX = 10_000;

export function* validateFlowSchemaSpec(spec: FlowSchemaSpec, name: string): Iterable<FieldError> {
  yield* validatePrecedence(spec.matchingPrecedence ?? 0, name);
  const method = spec.distinguisherMethod;
  if (method !== undefined && method.type !== "ByUser" && method.type !== "ByNamespace") {
    yield notSupported("spec.distinguisherMethod.type", { Type: method.type }, ["ByNamespace", "ByUser"]);
  }
  yield* validateLevel(spec.priorityLevelConfiguration);
  for (const [index, rule] of (spec.rules ?? []).entries()) yield* validateRule(rule, element("spec.rules", index));
  const fixed = mandatoryFlowSchemaSpec(name);
  if (fixed !== undefined && !deepEqual(spec, fixed))
    yield invalid("spec", shownSpec(spec), `spec of '${name}' must equal the fixed value`);
}

function* validatePrecedence(precedence: number, name: string): Iterable<FieldError> {
  const at = "spec.matchingPrecedence";
  if (precedence <= 0) yield invalid(at, precedence, "must be a positive value");
  if (precedence > MATCHING_PRECEDENCE_MAX) yield invalid(at, precedence, `must not be greater than ${MATCHING_PRECEDENCE_MAX}`);
  if (precedence === 1 && name !== "exempt") {
    yield invalid(at, precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
  }
}

function* validateLevel({ name }: PriorityLevelConfigurationReference): Iterable<FieldError> {
  const at = "spec.priorityLevelConfiguration.name";
  if (name === "") return yield required(at, "must reference a priority level");
  for (const wrong of validateDnsSubdomain(name)) yield invalid(at, name, wrong);
}
