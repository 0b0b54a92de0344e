/**
 * Access paths: a variable or value with the fields and indices selected from it (`self.spec.items[i].?name`). They cost one per step and
 * one for the whole; a path that is only passed on by a ternary is not charged for the whole, as upstream counts.
 */
import { describe, typeNameOf } from "../values/describe.ts";
import { CelError, ListValue, MapValue, NONE, OpaqueValue, Optional, Uint, type CelResult, type CelValue } from "../values/value.ts";
import { NO_SUCH_OVERLOAD } from "../values/compare.ts";
import type { Evaluate, Frame } from "./frame.ts";

export interface Qualifier {
  /** The key; may be an error. */
  readonly key: Evaluate;
  readonly isOptional: boolean;
  /** Of has(): the result is whether the key exists. */
  readonly testOnly: boolean;
}

export interface Path {
  readonly is: "path";
  /** Not charged: the variable itself, or the operand, which charges for itself. */
  readonly base: Evaluate;
  readonly qualifiers: Qualifier[];
}

export interface Choice {
  readonly is: "choice";
  readonly condition: Evaluate;
  readonly whenTrue: Attribute;
  readonly whenFalse: Attribute;
}

export type Attribute = Path | Choice;

export function addQualifier(attribute: Attribute, qualifier: Qualifier): void {
  if (attribute.is === "path") {
    attribute.qualifiers.push(qualifier);
    return;
  }
  addQualifier(attribute.whenTrue, qualifier);
  addQualifier(attribute.whenFalse, qualifier);
}

/** The value of an access path as an expression of its own. */
export function evaluateAttribute(attribute: Attribute, { testOnly = false } = {}): Evaluate {
  const resolve = resolver(attribute);
  if (testOnly) {
    return (frame) => {
      const value = resolve(frame);
      return value instanceof Optional ? value.value !== undefined : value;
    };
  }
  if (attribute.is === "choice") return resolve;
  return (frame) => {
    const value = resolve(frame);
    frame.charge(1);
    return value;
  };
}

/** Without the charge for the whole. */
export function resolver(attribute: Attribute): Evaluate {
  if (attribute.is === "choice") return choiceResolver(attribute);
  const { base, qualifiers } = attribute;
  if (qualifiers.length === 0) return base;
  return (frame) => {
    const value = base(frame);
    return value instanceof CelError ? value : qualified(frame, value, qualifiers);
  };
}

function choiceResolver({ condition, whenTrue, whenFalse }: Choice): Evaluate {
  const first = resolver(whenTrue);
  const second = resolver(whenFalse);
  return (frame) => {
    const value = condition(frame);
    if (value === true) return first(frame);
    if (value === false) return second(frame);
    return value instanceof CelError ? value : NO_SUCH_OVERLOAD;
  };
}

function qualified(frame: Frame, start: CelValue, qualifiers: readonly Qualifier[]): CelResult {
  let value = start;
  let isOptional = false;
  if (value instanceof Optional) {
    if (value.value === undefined) return qualifiers.at(-1)?.testOnly === true ? false : value;
    value = value.value;
    isOptional = true;
  }
  for (const qualifier of qualifiers) {
    isOptional ||= qualifier.isOptional;
    const key = qualifier.key(frame);
    if (key instanceof CelError) return charged(frame, key);
    const found = select(value, key);
    if (qualifier.testOnly) {
      frame.charge(1);
      return found instanceof CelError ? found : found !== undefined && found !== UNSELECTABLE;
    }
    if (found === undefined || found === UNSELECTABLE) {
      if (!isOptional) return charged(frame, missing(value, key));
      return NONE;
    }
    frame.charge(1);
    if (found instanceof CelError) return found;
    value = found;
  }
  return isOptional ? new Optional(value) : value;
}

function charged(frame: Frame, error: CelError): CelError {
  frame.charge(1);
  return error;
}

/** The value has no fields or elements at all. */
const UNSELECTABLE = Symbol("unselectable");

/** undefined: no such key or index. */
function select(value: CelValue, key: CelValue): CelResult | undefined | typeof UNSELECTABLE {
  if (value instanceof MapValue) return value.find(key);
  if (value instanceof ListValue) {
    const index = indexOf(key);
    if (index instanceof CelError) return index;
    return index >= 0 && index < value.size ? value.at(index) : undefined;
  }
  if (value instanceof OpaqueValue && typeof key === "string") return value.field(key) ?? UNSELECTABLE;
  return UNSELECTABLE;
}

function missing(value: CelValue, key: CelValue): CelError {
  return new CelError(`${value instanceof ListValue ? "index out of bounds" : "no such key"}: ${describe(key)}`);
}

function indexOf(key: CelValue): number | CelError {
  if (typeof key === "bigint") return Number(key);
  if (key instanceof Uint) return Number(key.value);
  if (typeof key !== "number") return new CelError(`unsupported index type '${typeNameOf(key)}' in list`);
  return Number.isInteger(key) ? key : new CelError(`unsupported index value ${describe(key)} in list`);
}
