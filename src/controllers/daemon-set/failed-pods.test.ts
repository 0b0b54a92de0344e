import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { FailedPods } from "./failed-pods.ts";
import { aDaemonSet } from "./testing/daemons.ts";

const MINUTE_MS = 60_000;

test("the first failed Pod on a node is replaced at once, the following ones after growing delays up to 15 minutes", () => {
  const failed = new FailedPods();
  const agent = aDaemonSet();
  let nowMs = 0;
  const delays: number[] = [];

  for (let failure = 0; failure < 13; failure++) {
    const delayMs = failed.delayMs(agent, "n1", nowMs);
    delays.push(delayMs);
    nowMs += delayMs;
    failed.replaced(agent, "n1", nowMs);
  }

  deepEqual(
    delays.map((delayMs) => delayMs / 1_000),
    [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900],
  );
});

test("other nodes, other DaemonSets and a changed DaemonSet have delays of their own", () => {
  const failed = new FailedPods();
  failed.replaced(aDaemonSet(), "n1", 0);
  const counts = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };
  const changed = aDaemonSet({ status: { ...counts, observedGeneration: 2 } });

  equal(failed.delayMs(aDaemonSet(), "n1", 400), 600);
  equal(failed.delayMs(aDaemonSet(), "n2", 400), 0);
  equal(failed.delayMs(changed, "n1", 400), 0);
});

test("failures are forgotten after 30 minutes", () => {
  const failed = new FailedPods();
  for (let node = 0; node < 10; node++) failed.replaced(aDaemonSet(), `n${node}`, 0);

  failed.replaced(aDaemonSet(), "another", 31 * MINUTE_MS);

  equal(failed.size, 1);
});

test("the number of recorded failures is limited", () => {
  const failed = new FailedPods();

  for (let node = 0; node < 25_000; node++) failed.replaced(aDaemonSet(), `n${node}`, 0);

  equal(failed.size, 20_000);
});
