/**
 * Values at run time. Those that JavaScript has are used as they are: boolean, string, bigint (int), number (double), Uint8Array (bytes),
 * null. JSON is not converted: lists and maps over it read their elements when asked (values/json.ts). An error is a value too, since
 * logical operators may ignore it.
 */
import type { CelType } from "../types/type.ts";

export type CelValue =
  | null
  | boolean
  | string
  | bigint
  | number
  | Uint8Array
  | Uint
  | Duration
  | Timestamp
  | Optional
  | TypeValue
  | ListValue
  | MapValue
  | OpaqueValue;

export type CelResult = CelValue | CelError;

/** Why an expression has no value. The message is upstream's. */
export class CelError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

export class Duration {
  readonly nanoseconds: bigint;

  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

/** Nanoseconds since 1970. */
export class Timestamp {
  readonly nanoseconds: bigint;
  /** Of the text that it was read from: its text has the same. It is no part of the instant. */
  readonly offsetMinutes: number;

  constructor(nanoseconds: bigint, offsetMinutes = 0) {
    this.nanoseconds = nanoseconds;
    this.offsetMinutes = offsetMinutes;
  }
}

/** A value or none. */
export class Optional {
  readonly value: CelValue | undefined;

  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

export const NONE = new Optional(undefined);

export class TypeValue {
  readonly type: CelType;

  constructor(type: CelType) {
    this.type = type;
  }
}

export abstract class ListValue {
  abstract readonly size: number;
  /** The element; `index` is within the bounds. */
  abstract at(index: number): CelResult;
  /** The list followed by `other`. */
  abstract concat(other: ListValue): ListValue;
  /** Lists that compare in another way than element by element override this. */
  equalTo(_other: ListValue): boolean | CelError | undefined {
    return undefined;
  }
  /** The result of a comparison with something that is no list. */
  mismatch(): false | CelError {
    return false;
  }
}

export abstract class MapValue {
  abstract readonly size: number;
  /** The value of a key; undefined: the map has no such key. */
  abstract find(key: CelValue): CelResult | undefined;
  abstract keys(): readonly CelValue[];
  /** The first key. Called for every call with the map: maps that would have to list all keys for it override this. */
  anyKey(): CelValue | undefined {
    return this.keys()[0];
  }
  /** Value of `in`. Maps with a default value, which every key has, override this. */
  contains(key: CelValue): boolean | CelError {
    const found = this.find(key);
    return found instanceof CelError ? found : found !== undefined;
  }
  /** The result of a comparison with something that is no map. */
  mismatch(): false | CelError {
    return false;
  }
  /** Part of a comparison: whether what expressions cannot read is the same. Objects with unknown fields override this. */
  hasSameRest(_other: MapValue): boolean {
    return true;
  }
}

/** Values of the Kubernetes libraries: Quantity, IP, … */
export abstract class OpaqueValue {
  abstract readonly type: CelType;
  abstract equals(other: OpaqueValue): boolean | CelError;
  /** What size() counts, for costs; undefined: the value has none. */
  get sizeForCost(): number | undefined {
    return undefined;
  }
  /** True if upstream counts a comparison as 1 whatever the size. */
  get hasUnitEquality(): boolean {
    return false;
  }
  /** Selects a field; undefined: no such field. */
  field(_name: string): CelResult | undefined {
    return undefined;
  }
  /** The JSON that the value stands for in results of expressions. */
  toJson(): unknown {
    return undefined;
  }
}
