/** Chains of && and || become balanced trees, as upstream's do: a chain of hundreds of terms nests only a few levels deep. */
import type { Expression } from "./ast.ts";

export function balanced(
  terms: readonly Expression[],
  positions: readonly number[],
  join: (position: number, left: Expression, right: Expression) => Expression,
): Expression {
  const tree = (low: number, high: number): Expression => {
    const middle = Math.floor((low + high + 1) / 2);
    const left = middle === low ? (terms[middle] as Expression) : tree(low, middle - 1);
    const right = middle === high ? (terms[middle + 1] as Expression) : tree(middle + 1, high);
    return join(positions[middle] ?? 0, left, right);
  };
  return positions.length === 0 ? (terms[0] as Expression) : tree(0, positions.length - 1);
}
