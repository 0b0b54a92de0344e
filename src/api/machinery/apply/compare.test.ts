import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Json, JsonObject } from "../object.ts";
import { compareObjects } from "./compare.ts";
import { aWidget, widget } from "./testing/widget.ts";

type Port = Readonly<Record<string, Json>>;

function portsOf(ports: readonly Port[]): JsonObject {
  return aWidget({ ports });
}

/** What was added, modified and removed, as text. */
function compared(before: readonly Port[], after: readonly Port[]): readonly string[] {
  const { added, modified, removed } = compareObjects(widget, portsOf(before), portsOf(after));
  return [added.text(), modified.text(), removed.text()];
}

const port = fc.record(
  { port: fc.constantFrom(80, 443, 8080), protocol: fc.constantFrom("TCP", "UDP"), name: fc.constantFrom("a", "b") },
  { requiredKeys: [] },
);
const ports = fc.array(port, { maxLength: 5 });

/** Lists with unique keys. */
const distinct = fc.uniqueArray(fc.record({ port: fc.integer({ min: 1, max: 30 }), name: fc.constantFrom("a", "b") }), {
  maxLength: 24,
  selector: (item) => item.port,
});

test("compareObjects does not depend on the order of the items of a list with keys", () => {
  fc.assert(
    fc.property(distinct, fc.array(fc.constantFrom("a", "b", "c"), { minLength: 24, maxLength: 24 }), (before, names) => {
      const after = before.map((item, index) => ({ ...item, name: names[index] as string }));

      assert.deepEqual(compared(before, after), compared(before, after.toReversed()));
    }),
  );
});

test("compareObjects finds no difference between a list, also one with duplicate keys, and its copy", () => {
  fc.assert(fc.property(ports, (list) => assert.deepEqual(compared(list, structuredClone(list)), ["{}", "{}", "{}"])));
});

const UNDER_PORTS = (text: string): string => `{"f:spec":{"f:ports":{${text}}}}`;

for (const { what, before, after, sets } of [
  {
    what: "an item at the same place with another key is another item",
    before: [{ port: 80 }],
    after: [{ port: 81 }],
    sets: [
      UNDER_PORTS('"k:{\\"port\\":81,\\"protocol\\":\\"TCP\\"}":{".":{},"f:port":{}}'),
      "{}",
      UNDER_PORTS('"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:port":{}}'),
    ],
  },
  {
    what: "a key that becomes its default is the same key",
    before: [{ port: 80, protocol: "TCP", name: "a" }],
    after: [{ port: 80, name: "b" }],
    sets: [
      "{}",
      UNDER_PORTS('"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{"f:name":{}}'),
      UNDER_PORTS('"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{"f:protocol":{}}'),
    ],
  },
]) {
  test(`compareObjects: ${what}`, () => {
    assert.deepEqual(compared(before, after), sets);
  });
}
