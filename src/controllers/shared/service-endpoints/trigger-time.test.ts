import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { aPod, aService } from "./testing/builders.ts";
import { triggerTime, withTriggerTime } from "./trigger-time.ts";

const web = aService("web");
const service = { ...web, metadata: { ...web.metadata, creationTimestamp: "2030-01-01T00:00:10Z" } };

for (const { it, readyAt, time } of [
  {
    it: "of several changes the earliest is the trigger time",
    readyAt: ["2030-01-01T00:00:30Z", "2030-01-01T00:00:20Z"],
    time: "2030-01-01T00:00:20Z",
  },
  { it: "a change before the Service was created has the Service's time", readyAt: ["2030-01-01T00:00:05Z"], time: "2030-01-01T00:00:10Z" },
  { it: "without a change the trigger time is undefined", readyAt: [], time: undefined },
]) {
  test(it, () =>
    deepEqual(
      triggerTime(
        service,
        readyAt.map((at) => aPod("a", { readyAt: at })),
      ),
      time,
    ),
  );
}

test("a change without a time removes the annotation, and nothing else", () => {
  const before = { a: "b", "endpoints.kubernetes.io/last-change-trigger-time": "2030-01-01T00:00:00Z" };

  deepEqual(withTriggerTime(before, undefined), { a: "b" });
});
