import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { CauseRecord } from "../framework/recording/causes.ts";
import { causeLine, readCauseLine } from "./cause-line.ts";

const RECORD: CauseRecord = {
  id: 1,
  timeMs: 1_000,
  revision: 5,
  ...{ verb: "create", group: "apps", plural: "deployments", subresource: "", namespace: "default", name: "web" },
  ...{ user: 'jane "j" \u2028\ud800', userAgent: "kubectl" },
};

test("a line of the cause log is read as it was written, and a torn one is left out", () => {
  const rows: readonly CauseRecord[] = [
    RECORD,
    { ...RECORD, requestId: "r" },
    { ...RECORD, deleted: true },
    { ...RECORD, cause: { controller: "c", key: "k" }, admission: [{ plugin: "Priority", changed: ["spec.priority"] }] },
    { ...RECORD, revision: 0, refusal: { code: 403, reason: "Forbidden", message: "no", stage: "admission", plugin: "ResourceQuota" } },
    { ...RECORD, stages: { authentication: { by: "x509", microseconds: 3 }, store: { microseconds: 5 } } },
  ];
  for (const record of rows) {
    const line = causeLine(record);
    deepEqual(readCauseLine(line), [record]);
    deepEqual(readCauseLine(line.slice(0, -3)), []);
  }
  deepEqual(readCauseLine("{}"), []);
});
