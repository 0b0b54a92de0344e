/**
 * How many nodes DefaultPreemption examines: names, defaults, limits and errors are upstream's. More nodes mean a better choice of victims,
 * and a longer cycle.
 */
import { invalid, type FieldError } from "../../../api/machinery/field-error.ts";
import { argumentsOf, checkedArguments, decodeArguments, INT32, type ReadArguments } from "../../framework/read-arguments.ts";

export interface DefaultPreemptionArguments {
  /** Percentage of the potential nodes to choose from. */
  readonly minCandidateNodesPercentage: number;
  /** Minimum number of candidates, if there are as many. */
  readonly minCandidateNodesAbsolute: number;
}

export const DEFAULT_ARGUMENTS: DefaultPreemptionArguments = { minCandidateNodesPercentage: 10, minCandidateNodesAbsolute: 100 };

const PERCENTAGE = "minCandidateNodesPercentage";
const ABSOLUTE = "minCandidateNodesAbsolute";
const SCHEMA = argumentsOf("DefaultPreemptionArgs", { [PERCENTAGE]: INT32, [ABSOLUTE]: INT32 });

export function readDefaultPreemptionArguments(written: unknown): ReadArguments<DefaultPreemptionArguments> {
  const decoded = decodeArguments<Partial<DefaultPreemptionArguments>>(written, SCHEMA);
  if (!decoded.ok) return decoded;
  const {
    minCandidateNodesPercentage = DEFAULT_ARGUMENTS.minCandidateNodesPercentage,
    minCandidateNodesAbsolute = DEFAULT_ARGUMENTS.minCandidateNodesAbsolute,
  } = decoded.arguments;
  const args = { minCandidateNodesPercentage, minCandidateNodesAbsolute };
  return checkedArguments(args, errorsOf(args), decoded.unknown);
}

function* errorsOf(args: DefaultPreemptionArguments): Iterable<FieldError> {
  const { minCandidateNodesPercentage: percentage, minCandidateNodesAbsolute: absolute } = args;
  if (percentage < 0 || percentage > 100) yield invalid(PERCENTAGE, percentage, "not in valid range [0, 100]");
  if (absolute < 0) yield invalid(ABSOLUTE, absolute, "not in valid range [0, inf)");
  if (percentage !== 0 || absolute !== 0) return;
  yield invalid(PERCENTAGE, percentage, "cannot be zero at the same time as minCandidateNodesAbsolute");
  yield invalid(ABSOLUTE, absolute, "cannot be zero at the same time as minCandidateNodesPercentage");
}

/** Number of candidates out of the potential nodes. */
export function candidatesWanted(
  { minCandidateNodesPercentage, minCandidateNodesAbsolute }: DefaultPreemptionArguments,
  potentialNodes: number,
): number {
  const part = Math.floor((potentialNodes * minCandidateNodesPercentage) / 100);
  return Math.min(potentialNodes, Math.max(part, minCandidateNodesAbsolute));
}
