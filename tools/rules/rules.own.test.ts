import { deepEqual, equal, throws } from "node:assert/strict";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { describeRule, parseTable, readRules, type Rule, shownRules, type Yielded } from "./rules.ts";

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
  readonly shown: boolean;
}[] = [
  { title: "the same type at the same field with the same words", shown: true },
  { title: "another thing that the same check says", error: { body: 'Invalid value: "x": must not be a.b' }, shown: true },
  { title: "words that only look alike", error: { body: 'Invalid value: "x": must not be a,b' }, shown: false },
  { title: "more words than the rule has", error: { body: 'Invalid value: "x": must not be a.b or c' }, shown: false },
  { title: "words that only end like the rule's", error: { body: 'Invalid value: "x": it must not be a.b' }, shown: false },
  { title: "another type", error: { type: "FieldValueForbidden" }, shown: false },
  { title: "a field of the same name elsewhere", error: { field: "spec.rules[0].name" }, shown: false },
  { title: "a field whose name ends alike", error: { field: "spec.hostports[0].name" }, shown: false },
  { title: "a field below keys with dots", error: { field: "spec.by[a.b/c].ports[1].name" }, shown: true },
  { title: "any field, if the rule's is not known", rule: { fields: [""] }, error: { field: "x" }, shown: true },
  { title: "one of several fields", rule: { fields: ["hosts.name", "ports.name"] }, shown: true },
  { title: "an error of another kind", error: { kind: "Service" }, shown: false },
  {
    title: "an error of another kind that shares the check",
    rule: { kinds: ["Ingress", "Service"] },
    error: { kind: "Service" },
    shown: true,
  },
  {
    title: "a value with a detail, if the rule has no words",
    rule: { type: "FieldValueDuplicate", details: [""] },
    error: { type: "FieldValueDuplicate", body: 'Duplicate value: "x"' },
    shown: true,
  },
  {
    title: "required without words, if the rule has none",
    rule: { type: "FieldValueRequired", details: [""] },
    error: { type: "FieldValueRequired", body: "Required value" },
    shown: true,
  },
  {
    title: "required with words, if the rule has none",
    rule: { type: "FieldValueRequired", details: [""] },
    error: { type: "FieldValueRequired", body: "Required value: if y is set" },
    shown: false,
  },
];

for (const row of ROWS) {
  test(`${row.title} ${row.shown ? "shows" : "does not show"} a rule`, () => {
    const given = { ...rule, ...row.rule };

    equal(shownRules([given], [{ ...error, ...row.error }]).has(given), row.shown);
  });
}

test("an error of a check that is not of one kind shows the rules of every kind", () => {
  const { kind: _, ...withoutKind } = error;

  equal(shownRules([rule], [withoutKind]).has(rule), true);
});

test("a table is read with its alternatives and its line ends, and a rule is described as it stands there", () => {
  const [read, ...more] = parseTable("kinds\ttype\tfield\tdetail\tfunction\nA,B\tFieldValueForbidden\tx.y || z\tone\\n… || two\tCheck\n");

  deepEqual(read, { kinds: ["A", "B"], type: "FieldValueForbidden", fields: ["x.y", "z"], details: ["one\n…", "two"], upstream: "Check" });
  deepEqual(more, []);
  equal(read && describeRule(read), String.raw`FieldValueForbidden x.y || z: one\n… || two (Check)`);
});

test("a line with too few columns is refused", () => {
  throws(() => parseTable("kinds\ttype\nA\tFieldValueForbidden\n"), /five columns/);
});

test("every table of the project can be read", () => {
  const tables = join(packageDirectory(dirname(dirname(import.meta.dirname))), "tools", "rules", "tables");

  equal(readdirSync(tables).length >= 20, true);
  equal(readRules(tables).length > 2000, true);
});
