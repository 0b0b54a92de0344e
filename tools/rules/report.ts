/** Formats the coverage of the rules: totals and uncovered rules per kind, then problems, then the totals of all. */
import type { Explanation } from "./explained.ts";
import { describeRule, type Rule } from "./rules.ts";

export interface Report {
  readonly lines: readonly string[];
  /** False if a rule is neither covered nor explained, or an explanation is unused. */
  readonly ok: boolean;
}

interface Options {
  /** Only the rules of this kind; unused explanations are not detected then. */
  readonly kind?: string | undefined;
}

export function reportOf(
  rules: readonly Rule[],
  covered: ReadonlySet<Rule>,
  explanations: readonly Explanation[],
  { kind }: Options = {},
): Report {
  const wanted = kind === undefined ? rules : rules.filter(({ kinds }) => kinds.includes(kind));
  const missing = wanted.filter((rule) => !covered.has(rule));
  const needed = new Map(missing.map((rule) => [rule, explanations.find((one) => explains(one, rule))]));
  const stale = kind === undefined ? explanations.filter((one) => !missing.some((rule) => explains(one, rule))) : [];
  const unexplained = missing.filter((rule) => needed.get(rule) === undefined);
  const kinds = kind === undefined ? [...new Set(rules.flatMap((rule) => rule.kinds[0] ?? []))].sort() : [kind];
  return {
    lines: [
      ...kinds.flatMap((one) => linesOfKind(one, kind === undefined ? listedAt(wanted, one) : wanted, { covered, needed })),
      ...stale.map(({ rule }) => `Unused explanation: ${String(rule)}`),
      `${wanted.length} rules, ${wanted.length - missing.length} covered by tests, ${missing.length - unexplained.length} explained, ${unexplained.length} neither`,
    ],
    ok: unexplained.length === 0 && stale.length === 0,
  };
}

/** A rule of several kinds is listed once, under the first of them. */
function listedAt(rules: readonly Rule[], kind: string): readonly Rule[] {
  return rules.filter(({ kinds }) => kinds[0] === kind);
}

interface Findings {
  readonly covered: ReadonlySet<Rule>;
  readonly needed: ReadonlyMap<Rule, Explanation | undefined>;
}

function linesOfKind(kind: string, rules: readonly Rule[], { covered, needed }: Findings): readonly string[] {
  const missing = rules.filter((rule) => !covered.has(rule) && needed.get(rule) === undefined);
  const explained = rules.filter((rule) => needed.get(rule) !== undefined).length;
  const counts = `${rules.length} rules, ${rules.length - missing.length - explained} covered, ${explained} explained`;
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
