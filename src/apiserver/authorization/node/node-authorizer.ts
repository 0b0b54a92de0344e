/** Placeholder until it is written. */
import { NO_OPINION, type AuthorizationModuleFactory } from "../../authorization.ts";

export const nodeAuthorizer: AuthorizationModuleFactory = () => ({
  name: "Node",
  authorize: () => NO_OPINION,
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: true }),
  start: () => Promise.resolve(),
});
