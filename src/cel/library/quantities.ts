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

  constructor(quantity: Quantity) {
    super();
    this.quantity = quantity;
  }

  equals(other: OpaqueValue): boolean | CelError {
    return other instanceof QuantityValue ? compareQuantities(this.quantity, other.quantity) === 0 : new CelError("no such overload");
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
    return new QuantityValue(parseQuantity(text));
  } catch (error) {
    if (error instanceof QuantityError) return new CelError(error.message);
    throw error;
  }
}

function of(value: CelValue | undefined): Quantity {
  return (value as QuantityValue).quantity;
}

/** The integer, if the quantity is one and fits int64. */
function integerOf({ unscaled, exponent }: Quantity): bigint | undefined {
  if (exponent < 0 && unscaled % 10n ** BigInt(-exponent) !== 0n) return undefined;
  const value = exponent < 0 ? unscaled / 10n ** BigInt(-exponent) : unscaled * 10n ** BigInt(exponent);
  return value < INT_MIN || value > INT_MAX ? undefined : value;
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
  return {
    name,
    overloads: [
      member(id, [QUANTITY, QUANTITY], QUANTITY, ([a, b]) => new QuantityValue(combine(of(a), of(b)))),
      member(
        `${id}_int`,
        [QUANTITY, INT],
        QUANTITY,
        ([a, b]) => new QuantityValue(combine(of(a), quantityOf(b as bigint, "DecimalExponent"))),
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
    { name: "asInteger", overloads: [member("quantity_get_int", [QUANTITY], INT, ([value]) => integerOf(of(value)) ?? NO_INTEGER)] },
    { name: "isInteger", overloads: [member("quantity_is_integer", [QUANTITY], BOOL, ([value]) => integerOf(of(value)) !== undefined)] },
    combined("add", "quantity_add", addQuantities),
    combined("sub", "quantity_sub", subtractQuantities),
  ],
};
