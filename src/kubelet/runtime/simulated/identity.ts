/**
 * Ids derived from what they name, so that no randomness is needed and a restarted driver returns the same. The id of a container also
 * contains its creation time: a Pod's status has whole seconds only, so that scripted changes would otherwise happen up to a second too
 * early after every restart of the driver, and the status of a container that is being started has no timestamp at all.
 */

/** The last digits of a container's id: its creation time in milliseconds since the epoch. */
const TIMESTAMP_DIGITS = 12;
/** Upper bound of creation times, in the year 6429: a later one means that the id is another runtime's. */
const TIMESTAMP_MAX_MS = 2 ** 47;

const HASH_WORDS = 8;

/**
 * 64 hexadecimal digits. They have to be unique, not hard to guess, and every Pod needs two: so each 32-bit word is hashed from the text
 * with a seed of its own, at a tenth of the cost of SHA-256.
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
  const timestamp = createdAtMs.toString(16).padStart(TIMESTAMP_DIGITS, "0");
  return hashOf(`${podUid}/${name}/${attempt}`).slice(0, -TIMESTAMP_DIGITS) + timestamp;
}

/** Creation time of the container with this id; undefined if the id is not one of ours. */
export function createdAtOf(id: string): number | undefined {
  if (!/^[0-9a-f]{64}$/.test(id)) return undefined;
  const createdAtMs = Number.parseInt(id.slice(-TIMESTAMP_DIGITS), 16);
  return createdAtMs < TIMESTAMP_MAX_MS ? createdAtMs : undefined;
}

/** "0a1b…" of "simulated://0a1b…", as the status of a Pod has it. */
export function withoutScheme(id: string): string {
  const schemeEnd = id.indexOf("://");
  return schemeEnd === -1 ? id : id.slice(schemeEnd + "://".length);
}
