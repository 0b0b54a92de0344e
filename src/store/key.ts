/**
 * The shape of keys: `/<group or core>/<plural>/[<namespace>/]<name>`. The first two segments are the resource prefix,
 * the unit of watching: a watch never spans two of them, and a commit changes at most one key under each.
 * Keys are ordered by their UTF-8 bytes on every driver. (The etcd driver puts its own root, `/registry`, before them.)
 */
import { KEY_BYTES_MAX } from "./store.ts";
import { StoreError } from "./store-error.ts";

/** The group of the keys by which the store room keeps its own books. */
export const BOOKKEEPING_GROUP = "k8ts";

const BOOKKEEPING_PREFIX = `/${BOOKKEEPING_GROUP}/`;

/** A key of the bookkeeping may hold a whole other key and this much more. */
const BOOKKEEPING_BYTES_MAX = 64;

export function resourcePrefix(group: string, plural: string): string {
  return `/${group === "" ? "core" : group}/${plural}/`;
}

/** `/<group>/<plural>/` of a key, or of a prefix that is at least that long; undefined if it is shorter. */
export function resourcePrefixOf(key: string): string | undefined {
  const afterGroup = key.indexOf("/", 1);
  if (afterGroup <= 1 || key.charCodeAt(0) !== SLASH) return undefined;
  const afterPlural = key.indexOf("/", afterGroup + 1);
  if (afterPlural <= afterGroup + 1) return undefined;
  return key.slice(0, afterPlural + 1);
}

/** Throws "Invalid" unless `key` can be stored. */
export function checkKey(key: string): void {
  const resource = resourcePrefixOf(key);
  if (resource === undefined || resource.length === key.length) {
    throw new StoreError("Invalid", `Cannot use key ${JSON.stringify(key)}: it must look like /<group>/<plural>/<name>`);
  }
  const bytesMax = KEY_BYTES_MAX + (key.startsWith(BOOKKEEPING_PREFIX) ? BOOKKEEPING_BYTES_MAX : 0);
  // A character takes at most three bytes per UTF-16 unit, so nearly every key is seen to be short enough without counting.
  if (key.length * 3 > bytesMax && utf8Length(key) > bytesMax) {
    throw new StoreError("Invalid", `Cannot use key ${JSON.stringify(key.slice(0, 80))}…: it is longer than ${bytesMax} bytes`);
  }
  if (UNUSUAL.test(key) && (key.includes("\0") || !key.isWellFormed())) {
    throw new StoreError("Invalid", `Cannot use key ${JSON.stringify(key)}: it contains NUL or half a surrogate pair`);
  }
}

/** Throws "Invalid" unless `prefix` can be watched. Returns its resource prefix. */
export function checkWatchPrefix(prefix: string): string {
  const resource = resourcePrefixOf(prefix);
  if (resource === undefined) {
    throw new StoreError("Invalid", `Cannot watch ${JSON.stringify(prefix)}: a watched prefix begins with /<group>/<plural>/`);
  }
  return resource;
}

/**
 * A string whose order by UTF-16 units is the order of `key` by UTF-8 bytes, for maps that compare strings with `<`.
 * Only characters from U+D800 on are out of order: surrogate pairs stand for the highest code points and must come last.
 */
export function orderOf(key: string): string {
  return OUT_OF_ORDER.test(key) ? key.replace(OUT_OF_ORDER_ALL, shiftUnit) : key;
}

/** The smallest order after all keys that begin with `prefix`; undefined if there is none. */
export function orderAfterPrefix(prefix: string): string | undefined {
  const order = orderOf(prefix);
  for (let end = order.length; end > 0; end--) {
    const unit = order.charCodeAt(end - 1);
    if (unit < 0xffff) return order.slice(0, end - 1) + String.fromCharCode(unit + 1);
  }
  return undefined;
}

const SLASH = 0x2f;
const UNUSUAL = /[\0\ud800-\udfff]/;
const OUT_OF_ORDER = /[\ud800-\uffff]/;
const OUT_OF_ORDER_ALL = /[\ud800-\uffff]/g;

function shiftUnit(character: string): string {
  const unit = character.charCodeAt(0);
  return String.fromCharCode(unit < 0xe000 ? unit + 0x2000 : unit - 0x800);
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}
