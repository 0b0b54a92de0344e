/** Whether an exited container restarts: its own policy and rules take precedence over the Pod's. */
import type { Container, ContainerRestartRule, PodSpec } from "../../../api/generated/core/v1.ts";

/** Action of rules that restart all containers of the Pod (restart-all.ts). */
export const RESTART_ALL = "RestartAllContainers";

/** As upstream's ContainerShouldRestart. */
export function shouldRestart(container: Container, spec: PodSpec, exitCode: number): boolean {
  const { restartPolicy } = container;
  if (restartPolicy !== undefined && RESTARTING_ACTIONS.includes(matchingRule(container, exitCode)?.action ?? "")) return true;
  switch (restartPolicy ?? spec.restartPolicy) {
    case "Never":
      return false;
    case "OnFailure":
      return exitCode !== 0;
    default:
      return true;
  }
}

const RESTARTING_ACTIONS = ["Restart", RESTART_ALL];

/** The first rule for this exit code. */
export function matchingRule({ restartPolicyRules = [] }: Container, exitCode: number): ContainerRestartRule | undefined {
  return restartPolicyRules.find(({ exitCodes }) => {
    if (exitCodes === undefined) return false;
    const isAmong = exitCodes.values?.includes(exitCode) === true;
    return exitCodes.operator === "NotIn" ? !isAmong : isAmong;
  });
}
