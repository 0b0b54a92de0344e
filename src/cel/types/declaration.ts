/**
 * Types with what a schema knows beyond their name: fields, and the sizes that cost estimates are made from. Fields are computed when first
 * read, so recursive schemas can be declared.
 */
import {
  ANY,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  objectOf,
  STRING,
  TIMESTAMP,
  UINT,
  type CelType,
} from "./type.ts";

export interface Declaration {
  readonly type: CelType;
  /** Fields of an object by their name in CEL (escaped, see schema/escaping.ts). Absent: not an object. */
  readonly fields?: ReadonlyMap<string, Declaration>;
  /** Key of a map. */
  readonly key?: Declaration;
  /** Element of a list, value of a map. */
  readonly element?: Declaration;
  /** True if an element of this map that is selected by its name (`map.name`) has the size of the elements; otherwise its size is unknown. */
  readonly sizedByName?: true;
  /** Maximum of characters, bytes, elements or entries. 0: unknown to a scalar. Negative: unbounded. */
  readonly maxElements: number;
  /** Minimum bytes of a value as JSON. */
  readonly minSerializedSize: number;
}

/** Sizes in bytes of JSON, as upstream counts them. */
export const MIN_STRING_SIZE = 2;
const MIN_BOOL_SIZE = 4;
const MIN_NUMBER_SIZE = 1;
const MIN_NULL_SIZE = 4;
const MIN_COLLECTION_SIZE = 2;
export const MIN_DURATION_SIZE = 3;
export const DATE_SIZE = 12;
export const UNBOUNDED = -1;

export function declareSimple(type: CelType, minSerializedSize: number, maxElements = 0): Declaration {
  return { type, maxElements, minSerializedSize };
}

export function declareList(element: Declaration, maxElements = UNBOUNDED): Declaration {
  return { type: listOf(element.type), element, maxElements, minSerializedSize: MIN_COLLECTION_SIZE };
}

export function declareMap(key: Declaration, element: Declaration, maxElements = UNBOUNDED): Declaration {
  return { type: mapOf(key.type, element.type), key, element, maxElements, minSerializedSize: MIN_COLLECTION_SIZE };
}

/** An object type. The fields may be given as a function, which is called once, when they are first read. */
export function declareObject(
  name: string,
  fields: Readonly<Record<string, Declaration>> | (() => ReadonlyMap<string, Declaration>),
  minSerializedSize = MIN_COLLECTION_SIZE,
): Declaration {
  let computed: ReadonlyMap<string, Declaration> | undefined;
  return {
    type: objectOf(name),
    maxElements: 0,
    minSerializedSize,
    get fields() {
      return (computed ??= typeof fields === "function" ? fields() : new Map(Object.entries(fields)));
    },
  };
}

export const declared = {
  any: declareSimple(ANY, 1),
  bool: declareSimple(BOOL, MIN_BOOL_SIZE),
  bytes: declareSimple(BYTES, MIN_STRING_SIZE),
  double: declareSimple(DOUBLE, MIN_NUMBER_SIZE),
  duration: declareSimple(DURATION, MIN_DURATION_SIZE),
  dyn: declareSimple(DYN, 1),
  int: declareSimple(INT, MIN_NUMBER_SIZE),
  null: declareSimple(NULL, MIN_NULL_SIZE),
  string: declareSimple(STRING, MIN_STRING_SIZE),
  timestamp: declareSimple(TIMESTAMP, DATE_SIZE),
  uint: declareSimple(UINT, 1),
} as const;
