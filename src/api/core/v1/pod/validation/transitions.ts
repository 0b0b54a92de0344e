/** A terminated container stays terminated, unless a restart is allowed by its rules, its policy, or the Pod's policy. */
import type { Container, ContainerStatus, PodSpec, PodStatus } from "../../../../generated/core/v1.ts";
import { firstByName } from "../containers.ts";
import { forbidden } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";

export function validateStateTransitions(errors: FieldErrors, next: PodStatus, previous: PodStatus, spec: PodSpec): void {
  // With such a rule the exit of one container can restart all of them.
  const canAllRestart = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].some(({ restartPolicyRules }) =>
    (restartPolicyRules ?? []).some(({ action }) => action === "RestartAllContainers"),
  );
  if (!canAllRestart) {
    validateTransitions(
      errors,
      next.containerStatuses,
      previous.containerStatuses,
      "status.containerStatuses",
      restartRule(spec.containers, spec),
    );
    validateTransitions(
      errors,
      next.initContainerStatuses,
      previous.initContainerStatuses,
      "status.initContainerStatuses",
      restartRule(spec.initContainers, spec),
    );
  }
  const { ephemeralContainerStatuses } = next;
  validateTransitions(
    errors,
    ephemeralContainerStatuses,
    previous.ephemeralContainerStatuses,
    "status.ephemeralContainerStatuses",
    () => false,
  );
}

type Statuses = readonly ContainerStatus[] | undefined;

function validateTransitions(errors: FieldErrors, next: Statuses, previous: Statuses, at: string, isRestarted: RestartRule): void {
  const fresh = firstByName(next ?? []);
  for (const [index, { name, state }] of (previous ?? []).entries()) {
    if (state?.terminated === undefined) continue;
    const now = fresh.get(name);
    if (now === undefined || now.state?.terminated !== undefined || isRestarted(name, state.terminated.exitCode ?? 0)) continue;
    errors.add(forbidden(`${at}[${index}].state`, "may not be transitioned to non-terminated state"));
  }
}

/** True if the named container restarts after this exit. */
type RestartRule = (name: string, exitCode: number) => boolean;

function restartRule(containers: readonly Container[] | undefined, spec: PodSpec): RestartRule {
  const byName = firstByName(containers ?? []);
  return (name, exitCode) => {
    const container = byName.get(name);
    if (container === undefined) return false;
    if (container.restartPolicy !== undefined && hasMatchingRule(container, exitCode)) return true;
    return isRestartedBy(container.restartPolicy ?? spec.restartPolicy ?? "Always", exitCode);
  };
}

function hasMatchingRule({ restartPolicyRules }: Container, exitCode: number): boolean {
  const rule = (restartPolicyRules ?? []).find(({ exitCodes }) => {
    if (exitCodes === undefined) return false;
    const isListed = (exitCodes.values ?? []).includes(exitCode);
    return exitCodes.operator === "In" ? isListed : exitCodes.operator === "NotIn" && !isListed;
  });
  return rule?.action === "Restart" || rule?.action === "RestartAllContainers";
}

function isRestartedBy(policy: string, exitCode: number): boolean {
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}
