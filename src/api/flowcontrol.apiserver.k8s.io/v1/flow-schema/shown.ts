/** Formats a FlowSchema's spec as in upstream's messages: with Go field names, in their order, and null for absent values. */
import type {
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from "../../../generated/flowcontrol.apiserver.k8s.io/v1.ts";

export function shownSpec({ priorityLevelConfiguration, matchingPrecedence, distinguisherMethod, rules }: FlowSchemaSpec): object {
  return {
    PriorityLevelConfiguration: { Name: priorityLevelConfiguration.name },
    MatchingPrecedence: matchingPrecedence ?? 0,
    DistinguisherMethod: distinguisherMethod === undefined ? null : { Type: distinguisherMethod.type },
    Rules: rules?.map(shownRule) ?? null,
  };
}

function shownRule({ subjects, resourceRules, nonResourceRules }: Partial<PolicyRulesWithSubjects>): object {
  return {
    Subjects: subjects?.map(shownSubject) ?? null,
    ResourceRules: resourceRules?.map(shownResourceRule) ?? null,
    NonResourceRules: nonResourceRules?.map(shownNonResourceRule) ?? null,
  };
}

function shownSubject({ kind, user, group, serviceAccount }: Subject): object {
  return {
    Kind: kind,
    User: user === undefined ? null : { Name: user.name },
    Group: group === undefined ? null : { Name: group.name },
    ServiceAccount: serviceAccount === undefined ? null : { Namespace: serviceAccount.namespace, Name: serviceAccount.name },
  };
}

function shownResourceRule({ verbs, apiGroups, resources, clusterScope, namespaces }: Partial<ResourcePolicyRule>): object {
  return {
    Verbs: verbs ?? null,
    APIGroups: apiGroups ?? null,
    Resources: resources ?? null,
    ClusterScope: clusterScope ?? false,
    Namespaces: namespaces ?? null,
  };
}

function shownNonResourceRule({ verbs, nonResourceURLs }: Partial<NonResourcePolicyRule>): object {
  return { Verbs: verbs ?? null, NonResourceURLs: nonResourceURLs ?? null };
}
