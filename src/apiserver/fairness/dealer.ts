/**
 * Shuffle sharding: deals every flow a small hand of a level's queues, so that a flow that fills all of its own leaves most queues to
 * others. Upstream's arithmetic (apiserver/pkg/util/shufflesharding), so that a flow gets the same queues there and here.
 */
import { sha256 } from "../../base/crypto/hash.ts";

/** Usable bits of a flow's hash: with all 64 the last card would be dealt unevenly. */
const HASH_BITS_MAX = 60;
/** Larger decks are rejected as a mistake. */
const DECK_SIZE_MAX = 2 ** 26;

export interface Deck {
  readonly deckSize: number;
  readonly handSize: number;
}

/** Returns why such a deck is invalid; undefined if it is valid. Validation rejects such objects, but the store may hold older ones. */
export function deckProblem({ deckSize, handSize }: Deck): string | undefined {
  if (deckSize <= 0 || handSize <= 0) return `deckSize ${deckSize} or handSize ${handSize} is not positive`;
  if (handSize > deckSize) return `handSize ${handSize} is greater than deckSize ${deckSize}`;
  if (deckSize > DECK_SIZE_MAX) return `deckSize ${deckSize} is impractically large`;
  if (Math.ceil(Math.log2(deckSize) * handSize) > HASH_BITS_MAX)
    return `required entropy bits of deckSize ${deckSize} and handSize ${handSize} is greater than ${HASH_BITS_MAX}`;
  return undefined;
}

/** Returns the queue indexes of the flow with this hash: distinct, each from 0 to deckSize - 1, in dealing order. */
export function deal(hash: bigint, { deckSize, handSize }: Deck): readonly number[] {
  const remainders: number[] = [];
  let rest = hash;
  for (let dealt = 0; dealt < handSize; dealt++) {
    const left = BigInt(deckSize - dealt);
    remainders.push(Number(rest % left));
    rest /= left;
  }
  return remainders.map((remainder, dealt) => {
    let card = remainder;
    // Skips the cards dealt before, from the last to the first.
    for (let before = dealt - 1; before >= 0; before--) if (card >= (remainders[before] as number)) card++;
    return card;
  });
}

/** Identifies a flow: one distinguisher of one FlowSchema. */
export function hashOfFlow(flowSchema: string, distinguisher: string): bigint {
  const sum = sha256(new TextEncoder().encode(`${flowSchema}\0${distinguisher}`));
  return new DataView(sum.buffer).getBigUint64(0, true);
}
