import assert from "node:assert/strict";
import { test } from "node:test";
import { formatLeadership, parseLeadership } from "./leadership.ts";

test("a formatted leadership parses to an equal one, for any holder identity", () => {
  for (const holder of ["host_1", "a/b", "ü, =%", ""]) {
    const leadership = { namespace: "kube-system", name: "kube-controller-manager", holder };
    const text = formatLeadership(leadership);

    assert.match(text, /^[!-~]*$/);
    assert.deepEqual(parseLeadership(text), leadership);
  }
});

test("parseLeadership returns undefined for malformed headers", () => {
  for (const text of ["", "a", "a/b", "a/b/c/d", "a/b/%"]) assert.equal(parseLeadership(text), undefined, text);
});
