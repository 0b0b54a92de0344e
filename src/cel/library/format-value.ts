/** The size of the pattern that a named format stands for, which costs are computed from. */
import { OpaqueValue, type CelResult } from "../values/value.ts";
import { objectOf, type CelType } from "../types/type.ts";

export const FORMAT: CelType = objectOf("kubernetes.NamedFormat");

/** A named format: kubernetes.NamedFormat. */
export class FormatValue extends OpaqueValue {
  readonly type = FORMAT;
  readonly name: string;
  readonly patternSize: number;
  readonly validate: (text: string) => readonly string[];

  constructor(name: string, patternSize: number, validate: (text: string) => readonly string[]) {
    super();
    this.name = name;
    this.patternSize = patternSize;
    this.validate = validate;
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof FormatValue && other.name === this.name;
  }

  override get hasUnitEquality(): boolean {
    return true;
  }
}

/** undefined: not a format. */
export function describeFormat(value: CelResult | undefined): number | undefined {
  return value instanceof FormatValue ? value.patternSize : undefined;
}
