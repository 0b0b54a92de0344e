/** The arguments of InterPodAffinity: names, defaults, limits and errors are upstream's (InterPodAffinityArgs). */
import { invalid, type FieldError } from "../../../api/machinery/field-error.ts";
import type { ScalarSchema } from "../../../api/machinery/schema.ts";
import { argumentsOf, checkedArguments, decodeArguments, INT32, type ReadArguments } from "../../framework/read-arguments.ts";

export interface InterPodAffinityArguments {
  /** Score weight of existing Pods' required affinity terms that match the incoming Pod, 0 to 100. */
  readonly hardPodAffinityWeight: number;
  /** Whether preferred terms of existing Pods are ignored for an incoming Pod without any: faster where few have any. */
  readonly ignorePreferredTermsOfExistingPods: boolean;
}

export const DEFAULT_ARGUMENTS: InterPodAffinityArguments = { hardPodAffinityWeight: 1, ignorePreferredTermsOfExistingPods: false };

const WEIGHT_MAX = 100;

const BOOLEAN: ScalarSchema = { type: "boolean" };
const SCHEMA = argumentsOf("InterPodAffinityArgs", { hardPodAffinityWeight: INT32, ignorePreferredTermsOfExistingPods: BOOLEAN });

export function readInterPodAffinityArguments(written: unknown): ReadArguments<InterPodAffinityArguments> {
  const decoded = decodeArguments<Partial<InterPodAffinityArguments>>(written, SCHEMA);
  if (!decoded.ok) return decoded;
  const args = { ...DEFAULT_ARGUMENTS, ...decoded.arguments };
  return checkedArguments(args, errorsOf(args), decoded.unknown);
}

function* errorsOf({ hardPodAffinityWeight: weight }: InterPodAffinityArguments): Iterable<FieldError> {
  if (weight < 0 || weight > WEIGHT_MAX) yield invalid("hardPodAffinityWeight", weight, `not in valid range [0, ${WEIGHT_MAX}]`);
}
