import { equal } from "node:assert/strict";
import { test } from "node:test";
import { idleShare } from "./processors.ts";

for (const { it, to, share } of [
  { it: "the share of idle time counts from the first reading", to: { idleMs: 150, totalMs: 1_200 }, share: 0.25 },
  { it: "processors that were always busy have no idle time", to: { idleMs: 100, totalMs: 1_200 }, share: 0 },
  { it: "two readings at the same instant show no idle time", to: { idleMs: 100, totalMs: 1_000 }, share: 0 },
])
  test(it, () => equal(idleShare({ idleMs: 100, totalMs: 1_000 }, to), share));
