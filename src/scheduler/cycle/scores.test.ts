import { test } from "node:test";
import { deepEqual, equal, throws } from "node:assert/strict";
import { seededRandom } from "../../base/random.ts";
import type { Plugin } from "../framework/plugin.ts";
import { RoundRobin } from "./round-robin.ts";
import { Scores } from "./scores.ts";
import { snapshotOf } from "../framework/testing/builders.ts";
import { fakeNode, fakePod, fakeProfile, nodeNames } from "./testing/fakes.ts";

/** Gives n0 the first score, n1 the second, … */
function giving(name: string, ...scores: readonly number[]): Plugin {
  return { name, score: (_state, _pod, node) => scores[Number(node.name.slice(1))] ?? 0 };
}

function scored(plugins: readonly Plugin[], count: number, weights: Readonly<Record<string, number>> = {}, scores = new Scores()): Scores {
  const nodes = nodeNames(count).map((name) => fakeNode(name));
  scores.compute(fakeProfile(plugins, { weights }), fakePod("p"), nodes, snapshotOf(...nodes));
  return scores;
}

function best(scores: Scores): number {
  return scores.best(new RoundRobin(seededRandom(1)));
}

test("the node with the highest weighted sum wins", () => {
  const scores = scored([giving("A", 10, 20, 30), giving("B", 50, 20, 30)], 3, { A: 1, B: 2 });
  equal(best(scores), 0);
  deepEqual(scores.shown(0), [
    {
      nodeName: "n0",
      total: 110,
      byPlugin: [
        { plugin: "A", score: 10 },
        { plugin: "B", score: 100 },
      ],
    },
    {
      nodeName: "n2",
      total: 90,
      byPlugin: [
        { plugin: "A", score: 30 },
        { plugin: "B", score: 60 },
      ],
    },
    {
      nodeName: "n1",
      total: 60,
      byPlugin: [
        { plugin: "A", score: 20 },
        { plugin: "B", score: 40 },
      ],
    },
  ]);
});

test("scores are normalised to 0..100 before weighting", () => {
  const doubled: Plugin = {
    ...giving("Doubled", 10, 500, 1000),
    normalizeScores: (_state, _pod, scores, nodes) => {
      equal(scores.length, nodes.length);
      for (let index = 0; index < scores.length; index++) scores[index] = (scores[index] as number) / 10;
    },
  };
  deepEqual(
    scored([doubled], 3)
      .shown(2)
      .map(({ total }) => total),
    [100, 50, 1],
  );
});

test("a plugin that skips at preScore does not count, another gets its state", () => {
  const skips: Plugin = { ...giving("Skips", 100, 0), preScore: () => ({ is: "skip" }) };
  const ready: Plugin = { name: "Ready", preScore: () => ({ is: "ready", state: 7 }), score: (state) => state as number };
  deepEqual(scored([skips, ready], 2).shown(0), [
    { nodeName: "n0", total: 7, byPlugin: [{ plugin: "Ready", score: 7 }] },
    { nodeName: "n1", total: 7, byPlugin: [{ plugin: "Ready", score: 7 }] },
  ]);
});

test("only ties rotate", () => {
  const scores = scored([giving("A", 5, 9, 9, 1, 9)], 5);
  const turns = new RoundRobin(seededRandom(3));
  const taken = Array.from({ length: 6 }, () => scores.best(turns));
  deepEqual(new Set(taken.slice(0, 3)), new Set([1, 2, 4]));
  deepEqual(taken.slice(3), taken.slice(0, 3));
});

for (const score of [-1, 101, Number.NaN]) {
  test(`a score of ${score} is reported as the plugin's error`, () => {
    throws(() => scored([giving("Odd", score)], 1), {
      message: `plugin "Odd" returns an invalid score ${score}, it should in the range of [0, 100] after normalizing`,
    });
  });
}

test("no state of an earlier cycle remains, whether it had more nodes or fewer", () => {
  const scores = new Scores();
  for (const count of [3, 2_000, 5]) {
    const high = count - 1;
    scored([{ name: "Last", score: (_state, _pod, node) => (node.name === `n${high}` ? 9 : 1) }], count, {}, scores);
    equal(best(scores), high);
    deepEqual(
      scores.shown(high).map(({ nodeName, total }) => [nodeName, total]),
      [
        [`n${high}`, 9],
        ["n0", 1],
        ["n1", 1],
      ],
    );
  }
});
