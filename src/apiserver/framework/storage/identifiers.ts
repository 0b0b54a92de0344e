/** Names that the server generates. From an injected `Random`, so that a run from a seed is reproducible. */
import type { Random } from "../../../base/random.ts";

/** No vowels and no look-alikes: no words come out by accident. The same characters as upstream's. */
const NAME_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789";
const RANDOM_LENGTH = 5;
const NAME_LENGTH_MAX = 63;

/** A name from `metadata.generateName`. */
export function generateName(prefix: string, random: Random): string {
  let name = prefix.slice(0, NAME_LENGTH_MAX - RANDOM_LENGTH);
  for (let index = 0; index < RANDOM_LENGTH; index++) name += NAME_CHARACTERS[random.below(NAME_CHARACTERS.length)];
  return name;
}
