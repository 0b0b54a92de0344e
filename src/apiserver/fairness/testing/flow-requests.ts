/** Builders of requests and objects for tests of API Priority and Fairness. */
import type {
  FlowSchema,
  FlowSchemaSpec,
  LimitedPriorityLevelConfiguration,
  PriorityLevelConfiguration,
} from "../../../api/generated/flowcontrol.apiserver.k8s.io/v1.ts";
import type { FlowRequest, FlowUser } from "../../framework/flow-request.ts";

export function user(name: string, ...groups: readonly string[]): FlowUser {
  return { name, groups: [...groups, "system:authenticated"] };
}

export const JANE = user("jane");

/** Default: Jane lists Pods in "default". */
export function flowRequest(changes: Partial<FlowRequest> & { readonly user?: FlowUser } = {}): FlowRequest {
  const { user: by = JANE, ...rest } = changes;
  const place = { group: "", version: "v1", plural: "pods", subresource: "", namespace: "default", name: "" };
  return { verb: "list", ...place, options: {}, context: { user: by }, ...rest };
}

export function documentRequest(path: string, by: FlowUser = JANE): FlowRequest {
  return flowRequest({ path, verb: "get", version: "", plural: "", namespace: "", user: by });
}

export function priorityLevel(name: string, limited: LimitedPriorityLevelConfiguration): PriorityLevelConfiguration {
  return {
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    kind: "PriorityLevelConfiguration",
    metadata: { name, uid: `uid-of-level-${name}` },
    spec: { type: "Limited", limited },
  };
}

export function queuing(shares: number, queues: number, handSize: number, queueLengthLimit: number): LimitedPriorityLevelConfiguration {
  return {
    nominalConcurrencyShares: shares,
    lendablePercent: 0,
    limitResponse: { type: "Queue", queuing: { queues, handSize, queueLengthLimit } },
  };
}

export function flowSchema(name: string, spec: Partial<FlowSchemaSpec> & { readonly level: string }): FlowSchema {
  const { level, ...rest } = spec;
  return {
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    kind: "FlowSchema",
    metadata: { name, uid: `uid-of-schema-${name}` },
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence: 1_000,
      distinguisherMethod: { type: "ByUser" },
      rules: [
        {
          subjects: [{ kind: "Group", group: { name: "system:authenticated" } }],
          resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] }],
        },
      ],
      ...rest,
    },
  };
}
