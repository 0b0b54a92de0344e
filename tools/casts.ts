/**
 * Counts double casts (`as unknown as T`), which switch the compiler off: a type guard that narrows, or a type that says what is meant,
 * is checked. A few are needed where a library's types are wrong, so there is a limit and not a ban.
 */
import type { Expression } from "oxc-parser";
import type { Source } from "./source/source.ts";
import { walk } from "./source/walk.ts";

/** How many may be in src, tools, bench and test together. */
export const DOUBLE_CASTS_MAX = 9;

/** One sentence per double cast, with its file and line, if there are more than `max`. */
export function castViolations(sources: Iterable<Source>, max = DOUBLE_CASTS_MAX): string[] {
  const found = [...sources].flatMap((source) => doubleCasts(source));
  return found.length <= max
    ? []
    : [`There are ${found.length} double casts, at most ${max} are allowed: narrow with a type guard`, ...found];
}

function doubleCasts({ path, program, lineAt }: Source): string[] {
  const found: string[] = [];
  walk(program, ({ node }) => {
    if (node.type !== "TSAsExpression") return;
    const inner = withoutParentheses(node.expression);
    if (inner.type !== "TSAsExpression" || !IN_BETWEEN.includes(inner.typeAnnotation.type)) return;
    found.push(`${path}:${lineAt(node.start)}: casts twice`);
  });
  return found;
}

/** Types that every type can be cast to, and that can be cast to every type. */
const IN_BETWEEN: readonly string[] = ["TSUnknownKeyword", "TSAnyKeyword", "TSNeverKeyword"];

function withoutParentheses(expression: Expression): Expression {
  return expression.type === "ParenthesizedExpression" ? withoutParentheses(expression.expression) : expression;
}
