/**
 * Upstream's validation rules, and which of them an error shows. The tables hold facts about version 1.36: who yields which type of error at
 * which field with which words. They were found once, by following the calls in its sources from where the objects of a kind are checked.
 * A row is of all the kinds that reach the same check: pod templates are checked in one place, and a test of one kind speaks for all.
 * Not here: running the tests (record.ts), why a rule has no test (explained.ts).
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Rule {
  readonly kinds: readonly string[];
  /** As in a cause: "FieldValueInvalid". */
  readonly type: string;
  /** The last one or two names of the path, without indexes and keys, in each place where the check is made; [""] if it is not known. */
  readonly fields: readonly string[];
  /** What one check may say; "…" stands for anything. */
  readonly details: readonly string[];
  /** The function of upstream that names the field, or that yields the error if the field is not known. */
  readonly upstream: string;
}

/** An error that a test yielded. */
export interface Yielded {
  /** Not there if a check was called that is not of one kind. */
  readonly kind?: string;
  readonly type: string;
  readonly field: string;
  readonly body: string;
}

/** Between the alternatives of a cell. */
const OR = " || ";
const ANYTHING = "…";

export function readRules(directory: string): readonly Rule[] {
  const tables = readdirSync(directory).filter((name) => name.endsWith(".tsv"));
  return tables.sort().flatMap((name) => parseTable(readFileSync(join(directory, name), "utf8")));
}

/** The first line names the columns. */
export function parseTable(text: string): readonly Rule[] {
  const [, ...lines] = text.trimEnd().split("\n");
  return lines.map((line) => {
    const [kinds, type, field, detail, upstream] = line.split("\t");
    if (kinds === undefined || type === undefined || field === undefined || detail === undefined || upstream === undefined) {
      throw new Error(`Cannot read a rule: five columns should be in "${line}"`);
    }
    return { kinds: kinds.split(","), type, fields: field.split(OR), details: detail.split(OR).map(unescape), upstream };
  });
}

function unescape(cell: string): string {
  return cell.replaceAll(String.raw`\n`, "\n").replaceAll(String.raw`\t`, "\t");
}

/** "FieldValueRequired spec.name: must be given (ValidateSpec)"; explained.ts refers to it. */
export function describeRule({ type, fields, details, upstream }: Rule): string {
  const words = details.join(OR).replaceAll("\n", String.raw`\n`);
  return `${type} ${fields.join(OR)}${words === "" ? "" : `: ${words}`} (${upstream})`;
}

/** Which of the rules the errors show. */
export function shownRules(rules: readonly Rule[], yielded: readonly Yielded[]): ReadonlySet<Rule> {
  const byType = new Map<string, Yielded[]>();
  for (const error of yielded) byType.set(error.type, [...(byType.get(error.type) ?? []), error]);
  return new Set(rules.filter((rule) => showsAny(rule, byType.get(rule.type) ?? [])));
}

function showsAny(rule: Rule, yielded: readonly Yielded[]): boolean {
  const words = rule.details.map((detail) => pattern(detail, rule.type));
  return yielded.some((error) => {
    if (error.kind !== undefined && !rule.kinds.includes(error.kind)) return false;
    const path = withoutKeys(error.field);
    return rule.fields.some((field) => endsWithNames(path, field)) && words.some((one) => one.test(error.body));
  });
}

/** "spec.ports[0].name" → "spec.ports.name". A key may hold dots and brackets of its own. */
function withoutKeys(field: string): string {
  return field.replaceAll(/\[[^\]]*\]/g, "");
}

function endsWithNames(path: string, names: string): boolean {
  return names === "" || path === names || path.endsWith(`.${names}`);
}

/** A body is "Invalid value: 1: must be …" with the detail at its end. */
function pattern(detail: string, type: string): RegExp {
  // Without a detail and a value, the type's own words are all; with a value, one cannot see where it ends.
  if (detail === "") return type === "FieldValueRequired" || type === "FieldValueForbidden" ? /^(Required value|Forbidden)$/ : /^/;
  const words = detail.split(ANYTHING).map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`));
  return new RegExp(`(^|: )${words.join("[^]*")}$`);
}
