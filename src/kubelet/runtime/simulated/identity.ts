/**
 * Ids that follow from what they name, so that no chance is needed and a driver that starts anew gives the same. The id of a container
 * also says at which millisecond of a second it was made: a Pod's status has whole seconds only, and what a script says would otherwise
 * happen up to a second too early after every start of the driver.
 */

/** The last digits of a container's id, which count milliseconds. */
const MILLISECOND_DIGITS = 3;

const HASH_WORDS = 8;

/**
 * 64 hexadecimal digits. They have to differ, not to be hard to guess, and every Pod needs two: so each word of 32 bits is mixed from the
 * text by itself, from a start of its own, at a tenth of the price of SHA-256.
 */
export function hashOf(text: string): string {
  let hash = "";
  for (let lane = 1; lane <= HASH_WORDS; lane++) {
    let word = Math.imul(lane, 0x9e3779b1);
    for (let at = 0; at < text.length; at++) {
      word = Math.imul(word ^ text.charCodeAt(at), 0x85ebca6b);
      word ^= word >>> 15;
    }
    word = Math.imul(word ^ text.length, 0xc2b2ae35);
    hash += ((word ^ (word >>> 16)) >>> 0).toString(16).padStart(8, "0");
  }
  return hash;
}

export function sandboxId(podUid: string): string {
  return hashOf(podUid);
}

export interface ContainerIdentity {
  readonly podUid: string;
  readonly name: string;
  readonly attempt: number;
  readonly createdAtMs: number;
}

export function containerId({ podUid, name, attempt, createdAtMs }: ContainerIdentity): string {
  const millisecond = (createdAtMs % 1000).toString(16).padStart(MILLISECOND_DIGITS, "0");
  return hashOf(`${podUid}/${name}/${attempt}`).slice(0, -MILLISECOND_DIGITS) + millisecond;
}

/** 0 to 999; 0 also if the id is not one of ours. */
export function millisecondOf(id: string): number {
  const millisecond = /^[0-9a-f]{64}$/.test(id) ? Number.parseInt(id.slice(-MILLISECOND_DIGITS), 16) : 0;
  return millisecond < 1000 ? millisecond : 0;
}

/** "0a1b…" of "simulated://0a1b…", as the status of a Pod has it. */
export function withoutScheme(id: string): string {
  const schemeEnd = id.indexOf("://");
  return schemeEnd === -1 ? id : id.slice(schemeEnd + "://".length);
}
