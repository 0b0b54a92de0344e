import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { Rounds } from "./rounds.ts";

/** A machine that steals `percent[n]` of the processors' time during the n-th counted round; what comes after the list is 0. */
function machine(...percent: number[]) {
  let looks = 0;
  let stolen = 0;
  return () => {
    if (looks % 2 === 1) stolen += percent[(looks - 1) / 2] ?? 0;
    looks += 1;
    return { total: Math.floor(looks / 2) * 100, stolen };
  };
}

test("every round asks all subjects, every other one backwards, and the first round does not count", async () => {
  const asked: string[] = [];
  const subject = (name: string) => async () => asked.push(name);

  const results = await new Rounds(machine()).measure({ a: subject("a"), b: subject("b") }, 3);

  deepEqual(asked, ["a", "b", "a", "b", "b", "a", "a", "b"]);
  deepEqual(results, { a: [3, 6, 7], b: [4, 5, 8] });
});

test("a round during which too much time was stolen is repeated, and the steal of those that count is told", async () => {
  let call = 0;
  const rounds = new Rounds(machine(4, 30, 10, 11, 2));

  const { a } = await rounds.measure({ a: async () => ++call }, 3);

  deepEqual(a, [2, 4, 6]);
  equal(rounds.repeated, 2);
  equal(rounds.stealPercent, 10);
});

test("a machine that never stops stealing is put up with after ten repeats", async () => {
  let call = 0;
  const rounds = new Rounds(machine(...Array.from({ length: 100 }, () => 50)));

  const { a } = await rounds.measure({ a: async () => ++call }, 3);

  deepEqual(a, [12, 13, 14]);
  equal(rounds.repeated, 10);
  equal(rounds.stealPercent, 50);
});

test("a machine that does not tell is believed to steal nothing", async () => {
  const rounds = new Rounds(() => undefined);

  const { a } = await rounds.measure({ a: async () => "measured" }, 1);

  deepEqual(a, ["measured"]);
  equal(rounds.stealPercent, 0);
});
