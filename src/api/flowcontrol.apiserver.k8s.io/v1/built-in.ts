/**
 * The FlowSchemas and PriorityLevelConfigurations that every cluster has. They are created at server start if missing.
 *
 * The mandatory ones are fixed, since without them a request could match nothing; validation enforces it. The suggested ones are defaults:
 * an administrator may change one, and annotates it so that servers do not revert it. Not here: creating and updating them (apiserver).
 */
import { deepFreeze } from "../../../base/deep.ts";
import type {
  FlowSchema,
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
  ResourcePolicyRule,
  Subject,
} from "../../generated/flowcontrol.apiserver.k8s.io/v1.ts";

export interface BuiltIn<T> {
  readonly object: T;
  readonly mandatory: boolean;
}

/** "true" on an object: servers update its spec. "false": the administrator keeps their own. */
export const AUTO_UPDATE_ANNOTATION = "apf.kubernetes.io/autoupdate-spec";

/** Maximum requests per queue: enough for a burst, and few enough that none of them waits longer than its client. */
const QUEUE_LENGTH_LIMIT = 50;

// Matches every request.
const EVERY_RESOURCE: ResourcePolicyRule = {
  verbs: ["*"],
  apiGroups: ["*"],
  resources: ["*"],
  clusterScope: true,
  namespaces: ["*"],
};
const EVERY_PATH: NonResourcePolicyRule = { verbs: ["*"], nonResourceURLs: ["*"] };

// Subjects.
const ALL_USERS = [group("system:unauthenticated"), group("system:authenticated")];
const NODES = [group("system:nodes")];
const CONTROLLER_MANAGER = user("system:kube-controller-manager");
const SCHEDULER = user("system:kube-scheduler");
const SYSTEM_SERVICE_ACCOUNTS: Subject = { kind: "ServiceAccount", serviceAccount: { namespace: "kube-system", name: "*" } };

export const builtInPriorityLevels: readonly BuiltIn<PriorityLevelConfiguration>[] = deepFreeze([
  // Administrators, who must be able to repair anything, and health checks. Never queued.
  mandatory(priorityLevel("exempt", { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } })),
  // Requests that nothing else matches, which are none unless global-default was removed: few shares, no queue.
  mandatory(priorityLevel("catch-all", limited({ shares: 5, lendablePercent: 0 }))),
  // Nodes, except their health.
  suggested(priorityLevel("system", limited({ shares: 30, lendablePercent: 33, queues: 64, handSize: 6 }))),
  // Node health: reported in time even while many Pods start, or they would be evicted for no reason.
  suggested(priorityLevel("node-high", limited({ shares: 40, lendablePercent: 25, queues: 64, handSize: 6 }))),
  // Leader election: a component that loses its lease stops, so renewing one must never wait for other work.
  suggested(priorityLevel("leader-election", limited({ shares: 10, lendablePercent: 0, queues: 16, handSize: 4 }))),
  // Built-in controllers and the scheduler.
  suggested(priorityLevel("workload-high", limited({ shares: 40, lendablePercent: 50, queues: 128, handSize: 6 }))),
  // All other controllers. They are many and seldom busy, so nearly all of it can be lent.
  suggested(priorityLevel("workload-low", limited({ shares: 100, lendablePercent: 90, queues: 128, handSize: 6 }))),
  // People and everything else.
  suggested(priorityLevel("global-default", limited({ shares: 20, lendablePercent: 50, queues: 128, handSize: 6 }))),
]);

/** By matchingPrecedence, and then by name: the matching order. */
export const builtInFlowSchemas: readonly BuiltIn<FlowSchema>[] = deepFreeze([
  mandatory(flowSchema("exempt", { precedence: 1, level: "exempt", rule: everythingOf(group("system:masters")) })),
  suggested(
    flowSchema("probes", {
      precedence: 2,
      level: "exempt",
      rule: { subjects: ALL_USERS, nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/readyz", "/livez"] }] },
    }),
  ),
  suggested(
    flowSchema("system-leader-election", {
      precedence: 100,
      level: "leader-election",
      flows: "ByUser",
      rule: {
        subjects: [CONTROLLER_MANAGER, SCHEDULER, SYSTEM_SERVICE_ACCOUNTS],
        resourceRules: [leases(["get", "create", "update"])],
      },
    }),
  ),
  suggested(
    flowSchema("system-node-high", {
      precedence: 400,
      level: "node-high",
      flows: "ByUser",
      rule: {
        subjects: NODES,
        resourceRules: [{ ...EVERY_RESOURCE, apiGroups: [""], resources: ["nodes", "nodes/status"] }, leases(["*"])],
      },
    }),
  ),
  suggested(flowSchema("system-nodes", { precedence: 500, level: "system", flows: "ByUser", rule: everythingOf(...NODES) })),
  suggested(
    flowSchema("kube-controller-manager", {
      precedence: 800,
      level: "workload-high",
      flows: "ByNamespace",
      rule: everythingOf(CONTROLLER_MANAGER),
    }),
  ),
  suggested(flowSchema("kube-scheduler", { precedence: 800, level: "workload-high", flows: "ByNamespace", rule: everythingOf(SCHEDULER) })),
  suggested(
    flowSchema("kube-system-service-accounts", {
      precedence: 900,
      level: "workload-high",
      flows: "ByNamespace",
      rule: everythingOf(SYSTEM_SERVICE_ACCOUNTS),
    }),
  ),
  suggested(
    flowSchema("service-accounts", {
      precedence: 9_000,
      level: "workload-low",
      flows: "ByUser",
      rule: everythingOf(group("system:serviceaccounts")),
    }),
  ),
  suggested(
    flowSchema("global-default", { precedence: 9_900, level: "global-default", flows: "ByUser", rule: everythingOf(...ALL_USERS) }),
  ),
  mandatory(flowSchema("catch-all", { precedence: 10_000, level: "catch-all", flows: "ByUser", rule: everythingOf(...ALL_USERS) })),
]);

/** The required spec of a FlowSchema of this name. Undefined: not fixed. */
export function mandatoryFlowSchemaSpec(name: string): FlowSchemaSpec | undefined {
  return builtInFlowSchemas.find(({ object, mandatory: isFixed }) => isFixed && object.metadata.name === name)?.object.spec;
}

/** The same for a PriorityLevelConfiguration. */
export function mandatoryPriorityLevelSpec(name: string): PriorityLevelConfigurationSpec | undefined {
  return builtInPriorityLevels.find(({ object, mandatory: isFixed }) => isFixed && object.metadata.name === name)?.object.spec;
}

function mandatory<T>(object: T): BuiltIn<T> {
  return { object, mandatory: true };
}

function suggested<T>(object: T): BuiltIn<T> {
  return { object, mandatory: false };
}

function priorityLevel(name: string, spec: PriorityLevelConfigurationSpec): PriorityLevelConfiguration {
  return {
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    kind: "PriorityLevelConfiguration",
    metadata: { name, annotations: { [AUTO_UPDATE_ANNOTATION]: "true" } },
    spec,
  };
}

interface Limits {
  readonly shares: number;
  readonly lendablePercent: number;
  /** Without queues, excess requests are rejected at once. */
  readonly queues?: number;
  /** Hand size: how many of the queues one flow uses, so that a flow that fills its own leaves most to the others. */
  readonly handSize?: number;
}

function limited({ shares, lendablePercent, queues, handSize = 0 }: Limits): PriorityLevelConfigurationSpec {
  const queuing: QueuingConfiguration | undefined =
    queues === undefined ? undefined : { queues, handSize, queueLengthLimit: QUEUE_LENGTH_LIMIT };
  return {
    type: "Limited",
    limited: {
      nominalConcurrencyShares: shares,
      limitResponse: queuing === undefined ? { type: "Reject" } : { type: "Queue", queuing },
      lendablePercent,
    },
  };
}

interface Flow {
  readonly precedence: number;
  readonly level: string;
  /** Flow distinguisher. Absent: all requests are one flow. */
  readonly flows?: "ByUser" | "ByNamespace";
  readonly rule: PolicyRulesWithSubjects;
}

function flowSchema(name: string, { precedence, level, flows, rule }: Flow): FlowSchema {
  return {
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    kind: "FlowSchema",
    metadata: { name, annotations: { [AUTO_UPDATE_ANNOTATION]: "true" } },
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence: precedence,
      ...(flows === undefined ? {} : { distinguisherMethod: { type: flows } }),
      rules: [rule],
    },
  };
}

function everythingOf(...subjects: readonly Subject[]): PolicyRulesWithSubjects {
  return { subjects, resourceRules: [EVERY_RESOURCE], nonResourceRules: [EVERY_PATH] };
}

function leases(verbs: readonly string[]): ResourcePolicyRule {
  return { verbs, apiGroups: ["coordination.k8s.io"], resources: ["leases"], namespaces: ["*"] };
}

function group(name: string): Subject {
  return { kind: "Group", group: { name } };
}

function user(name: string): Subject {
  return { kind: "User", user: { name } };
}
