/** Selectors and configuration of devices, in classes and claims: expressions over a device, and opaque parameters of the driver. */
import type { DeviceConfiguration, DeviceSelector } from "../../generated/resource.k8s.io/v1.ts";
import { writeJson } from "../../machinery/codec/json.ts";
import { invalid, required, tooLong, type FieldError } from "../../machinery/field-error.ts";
import { isLongerThan } from "../../machinery/names.ts";
import type { Json } from "../../machinery/object.ts";
import { validateDriverName } from "./device-names.ts";
import { validateList } from "./limited-lists.ts";

const SELECTORS_MAX = 32;
/** Compiling time grows with the length. */
const EXPRESSION_LENGTH_MAX_BYTES = 10 * 1024;
/** A claim's parameters are copied into its allocation, and sent to every watcher of claims. */
const PARAMETERS_LENGTH_MAX_BYTES = 10 * 1024;

export function validateSelectors(selectors: readonly DeviceSelector[] | undefined, at: string): Iterable<FieldError> {
  return validateList(selectors, { max: SELECTORS_MAX, validate: validateSelector }, at);
}

function* validateSelector({ cel }: DeviceSelector, at: string): Iterable<FieldError> {
  if (cel === undefined) yield required(`${at}.cel`);
  else yield* validateExpression(cel.expression, `${at}.cel.expression`);
}

/** The one place where expressions would be validated. They are not compiled here, so neither syntax nor cost is checked. */
function* validateExpression(expression: string, at: string): Iterable<FieldError> {
  if (isLongerThan(expression, EXPRESSION_LENGTH_MAX_BYTES)) yield tooLong(at, EXPRESSION_LENGTH_MAX_BYTES);
}

export interface ConfigurationRules {
  /** It is stored already, and may exceed the limit, which is newer than the API. */
  readonly stored: boolean;
}

export function* validateConfiguration({ opaque }: DeviceConfiguration, { stored }: ConfigurationRules, at: string): Iterable<FieldError> {
  if (opaque === undefined) return yield required(`${at}.opaque`);
  yield* validateDriverName(opaque.driver, `${at}.opaque.driver`);
  const parametersAt = `${at}.opaque.parameters`;
  if (opaque.parameters === null || opaque.parameters === undefined) return yield required(parametersAt);
  yield* validateRawObject(opaque.parameters, stored ? Number.POSITIVE_INFINITY : PARAMETERS_LENGTH_MAX_BYTES, parametersAt);
}

/** Any JSON object. It is never quoted: only the driver knows what is secret in it. */
export function* validateRawObject(value: Json, lengthMaxBytes: number, at: string): Iterable<FieldError> {
  if (isLongerThan(writeJson(value), lengthMaxBytes)) yield tooLong(at, lengthMaxBytes);
  else if (typeof value !== "object" || Array.isArray(value)) yield invalid(at, "<value omitted>", "must be a valid JSON object");
}
