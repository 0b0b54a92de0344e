import { notDeepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import { realRandom } from "./real-random.ts";

test("two real random sequences differ, and both stay within their bounds", () => {
  const [first, second] = [realRandom(), realRandom()].map((random) => Array.from({ length: 5 }, () => random.below(1_000_000)));

  notDeepEqual(first, second);
  ok([...(first ?? []), ...(second ?? [])].every((number) => number >= 0 && number < 1_000_000));
});
