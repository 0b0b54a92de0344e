/**
 * Whether a user is a node, and which: `system:node:<name>` in the group `system:nodes`. The group is needed, too, because a name alone
 * can come from any issuer. Asked by the Node authorizer and by the admission plugin that holds nodes to what is theirs.
 */
import type { User } from "../framework/request.ts";

export const NODE_USER_PREFIX = "system:node:";

const NODES_GROUP = "system:nodes";

/** undefined: no node. "": a node that does not say which. */
export function nodeNameOf({ name, groups }: User): string | undefined {
  if (!name.startsWith(NODE_USER_PREFIX) || !groups.includes(NODES_GROUP)) return undefined;
  return name.slice(NODE_USER_PREFIX.length);
}
