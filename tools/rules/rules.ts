/**
 * Upstream's validation rules, and which of them an error covers. The tables hold facts about version 1.36: which function reports which
 * type of error at which field with which message. They were extracted once, by following the calls in its sources from the validation of
 * each kind. A row lists all kinds that share a check: Pod templates are validated in one place, and a test of one kind covers all.
 * Not here: running the tests (run.ts), why a rule has no test (explained.ts).
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Rule {
  readonly kinds: readonly string[];
  /** As in a cause: "FieldValueInvalid". */
  readonly type: string;
  /** The last one or two names of the path, without indexes and keys, for each use of the check; [""] if unknown. */
  readonly fields: readonly string[];
  /** Possible messages of the check; "…" matches anything. */
  readonly details: readonly string[];
  /** Upstream's function that names the field, or that reports the error if the field is unknown. */
  readonly upstream: string;
}

/** An error that a test obtained. */
export interface Yielded {
  /** Absent if the check is not specific to a kind. */
  readonly kind?: string;
  readonly type: string;
  readonly field: string;
  readonly body: string;
}

/** Separator of the alternatives in a cell. */
const OR = " || ";
const ANYTHING = "…";

export function readRules(directory: string): readonly Rule[] {
  const tables = readdirSync(directory).filter((name) => name.endsWith(".tsv"));
  return tables.sort().flatMap((name) => parseTable(readFileSync(join(directory, name), "utf8")));
}

/** The first line is the header. */
export function parseTable(text: string): readonly Rule[] {
  const [, ...lines] = text.trimEnd().split("\n");
  return lines.map((line) => {
    const [kinds, type, field, detail, upstream] = line.split("\t");
    if (kinds === undefined || type === undefined || field === undefined || detail === undefined || upstream === undefined) {
      throw new Error(`Cannot read a rule: five columns are expected in "${line}"`);
    }
    return { kinds: kinds.split(","), type, fields: field.split(OR), details: detail.split(OR).map(unescape), upstream };
  });
}

function unescape(cell: string): string {
  return cell.replaceAll(String.raw`\n`, "\n").replaceAll(String.raw`\t`, "\t");
}

/** "FieldValueRequired spec.name: must be given (ValidateSpec)"; explained.ts refers to it. */
export function describeRule({ type, fields, details, upstream }: Rule): string {
  const message = details.join(OR).replaceAll("\n", String.raw`\n`);
  return `${type} ${fields.join(OR)}${message === "" ? "" : `: ${message}`} (${upstream})`;
}

/** Rules that the errors cover. */
export function coveredRules(rules: readonly Rule[], yielded: readonly Yielded[]): ReadonlySet<Rule> {
  const byType = new Map<string, Yielded[]>();
  for (const error of yielded) byType.set(error.type, [...(byType.get(error.type) ?? []), error]);
  return new Set(rules.filter((rule) => coversRule(rule, byType.get(rule.type) ?? [])));
}

function coversRule(rule: Rule, yielded: readonly Yielded[]): boolean {
  const messages = rule.details.map((detail) => pattern(detail, rule.type));
  return yielded.some((error) => {
    if (error.kind !== undefined && !rule.kinds.includes(error.kind)) return false;
    const path = withoutKeys(error.field);
    return rule.fields.some((field) => endsWithNames(path, field)) && messages.some((message) => message.test(error.body));
  });
}

/** "spec.ports[0].name" → "spec.ports.name". A key may contain dots and brackets. */
function withoutKeys(field: string): string {
  return field.replaceAll(/\[[^\]]*\]/g, "");
}

function endsWithNames(path: string, names: string): boolean {
  return names === "" || path === names || path.endsWith(`.${names}`);
}

/** A body is "Invalid value: 1: must be …" with the detail at its end. */
function pattern(detail: string, type: string): RegExp {
  // Without a detail and a value, the body is the type's own text; with a value, the end of the value cannot be determined.
  if (detail === "") return type === "FieldValueRequired" || type === "FieldValueForbidden" ? /^(Required value|Forbidden)$/ : /^/;
  const parts = detail.split(ANYTHING).map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`));
  return new RegExp(`(^|: )${parts.join("[^]*")}$`);
}
