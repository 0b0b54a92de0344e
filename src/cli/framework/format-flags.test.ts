import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { parseArguments, type FlagSet } from "./flags.ts";
import { formatFlagArguments } from "./format-flags.ts";

const FLAGS = {
  port: { type: "number", default: 6443, doc: "" },
  address: { type: "string", doc: "" },
  plugins: { type: "list", doc: "" },
  quiet: { type: "boolean", doc: "" },
  checks: { type: "boolean", default: true, doc: "" },
  store: { type: "choice", of: ["a", "b"], default: "a", doc: "" },
} as const satisfies FlagSet;

for (const typed of [
  [],
  ["--port=1", "--address=-x", "--plugins=a", "--plugins=b", "--quiet=true", "--checks=false", "--store=b"],
  ["--address=x y"],
]) {
  test(`arguments "${typed.join(" ")}" are passed on unchanged`, () => {
    const { values } = parseArguments({ flags: FLAGS, arguments: {} }, typed);

    deepEqual(formatFlagArguments(FLAGS, { ...values, other: "left out" }), typed);
  });
}
