/**
 * Identifies users that are service accounts, and their node: `system:serviceaccount:<namespace>:<name>`, with two valid names. Tokens that
 * are bound to a Pod or a node have the node in the user's extra fields.
 */
import { validateDnsLabel, validateDnsSubdomain } from "../../api/machinery/names.ts";
import type { User } from "../framework/request.ts";

const PREFIX = "system:serviceaccount:";
const NODE_NAME = "authentication.kubernetes.io/node-name";

export function serviceAccountOf(user: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!user.startsWith(PREFIX)) return undefined;
  const [namespace = "", name = "", ...more] = user.slice(PREFIX.length).split(":");
  if (more.length > 0 || validateDnsLabel(namespace).length > 0 || validateDnsSubdomain(name).length > 0) return undefined;
  return { namespace, name };
}

/** True for a service account whose token is bound to that node, or to a Pod on it. */
export function isOnNode({ name, extra = {} }: User, node: string): boolean {
  const [own, ...others] = (Object.hasOwn(extra, NODE_NAME) ? extra[NODE_NAME] : undefined) ?? [];
  if (own !== node || others.length > 0 || validateDnsSubdomain(own).length > 0) return false;
  return serviceAccountOf(name) !== undefined;
}
