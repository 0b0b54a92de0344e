import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { deal, deckProblem, hashOfFlow } from "./dealer.ts";

/** Reference implementation: draws cards from a deck one after the other. */
function dealFromDeck(hash: bigint, deckSize: number, handSize: number): readonly number[] {
  const deck = Array.from({ length: deckSize }, (_, card) => card);
  let rest = hash;
  return Array.from({ length: handSize }, () => {
    const left = BigInt(deck.length);
    const [card] = deck.splice(Number(rest % left), 1);
    rest /= left;
    return card as number;
  });
}

test("a hand equals the cards drawn from a deck by the digits of the hash", () => {
  for (const [deckSize, handSize] of [
    [128, 6],
    [64, 6],
    [16, 4],
    [6, 6],
    [1, 1],
  ] as const) {
    for (const name of ["jane", "joe", "system:node:a", ""]) {
      const hash = hashOfFlow("global-default", name);
      deepEqual(deal(hash, { deckSize, handSize }), dealFromDeck(hash, deckSize, handSize), `${deckSize} ${handSize} ${name}`);
    }
  }
  deepEqual(deal(0n, { deckSize: 128, handSize: 4 }), [0, 1, 2, 3]);
});

test("every hand has distinct queues, and every hand is possible", () => {
  const hands = new Set<string>();
  for (let hash = 0n; hash < 60n; hash++) {
    const hand = deal(hash, { deckSize: 5, handSize: 3 });
    equal(new Set(hand).size, 3, String(hash));
    ok(hand.every((card) => card >= 0 && card < 5));
    hands.add(hand.join());
  }
  // 5 × 4 × 3 orders of dealing, each once.
  equal(hands.size, 60);
});

test("the hash of a flow is the little-endian prefix of SHA-256 of schema and distinguisher", () => {
  // printf 'global-default\0jane' | sha256sum
  equal(hashOfFlow("global-default", "jane"), 0x5eae0f0b2aa99b18n);
  ok(hashOfFlow("a", "bc") !== hashOfFlow("ab", "c"), "the separator counts");
});

test("an invalid deck, or one that needs more than 60 bits of the hash, is rejected", () => {
  equal(deckProblem({ deckSize: 128, handSize: 6 }), undefined);
  equal(deckProblem({ deckSize: 64, handSize: 10 }), undefined);
  match(deckProblem({ deckSize: 128, handSize: 9 }) ?? "", /entropy bits/);
  match(deckProblem({ deckSize: 0, handSize: 1 }) ?? "", /not positive/);
  match(deckProblem({ deckSize: 4, handSize: 5 }) ?? "", /greater than deckSize/);
  match(deckProblem({ deckSize: 2 ** 27, handSize: 1 }) ?? "", /impractically large/);
});
