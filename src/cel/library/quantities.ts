/** Quantities of resources ("500m", "1Gi"). */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isZero,
  parseQuantity,
  QuantityError,
  quantityOf,
  signOf,
  subtractQuantities,
  type Quantity,
} from "../../api/machinery/quantity.ts";
import { INT_MAX, INT_MIN } from "../syntax/literals.ts";
import { textOf } from "../values/text.ts";
import { CelError, OpaqueValue, type CelResult, type CelValue } from "../values/value.ts";
import { BOOL, DOUBLE, INT, objectOf, STRING, type CelType } from "../types/type.ts";
import { member, overload, type Implementation, type Library, type LibraryFunction } from "./library.ts";

export const QUANTITY: CelType = objectOf("kubernetes.Quantity");

class QuantityValue extends OpaqueValue {
  readonly type = QUANTITY;
  readonly quantity: Quantity;
  /** Power of ten of upstream's representation as an int64; undefined: it has another one. Only non-negative ones count as integers. */
  readonly scale: number | undefined;
  /** A sum or difference. Upstream represents it in another way, with which no quantity can be compared: only the left operand may be one. */
  readonly isComputed: boolean;

  constructor(quantity: Quantity, scale: number | undefined, { isComputed = false } = {}) {
    super();
    this.quantity = quantity;
    this.scale = scale;
    this.isComputed = isComputed;
  }

  equals(other: OpaqueValue): boolean | CelError {
    if (!(other instanceof QuantityValue) || other.isComputed) return new CelError("no such overload");
    return compareQuantities(this.quantity, other.quantity) === 0;
  }

  override get hasUnitEquality(): boolean {
    return true;
  }

  override toJson(): string {
    return formatQuantity(this.quantity);
  }
}

export function quantityValue(text: string): CelResult {
  try {
    return new QuantityValue(parseQuantity(text), scaleOf(text));
  } catch (error) {
    if (error instanceof QuantityError) return new CelError(error.message);
    throw error;
  }
}

function of(value: CelValue | undefined): Quantity {
  return (value as QuantityValue).quantity;
}

const BINARY_EXPONENTS: ReadonlyMap<string, number> = new Map(
  ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((suffix, index) => [suffix, 10 * (index + 1)]),
);
const DECIMAL_EXPONENTS: ReadonlyMap<string, number> = new Map(
  ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"].map((suffix, index) => [suffix, 3 * index - 9]),
);
/** Digits that upstream computes with an int64, and fewer with a binary suffix. */
const DIGITS_MAX = 18;
const BINARY_DIGITS_MAX = 14;
const SCALE_MIN = -9;

/** The scale that upstream's parser chooses: "2.0" is 20 × 10^-1, which is not an integer to it. */
function scaleOf(text: string): number | undefined {
  const [, whole = "", fraction = "", suffix = ""] = /^[+-]?0*(\d*)(?:\.(\d*))?(.*)$/.exec(text) ?? [];
  const binary = BINARY_EXPONENTS.get(suffix);
  if (binary !== undefined) return fraction === "" && BINARY_DIGITS_MAX - whole.length - Math.trunc((binary * 3) / 10) >= 0 ? 0 : undefined;
  const exponent = DECIMAL_EXPONENTS.get(suffix) ?? Number(suffix.slice(1));
  const scale = exponent - fraction.length;
  return whole.length + fraction.length <= DIGITS_MAX && scale >= SCALE_MIN ? scale : undefined;
}

/** The integer, if upstream counts the quantity as one. */
function integerOf({ quantity: { unscaled, exponent }, scale }: QuantityValue): bigint | undefined {
  if (scale === undefined || scale < 0) return undefined;
  const value = exponent < 0 ? unscaled / 10n ** BigInt(-exponent) : unscaled * 10n ** BigInt(exponent);
  return value < INT_MIN || value > INT_MAX ? undefined : value;
}

function combinedScale(a: QuantityValue, b: QuantityValue): number | undefined {
  if (a.scale === undefined || b.scale === undefined) return undefined;
  if (isZero(a.quantity)) return b.scale;
  return isZero(b.quantity) ? a.scale : Math.min(a.scale, b.scale);
}

/** Go multiplies the unscaled number by a power of ten, which rounds. */
function approximate(quantity: Quantity): number {
  const { unscaled, exponent } = quantity;
  if (isZero(quantity)) return 0;
  return exponent < 0 ? Number(unscaled) / 10 ** -exponent : Number(unscaled) * 10 ** exponent;
}

function compared(name: string, id: string, result: CelType, read: (order: number) => CelResult): LibraryFunction {
  const call: Implementation = ([a, b]) => read(compareQuantities(of(a), of(b)));
  return { name, overloads: [member(id, [QUANTITY, QUANTITY], result, call)] };
}

function combined(name: string, id: string, combine: (a: Quantity, b: Quantity) => Quantity): LibraryFunction {
  const both = (a: QuantityValue, b: QuantityValue): CelResult =>
    new QuantityValue(combine(a.quantity, b.quantity), combinedScale(a, b), { isComputed: true });
  return {
    name,
    overloads: [
      member(id, [QUANTITY, QUANTITY], QUANTITY, ([a, b]) => both(a as QuantityValue, b as QuantityValue)),
      member(`${id}_int`, [QUANTITY, INT], QUANTITY, ([a, b]) =>
        both(a as QuantityValue, new QuantityValue(quantityOf(b as bigint, "DecimalExponent"), 0)),
      ),
    ],
  };
}

const NO_INTEGER = new CelError("cannot convert value to integer");

export const quantities: Library = {
  functions: [
    { name: "quantity", overloads: [overload("string_to_quantity", [STRING], QUANTITY, ([text]) => quantityValue(textOf(text)))] },
    {
      name: "isQuantity",
      overloads: [overload("is_quantity_string", [STRING], BOOL, ([text]) => !(quantityValue(textOf(text)) instanceof CelError))],
    },
    { name: "sign", overloads: [overload("quantity_sign", [QUANTITY], INT, ([value]) => BigInt(signOf(of(value))))] },
    compared("isGreaterThan", "quantity_is_greater_than", BOOL, (order) => order > 0),
    compared("isLessThan", "quantity_is_less_than", BOOL, (order) => order < 0),
    compared("compareTo", "quantity_compare_to", INT, (order) => BigInt(order)),
    { name: "asApproximateFloat", overloads: [member("quantity_get_float", [QUANTITY], DOUBLE, ([value]) => approximate(of(value)))] },
    {
      name: "asInteger",
      overloads: [member("quantity_get_int", [QUANTITY], INT, ([value]) => integerOf(value as QuantityValue) ?? NO_INTEGER)],
    },
    {
      name: "isInteger",
      overloads: [member("quantity_is_integer", [QUANTITY], BOOL, ([value]) => integerOf(value as QuantityValue) !== undefined)],
    },
    combined("add", "quantity_add", addQuantities),
    combined("sub", "quantity_sub", subtractQuantities),
  ],
};
