import { equal } from "node:assert/strict";
import { test } from "node:test";
import type { Random } from "./random.ts";
import { newUid } from "./uuid.ts";

test("a UUID has the random bits in order, and the version and variant of random UUIDs", () => {
  const words = [0x01234567, 0x89abcdef, 0x02468ace, 0x13579bdf];
  const random: Random = { fraction: () => 0, below: () => words.shift() ?? 0, derive: () => random };

  equal(newUid(random), "01234567-89ab-4def-8246-8ace13579bdf");
});
