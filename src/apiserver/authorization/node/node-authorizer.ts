/**
 * The Node authorizer: a kubelet may access the objects that its pods reference, and nothing of other nodes. It never denies: other
 * authorizers (RBAC) may still allow. Equivalent to upstream's authorizer of this name; node-graph.ts has the references.
 */
import { NO_OPINION, type AccessDecision, type AuthorizationModuleFactory } from "../../framework/authorization.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { nodeNameOf } from "../../shared/node-identity.ts";
import { graphFollowers } from "./graph-followers.ts";
import { NodeGraph } from "./node-graph.ts";
import { ruleFor } from "./resource-rules.ts";
import { isAllowedForAllNodes } from "./uniform-rules.ts";

const ALLOWED: AccessDecision = { allowed: true, authorizer: "Node" };

export const nodeAuthorizer: AuthorizationModuleFactory = ({ objects }) => {
  const graph = new NodeGraph();
  let isStarted = false;
  return {
    name: "Node",

    authorize({ user, verb, resource }) {
      const node = nodeNameOf(user);
      if (node === undefined || !isStarted) return NO_OPINION;
      if (node === "") return { allowed: false, reason: `unknown node for user ${quoteGo(user.name)}` };
      if (resource === undefined) return NO_OPINION;
      const rule = ruleFor(resource);
      if (rule === undefined) return isAllowedForAllNodes(verb, resource) ? ALLOWED : NO_OPINION;
      const refusal = rule({ node, verb, resource, graph });
      if (refusal === undefined) return ALLOWED;
      return refusal === "" ? NO_OPINION : { allowed: false, reason: refusal };
    },

    rulesFor(user) {
      const none = { resourceRules: [], nonResourceRules: [] };
      if (nodeNameOf(user) === undefined) return { ...none, incomplete: false };
      return { ...none, incomplete: true, evaluationError: "node authorizer does not support user rule resolution" };
    },

    async start() {
      await Promise.all(graphFollowers(graph).map(([kind, follower]) => objects.follow(kind, follower)));
      isStarted = true;
    },
  };
};
