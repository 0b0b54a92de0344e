/** Arguments of VolumeBinding: names, defaults, limits and errors are upstream's. */
import { invalid, type FieldError } from "../../../api/machinery/field-error.ts";
import {
  argumentsOf,
  checkedArguments,
  decodeArguments,
  INT32,
  INT64,
  listOf,
  structOf,
  type ReadArguments,
} from "../../framework/read-arguments.ts";

export interface VolumeBindingArguments {
  /** Timeout of a Pod that waits for its volumes to be provisioned and bound. The Pod is then scheduled again. */
  readonly bindTimeoutSeconds: number;
}

export const DEFAULT_ARGUMENTS: VolumeBindingArguments = { bindTimeoutSeconds: 600 };

interface Written extends Partial<VolumeBindingArguments> {
  readonly shape?: readonly { readonly utilization?: number; readonly score?: number }[];
}

const POINT = structOf("UtilizationShapePoint", { utilization: INT32, score: INT32 });
const SCHEMA = argumentsOf("VolumeBindingArgs", { bindTimeoutSeconds: INT64, shape: listOf(POINT) });

export function readVolumeBindingArguments(written: unknown): ReadArguments<VolumeBindingArguments> {
  const decoded = decodeArguments<Written>(written, SCHEMA);
  if (!decoded.ok) return decoded;
  const { bindTimeoutSeconds = DEFAULT_ARGUMENTS.bindTimeoutSeconds } = decoded.arguments;
  return checkedArguments({ bindTimeoutSeconds }, errorsOf({ ...decoded.arguments, bindTimeoutSeconds }), decoded.unknown);
}

/** `shape` belongs to scoring by storage capacity, an alpha feature that is off in 1.36. */
function* errorsOf({ bindTimeoutSeconds = 0, shape }: Written): Iterable<FieldError> {
  if (bindTimeoutSeconds < 0)
    yield invalid("bindTimeoutSeconds", bindTimeoutSeconds, "invalid BindTimeoutSeconds, should not be a negative value");
  if (shape !== undefined)
    yield invalid("shape", shape, "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring");
}
