import { deepEqual, equal, throws } from "node:assert/strict";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { describeRule, parseTable, readRules, type Rule, coveredRules, type Yielded } from "./rules.ts";

const rule: Rule = {
  kinds: ["Ingress"],
  type: "FieldValueInvalid",
  fields: ["ports.name"],
  details: ["must be no more than … bytes", "must not be a.b"],
  upstream: "ValidatePorts",
};
const error: Yielded = {
  kind: "Ingress",
  type: "FieldValueInvalid",
  field: "spec.ports[0].name",
  body: 'Invalid value: "x": must be no more than 63 bytes',
};

const ROWS: readonly {
  readonly title: string;
  readonly rule?: Partial<Rule>;
  readonly error?: Partial<Yielded>;
  readonly covered: boolean;
}[] = [
  { title: "the same type at the same field with the same message", covered: true },
  { title: "another message of the same check", error: { body: 'Invalid value: "x": must not be a.b' }, covered: true },
  { title: "a similar message", error: { body: 'Invalid value: "x": must not be a,b' }, covered: false },
  { title: "a longer message", error: { body: 'Invalid value: "x": must not be a.b or c' }, covered: false },
  { title: "a message with the same end", error: { body: 'Invalid value: "x": it must not be a.b' }, covered: false },
  { title: "another type", error: { type: "FieldValueForbidden" }, covered: false },
  { title: "a field of the same name elsewhere", error: { field: "spec.rules[0].name" }, covered: false },
  { title: "a field whose name has the same end", error: { field: "spec.hostports[0].name" }, covered: false },
  { title: "a field below keys with dots", error: { field: "spec.by[a.b/c].ports[1].name" }, covered: true },
  { title: "any field, if the rule's is unknown,", rule: { fields: [""] }, error: { field: "x" }, covered: true },
  { title: "one of several fields", rule: { fields: ["hosts.name", "ports.name"] }, covered: true },
  { title: "an error of another kind", error: { kind: "Service" }, covered: false },
  {
    title: "an error of another kind that shares the check",
    rule: { kinds: ["Ingress", "Service"] },
    error: { kind: "Service" },
    covered: true,
  },
  {
    title: "a value, if the rule has no message,",
    rule: { type: "FieldValueDuplicate", details: [""] },
    error: { type: "FieldValueDuplicate", body: 'Duplicate value: "x"' },
    covered: true,
  },
  {
    title: "required without a message, if the rule has none,",
    rule: { type: "FieldValueRequired", details: [""] },
    error: { type: "FieldValueRequired", body: "Required value" },
    covered: true,
  },
  {
    title: "required with a message, if the rule has none,",
    rule: { type: "FieldValueRequired", details: [""] },
    error: { type: "FieldValueRequired", body: "Required value: if y is set" },
    covered: false,
  },
];

for (const row of ROWS) {
  test(`${row.title} ${row.covered ? "covers" : "does not cover"} a rule`, () => {
    const given = { ...rule, ...row.rule };

    equal(coveredRules([given], [{ ...error, ...row.error }]).has(given), row.covered);
  });
}

test("an error without a kind covers the rules of every kind", () => {
  const { kind: _, ...withoutKind } = error;

  equal(coveredRules([rule], [withoutKind]).has(rule), true);
});

test("a table is parsed with alternatives and line breaks, and describeRule restores its text", () => {
  const [read, ...more] = parseTable("kinds\ttype\tfield\tdetail\tfunction\nA,B\tFieldValueForbidden\tx.y || z\tone\\n… || two\tCheck\n");

  deepEqual(read, { kinds: ["A", "B"], type: "FieldValueForbidden", fields: ["x.y", "z"], details: ["one\n…", "two"], upstream: "Check" });
  deepEqual(more, []);
  equal(read && describeRule(read), String.raw`FieldValueForbidden x.y || z: one\n… || two (Check)`);
});

test("a line with too few columns is rejected", () => {
  throws(() => parseTable("kinds\ttype\nA\tFieldValueForbidden\n"), /five columns/);
});

test("every table of the project can be parsed", () => {
  const tables = join(packageDirectory(dirname(dirname(import.meta.dirname))), "tools", "rules", "tables");

  equal(readdirSync(tables).length >= 20, true);
  equal(readRules(tables).length > 2000, true);
});
