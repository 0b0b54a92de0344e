import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { EvaluationTurns } from "../../../cel/program/evaluation-turns.ts";
import { CompiledOnce } from "./compiled-once.ts";

test("expressions that take long are compiled once for all requests that wait for them, each step in a tick of its own", async () => {
  const later: (() => void)[] = [];
  let compilations = 0;
  const compiled = new CompiledOnce(new EvaluationTurns((work) => void later.push(work)), function* () {
    compilations++;
    yield;
    yield;
    return "compiled";
  });

  const waiting = Promise.all([Promise.resolve(compiled.get()), Promise.resolve(compiled.get())]);
  const ticks = await ticksUntil(later, waiting);

  deepEqual([await waiting, compilations, ticks], [["compiled", "compiled"], 1, 2]);
  equal(compiled.get(), "compiled");
});

test("expressions that are compiled within a tick are there at once", () => {
  const compiled = new CompiledOnce(new EvaluationTurns(), function* () {
    yield;
    return 1;
  });

  equal(compiled.get(), 1);
});

test("a compilation that fails fails the requests that wait for it, and the next request compiles again", async () => {
  const later: (() => void)[] = [];
  let compilations = 0;
  const compiled = new CompiledOnce(new EvaluationTurns((work) => void later.push(work)), function* () {
    yield;
    if (++compilations === 1) throw new Error("a defect");
    return "compiled";
  });

  const first = Promise.resolve(compiled.get());
  await Promise.all([
    rejects(first, /a defect/),
    ticksUntil(
      later,
      first.catch(() => undefined),
    ),
  ]);
  const second = Promise.resolve(compiled.get());
  await ticksUntil(later, second);

  equal(await second, "compiled");
});

/** Runs what is due in later ticks until the work is done. */
async function ticksUntil(later: (() => void)[], work: Promise<unknown>): Promise<number> {
  let isDone = false;
  void work.then(() => (isDone = true));
  let ticks = 0;
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    if (isDone) return ticks;
    for (const each of later.splice(0)) {
      each();
      ticks++;
    }
  }
}
