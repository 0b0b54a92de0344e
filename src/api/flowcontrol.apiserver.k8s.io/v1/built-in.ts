/**
 * The FlowSchemas and PriorityLevelConfigurations that every cluster has. They are made when a server starts, if they are missing.
 *
 * The mandatory ones always say what stands here, since without them a request could match nothing; validation holds clients to it.
 * The suggested ones are for a cluster to begin with: who changes one keeps it, and annotates it so that servers leave it alone.
 * Not here: who makes and mends them (apiserver).
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

/** "true" on an object: servers bring its spec up to date with theirs. "false": whoever changed it wants to keep it. */
export const AUTO_UPDATE_ANNOTATION = "apf.kubernetes.io/autoupdate-spec";

/** Waiting requests of one queue: enough for a burst, and few enough that none of them waits for longer than its client. */
const QUEUE_LENGTH_LIMIT = 50;

// Every request, whatever it is for.
const EVERY_RESOURCE: ResourcePolicyRule = {
  verbs: ["*"],
  apiGroups: ["*"],
  resources: ["*"],
  clusterScope: true,
  namespaces: ["*"],
};
const EVERY_PATH: NonResourcePolicyRule = { verbs: ["*"], nonResourceURLs: ["*"] };

// Who asks.
const EVERYBODY = [group("system:unauthenticated"), group("system:authenticated")];
const NODES = [group("system:nodes")];
const CONTROLLER_MANAGER = user("system:kube-controller-manager");
const SCHEDULER = user("system:kube-scheduler");
const SYSTEM_SERVICE_ACCOUNTS: Subject = { kind: "ServiceAccount", serviceAccount: { namespace: "kube-system", name: "*" } };

export const builtInPriorityLevels: readonly BuiltIn<PriorityLevelConfiguration>[] = deepFreeze([
  // Administrators, who must get through to mend whatever is wrong, and health checks. Nothing waits here.
  mandatory(priorityLevel("exempt", { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } })),
  // What nothing else matches, which is nothing unless global-default was removed: little, and nobody waits for it.
  mandatory(priorityLevel("catch-all", limited({ shares: 5, lendablePercent: 0 }))),
  // Nodes, for all but their health.
  suggested(priorityLevel("system", limited({ shares: 30, lendablePercent: 33, queues: 64, handSize: 6 }))),
  // The health of nodes: it is told in time even while many Pods start, or they would be moved for nothing.
  suggested(priorityLevel("node-high", limited({ shares: 40, lendablePercent: 25, queues: 64, handSize: 6 }))),
  // Who loses its lease stops working, so keeping one must never wait for other work.
  suggested(priorityLevel("leader-election", limited({ shares: 10, lendablePercent: 0, queues: 16, handSize: 4 }))),
  // Built-in controllers and the scheduler.
  suggested(priorityLevel("workload-high", limited({ shares: 40, lendablePercent: 50, queues: 128, handSize: 6 }))),
  // All other controllers. They are many and seldom busy, so nearly all of it can be lent.
  suggested(priorityLevel("workload-low", limited({ shares: 100, lendablePercent: 90, queues: 128, handSize: 6 }))),
  // People and everything else.
  suggested(priorityLevel("global-default", limited({ shares: 20, lendablePercent: 50, queues: 128, handSize: 6 }))),
]);

/** By matchingPrecedence, and then by name: the order of asking. */
export const builtInFlowSchemas: readonly BuiltIn<FlowSchema>[] = deepFreeze([
  mandatory(flowSchema("exempt", { precedence: 1, level: "exempt", rule: everythingOf(group("system:masters")) })),
  suggested(
    flowSchema("probes", {
      precedence: 2,
      level: "exempt",
      rule: { subjects: EVERYBODY, nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/readyz", "/livez"] }] },
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
    flowSchema("global-default", { precedence: 9_900, level: "global-default", flows: "ByUser", rule: everythingOf(...EVERYBODY) }),
  ),
  mandatory(flowSchema("catch-all", { precedence: 10_000, level: "catch-all", flows: "ByUser", rule: everythingOf(...EVERYBODY) })),
]);

/** What the spec of a FlowSchema of this name must be. Undefined: it may be anything. */
export function mandatoryFlowSchemaSpec(name: string): FlowSchemaSpec | undefined {
  return builtInFlowSchemas.find(({ object, mandatory: isFixed }) => isFixed && object.metadata.name === name)?.object.spec;
}

/** As above, of a PriorityLevelConfiguration. */
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
  /** Without queues, what is too much is refused at once. */
  readonly queues?: number;
  /** How many of the queues one flow is dealt: a flow that fills all of its own leaves most to the others. */
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
  /** What tells one flow from another. Absent: all requests are one. */
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
