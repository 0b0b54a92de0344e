/**
 * Names of the chains of the proxy: "<owner>-proxy-<role>", and "<owner>-<kind>-<hash>" for those of one service port, endpoint or bucket.
 * The hash makes them stable and as short as the kernel wants. Everything of an owner is found by its names, after any end of the proxy.
 */
import { sha256 } from "../../../base/crypto/hash.ts";
import { encodeUtf8 } from "../../../base/utf8.ts";

/**
 * svc: endpoints of policy Cluster, svl: of policy Local, ext: traffic from outside, fwl: source ranges of a load balancer, sep: one
 * endpoint, idx: bucket of an index.
 */
export type ChainKind = "svc" | "svl" | "ext" | "fwl" | "sep" | "idx";

/** The kernel's limit is 28 characters: an owner of 6, a kind of 3, and this. 80 bits never collide. */
const HASH_CHARACTERS = 16;

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const BITS_PER_CHARACTER = 5;

export class ChainNames {
  readonly #owner: string;
  readonly #pattern: RegExp;

  constructor(owner: string) {
    this.#owner = owner;
    this.#pattern = new RegExp(`^${owner}-(?:proxy-[a-z-]+|(?:svc|svl|ext|fwl|sep|idx)-[A-Z2-7]{${HASH_CHARACTERS}})$`);
  }

  /** A chain that exists once. */
  fixed(role: string): string {
    return `${this.#owner}-proxy-${role}`;
  }

  hashed(kind: ChainKind, ...of: readonly string[]): string {
    return `${this.#owner}-${kind}-${shortHash(of.join("\0"))}`;
  }

  isOwn(name: string): boolean {
    return this.#pattern.test(name);
  }
}

function shortHash(text: string): string {
  let bits = 0n;
  const bytes = sha256(encodeUtf8(text));
  for (const byte of bytes.subarray(0, (HASH_CHARACTERS * BITS_PER_CHARACTER) / 8)) bits = (bits << 8n) | BigInt(byte);
  const digits: string[] = [];
  for (let index = 0; index < HASH_CHARACTERS; index++) {
    digits.push(BASE32[Number(bits & 31n)] ?? "");
    bits >>= BigInt(BITS_PER_CHARACTER);
  }
  return digits.join("");
}
