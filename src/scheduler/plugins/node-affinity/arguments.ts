/** The arguments of NodeAffinity: terms for all Pods of a profile. Upstream: NodeAffinityArgs. */
import { nodeSelectorErrors, preferredNodesErrors } from "../../../api/core/v1/node/node-selector.ts";
import type { NodeAffinity } from "../../../api/generated/core/v1.ts";
import { child, type FieldError } from "../../../api/machinery/field-error.ts";
import { schemaOf } from "../../../api/schemas.ts";
import { argumentsOf, checkedArguments, decodeArguments, type ReadArguments } from "../../framework/read-arguments.ts";

export interface NodeAffinityArguments {
  readonly addedAffinity?: NodeAffinity;
}

const NODE_AFFINITY = "io.k8s.api.core.v1.NodeAffinity";

export function readNodeAffinityArguments(written: unknown): ReadArguments<NodeAffinityArguments> {
  const decoded = decodeArguments<NodeAffinityArguments>(
    written,
    argumentsOf("NodeAffinityArgs", { addedAffinity: schemaOf(NODE_AFFINITY) }),
  );
  return decoded.ok ? checkedArguments(decoded.arguments, errorsOf(decoded.arguments), decoded.unknown) : decoded;
}

function* errorsOf({ addedAffinity = {} }: NodeAffinityArguments): Iterable<FieldError> {
  const { requiredDuringSchedulingIgnoredDuringExecution: needed, preferredDuringSchedulingIgnoredDuringExecution: wishes } = addedAffinity;
  const at = "addedAffinity";
  if (needed !== undefined) yield* nodeSelectorErrors(needed, child(at, "requiredDuringSchedulingIgnoredDuringExecution"));
  if (wishes !== undefined) yield* preferredNodesErrors(wishes, child(at, "preferredDuringSchedulingIgnoredDuringExecution"));
}
