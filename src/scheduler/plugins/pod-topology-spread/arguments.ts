/** The arguments of PodTopologySpread: names, defaults, limits and errors are upstream's (PodTopologySpreadArgs). */
import type { TopologySpreadConstraint } from "../../../api/generated/core/v1.ts";
import {
  child,
  duplicate,
  element,
  forbidden,
  invalid,
  notSupported,
  required,
  type FieldError,
} from "../../../api/machinery/field-error.ts";
import { errorsOf } from "../../../api/machinery/findings.ts";
import { validateLabelName } from "../../../api/machinery/metadata-validation.ts";
import type { ObjectSchema } from "../../../api/machinery/schema.ts";
import { schemas } from "../../../api/schemas.ts";
import { argumentsOf, checkedArguments, decodeArguments, listOf, TEXT, type ReadArguments } from "../../framework/read-arguments.ts";

export interface PodTopologySpreadArguments {
  /** For Pods without constraints. Their selector is derived for each Pod. */
  readonly defaultConstraints: readonly TopologySpreadConstraint[];
  /** "System": the built-in ones; "List": those of `defaultConstraints`. */
  readonly defaultingType: "System" | "List";
}

export const DEFAULT_ARGUMENTS: PodTopologySpreadArguments = { defaultConstraints: [], defaultingType: "System" };

export function readPodTopologySpreadArguments(written: unknown): ReadArguments<PodTopologySpreadArguments> {
  const decoded = decodeArguments<Partial<PodTopologySpreadArguments>>(written, schema());
  if (!decoded.ok) return decoded;
  const { defaultConstraints = DEFAULT_ARGUMENTS.defaultConstraints, defaultingType } = decoded.arguments;
  // "" counts as absent, as everywhere in Go.
  const args = { defaultConstraints, defaultingType: defaultingType || DEFAULT_ARGUMENTS.defaultingType };
  return checkedArguments(args, argumentErrors(args), decoded.unknown);
}

function schema(): ObjectSchema {
  const constraint = schemas.get("io.k8s.api.core.v1.TopologySpreadConstraint");
  const defaultConstraints = constraint === undefined ? {} : { defaultConstraints: listOf(constraint) };
  return argumentsOf("PodTopologySpreadArgs", { defaultingType: TEXT, ...defaultConstraints });
}

function* argumentErrors({ defaultConstraints, defaultingType }: PodTopologySpreadArguments): Iterable<FieldError> {
  if (defaultingType !== "System" && defaultingType !== "List") {
    yield notSupported("defaultingType", defaultingType, ["System", "List"]);
  } else if (defaultingType === "System" && defaultConstraints.length > 0) {
    yield invalid("defaultingType", defaultingType, "when .defaultConstraints are not empty");
  }
  for (const [index, constraint] of defaultConstraints.entries()) {
    const at = element("defaultConstraints", index);
    yield* constraintErrors(constraint, at);
    const { topologyKey, whenUnsatisfiable } = constraint;
    const isSame = (other: TopologySpreadConstraint): boolean =>
      other.topologyKey === topologyKey && other.whenUnsatisfiable === whenUnsatisfiable;
    if (defaultConstraints.slice(0, index).some(isSame)) yield duplicate(at, `{${topologyKey}, ${whenUnsatisfiable}}`);
  }
}

function* constraintErrors(constraint: Partial<TopologySpreadConstraint>, at: string): Iterable<FieldError> {
  const { maxSkew = 0, topologyKey = "", labelSelector } = constraint;
  const whenUnsatisfiable: string = constraint.whenUnsatisfiable ?? "";
  if (maxSkew <= 0) yield invalid(child(at, "maxSkew"), maxSkew, "not in valid range (0, inf)");
  if (topologyKey === "") yield required(child(at, "topologyKey"), "can not be empty");
  else yield* errorsOf((errors) => validateLabelName(errors, topologyKey, child(at, "topologyKey")));
  if (whenUnsatisfiable === "") yield required(child(at, "whenUnsatisfiable"), "can not be empty");
  else if (!ACTIONS.includes(whenUnsatisfiable)) yield notSupported(child(at, "whenUnsatisfiable"), whenUnsatisfiable, ACTIONS);
  if (labelSelector !== undefined) {
    yield forbidden(child(at, "labelSelector"), "constraint must not define a selector, as they deduced for each pod");
  }
}

const ACTIONS: readonly string[] = ["DoNotSchedule", "ScheduleAnyway"];
