import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { KeptAnswers } from "./kept-answers.ts";

const answer = (subject: string, byte = 1, addresses = 1) => ({ subject, addresses, bytes: new Uint8Array([byte]), type: 1, rcode: 0 });

test("an answer is kept until its subject changes", () => {
  const kept = new KeptAnswers();
  kept.keep("a", answer("x"));
  kept.keep("b", answer("x"));
  kept.keep("c", answer("y"));
  kept.drop("x");
  deepEqual([kept.get("a"), kept.get("b"), kept.get("c")?.bytes[0], kept.size], [undefined, undefined, 1, 1]);
  kept.drop("missing");
  kept.clear();
  equal(kept.get("c"), undefined);
});

test("variants of an answer are computed first and then used in turn", () => {
  const kept = new KeptAnswers();
  for (let variant = 0; variant < 3; variant++) {
    equal(kept.get("a"), undefined);
    equal(kept.rotation("a"), variant);
    kept.keep("a", answer("x", variant, 3));
  }
  deepEqual(
    Array.from({ length: 5 }, () => kept.get("a")?.bytes[0]),
    [0, 1, 2, 0, 1],
  );
});

test("the oldest answers are dropped at the limit", () => {
  const kept = new KeptAnswers();
  for (let index = 0; index <= 32_768; index++) kept.keep(`k${index}`, answer(`s${index % 10}`));
  deepEqual([kept.size, kept.get("k0"), kept.get("k4096")?.bytes[0]], [28_673, undefined, 1]);
});
