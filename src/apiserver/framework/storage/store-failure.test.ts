import assert from "node:assert/strict";
import { test } from "node:test";
import { StatusError } from "../../../api/machinery/status-error.ts";
import { StoreError, type StoreErrorReason } from "../../../store/store-error.ts";
import { statusOfFailure, translated } from "./store-failure.ts";

const rows: readonly [StoreErrorReason, code: number][] = [
  ["TooLarge", 413],
  ["Compacted", 410],
  ["Invalid", 400],
  ["Unavailable", 503],
  ["Closed", 503],
  ["Uncertain", 504],
  ["Full", 500],
  ["Damaged", 500],
  ["FutureRevision", 500],
];

for (const [reason, code] of rows) {
  test(`a store failure with reason ${reason} becomes a response with code ${code}`, async () => {
    await assert.rejects(
      translated(() => Promise.reject(new StoreError(reason, "why"))),
      (error) => error instanceof StatusError && error.code === code,
    );
  });
}

test("errors that are not the store's are passed through unchanged", () => {
  const error = new Error("other");
  assert.equal(statusOfFailure(error), error);
});
