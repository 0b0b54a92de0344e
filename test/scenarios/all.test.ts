import { describe, test } from "node:test";
import { everyStepMayBeTheLast } from "../../src/testing/every-step.ts";
import { rounds } from "../../src/testing/rounds.ts";
import { all } from "./all.ts";

describe("scenarios reach the same state wherever the controllers' process dies, with delayed, duplicated and failing requests", () => {
  const deathsMax = rounds({ quick: 5, full: Infinity });
  const disturbedRuns = rounds({ quick: 1, full: 50 });
  for (const scenario of all) test(scenario.it, () => everyStepMayBeTheLast(scenario, { deathsMax, disturbedRuns }));
});
