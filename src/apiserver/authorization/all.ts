/** The authorizers by their name in --authorization-mode. */
import type { AuthorizationModuleFactory } from "../framework/authorization.ts";
import { nodeAuthorizer } from "./node/node-authorizer.ts";
import { rbacAuthorizer } from "./rbac/rbac-authorizer.ts";
import { alwaysAllow, alwaysDeny } from "./always.ts";

export const authorizationModules: Readonly<Record<string, AuthorizationModuleFactory>> = {
  AlwaysAllow: alwaysAllow,
  AlwaysDeny: alwaysDeny,
  Node: nodeAuthorizer,
  RBAC: rbacAuthorizer,
};
