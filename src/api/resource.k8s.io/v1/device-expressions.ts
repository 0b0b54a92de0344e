/**
 * Expressions that select devices: their variable `device`, the type that they must have, and the limit of their cost.
 *
 * Not here: evaluating them (scheduler).
 */
import { compileInStages, compileQuickly } from "../../../cel/compile.ts";
import { PER_CALL_LIMIT, type Compilation } from "../../../cel/contract.ts";
import { createEnvironment } from "../../../cel/environment.ts";
import { QUANTITY } from "../../../cel/library/quantities.ts";
import { declared, declareMap, declareObject, declareSimple, type Declaration } from "../../../cel/types/declaration.ts";
import { ANY, BOOL, isSameType, typeText } from "../../../cel/types/type.ts";
import { paused, pauseIfTickSpent } from "../../expression-pauses.ts";
import { forbidden, internalFieldError, invalid, type FieldError } from "../../machinery/field-error.ts";
import { DRIVER_LENGTH_MAX_BYTES, IDENTIFIER_LENGTH_MAX_BYTES } from "./device-names.ts";
import { ATTRIBUTE_LENGTH_MAX_BYTES, ATTRIBUTES_AND_CAPACITIES_MAX } from "./resource-slice/validate-device.ts";

/** An expression may be evaluated for every device while a Pod is scheduled. The limit is that of any evaluation. */
const COST_MAX = BigInt(PER_CALL_LIMIT);
/** Bytes of a quantity as JSON, as upstream counts them. */
const MIN_QUANTITY_SIZE = 8;

function textOf(maxLength: number): Declaration {
  return { ...declared.string, maxElements: maxLength };
}

const IDENTIFIER = textOf(IDENTIFIER_LENGTH_MAX_BYTES);
/** A domain may be as long as the name of a driver, which is the default. */
const DOMAIN = textOf(DRIVER_LENGTH_MAX_BYTES);

function byDomain(byIdentifier: Declaration): Declaration {
  return declareMap(DOMAIN, byIdentifier, ATTRIBUTES_AND_CAPACITIES_MAX);
}

/** A bool, an int, a string or a version: only the driver knows. */
const ATTRIBUTE: Declaration = { ...declared.any, maxElements: ATTRIBUTE_LENGTH_MAX_BYTES };
const CAPACITY = declareSimple(QUANTITY, MIN_QUANTITY_SIZE);

const DEVICE = declareObject("kubernetes.DRADevice", {
  driver: textOf(DRIVER_LENGTH_MAX_BYTES),
  allowMultipleAllocations: { ...declared.bool, maxElements: 1 },
  attributes: byDomain({ ...declareMap(IDENTIFIER, ATTRIBUTE, ATTRIBUTES_AND_CAPACITIES_MAX), sizedByName: true }),
  capacity: byDomain(declareMap(IDENTIFIER, CAPACITY, ATTRIBUTES_AND_CAPACITIES_MAX)),
});

const ENVIRONMENT = createEnvironment({ variables: { device: DEVICE.type }, declarations: [DEVICE], sizes: DEVICE, bindMacro: true });

/** Yields where the event loop should be yielded. */
export function compileDeviceExpression(expression: string): Generator<void, Compilation> {
  return compileInStages(ENVIRONMENT, expression);
}

/** Undefined if it takes long: `compileDeviceExpression` does it then. */
export function compileDeviceExpressionQuickly(expression: string): Compilation | undefined {
  return compileQuickly(ENVIRONMENT, expression);
}

export function* validateDeviceExpression(expression: string, at: string): Iterable<FieldError> {
  yield* pauseIfTickSpent();
  const compilation = yield* paused(compileDeviceExpression(expression));
  if (!compilation.ok) {
    const { stage, message } = compilation;
    if (stage === "program") yield internalFieldError(at, `program instantiation failed: ${message}`);
    else yield invalid(at, expression, `compilation failed: ${message}`);
    return;
  }
  yield* pauseIfTickSpent();
  const { outputType, estimatedCost } = compilation.program;
  if (!isSameType(outputType, BOOL) && !isSameType(outputType, ANY)) {
    yield invalid(at, expression, `must evaluate to bool or the unknown type, not ${typeText(outputType)}`);
  } else if (estimatedCost.max > COST_MAX) {
    yield forbidden(at, "too complex, exceeds cost limit");
  }
}
