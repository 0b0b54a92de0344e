/** AlwaysAllow and AlwaysDeny: for single-user clusters, and for tests of what depends on permissions. */
import type { AuthorizationModuleFactory } from "../framework/authorization.ts";

export const alwaysAllow: AuthorizationModuleFactory = () => ({
  name: "AlwaysAllow",
  authorize: () => ({ allowed: true, authorizer: "AlwaysAllow" }),
  rulesFor: () => ({
    resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
    nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
    incomplete: false,
  }),
  start: () => Promise.resolve(),
});

export const alwaysDeny: AuthorizationModuleFactory = () => ({
  name: "AlwaysDeny",
  authorize: () => ({ allowed: false, reason: "Everything is forbidden." }),
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
  start: () => Promise.resolve(),
});
