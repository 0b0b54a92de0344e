/** The arguments of NodeResourcesFit: ignored resources, and the scoring strategy. Upstream: NodeResourcesFitArgs. */
import { child, element, forbidden, invalid, notSupported, required, type FieldError } from "../../../api/machinery/field-error.ts";
import { errorsOf } from "../../../api/machinery/findings.ts";
import { validateLabelName } from "../../../api/machinery/metadata-validation.ts";
import {
  argumentsOf,
  checkedArguments,
  decodeArguments,
  INT32,
  listOf,
  structOf,
  TEXT,
  type ReadArguments,
} from "../../framework/read-arguments.ts";
import { RESOURCE_SPECS, scoredResources, type ResourceSpec, type ScoredResource } from "../../framework/scored-resources.ts";
import { SHAPE_SCORE_MAX, type ScoringStrategy, type ShapePoint, type StrategyType } from "./scoring-strategy.ts";

export interface FitArguments {
  /** Extended resources by name. */
  readonly ignoredResources: readonly string[];
  /** "example.com" is all of "example.com/…". */
  readonly ignoredResourceGroups: readonly string[];
  readonly scoringStrategy: ScoringStrategy;
}

interface WrittenArguments {
  readonly ignoredResources?: readonly string[];
  readonly ignoredResourceGroups?: readonly string[];
  readonly scoringStrategy?: WrittenStrategy;
}

interface WrittenStrategy {
  readonly type?: string;
  readonly resources?: readonly ResourceSpec[];
  readonly requestedToCapacityRatio?: { readonly shape?: readonly Partial<ShapePoint>[] };
}

const SHAPE_POINT = structOf("UtilizationShapePoint", { utilization: INT32, score: INT32 });
const SCHEMA = argumentsOf("NodeResourcesFitArgs", {
  ignoredResources: listOf(TEXT),
  ignoredResourceGroups: listOf(TEXT),
  scoringStrategy: structOf("ScoringStrategy", {
    type: TEXT,
    resources: RESOURCE_SPECS,
    requestedToCapacityRatio: structOf("RequestedToCapacityRatioParam", { shape: listOf(SHAPE_POINT) }),
  }),
});

/** In the order of messages. */
const STRATEGIES: readonly string[] = ["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"];
const DEFAULT_STRATEGY: WrittenStrategy = { type: "LeastAllocated" };
const WEIGHT_MAX = 100;
const UTILIZATION_MAX = 100;

export function readFitArguments(written: unknown): ReadArguments<FitArguments> {
  const decoded = decodeArguments<WrittenArguments>(written, SCHEMA);
  if (!decoded.ok) return decoded;
  const { ignoredResources = [], ignoredResourceGroups = [], scoringStrategy = DEFAULT_STRATEGY } = decoded.arguments;
  const strategy: ScoringStrategy = {
    // Whether it is one is checked below.
    type: (scoringStrategy.type ?? "") as StrategyType,
    resources: scoredResources(scoringStrategy.resources),
    shape: (scoringStrategy.requestedToCapacityRatio?.shape ?? []).map(({ utilization = 0, score = 0 }) => ({ utilization, score })),
  };
  const args: FitArguments = { ignoredResources, ignoredResourceGroups, scoringStrategy: strategy };
  return checkedArguments(args, argumentErrors(args, scoringStrategy.requestedToCapacityRatio !== undefined), decoded.unknown);
}

function* argumentErrors(
  { ignoredResources, ignoredResourceGroups, scoringStrategy }: FitArguments,
  hasCurve: boolean,
): Iterable<FieldError> {
  for (const [index, name] of ignoredResources.entries())
    yield* errorsOf((errors) => validateLabelName(errors, name, element("ignoredResources", index)));
  for (const [index, group] of ignoredResourceGroups.entries()) {
    const at = element("ignoredResourceGroups", index);
    if (group.includes("/")) yield invalid(at, group, "resource group name can't contain '/'");
    yield* errorsOf((errors) => validateLabelName(errors, group, at));
  }
  yield* strategyErrors(scoringStrategy, hasCurve);
}

function* strategyErrors({ type, resources, shape }: ScoringStrategy, hasCurve: boolean): Iterable<FieldError> {
  const at = "scoringStrategy";
  if (!STRATEGIES.includes(type)) yield notSupported(child(at, "type"), type, STRATEGIES);
  yield* weightErrors(resources, child(at, "resources"));
  const curve = child(at, "requestedToCapacityRatio");
  if (type !== "RequestedToCapacityRatio") {
    if (hasCurve) yield forbidden(curve, "must be nil when type is not RequestedToCapacityRatio");
  } else if (!hasCurve) yield required(curve, "must be specified when type is RequestedToCapacityRatio");
  else yield* shapeErrors(shape, child(curve, "shape"));
}

function* weightErrors(resources: readonly ScoredResource[], at: string): Iterable<FieldError> {
  for (const [index, { name, weight }] of resources.entries()) {
    if (weight > 0 && weight <= WEIGHT_MAX) continue;
    yield invalid(child(element(at, index), "weight"), weight, `resource weight of ${name} not in valid range (0, ${WEIGHT_MAX}]`);
  }
}

function* shapeErrors(shape: readonly ShapePoint[], at: string): Iterable<FieldError> {
  if (shape.length === 0) return yield required(at, "at least one point must be specified");
  const unsorted = shape.findIndex(({ utilization }, index) => utilization <= (shape[index - 1]?.utilization ?? -Infinity));
  if (unsorted !== -1) {
    const { utilization } = shape[unsorted] as ShapePoint;
    yield invalid(child(element(at, unsorted), "utilization"), utilization, "values must be sorted in increasing order");
  }
  for (const [index, { utilization, score }] of shape.entries()) {
    const here = element(at, index);
    yield* rangeErrors(utilization, UTILIZATION_MAX, child(here, "utilization"));
    yield* rangeErrors(score, SHAPE_SCORE_MAX, child(here, "score"));
  }
}

function* rangeErrors(value: number, max: number, at: string): Iterable<FieldError> {
  if (value < 0 || value > max) yield invalid(at, value, `not in valid range [0, ${max}]`);
}
