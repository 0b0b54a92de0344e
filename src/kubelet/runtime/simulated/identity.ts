/**
 * Ids that follow from what they name, so that no chance is needed and a driver that starts anew gives the same. The id of a container
 * also says when it was made: a Pod's status has whole seconds only, so that what a script says would otherwise happen up to a second too
 * early after every start of the driver, and of a container that is still being started it says no moment at all.
 */

/** The last digits of a container's id: the milliseconds since the epoch at which it was made. */
const MOMENT_DIGITS = 12;
/** Later ones are of no cluster: the id is another runtime's. It is in the year 6429. */
const MOMENT_END_MS = 2 ** 47;

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
  const moment = createdAtMs.toString(16).padStart(MOMENT_DIGITS, "0");
  return hashOf(`${podUid}/${name}/${attempt}`).slice(0, -MOMENT_DIGITS) + moment;
}

/** When the container of this id was made; undefined if the id is not one of ours. */
export function createdAtOf(id: string): number | undefined {
  if (!/^[0-9a-f]{64}$/.test(id)) return undefined;
  const createdAtMs = Number.parseInt(id.slice(-MOMENT_DIGITS), 16);
  return createdAtMs < MOMENT_END_MS ? createdAtMs : undefined;
}

/** "0a1b…" of "simulated://0a1b…", as the status of a Pod has it. */
export function withoutScheme(id: string): string {
  const schemeEnd = id.indexOf("://");
  return schemeEnd === -1 ? id : id.slice(schemeEnd + "://".length);
}
