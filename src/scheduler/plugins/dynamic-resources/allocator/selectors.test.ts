import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ResourceSlice } from "../../../../api/generated/resource.k8s.io/v1.ts";
import { SYNCHRONOUS_STEPS_MAX, stepsOfTick, TICK_STEPS } from "../../../../cel/values/meter.ts";
import { aSlice } from "../testing/devices.ts";
import { SelectorsPending } from "./model.ts";
import { DeviceSelectors } from "./selectors.ts";

/** Loops for about 50,000 iterations: its cost is within the limit of an evaluation. */
const SLOW = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].all(a, lists.range(550).all(b, lists.range(9).all(c, a + b + c >= 0)))";
/** Reads a text of 1 MB again and again. */
const LARGE = "[device.driver].map(t, lists.range(20).map(i, t + t + t + t).join('')).all(t, t.matches('(a+)+b') || t != '')";

/** Steps in an attempt: some evaluation may begin with the last step of the tick, and take those of another. */
const ATTEMPT_STEPS_MAX = 3 * TICK_STEPS;

/** Selectors whose background work is run by hand. */
class Situation {
  readonly selectors = new DeviceSelectors((work) => this.#background.push(work));
  readonly #background: Iterator<void>[] = [];
  readonly slice: ResourceSlice;
  /** Steps of each tick of the background. */
  readonly ticks: number[] = [];

  constructor(slice: ResourceSlice) {
    this.slice = slice;
  }

  /** Matches every device with every expression, as far as this attempt can know. */
  attempt(...expressions: readonly string[]): readonly (boolean | string)[] {
    this.selectors.beginAttempt();
    const devices = [...(this.slice.spec.devices ?? []).keys()];
    return expressions.flatMap((expression) => devices.map((device) => this.#outcome(expression, device)));
  }

  runBackground(): void {
    for (let work = this.#background.shift(); work !== undefined; work = this.#background.shift()) {
      for (let isDone = false; !isDone;) {
        isDone = work.next().done === true;
        this.ticks.push(stepsOfTick());
      }
    }
  }

  #outcome(expression: string, device: number): boolean | string {
    try {
      return this.selectors.match([{ cel: { expression } }], this.slice, device, "class gpu");
    } catch (error) {
      return error instanceof SelectorsPending ? "pending" : (error as Error).message;
    }
  }
}

function sliceOf(count: number): ResourceSlice {
  return aSlice(
    "s",
    Array.from({ length: count }, (_, index) => `d${index}`),
  );
}

test("an ordinary selector is evaluated in the attempt, for thousands of devices", () => {
  const situation = new Situation(sliceOf(3_000));

  const outcomes = situation.attempt("device.driver == 'gpu.example.com'");

  assert.deepEqual([...new Set(outcomes)], [true]);
});

describe("a selector that takes long", () => {
  test("is pending in the attempt, evaluated in the background, and known in the next one", () => {
    const situation = new Situation(sliceOf(3));

    assert.deepEqual(situation.attempt(SLOW), ["pending", "pending", "pending"]);
    situation.runBackground();

    assert.deepEqual(situation.attempt(SLOW), [true, true, true]);
  });

  test("takes no more steps of an attempt than those of three ticks, however many devices and expressions there are", () => {
    const situation = new Situation(sliceOf(128));
    const expressions = Array.from({ length: 32 }, (_, index) => `${SLOW} && ${index} >= 0`);

    situation.attempt(...expressions);

    assert.ok(stepsOfTick() <= ATTEMPT_STEPS_MAX, `${stepsOfTick()} steps`);
  });

  for (const [name, expression] of Object.entries({ "many iterations": SLOW, "large texts": LARGE })) {
    test(`with ${name} takes no more steps of a tick in the background than a compilation may`, () => {
      const situation = new Situation(aSlice("s", ["a", "b"], { driver: "a".repeat(20_000) }));

      situation.attempt(expression);
      situation.runBackground();

      assert.ok(situation.ticks.length > 4);
      assert.ok(Math.max(...situation.ticks) <= SYNCHRONOUS_STEPS_MAX, `${Math.max(...situation.ticks)} steps`);
    });
  }

  test("does not delay an ordinary one of the next attempt", () => {
    const situation = new Situation(sliceOf(2));
    situation.attempt(SLOW);

    assert.deepEqual(situation.attempt("true"), [true, true]);
  });

  test("and fails is reported as upstream does, without evaluating it again", () => {
    const situation = new Situation(sliceOf(1));
    const failing = `${SLOW} && 1 / 0 > 0`;
    situation.attempt(failing);
    situation.runBackground();

    assert.deepEqual(situation.attempt(failing), ["class gpu: selector #0: CEL runtime error: division by zero"]);
  });

  test("that takes long to compile is compiled in the background", () => {
    const situation = new Situation(sliceOf(1));
    const long = Array.from({ length: 600 }, () => "device.driver != ''").join(" && ");

    assert.deepEqual(situation.attempt(long), ["pending"]);
    situation.runBackground();

    assert.deepEqual(situation.attempt(long), [true]);
  });
});

test("a Pod is retried once, when all that was pending in its attempt is evaluated", () => {
  const situation = new Situation(sliceOf(1));
  const retried: string[] = [];
  situation.attempt(SLOW);
  situation.selectors.whenEvaluated("p", () => retried.push("p"));
  situation.attempt(`${SLOW} && true`);
  situation.selectors.whenEvaluated("p", () => retried.push("p"));
  assert.deepEqual(retried, []);

  situation.runBackground();

  assert.deepEqual(retried, ["p"]);
});
