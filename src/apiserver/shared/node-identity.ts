/**
 * Identifies users that are nodes: `system:node:<name>` in the group `system:nodes`. The group is required, too, because a name alone can
 * come from any issuer. Used by the Node authorizer and the NodeRestriction admission plugin.
 */
import type { User } from "../framework/request.ts";

export const NODE_USER_PREFIX = "system:node:";

const NODES_GROUP = "system:nodes";

/** undefined: not a node. "": a node without a name. */
export function nodeNameOf({ name, groups }: User): string | undefined {
  if (!name.startsWith(NODE_USER_PREFIX) || !groups.includes(NODES_GROUP)) return undefined;
  return name.slice(NODE_USER_PREFIX.length);
}
