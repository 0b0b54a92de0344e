/** Formats the differences: explained ones by explanation, then problems, then the totals. */
import type { Explanation } from "./explained.ts";

export interface Difference {
  /** The name of the comparison that found it. */
  readonly comparison: string;
  readonly text: string;
}

export interface Report {
  readonly lines: readonly string[];
  /** False if a difference has no explanation, or an explanation is unused. */
  readonly ok: boolean;
}

export function reportOf(differences: readonly Difference[], explanations: readonly Explanation[]): Report {
  const byExplanation = new Map<Explanation | undefined, string[]>();
  for (const difference of differences) {
    const explanation = explanations.find((one) => explains(one, difference));
    byExplanation.set(explanation, [...(byExplanation.get(explanation) ?? []), `${difference.comparison}: ${difference.text}`]);
  }
  const unexplained = byExplanation.get(undefined) ?? [];
  const stale = explanations.filter((one) => !byExplanation.has(one));
  const explained = explanations.flatMap((one) => [
    ...(byExplanation.get(one) ?? []),
    ...(byExplanation.has(one) ? [`  → ${one.why}`, ""] : []),
  ]);
  const counts = `${differences.length - unexplained.length} explained, ${unexplained.length} unexplained`;
  return {
    lines: [
      ...explained,
      ...stale.map(({ comparison, difference }) => `Unused explanation: ${comparison}: ${String(difference)}`),
      ...unexplained,
      `${differences.length} differences, ${counts}`,
    ],
    ok: unexplained.length === 0 && stale.length === 0,
  };
}

function explains({ comparison, difference }: Explanation, found: Difference): boolean {
  if (comparison !== found.comparison) return false;
  return typeof difference === "string" ? difference === found.text : difference.test(found.text);
}
