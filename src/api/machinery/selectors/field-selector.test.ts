import fc from "fast-check";
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import { escapeFieldValue, EVERY_FIELD, FieldSelector, parseFieldSelector, unsupportedFieldMessage } from "./field-selector.ts";
import { SelectorError } from "./label-requirement.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 300, full: 20_000 }) };

test("a field selector parses to sorted requirements", () => {
  deepEqual(parseFieldSelector("status.phase!=Running,metadata.name==web,,a=\\,\\=\\\\").requirements, [
    { field: "a", operator: "=", value: ",=\\" },
    { field: "metadata.name", operator: "=", value: "web" },
    { field: "status.phase", operator: "!=", value: "Running" },
  ]);
});

test("an empty field selector selects everything", () => {
  for (const text of ["", ",", "=", "!=,=="]) equal(parseFieldSelector(text), EVERY_FIELD, text);
  equal(EVERY_FIELD.isEverything, true);
  equal(
    EVERY_FIELD.matches(() => undefined),
    true,
  );
});

test("malformed field selectors are rejected with upstream's messages", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["a=b,c", "invalid selector: 'a=b,c'; can't understand 'c'"],
    ["a=b=c", "invalid field selector: unescaped character in value: 61"],
    ["a=\\b", "invalid field selector: invalid escape sequence: \\b"],
    ["a=\\", "invalid field selector: invalid escape sequence: \\"],
  ];
  for (const [text, message] of rows) throws(() => parseFieldSelector(text), new SelectorError(message), text);
});

test("all requirements must match, and a missing field counts as empty", () => {
  const fields = new Map([
    ["metadata.name", "web"],
    ["status.phase", "Running"],
  ]);
  const rows: readonly (readonly [string, boolean])[] = [
    ["metadata.name=web", true],
    ["metadata.name=web,status.phase!=Running", false],
    ["metadata.name!=db", true],
    ["spec.nodeName=", true],
    ["spec.nodeName!=", false],
  ];
  for (const [text, expected] of rows)
    equal(
      parseFieldSelector(text).matches((field) => fields.get(field)),
      expected,
      text,
    );
});

test("exactValue returns the value that a field must have", () => {
  const selector = parseFieldSelector("spec.nodeName=n1,status.phase!=Failed").and({ field: "metadata.name", operator: "=", value: "web" });
  deepEqual(
    ["spec.nodeName", "status.phase", "metadata.name"].map((field) => selector.exactValue(field)),
    ["n1", undefined, "web"],
  );
});

test("a field that the kind does not support is rejected with the kind's message", () => {
  const message = (group: string, kind: string, hasOwn: boolean) => unsupportedFieldMessage("a.b", { group, version: "v1", kind, hasOwn });
  equal(message("", "ConfigMap", false), '"a.b" is not a known field selector: only "metadata.name", "metadata.namespace"');
  equal(message("", "Pod", true), "field label not supported: a.b");
  equal(message("batch", "Job", true), 'field label "a.b" not supported for Job');
  equal(message("resource.k8s.io", "ResourceSlice", true), "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: a.b");
});

test("a formatted field selector parses to an equal one, up to the order", () => {
  const value = fc.string({ unit: fc.constantFrom("a", ",", "=", "\\", "!", "é", "😀"), minLength: 1 });
  const requirement = fc.record({
    field: fc.constantFrom("metadata.name", "a", "b.c"),
    operator: fc.constantFrom("=" as const, "!=" as const),
    value,
  });
  fc.assert(
    fc.property(fc.uniqueArray(requirement, { selector: (one) => JSON.stringify(one) }), (requirements) => {
      const byText = (selector: FieldSelector) => selector.requirements.map((one) => JSON.stringify(one)).toSorted();
      const selector = new FieldSelector(requirements);
      deepEqual(byText(parseFieldSelector(selector.toString())), byText(selector));
    }),
    settings,
  );
});

test("an escaped value has no comma and no equals sign without a backslash before it", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", ",", "=", "\\") }), (value) => {
      equal(/^(?:[^\\,=]|\\[\\,=])*$/.test(escapeFieldValue(value)), true);
    }),
    settings,
  );
});
