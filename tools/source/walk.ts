/** Every node of a syntax tree, parents before children. */
import { visitorKeys, type Node } from "oxc-parser";

export interface Visit {
  readonly node: Node;
  /** Undefined at the root. */
  readonly parent: Node | undefined;
  /** The field of the parent that holds the node: "callee", "arguments". */
  readonly field: string;
}

/** `enter` says "skip" where what is inside is of no interest. */
export function walk(root: Node, enter: (visit: Visit) => "skip" | void): void {
  const pending: Visit[] = [{ node: root, parent: undefined, field: "" }];
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    if (enter(visit) === "skip") continue;
    const { node } = visit;
    // Last first, since the one pushed last is looked at first.
    for (const field of visitorKeys[node.type]?.toReversed() ?? []) {
      for (const child of childrenIn(node, field).toReversed()) pending.push({ node: child, parent: node, field });
    }
  }
}

function childrenIn(node: Node, field: string): Node[] {
  const value: unknown = (node as unknown as Record<string, unknown>)[field];
  return (Array.isArray(value) ? value : [value]).filter(isNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}
