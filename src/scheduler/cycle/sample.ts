/** How many feasible nodes suffice. Examining all of thousands makes each decision slow and hardly better. Upstream's numbers. */

/** Minimum number, whatever the percentage: fewer would not spread. */
const NODES_MIN = 100;

/** Adaptive percentage: 50 % for few nodes, one point less for every 125 more, at least 5 %. */
const ADAPTIVE_PERCENT_MAX = 50;
const ADAPTIVE_PERCENT_MIN = 5;
const NODES_PER_PERCENT = 125;

/** `percentage` 0 is adaptive. */
export function nodesToFind({ nodes, percentage }: { readonly nodes: number; readonly percentage: number }): number {
  if (nodes < NODES_MIN) return nodes;
  const adaptive = Math.max(ADAPTIVE_PERCENT_MIN, ADAPTIVE_PERCENT_MAX - Math.floor(nodes / NODES_PER_PERCENT));
  const share = Math.floor((nodes * (percentage === 0 ? adaptive : percentage)) / 100);
  return Math.max(NODES_MIN, share);
}
