/**
 * Whether a user is a service account, which, and where it runs: `system:serviceaccount:<namespace>:<name>`, with both names as they can
 * be. Tokens that are bound to a pod or a node say in the user's extra fields on which node that is.
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

/** Whether it is a service account whose token was made for that node, or for a pod on it. */
export function isOnNode({ name, extra = {} }: User, node: string): boolean {
  const [own, ...others] = (Object.hasOwn(extra, NODE_NAME) ? extra[NODE_NAME] : undefined) ?? [];
  if (own !== node || others.length > 0 || validateDnsSubdomain(own).length > 0) return false;
  return serviceAccountOf(name) !== undefined;
}
