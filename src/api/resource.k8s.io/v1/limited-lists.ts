/**
 * Validation of lists, sets and maps with a maximum size. If the size is exceeded, items are not validated, so that a client cannot make
 * the server write a long response.
 */
import { duplicate, element, tooMany, type FieldError } from "../../machinery/field-error.ts";
import { byteLength } from "../../machinery/names.ts";

type ItemRule<T> = (item: T, at: string) => Iterable<FieldError>;

export interface ListRules<T> {
  /** Default: unlimited. */
  readonly max?: number;
  readonly validate: ItemRule<T>;
}

export function* validateList<T>(
  items: readonly T[] | undefined,
  { max = Number.POSITIVE_INFINITY, validate }: ListRules<T>,
  at: string,
): Iterable<FieldError> {
  const list = items ?? [];
  if (list.length > max) return yield tooMany(at, list.length, max);
  for (const [index, item] of list.entries()) yield* validate(item, element(at, index));
}

/** For a list whose items have unique keys. */
export interface SetRules<T> extends ListRules<T> {
  keyOf(item: T): string;
  /** How a message shows a duplicate. Default: by its key. */
  show?(item: T): unknown;
}

export function* validateSet<T>(items: readonly T[] | undefined, rules: SetRules<T>, at: string): Iterable<FieldError> {
  const list = items ?? [];
  yield* validateList(list, rules, at);
  if (list.length > (rules.max ?? Number.POSITIVE_INFINITY)) return;
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    const key = rules.keyOf(item);
    if (seen.has(key)) yield duplicate(element(at, index), rules.show === undefined ? key : rules.show(item));
    seen.add(key);
  }
}

export interface MapRules<T> {
  /** Default: unlimited. */
  readonly max?: number;
  /** Maximum bytes of a key in a message. */
  readonly keyLengthMax: number;
  /** Errors of a key are reported for the map as a whole, as upstream. */
  readonly validateKey: ItemRule<string>;
  readonly validateValue?: ItemRule<T>;
}

export function* validateMap<T>(
  map: Readonly<Record<string, T>> | undefined,
  { max = Number.POSITIVE_INFINITY, keyLengthMax, validateKey, validateValue }: MapRules<T>,
  at: string,
): Iterable<FieldError> {
  const entries = Object.entries(map ?? {});
  if (entries.length > max) return yield tooMany(at, entries.length, max);
  for (const [key, value] of entries) {
    yield* validateKey(key, at);
    if (validateValue !== undefined) yield* validateValue(value, element(at, shortened(key, keyLengthMax)));
  }
}

const ELLIPSIS = "...";

/** The beginning and the end of a key that is too long for a message. */
function shortened(key: string, max: number): string {
  if (byteLength(key) <= max) return key;
  const kept = max - ELLIPSIS.length;
  return key.slice(0, Math.ceil(kept / 2)) + ELLIPSIS + key.slice(key.length - Math.floor(kept / 2));
}
