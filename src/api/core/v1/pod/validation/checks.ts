/** Field checks of names and numbers that the rules of a Pod share. */
import { invalid, type FieldError } from "../../../../machinery/field-error.ts";
import { validateLegacyIp } from "../../../../machinery/ip/ip-validation.ts";
import {
  validateConfigMapKey,
  validateDnsLabel,
  validateDnsSubdomain,
  validateGroupId,
  validatePortName,
  validatePortNumber,
  validateQualifiedName,
  validateRelaxedEnvVarName,
  validateUserId,
} from "../../../../machinery/names.ts";

type Check<T> = (value: T, at: string) => readonly FieldError[];

function check<T>(validate: (value: T) => readonly string[]): Check<T> {
  return (value, at) => {
    const problems = validate(value);
    return problems.length === 0 ? NONE : problems.map((problem) => invalid(at, value, problem));
  };
}

const NONE: readonly FieldError[] = [];

/** The field of an error of the whole object: upstream's empty path. */
export const WHOLE_OBJECT = "[]";

export const dnsLabel = check<string>(validateDnsLabel);
export const dnsSubdomain = check<string>(validateDnsSubdomain);
export const qualifiedName = check<string>(validateQualifiedName);
export const environmentName = check<string>(validateRelaxedEnvVarName);
export const configMapKey = check<string>(validateConfigMapKey);
export const portName = check<string>(validatePortName);
export const portNumber = check<number>(validatePortNumber);
export const userId = check<number>(validateUserId);
export const groupId = check<number>(validateGroupId);
export const ipAddress = check<string>((value) => validateLegacyIp(value, { strict: true }));

/** A port by number or by name, in probes and handlers. */
export function portNumberOrName(port: number | string | undefined, at: string): readonly FieldError[] {
  return typeof port === "string" ? portName(port, at) : portNumber(port ?? 0, at);
}

export function notNegative(value: number | undefined, at: string): readonly FieldError[] {
  return value !== undefined && value < 0 ? [invalid(at, value, "must be greater than or equal to 0")] : NONE;
}

export function positive(value: number | undefined, at: string): readonly FieldError[] {
  return (value ?? 0) <= 0 ? [invalid(at, value ?? 0, "must be greater than zero")] : NONE;
}
