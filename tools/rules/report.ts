/** What is printed of the rules: for each kind the counts and the rules that no test shows, then what is wrong, then the count of all. */
import type { Explanation } from "./explained.ts";
import { describeRule, type Rule } from "./rules.ts";

export interface Report {
  readonly lines: readonly string[];
  /** False if a rule is neither shown nor explained, and if an explanation explains nothing any more. */
  readonly ok: boolean;
}

interface Options {
  /** Only the rules of this kind; whether explanations are needed is not known then. */
  readonly kind?: string | undefined;
}

export function reportOf(
  rules: readonly Rule[],
  shown: ReadonlySet<Rule>,
  explanations: readonly Explanation[],
  { kind }: Options = {},
): Report {
  const wanted = kind === undefined ? rules : rules.filter(({ kinds }) => kinds.includes(kind));
  const missing = wanted.filter((rule) => !shown.has(rule));
  const needed = new Map(missing.map((rule) => [rule, explanations.find((one) => explains(one, rule))]));
  const stale = kind === undefined ? explanations.filter((one) => !missing.some((rule) => explains(one, rule))) : [];
  const unexplained = missing.filter((rule) => needed.get(rule) === undefined);
  const kinds = kind === undefined ? [...new Set(rules.flatMap((rule) => rule.kinds[0] ?? []))].sort() : [kind];
  return {
    lines: [
      ...kinds.flatMap((one) => linesOfKind(one, kind === undefined ? listedAt(wanted, one) : wanted, { shown, needed })),
      ...stale.map(({ rule }) => `Explains nothing any more: ${String(rule)}`),
      `${wanted.length} rules, ${wanted.length - missing.length} shown by a test, ${missing.length - unexplained.length} explained, ${unexplained.length} neither`,
    ],
    ok: unexplained.length === 0 && stale.length === 0,
  };
}

/** A rule of several kinds is listed at the first of them, once. */
function listedAt(rules: readonly Rule[], kind: string): readonly Rule[] {
  return rules.filter(({ kinds }) => kinds[0] === kind);
}

interface Findings {
  readonly shown: ReadonlySet<Rule>;
  readonly needed: ReadonlyMap<Rule, Explanation | undefined>;
}

function linesOfKind(kind: string, rules: readonly Rule[], { shown, needed }: Findings): readonly string[] {
  const missing = rules.filter((rule) => !shown.has(rule) && needed.get(rule) === undefined);
  const explained = rules.filter((rule) => needed.get(rule) !== undefined).length;
  const counts = `${rules.length} rules, ${rules.length - missing.length - explained} shown, ${explained} explained`;
  return [`${kind}: ${counts}`, ...missing.map((rule) => `  ${describeRule(rule)}${othersOf(rule)}`)];
}

function othersOf({ kinds }: Rule): string {
  return kinds.length === 1 ? "" : ` [${kinds.length} kinds]`;
}

function explains({ kind, rule }: Explanation, found: Rule): boolean {
  if (kind !== undefined && !found.kinds.includes(kind)) return false;
  const text = describeRule(found);
  return typeof rule === "string" ? rule === text : rule.test(text);
}
