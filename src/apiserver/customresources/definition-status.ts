/**
 * The status that the API server gives a CustomResourceDefinition: which of its names are accepted, whether it is established, and whether
 * its schema and group follow the rules. Computed from the definition and the names that others use; reasons and messages are upstream's.
 */
import { deepEqual } from "../../base/deep.ts";
import { joinedErrors } from "../../base/joined-errors.ts";
import { ANNOTATION, approvalOf, approvalText, PROTECTED } from "../../api/apiextensions.k8s.io/v1/custom-resource-definition/approval.ts";
import { caBundleProblem } from "../../api/apiextensions.k8s.io/v1/custom-resource-definition/ca-bundle.ts";
import { Budget } from "../../api/apiextensions.k8s.io/v1/schema/budget.ts";
import { Patterns } from "../../api/apiextensions.k8s.io/v1/schema/expression/match.ts";
import { unstructurable, validateStructural } from "../../api/apiextensions.k8s.io/v1/schema/structural.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionStatus,
} from "../../api/generated/apiextensions.k8s.io/v1.ts";
import { findCondition, isConditionTrue, withCondition, withoutCondition } from "../../api/machinery/conditions.ts";
import { child, describeFieldError, element, invalid } from "../../api/machinery/field-error.ts";

type Conditions = CustomResourceDefinitionStatus["conditions"];
type NewCondition = Omit<CustomResourceDefinitionCondition, "lastTransitionTime">;

/** Names that the other definitions of the group use. */
export interface UsedNames {
  /** Plurals, singulars and short names. */
  readonly resources: ReadonlySet<string>;
  /** Kinds and list kinds. */
  readonly kinds: ReadonlySet<string>;
}

const NO_NAMES: CustomResourceDefinitionNames = { plural: "", kind: "" };

/** The definition with its next status; the same value if nothing changes. */
export function withNextStatus(definition: CustomResourceDefinition, used: UsedNames, nowMs: number): CustomResourceDefinition {
  const { spec } = definition;
  const status: CustomResourceDefinitionStatus = definition.status ?? { acceptedNames: NO_NAMES, conditions: [] };
  const { acceptedNames: accepted = NO_NAMES, conditions: before = [] } = status;
  const naming = deepEqual(spec.names, accepted) ? undefined : acceptNames(spec.names, accepted, used);
  let conditions: NonNullable<Conditions> = before;
  const set = (condition: NewCondition) => (conditions = withChangedCondition(conditions, condition, nowMs));
  if (naming !== undefined) set(naming.condition);
  const established = establishedOf(definition, conditions);
  if (established !== undefined) set(established);
  for (const [type, condition] of [
    ["NonStructuralSchema", structureOf(definition)],
    ["KubernetesAPIApprovalPolicyConformant", approvalConditionOf(definition)],
  ] as const) {
    if (condition !== undefined) set(condition);
    else if (findCondition(conditions, type) !== undefined) conditions = withoutCondition(conditions, type);
  }
  const acceptedNames = naming?.names ?? accepted;
  if (conditions === before && deepEqual(acceptedNames, accepted)) return definition;
  return { ...definition, status: { ...status, acceptedNames, conditions } };
}

const NONE: NonNullable<Conditions> = [];

/** The same list if nothing changes. */
export function withChangedCondition(conditions: Conditions = NONE, condition: NewCondition, nowMs: number): NonNullable<Conditions> {
  const previous = findCondition(conditions, condition.type);
  const isSame =
    previous?.status === condition.status && previous.reason === condition.reason && (previous.message ?? "") === (condition.message ?? "");
  return isSame ? conditions : withCondition<CustomResourceDefinitionCondition>(conditions, condition, nowMs);
}

interface Naming {
  readonly names: CustomResourceDefinitionNames;
  readonly condition: NewCondition;
}

/** Each name that is free is accepted; of several conflicts the last is reported. */
function acceptNames(wanted: CustomResourceDefinitionNames, accepted: CustomResourceDefinitionNames, used: UsedNames): Naming {
  const conflicts: { readonly reason: string; readonly message: string }[] = [];
  const accept = <K extends keyof CustomResourceDefinitionNames>(
    member: K,
    reason: string,
    problem: string | undefined,
  ): Partial<CustomResourceDefinitionNames> => {
    if (problem === undefined) return wanted[member] === undefined ? {} : { [member]: wanted[member] };
    conflicts.push({ reason, message: problem });
    return accepted[member] === undefined ? {} : { [member]: accepted[member] };
  };
  const inUse = (name = "", own = "", names: ReadonlySet<string>) =>
    name === own || !names.has(name) ? undefined : `${JSON.stringify(name)} is already in use`;
  const names = {
    plural: "",
    kind: "",
    ...accept("plural", "PluralConflict", inUse(wanted.plural, accepted.plural, used.resources)),
    ...accept("singular", "SingularConflict", inUse(wanted.singular, accepted.singular, used.resources)),
    ...accept("shortNames", "ShortNamesConflict", shortNamesProblem(wanted, accepted, used)),
    ...accept("kind", "KindConflict", inUse(wanted.kind, accepted.kind, used.kinds)),
    ...accept("listKind", "ListKindConflict", inUse(wanted.listKind, accepted.listKind, used.kinds)),
    ...(wanted.categories === undefined ? {} : { categories: wanted.categories }),
  };
  const last = conflicts.at(-1);
  const outcome =
    last === undefined ? { status: "True", reason: "NoConflicts", message: "no conflicts found" } : { status: "False", ...last };
  return { names, condition: { type: "NamesAccepted", ...outcome } };
}

function shortNamesProblem(
  { shortNames: wanted = [] }: CustomResourceDefinitionNames,
  { shortNames: accepted = [] }: CustomResourceDefinitionNames,
  { resources }: UsedNames,
): string | undefined {
  const taken = wanted.filter((name) => !accepted.includes(name) && resources.has(name));
  return taken.length === 0 ? undefined : joinedErrors(taken.map((name) => `${JSON.stringify(name)} is already in use`));
}

/** Undefined: it stays as it is. Once established, a definition remains so. */
function establishedOf({ spec }: CustomResourceDefinition, conditions: Conditions): NewCondition | undefined {
  if (isConditionTrue(conditions, "Established")) return undefined;
  const type = "Established";
  if (!isConditionTrue(conditions, "NamesAccepted")) {
    const isNew = findCondition(conditions, type) === undefined;
    return isNew ? { type, status: "False", reason: "NotAccepted", message: "not all names are accepted" } : undefined;
  }
  const { caBundle = "" } = spec.conversion?.webhook?.clientConfig ?? {};
  if (caBundle !== "" && caBundleProblem(caBundle) !== undefined) {
    return { type, status: "False", reason: "InvalidCABundle", message: "The conversion webhook CABundle is invalid" };
  }
  return { type, status: "True", reason: "InitialNamesAccepted", message: "the initial names have been accepted" };
}

/** Undefined: all schemas are structural. */
function structureOf({ spec }: CustomResourceDefinition): NewCondition | undefined {
  const errors = spec.preserveUnknownFields === true ? [invalid("spec.preserveUnknownFields", true, "must be false")] : [];
  const type = "NonStructuralSchema";
  for (const [index, { name, schema }] of (spec.versions ?? []).entries()) {
    const root = schema?.openAPIV3Schema;
    // A definition that was validated as structural needs no second look.
    if (root === undefined || spec.preserveUnknownFields !== true) continue;
    const problem = unstructurable(root);
    if (problem !== undefined) {
      const message = `failed to check validation schema for version ${name}: ${problem}`;
      return { type, status: "Unknown", reason: "StructuralError", message };
    }
    const at = child(element("spec.versions", index), "schema", "openAPIV3Schema");
    errors.push(...validateStructural(root, at, new Patterns(new Budget())));
  }
  if (errors.length === 0) return undefined;
  return { type, status: "True", reason: "Violations", message: joinedErrors(errors.map(describeFieldError)) };
}

const SEE = "see https://github.com/kubernetes/enhancements/pull/1111";

/** Undefined: the group is not one of the Kubernetes project. */
function approvalConditionOf(definition: CustomResourceDefinition): NewCondition | undefined {
  if (!PROTECTED.test(definition.spec.group)) return undefined;
  const type = "KubernetesAPIApprovalPolicyConformant";
  const needed = `protected groups must have approval annotation ${JSON.stringify(ANNOTATION)}`;
  switch (approvalOf(definition)) {
    case "missing":
      return { type, status: "False", reason: "MissingAnnotation", message: `${needed}, ${SEE}` };
    case "bypassed":
      return {
        type,
        status: "False",
        reason: "UnapprovedAnnotation",
        message: `not approved: ${JSON.stringify(approvalText(definition))}`,
      };
    case "approved":
      return { type, status: "True", reason: "ApprovedAnnotation", message: `approved in ${approvalText(definition)}` };
    case "invalid": {
      const message = `${needed} with either a URL or a reason starting with "unapproved", ${SEE}`;
      return { type, status: "False", reason: "InvalidAnnotation", message };
    }
  }
}
