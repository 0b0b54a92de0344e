import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { createLogger } from "../../../base/logger.ts";
import { VirtualClock } from "../../../base/virtual-clock.ts";
import { realMacrotask } from "../../../host/real-clock.ts";
import { MissingSourceError } from "../../volumes/framework/volume-error.ts";
import { startUpdates } from "./updates.ts";

/** Lines at level "warn" and above that failing updates log within a minute. */
async function warningsOf(failure: (attempt: number) => Error | undefined): Promise<readonly string[]> {
  const clock = new VirtualClock({ macrotask: realMacrotask });
  const warnings: string[] = [];
  const log = createLogger({ sink: ({ level, sentence }) => void (level !== "debug" && warnings.push(sentence)), clock, level: "debug" });
  let attempt = 0;
  const update = (): Promise<void> => {
    const error = failure(attempt++);
    return error === undefined ? Promise.resolve() : Promise.reject(error);
  };
  await using updates = startUpdates({ clock, log, update, nameOf: () => "default/p" });
  updates.want("uid");
  await clock.advance(60_000);
  return warnings;
}

const LINE = "Cannot update the volumes of a Pod; retrying";
const missing = () => new MissingSourceError('configmap "kube-root-ca.crt" not found');

test("a source that is missing briefly, as while its namespace is deleted, is not logged", async () => {
  deepEqual(await warningsOf((attempt) => (attempt < 2 ? missing() : undefined)), []);
});

test("a source that stays missing is logged once", async () => {
  deepEqual(await warningsOf(missing), [LINE]);
});

test("any other update failure is logged each time", async () => {
  deepEqual(await warningsOf((attempt) => (attempt < 2 ? new Error("disk full") : undefined)), [LINE, LINE]);
});
