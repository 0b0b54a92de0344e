import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { reportSteps, timeText } from "./progress.ts";

const aClock = () => new VirtualClock({ macrotask: () => new Promise((resolve) => void setImmediate(resolve)) });

for (const [durationMs, text] of [
  [0.4, "0 ms"],
  [12.3, "12 ms"],
  [999.4, "999 ms"],
  [999.6, "1.0 s"],
  [1_234, "1.2 s"],
  [9_960, "10 s"],
  [75_000, "75 s"],
] as const) {
  test(`${durationMs} ms are shown as ${text}`, () => equal(timeText(durationMs), text));
}

test("a step prints a line at completion, and waiting lines if it takes long", async () => {
  const clock = aClock();
  const lines: string[] = [];
  const steps = reportSteps({ out: (line) => lines.push(line), clock });

  const done = steps.step("opened store", async () => {
    await clock.sleep(10_000);
    return 7;
  });
  await clock.advance(10_000);

  equal(await done, 7);
  deepEqual(lines, ["  still waiting for: store (3.0 s)", "  still waiting for: store (9.0 s)", "  opened store                    10 s"]);
});

test("a quiet step prints only waiting lines", async () => {
  const clock = aClock();
  const lines: string[] = [];
  const steps = reportSteps({ out: (line) => lines.push(line), clock });

  equal(await steps.quietly("checked clock", () => Promise.resolve(7)), 7);
  const done = steps.quietly("wrote cluster record", () => clock.sleep(4_000));
  await clock.advance(4_000);

  await done;
  deepEqual(lines, ["  still waiting for: cluster record (3.0 s)"]);
});

test("a failed step prints nothing and passes its error on", async () => {
  const lines: string[] = [];
  const steps = reportSteps({ out: (line) => lines.push(line), clock: aClock() });
  await rejects(
    steps.step("x", () => Promise.reject(new Error("no"))),
    /no/,
  );
  deepEqual(lines, []);
});
