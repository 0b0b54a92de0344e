import assert from "node:assert/strict";
import { test } from "node:test";
import { formatLeadership, parseLeadership } from "./leadership.ts";

test("a leadership survives being a header, whatever its holder is called", () => {
  for (const holder of ["host_1", "a/b", "ü, =%", ""]) {
    const leadership = { namespace: "kube-system", name: "kube-controller-manager", holder };
    const text = formatLeadership(leadership);

    assert.match(text, /^[!-~]*$/);
    assert.deepEqual(parseLeadership(text), leadership);
  }
});

test("what is no leadership is none", () => {
  for (const text of ["", "a", "a/b", "a/b/c/d", "a/b/%"]) assert.equal(parseLeadership(text), undefined, text);
});
