/**
 * Preloaded into the test process: records every error that tests get from src/api/testing/kind.ts, and writes them as JSON to the file
 * that the environment names when the process ends.
 */
import { writeFileSync } from "node:fs";
import type { FieldError } from "../../src/api/machinery/field-error.ts";
import type { Yielded } from "./rules.ts";

const file = process.env["K8TS_RULES_FILE"];
if (file === undefined) throw new Error("Cannot record: K8TS_RULES_FILE must name a file");

/** Many tests yield the same error. */
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
