import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { problems } from "../../../testing/kind.ts";
import type { JsonObject } from "../../../machinery/object.ts";
import { validateLogOptions } from "./connections.ts";

const rows: readonly { readonly title: string; readonly options: JsonObject; readonly wrong: readonly string[] }[] = [
  { title: "log options may be empty", options: {}, wrong: [] },
  {
    title: "numbers at their least are allowed",
    options: { tailLines: 0, limitBytes: 1, sinceSeconds: 1 },
    wrong: [],
  },
  { title: "one may begin at a time", options: { sinceTime: "2020-01-01T00:00:00Z" }, wrong: [] },
  {
    title: "all numbers below their minimum, and a single stream, are reported",
    options: { tailLines: -1, limitBytes: 0, sinceSeconds: 0, stream: "Stdout" },
    wrong: [
      "tailLines: Invalid value: -1: must be greater than or equal to 0",
      "limitBytes: Invalid value: 0: must be greater than 0",
      "sinceSeconds: Invalid value: 0: must be greater than 0",
      "stream: Forbidden: may not be specified",
    ],
  },
  {
    title: "one begins at a time or some seconds ago, not both; then neither is looked at",
    options: { sinceSeconds: 0, sinceTime: "2020-01-01T00:00:00Z" },
    wrong: ["[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"],
  },
];

for (const { title, options, wrong } of rows) {
  test(title, () => {
    deepEqual(problems(validateLogOptions(options), "Pod"), wrong);
  });
}
