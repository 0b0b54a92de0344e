/** Selectors and configuration of devices, in classes and claims: expressions over a device, and opaque parameters of the driver. */
import type { DeviceConfiguration, DeviceSelector } from "../../generated/resource.k8s.io/v1.ts";
import { writeJson } from "../../machinery/codec/json.ts";
import { invalid, required, tooLong, type FieldError } from "../../machinery/field-error.ts";
import { isLongerThan } from "../../machinery/names.ts";
import type { Json } from "../../machinery/object.ts";
import { validateDriverName } from "./device-names.ts";
import { validateDeviceExpression } from "./device-expressions.ts";
import { validateList } from "./limited-lists.ts";

const SELECTORS_MAX = 32;
/** Compiling time grows with the length. */
const EXPRESSION_LENGTH_MAX_BYTES = 10 * 1024;
/** A claim's parameters are copied into its allocation, and sent to every watcher of claims. */
const PARAMETERS_LENGTH_MAX_BYTES = 10 * 1024;

export interface SelectorRules {
  /** They are stored already: what was accepted before remains valid. */
  readonly stored: boolean;
}

export function validateSelectors(
  selectors: readonly DeviceSelector[] | undefined,
  { stored }: SelectorRules,
  at: string,
): Iterable<FieldError> {
  const validate = (selector: DeviceSelector, here: string): Iterable<FieldError> => validateSelector(selector, { stored }, here);
  return validateList(selectors, { max: SELECTORS_MAX, validate }, at);
}

function* validateSelector({ cel }: DeviceSelector, { stored }: SelectorRules, at: string): Iterable<FieldError> {
  if (cel === undefined) return yield required(`${at}.cel`);
  const { expression } = cel;
  const expressionAt = `${at}.cel.expression`;
  if (isLongerThan(expression, EXPRESSION_LENGTH_MAX_BYTES)) yield tooLong(expressionAt, EXPRESSION_LENGTH_MAX_BYTES);
  else if (!stored) yield* validateDeviceExpression(expression, expressionAt);
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
