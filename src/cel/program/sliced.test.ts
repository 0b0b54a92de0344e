import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { compile } from "../compile.ts";
import type { Bindings, Program, SuspendedEvaluation } from "../contract.ts";
import { createEnvironment } from "../environment.ts";
import { showEvaluation, suspendedEverywhere } from "../testing/suspended.ts";
import { DYN } from "../types/type.ts";
import { dynValue, LazyMap } from "../values/json.ts";
import { beginTick, CALL_STEPS_MAX, stepsOfTick, TICK_STEPS } from "../values/meter.ts";
import { EvaluationTurns } from "./evaluation-turns.ts";
import { completeNested } from "./program.ts";

const environment = createEnvironment({
  variables: { text: DYN, list: DYN, words: DYN, map: DYN, variables: DYN },
  bindMacro: true,
});
const words = Array.from({ length: 20_000 }, (_, index) => `word${index}`);
const bindings: Bindings = {
  text: "a".repeat(1_000_000),
  list: dynValue(Array.from({ length: 20_000 }, (_, index) => index)),
  words: dynValue(words),
  map: dynValue(Object.fromEntries(words.map((word) => [word, 1]))),
};
const short: Bindings = {
  text: "one, two",
  list: dynValue([3, 1, 2]),
  words: dynValue(["b", "a", ""]),
  map: dynValue({ x: 1, y: 2 }),
};

function program(expression: string): Program {
  const compilation = compile(environment, expression);
  if (!compilation.ok) throw new Error(compilation.message);
  return compilation.program;
}

describe("an evaluation that is suspended at every safe point has the same value and cost", () => {
  const expressions = [
    "list.all(i, i > 0) && words.exists(w, w == 'a')",
    "list.map(i, i * 2).filter(i, i > 2).map(i, [i, i])",
    "list.map(i, words.map(w, w + string(i))).map(l, l.join(','))",
    "list.exists_one(i, i == 2) ? words.sort() : words",
    "list.transformMap(i, v, v + i)",
    "map.transformMapEntry(k, v, {v: k})",
    "map.all(k, v, v > 0) || list.exists(i, 1 / (i - 1) > 5)",
    "list.map(i, 10 / (i - 1))",
    "list.exists(i, 10 / (i - 1) > 9)",
    "cel.bind(x, list.map(i, i + 1), x.size() + x.map(i, i).size())",
    "cel.bind(x, text.split(', '), list.map(i, cel.bind(y, x.map(t, t + string(i)), y + x)))",
    "optional.of(list).optMap(l, l.map(i, i)).orValue([])",
    "list.sortBy(i, -i) + list.sort().reverse()",
    "words.map(w, text.find('[a-z]+') + w).size() > 0 && text.matches('o.e')",
    "[list, list].map(a, a.map(b, a.filter(c, c > b).size()))",
    "{'a': list.map(i, i), 'b': list.filter(i, i > 1)}",
    "list.all(i, words.all(w, w.size() < 5) && list.exists(j, j == i))",
    "list.map(i, dyn(list.size() > 2 ? words.join(string(i)) : '').nonsense)",
  ];
  for (const expression of expressions) {
    test(expression, () => {
      const { evaluation, slices } = suspendedEverywhere(program(expression), short);

      deepEqual(showEvaluation(evaluation), showEvaluation(program(expression).evaluate(short)));
      ok(slices > 1, `${slices} slices`);
    });
  }
});

describe("a long evaluation takes a bounded number of steps per tick", () => {
  const expressions: readonly (readonly [expression: string, result: string])[] = [
    ["list.all(i, list.exists(j, j == i))", "operation cancelled: actual cost limit exceeded"],
    ["list.all(i, !text.contains('aaab'))", "operation cancelled: actual cost limit exceeded"],
    ["words.map(w, w + '-').filter(w, w.matches('^word[0-9]+-$')).size()", "20000"],
    ["list.map(i, i * 2).map(i, i + 1).map(i, string(i)).size()", "20000"],
    ["map.transformMap(k, v, v + 1).size()", "20000"],
    ["text.substring(500000).split('aa').size() > 0", "true"],
  ];
  for (const [expression, result] of expressions) {
    test(expression, () => {
      const ticks: number[] = [];
      beginTick();

      let pending = program(expression).start(bindings);
      for (ticks.push(stepsOfTick()); "resume" in pending; ticks.push(stepsOfTick())) pending = pending.resume();

      equal(showEvaluation(pending).value, result);
      ok(ticks.length > 1, `${ticks.length} ticks`);
      ok(Math.max(...ticks) <= TICK_STEPS + CALL_STEPS_MAX, `${Math.max(...ticks)} steps`);
    });
  }
});

test("short evaluations are completed synchronously until the steps of the tick are spent, and then in the next", () => {
  beginTick();
  const quick = program("words.exists(w, w == 'a')");
  let evaluated = 0;
  let pending = quick.start(short);
  for (; !("resume" in pending); pending = quick.start(short)) evaluated++;

  ok(evaluated > 0);
  ok(stepsOfTick() <= 2 * TICK_STEPS);
  equal("resume" in pending.resume(), false);
});

test("a lazily bound variable is suspended with the expression that reads it, and evaluated once", () => {
  const variable = program("list.map(i, i + 1).filter(i, i % 2 == 0).map(i, string(i)).size()");
  let started = 0;
  let suspended: SuspendedEvaluation | undefined;
  const size = () => {
    if (suspended === undefined) started++;
    const result = completeNested(suspended?.resume() ?? variable.start(bindings), (kept) => void (suspended = kept));
    if (!result.ok) throw new Error(result.error.message);
    return result.value;
  };
  beginTick();

  let pending = program("variables.size + 1").start({ variables: new LazyMap(new Map([["size", size]])) });
  let ticks = 1;
  for (; "resume" in pending; ticks++) pending = pending.resume();

  equal(showEvaluation(pending).value, "10001");
  ok(ticks > 2, `${ticks} ticks`);
  // Once before it was known that it takes long.
  equal(started, 2);
});

test("each slice of several long evaluations has a tick of its own, in turns", async () => {
  const ticks: (() => void)[] = [];
  const turns = new EvaluationTurns((work) => ticks.push(work));
  const done: string[] = [];
  const slices: string[] = [];
  const suspended = (name: string, count: number): SuspendedEvaluation => ({
    resume: () => {
      slices.push(name);
      return count > 1 ? suspended(name, count - 1) : { ok: true, value: null, cost: 0 };
    },
  });
  for (const name of ["a", "b"]) void Promise.resolve(turns.complete(suspended(name, 2))).then(() => done.push(name));

  for (let tick = ticks.shift(); tick !== undefined; tick = ticks.shift()) {
    const before = slices.length;
    tick();
    await Promise.resolve().then(() => {});
    await Promise.resolve();
    ok(slices.length <= before + 1);
  }

  deepEqual(slices, ["a", "b", "a", "b"]);
  await Promise.resolve();
  deepEqual(done, ["a", "b"]);
});
