/** The arguments of NodeResourcesBalancedAllocation: which resources count. Upstream: NodeResourcesBalancedAllocationArgs. */
import { child, duplicate, element, invalid, type FieldError } from "../../../api/machinery/field-error.ts";
import { argumentsOf, checkedArguments, decodeArguments, type ReadArguments } from "../../framework/read-arguments.ts";
import { RESOURCE_SPECS, scoredResources, type ResourceSpec, type ScoredResource } from "../../framework/scored-resources.ts";

export interface BalancedAllocationArguments {
  /** All of weight 1. */
  readonly resources: readonly ScoredResource[];
}

interface WrittenArguments {
  readonly resources?: readonly ResourceSpec[];
}

const SCHEMA = argumentsOf("NodeResourcesBalancedAllocationArgs", { resources: RESOURCE_SPECS });

export function readBalancedAllocationArguments(written: unknown): ReadArguments<BalancedAllocationArguments> {
  const decoded = decodeArguments<WrittenArguments>(written, SCHEMA);
  if (!decoded.ok) return decoded;
  const resources = scoredResources(decoded.arguments.resources);
  return checkedArguments({ resources }, errorsOf(resources), decoded.unknown);
}

function* errorsOf(resources: readonly ScoredResource[]): Iterable<FieldError> {
  const seen = new Set<string>();
  for (const [index, { name, weight }] of resources.entries()) {
    const at = element("resources", index);
    if (seen.has(name)) yield duplicate(child(at, "name"), name);
    seen.add(name);
    if (weight !== 1) yield invalid(child(at, "weight"), weight, "must be 1");
  }
}
