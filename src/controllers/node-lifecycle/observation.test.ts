import { equal } from "node:assert/strict";
import { test } from "node:test";
import { Observation } from "./observation.ts";

function listening(): Observation {
  const observation = new Observation({ nowMs: 0, pauseMs: 10_000 });
  observation.observe("n", "1", 0);
  return observation;
}

/** As the controller does every 5 s. */
function pass(observation: Observation, fromMs: number, toMs: number): void {
  for (let nowMs = fromMs; nowMs <= toMs; nowMs += 5_000) observation.check(nowMs);
}

test("a Node is silent since its last heartbeat, and a repeated one does not count", () => {
  const observation = listening();
  pass(observation, 5_000, 30_000);
  observation.observe("n", "2", 20_000);
  observation.observe("n", "2", 25_000);

  equal(observation.silentMs("n", 30_000), 10_000);
});

test("after a pause of this process no Node is silent", () => {
  const observation = listening();
  pass(observation, 5_000, 30_000);

  equal(observation.silentMs("n", 600_000), 0);
  observation.check(600_000);
  pass(observation, 600_000, 620_000);
  equal(observation.silentMs("n", 620_000), 20_000);
});

test("a slightly late check is not a pause", () => {
  const observation = listening();
  observation.check(9_000);
  observation.check(18_000);
  equal(observation.silentMs("n", 18_000), 18_000);
});

test("after an outage no Node is silent", () => {
  const observation = listening();
  pass(observation, 5_000, 30_000);
  observation.restart(30_000);
  equal(observation.silentMs("n", 32_000), 2_000);
});

test("a Node never observed is not silent", () => equal(listening().silentMs("other", 9_000), 0));

test("a late Node is suspect, also while it is we who do not receive", () => {
  const observation = listening();
  pass(observation, 5_000, 15_000);
  equal(
    observation.suspect(14_000, () => true),
    undefined,
  );
  equal(
    observation.suspect(15_000, () => true),
    "n",
  );
  equal(
    observation.suspect(15_000, () => false),
    undefined,
  );
});
