/** Timeouts of DynamicResources: names, defaults, limits and errors are upstream's. */
import { durationToMs, DurationError, parseDuration } from "../../../api/machinery/duration.ts";
import { invalid, type FieldError } from "../../../api/machinery/field-error.ts";
import { argumentsOf, checkedArguments, decodeArguments, TEXT, type ReadArguments } from "../../framework/read-arguments.ts";

export interface DynamicResourcesArguments {
  /** Maximum time of allocating devices of one node; 0: any time. */
  readonly filterTimeoutMs: number;
  /** Maximum time until the binding conditions of devices are met. */
  readonly bindingTimeoutMs: number;
}

export const DEFAULT_ARGUMENTS: DynamicResourcesArguments = { filterTimeoutMs: 10_000, bindingTimeoutMs: 600_000 };

const BINDING_TIMEOUT_MIN_MS = 1_000;
const SCHEMA = argumentsOf("DynamicResourcesArgs", { filterTimeout: TEXT, bindingTimeout: TEXT });

interface Written {
  readonly filterTimeout?: string;
  readonly bindingTimeout?: string;
}

export function readDynamicResourcesArguments(written: unknown): ReadArguments<DynamicResourcesArguments> {
  const decoded = decodeArguments<Written>(written, SCHEMA);
  if (!decoded.ok) return decoded;
  const { filterTimeout, bindingTimeout } = decoded.arguments;
  try {
    const args = {
      filterTimeoutMs: filterTimeout === undefined ? DEFAULT_ARGUMENTS.filterTimeoutMs : durationToMs(parseDuration(filterTimeout)),
      bindingTimeoutMs: bindingTimeout === undefined ? DEFAULT_ARGUMENTS.bindingTimeoutMs : durationToMs(parseDuration(bindingTimeout)),
    };
    return checkedArguments(args, errorsOf(args, decoded.arguments), decoded.unknown);
  } catch (error) {
    if (error instanceof DurationError) return { ok: false, problems: [error.message] };
    throw error;
  }
}

function* errorsOf(args: DynamicResourcesArguments, { filterTimeout = "", bindingTimeout = "" }: Written): Iterable<FieldError> {
  if (args.filterTimeoutMs < 0) yield invalid("filterTimeout", filterTimeout, "must be zero or positive");
  if (args.bindingTimeoutMs < BINDING_TIMEOUT_MIN_MS) yield invalid("bindingTimeout", bindingTimeout, "must be at least 1 second");
}
