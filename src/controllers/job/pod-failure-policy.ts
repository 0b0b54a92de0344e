/** What the Pod failure policy of a Job makes of a failed Pod: the first rule that matches decides. Messages are upstream's. */
import type { PodFailurePolicy, PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyRule } from "../../api/generated/batch/v1.ts";
import type { ContainerStatus, Pod } from "../../api/generated/core/v1.ts";

export interface FailureMatch {
  /** Absent: no rule matches, and the failure counts. */
  readonly action?: PodFailurePolicyRule["action"];
  /** Whether it counts towards the back-off limits. */
  readonly counts: boolean;
  /** For FailJob: the message of the Job's condition. */
  readonly failJobMessage?: string;
}

const NO_MATCH: FailureMatch = { counts: true };

export function matchFailurePolicy(policy: PodFailurePolicy | undefined, pod: Pod): FailureMatch {
  for (const [index, rule] of (policy?.rules ?? []).entries()) {
    const cause = causeOf(rule, pod);
    if (cause === undefined) continue;
    const { action } = rule;
    if (action === "FailJob") return { action, counts: true, failJobMessage: `${cause} matching ${action} rule at index ${index}` };
    return { action, counts: action !== "Ignore" };
  }
  return NO_MATCH;
}

/** What matches the rule, as the beginning of the message; undefined if nothing does. */
function causeOf({ onExitCodes, onPodConditions }: PodFailurePolicyRule, pod: Pod): string | undefined {
  const shown = `${pod.metadata.namespace}/${pod.metadata.name}`;
  if (onExitCodes !== undefined) {
    const container = failedContainer(pod, onExitCodes);
    const code = container?.state?.terminated?.exitCode;
    return container === undefined ? undefined : `Container ${container.name} for pod ${shown} failed with exit code ${code}`;
  }
  const condition = pod.status?.conditions?.find(({ type, status }) =>
    onPodConditions?.some((pattern) => pattern.type === type && (pattern.status ?? "True") === status),
  );
  return condition === undefined ? undefined : `Pod ${shown} has condition ${condition.type}`;
}

/** Regular containers first, then init containers. */
function failedContainer({ status }: Pod, rule: PodFailurePolicyOnExitCodesRequirement): ContainerStatus | undefined {
  const matches = ({ name, state }: ContainerStatus): boolean => {
    const code = state?.terminated?.exitCode ?? 0;
    if (code === 0 || (rule.containerName !== undefined && rule.containerName !== name)) return false;
    return rule.values.includes(code) === (rule.operator === "In");
  };
  return status?.containerStatuses?.find(matches) ?? status?.initContainerStatuses?.find(matches);
}
