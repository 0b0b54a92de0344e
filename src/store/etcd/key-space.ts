/**
 * Maps the store's keys to etcd's: `<root><key>` in UTF-8, so that etcd's bytewise order is the contract's. Under the default root they are
 * upstream's keys. Bookkeeping (`/k8ts/<records>/…`) is kept outside of the root, in `/k8ts<root>/<records>/…`: other readers of the root
 * find API objects there and nothing else. Several stores share one etcd under their own roots.
 */
import { BOOKKEEPING_PREFIX, orderOf } from "../key.ts";
import { StoreError } from "../store-error.ts";

/** Where Kubernetes keeps its objects. */
export const DEFAULT_ROOT = "/registry";

/** All keys from `key` to before `rangeEnd`. */
export interface KeyRange {
  readonly key: Uint8Array;
  readonly rangeEnd: Uint8Array;
  /** The store's key at which it begins. */
  readonly from: string;
}

export class KeySpace {
  readonly #root: string;
  /** Replaces BOOKKEEPING_PREFIX. */
  readonly #bookkeeping: string;

  constructor(root: string) {
    if (!/^\/.*[^/]$/s.test(root) || root.includes("\0") || !root.isWellFormed()) {
      throw new StoreError("Invalid", `Cannot use root ${JSON.stringify(root)}: it must begin with a slash and not end with one`);
    }
    if (`${root}/`.startsWith(BOOKKEEPING_PREFIX)) {
      throw new StoreError("Invalid", `Cannot use root ${JSON.stringify(root)}: k8ts keeps its own records under ${BOOKKEEPING_PREFIX}`);
    }
    this.#root = root;
    this.#bookkeeping = `${BOOKKEEPING_PREFIX}${root.slice(1)}/`;
  }

  encode(key: string): Uint8Array {
    return UTF8.encode(isBookkeeping(key) ? this.#bookkeeping + key.slice(BOOKKEEPING_PREFIX.length) : this.#root + key);
  }

  decode(bytes: Uint8Array): string {
    const text = FROM_UTF8.decode(bytes);
    return text.startsWith(this.#bookkeeping) ? BOOKKEEPING_PREFIX + text.slice(this.#bookkeeping.length) : text.slice(this.#root.length);
  }

  /** The keys that begin with `prefix`, which is a resource prefix or longer. */
  rangeOf(prefix: string): KeyRange {
    const key = this.encode(prefix);
    return { key, rangeEnd: endOfPrefix(key), from: prefix };
  }

  /** The keys with `prefix`, as ranges in the order of the store's keys; none if no store key can have it. */
  rangesOf(prefix: string): readonly KeyRange[] {
    if (prefix === "") return this.rangesOf("/"); // Not the bare root: /registry is also the beginning of /registry2.
    if (!prefix.startsWith("/")) return [];
    const whole = this.rangeOf(prefix);
    if (prefix === BOOKKEEPING_PREFIX || !BOOKKEEPING_PREFIX.startsWith(prefix)) return [whole];
    // Keys of the root that look like bookkeeping are leftovers of an earlier version and ignored.
    const foreign = UTF8.encode(this.#root + BOOKKEEPING_PREFIX);
    const afterForeign = endOfPrefix(foreign);
    const from = BOOKKEEPING_PREFIX.slice(0, -1) + AFTER_SLASH;
    return [{ ...whole, rangeEnd: foreign }, this.rangeOf(BOOKKEEPING_PREFIX), { ...whole, key: afterForeign, from }];
  }

  /** The part of `range` after `key`; undefined if none exists. */
  rangeAfter(range: KeyRange, key: string): KeyRange | undefined {
    if (orderOf(key) < orderOf(range.from)) return range;
    if (isBookkeeping(key) !== isBookkeeping(range.from)) return undefined;
    const from = `${key}\0`;
    const next = this.encode(from);
    return compareBytes(next, range.rangeEnd) < 0 ? { key: next, rangeEnd: range.rangeEnd, from } : undefined;
  }

  /** The keys of the layout before upstream's, of which every store had one. */
  legacyRange(): Pick<KeyRange, "key" | "rangeEnd"> {
    const key = UTF8.encode(this.#root + BOOKKEEPING_PREFIX);
    return { key, rangeEnd: endOfPrefix(key) };
  }
}

function isBookkeeping(key: string): boolean {
  return key.startsWith(BOOKKEEPING_PREFIX);
}

/** The character after "/". */
const AFTER_SLASH = "0";

const UTF8 = new TextEncoder();
const FROM_UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** The smallest key after all that begin with `prefix`. Its last byte can be raised, since UTF-8 has no byte 0xff. */
function endOfPrefix(prefix: Uint8Array): Uint8Array {
  const end = prefix.slice();
  end[end.length - 1] = (end.at(-1) as number) + 1;
  return end;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const difference = (a[index] as number) - (b[index] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
