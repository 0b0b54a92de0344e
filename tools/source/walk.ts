/** Visits every node of a syntax tree, parents before children. */
import { visitorKeys, type Node } from "oxc-parser";

export interface Visit {
  readonly node: Node;
  /** Undefined at the root. */
  readonly parent: Node | undefined;
  /** The field of the parent that holds the node: "callee", "arguments". */
  readonly field: string;
}

/** `enter` returns "skip" to skip the children. */
export function walk(root: Node, enter: (visit: Visit) => "skip" | void): void {
  const pending: Visit[] = [{ node: root, parent: undefined, field: "" }];
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    if (enter(visit) === "skip") continue;
    const { node } = visit;
    // In reverse, since the last one pushed is visited first.
    for (const field of visitorKeys[node.type]?.toReversed() ?? []) {
      for (const child of childrenIn(node, field).toReversed()) pending.push({ node: child, parent: node, field });
    }
  }
}

function childrenIn(node: Node, field: string): Node[] {
  const value: unknown = Reflect.get(node, field);
  return (Array.isArray(value) ? value : [value]).filter(isNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}
