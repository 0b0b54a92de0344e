/**
 * Loaded before the tests, in their process: keeps every error that they get from src/api/testing/kind.ts, and writes them as JSON to the
 * file that the environment names when the process ends.
 */
import { writeFileSync } from "node:fs";
import type { FieldError } from "../../src/api/machinery/field-error.ts";
import type { Yielded } from "./rules.ts";

const file = process.env["K8TS_RULES_FILE"];
if (file === undefined) throw new Error("Cannot record: K8TS_RULES_FILE should name a file");

/** The same error is yielded by many tests. */
const yielded = new Map<string, Yielded>();

Object.assign(globalThis, {
  k8tsOnFieldErrors: (errors: readonly FieldError[], kind?: string) => {
    for (const { type, field, body } of errors) {
      const error = { ...(kind !== undefined && { kind }), type, field, body };
      yielded.set(JSON.stringify(error), error);
    }
  },
});
process.on("exit", () => writeFileSync(file, JSON.stringify([...yielded.values()])));
