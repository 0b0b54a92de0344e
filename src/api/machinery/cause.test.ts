import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatCause, parseCause, type Cause } from "./cause.ts";

test("a cause is one line of a header, whatever letters its key has", () => {
  equal(
    formatCause({ controller: "deployment-controller", key: "default/web", revision: "42" }),
    "controller=deployment-controller,key=default%2Fweb,revision=42",
  );
  equal(formatCause({ controller: "a", key: "nodes ä,=" }), "controller=a,key=nodes%20%C3%A4%2C%3D");
});

test("every cause comes back as it was", () => {
  const text = fc.string({ unit: "grapheme" });
  const cause = fc.record({ controller: text, key: text, revision: text }, { requiredKeys: ["controller", "key"], noNullPrototype: true });
  fc.assert(
    fc.property(cause, (given: Cause) => {
      const header = formatCause(given);
      match(header, /^[\x21-\x7e]*$/);
      deepEqual(parseCause(header), given);
    }),
  );
});

for (const text of ["", "controller=a", "key=a,controller=b", "controller=a,key=b,more=c", "controller=%zz,key=b", "controller=a,key=b,"]) {
  test(`${JSON.stringify(text)} is no cause, and nobody fails over it`, () => {
    equal(parseCause(text), undefined);
  });
}
