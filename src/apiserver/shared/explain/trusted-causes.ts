/**
 * Whose header `k8ts-cause` is believed: components of the cluster, administrators, and users with the permission to `post` to
 * /debug/k8ts/causes, such as the service account of a custom controller.
 */
import { KUBE_CONTROLLER_MANAGER, KUBE_PROXY, KUBE_SCHEDULER } from "../../../api/identities.ts";
import { CAUSES_PATH } from "../../../explain/explain-api.ts";
import type { Authorizer } from "../../framework/authorization.ts";
import type { User } from "../../framework/request.ts";

const COMPONENTS: readonly string[] = [KUBE_CONTROLLER_MANAGER.name, KUBE_PROXY.name, KUBE_SCHEDULER.name];

/** Controllers and nodes. Only administrators can issue credentials for these names. */
const COMPONENT_PREFIXES = ["system:serviceaccount:kube-system:", "system:node:"] as const;

export function mayNameCause(authorizer: Authorizer, user: User): boolean {
  const { name } = user;
  if (COMPONENTS.includes(name) || COMPONENT_PREFIXES.some((prefix) => name.startsWith(prefix))) return true;
  return authorizer.authorize({ user, verb: "post", path: CAUSES_PATH }).allowed;
}
