/**
 * The shape of keys: `/<resource>/[<namespace>/]<name>`, as upstream has them in etcd after `/registry`. `/<resource>/` is the resource
 * prefix, the unit of watching: a watch never spans two of them, and a commit changes at most one key under each. A resource has one
 * segment (`pods`), or two where its first segment is a family of resources: an API group, which has a dot (`example.com/widgets`),
 * `services` (`services/specs`, `services/endpoints`), or the bookkeeping (`k8ts/expiry`). Keys sort by their UTF-8 bytes on every driver.
 * (The etcd driver adds its own root, `/registry`.)
 */
import { KEY_BYTES_MAX } from "./store.ts";
import { StoreError } from "./store-error.ts";

/** Family of the store's and the API server's own records, which are not API objects. */
const BOOKKEEPING = "k8ts";

export const BOOKKEEPING_PREFIX = `/${BOOKKEEPING}/`;

/** First segments without a dot that need a second one to name a resource. */
const FAMILIES: ReadonlySet<string> = new Set(["services", BOOKKEEPING]);

/** A bookkeeping key may contain a whole other key and this much more. */
const BOOKKEEPING_BYTES_MAX = 64;

/** The resource prefix of bookkeeping records called `name`. */
export function bookkeepingPrefix(name: string): string {
  return `${BOOKKEEPING_PREFIX}${name}/`;
}

/** The resource prefix of a key, or of a prefix that is at least that long; undefined if it is shorter. */
export function resourcePrefixOf(key: string): string | undefined {
  const end = key.indexOf("/", 1);
  if (end <= 1 || key.charCodeAt(0) !== SLASH) return undefined;
  if (!isFamily(key, end)) return key.slice(0, end + 1);
  const secondEnd = key.indexOf("/", end + 1);
  return secondEnd <= end + 1 ? undefined : key.slice(0, secondEnd + 1);
}

/** Whether the first segment of `key`, which ends at `end`, holds several resources. */
function isFamily(key: string, end: number): boolean {
  const dot = key.indexOf(".");
  return (dot !== -1 && dot < end) || FAMILIES.has(key.slice(1, end));
}

/** Throws "Invalid" unless `key` can be stored. */
export function checkKey(key: string): void {
  const resource = resourcePrefixOf(key);
  if (resource === undefined || resource.length === key.length) {
    throw new StoreError("Invalid", `Cannot use key ${JSON.stringify(key)}: it must look like /<resource>/<name>`);
  }
  const bytesMax = KEY_BYTES_MAX + (key.startsWith(BOOKKEEPING_PREFIX) ? BOOKKEEPING_BYTES_MAX : 0);
  // A character takes at most three bytes per UTF-16 unit, so that nearly every key is short enough without counting.
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
    throw new StoreError("Invalid", `Cannot watch ${JSON.stringify(prefix)}: a watched prefix begins with /<resource>/`);
  }
  return resource;
}

/**
 * A string that sorts by UTF-16 units like `key` by UTF-8 bytes, for maps that compare strings with `<`. Only characters from U+D800 on are
 * out of order: surrogate pairs encode the highest code points and must come last.
 */
export function orderOf(key: string): string {
  return OUT_OF_ORDER.test(key) ? key.replace(OUT_OF_ORDER_ALL, shiftUnit) : key;
}

/** The smallest order after all keys that begin with `prefix`; undefined if none exists. */
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
