import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { all as controllers } from "../../controllers/all.ts";
import { TEST_SETTINGS } from "../controller-settings.ts";
import { everyStepMayBeTheLast } from "../every-step.ts";
import { rounds } from "../rounds.ts";
import { all } from "./all.ts";

test("every controller is tried by a scenario", () => {
  const tried = new Set(all.flatMap(({ tries }) => tries));

  assert.deepEqual(
    controllers(TEST_SETTINGS)
      .map(({ name }) => name)
      .filter((name) => !tried.has(name)),
    [],
  );
});

describe("wherever the process of the controllers dies, and whatever is late, doubled or fails, it ends the same", () => {
  const deathsMax = rounds({ quick: 5, full: Infinity });
  const disturbedRuns = rounds({ quick: 1, full: 50 });
  for (const scenario of all) test(scenario.it, () => everyStepMayBeTheLast(scenario, { deathsMax, disturbedRuns }));
});
