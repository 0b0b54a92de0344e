/**
 * Lists, sets and maps that may hold so much and no more. Of one that holds more, nothing else is said: its items are not even looked at, so
 * that a client cannot make the server write a long answer.
 */
import { duplicate, element, tooMany, type FieldError } from "../../machinery/field-error.ts";
import { byteLength } from "../../machinery/names.ts";

type ItemRule<T> = (item: T, at: string) => Iterable<FieldError>;

export function* validateList<T>(items: readonly T[] | undefined, max: number, validate: ItemRule<T>, at: string): Iterable<FieldError> {
  const list = items ?? [];
  if (list.length > max) return yield tooMany(at, list.length, max);
  for (const [index, item] of list.entries()) yield* validate(item, element(at, index));
}

/** A list in which no two items have the same key. What is said twice is shown as its key, or as `show` has it. */
export function* validateSet<T>(
  items: readonly T[] | undefined,
  max: number,
  validate: ItemRule<T>,
  keyOf: (item: T) => string,
  at: string,
  show: (item: T) => unknown = keyOf,
): Iterable<FieldError> {
  const list = items ?? [];
  yield* validateList(list, max, validate, at);
  if (list.length > max) return;
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    const key = keyOf(item);
    if (seen.has(key)) yield duplicate(element(at, index), show(item));
    seen.add(key);
  }
}

export interface MapRules<T> {
  readonly max?: number;
  /** How much of a key is shown, in bytes. */
  readonly keyLengthMax: number;
  /** Mistakes of a key are those of the map as a whole, as upstream has it. */
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

/** The beginning and the end of a key that is too long to be shown. */
function shortened(key: string, max: number): string {
  if (byteLength(key) <= max) return key;
  const kept = max - ELLIPSIS.length;
  return key.slice(0, Math.ceil(kept / 2)) + ELLIPSIS + key.slice(key.length - Math.floor(kept / 2));
}
