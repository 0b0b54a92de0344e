/**
 * The store's keys as etcd's: `<root><key>` in UTF-8, so that etcd's order, which is that of bytes, is the contract's.
 * Several stores share one etcd under roots of their own.
 */
import { StoreError } from "../store-error.ts";

/** Where Kubernetes keeps its objects. */
export const DEFAULT_ROOT = "/registry";

/** All keys from `key` to before `rangeEnd`. */
export interface KeyRange {
  readonly key: Uint8Array;
  readonly rangeEnd: Uint8Array;
}

export class KeySpace {
  readonly #root: string;
  readonly #rootLength: number;

  constructor(root: string) {
    if (!/^\/.*[^/]$/s.test(root) || root.includes("\0") || !root.isWellFormed()) {
      throw new StoreError("Invalid", `Cannot use root ${JSON.stringify(root)}: it must begin with a slash and not end with one`);
    }
    this.#root = root;
    this.#rootLength = UTF8.encode(root).length;
  }

  encode(key: string): Uint8Array {
    return UTF8.encode(this.#root + key);
  }

  decode(bytes: Uint8Array): string {
    return FROM_UTF8.decode(bytes.subarray(this.#rootLength));
  }

  /** The keys that begin with `prefix`; undefined if no key of a store can. */
  rangeOf(prefix: string): KeyRange | undefined {
    if (prefix === "") return this.rangeOf("/"); // Not the bare root: /registry is also the beginning of /registry2.
    if (!prefix.startsWith("/")) return undefined;
    const key = this.encode(prefix);
    return { key, rangeEnd: endOfPrefix(key) };
  }

  /** The part of `range` after `key`. */
  rangeAfter(range: KeyRange, key: string): KeyRange {
    const next = this.encode(`${key}\0`);
    return compareBytes(next, range.key) > 0 ? { key: next, rangeEnd: range.rangeEnd } : range;
  }
}

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

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && compareBytes(a, b) === 0;
}
