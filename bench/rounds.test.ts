import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { Rounds } from "./rounds.ts";

/** A machine with a CPU steal of `percent[n]` during the n-th counted round, and 0 after the end of the list. */
function machine(...percent: number[]) {
  let looks = 0;
  let stolen = 0;
  return () => {
    if (looks % 2 === 1) stolen += percent[(looks - 1) / 2] ?? 0;
    looks += 1;
    return { total: Math.floor(looks / 2) * 100, stolen };
  };
}

test("every round runs all subjects, every second one in reverse, and the first round does not count", async () => {
  const calls: string[] = [];
  const subject = (name: string) => async () => calls.push(name);

  const results = await new Rounds(machine()).measure({ a: subject("a"), b: subject("b") }, 3);

  deepEqual(calls, ["a", "b", "a", "b", "b", "a", "a", "b"]);
  deepEqual(results, { a: [3, 6, 7], b: [4, 5, 8] });
});

test("a round with too much CPU steal is repeated, and the steal of the counted ones is reported", async () => {
  let call = 0;
  const rounds = new Rounds(machine(4, 30, 10, 11, 2));

  const { a } = await rounds.measure({ a: async () => ++call }, 3);

  deepEqual(a, [2, 4, 6]);
  equal(rounds.repeated, 2);
  equal(rounds.stealPercent, 10);
});

test("after ten repeats, rounds with CPU steal count", async () => {
  let call = 0;
  const rounds = new Rounds(machine(...Array.from({ length: 100 }, () => 50)));

  const { a } = await rounds.measure({ a: async () => ++call }, 3);

  deepEqual(a, [12, 13, 14]);
  equal(rounds.repeated, 10);
  equal(rounds.stealPercent, 50);
});

test("a machine without steal counters counts as one without steal", async () => {
  const rounds = new Rounds(() => undefined);

  const { a } = await rounds.measure({ a: async () => "measured" }, 1);

  deepEqual(a, ["measured"]);
  equal(rounds.stealPercent, 0);
});
