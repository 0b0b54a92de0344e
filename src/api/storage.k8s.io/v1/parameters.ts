/** Opaque driver parameters and provisioner names, shared by the two storage classes: limits of their size. */
import { invalid, required, tooLong, type FieldError } from "../../machinery/field-error.ts";
import { byteLength, validateQualifiedName } from "../../machinery/names.ts";

const PARAMETERS_MAX = 512;
const PARAMETERS_SIZE_MAX_BYTES = 256 * 1024;

export function* validateParameters(parameters: Readonly<Record<string, string>> = {}, at: string): Iterable<FieldError> {
  const entries = Object.entries(parameters);
  // Upstream reports too many parameters as "too long", too.
  if (entries.length > PARAMETERS_MAX) return yield tooLong(at, PARAMETERS_MAX);
  for (const [key] of entries) if (key === "") yield invalid(at, key, "field can not be empty.");
  const sizeBytes = entries.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  if (sizeBytes > PARAMETERS_SIZE_MAX_BYTES) yield tooLong(at, PARAMETERS_SIZE_MAX_BYTES);
}

/** The driver of the class. Upstream validates and quotes the name in lower case. */
export function* validateProvisioner(name = "", at: string): Iterable<FieldError> {
  if (name === "") return yield required(at);
  const lower = name.toLowerCase();
  for (const problem of validateQualifiedName(lower)) yield invalid(at, lower, problem);
}
