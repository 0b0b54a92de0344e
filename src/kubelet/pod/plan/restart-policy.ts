/** Whether an exited container restarts: its own policy and rules take precedence over the Pod's. */
import type { Container, ContainerRestartRule, PodSpec } from "../../../api/generated/core/v1.ts";

/** Rules that restart the whole Pod restart only the container: it runs again, as requested, beside the others. */
const RESTARTING_ACTIONS = ["Restart", "RestartAllContainers"];

/** As upstream's ContainerShouldRestart. */
export function shouldRestart(container: Container, spec: PodSpec, exitCode: number): boolean {
  const { restartPolicy, restartPolicyRules = [] } = container;
  if (restartPolicy !== undefined && restartPolicyRules.some((rule) => demandsRestart(rule, exitCode))) return true;
  switch (restartPolicy ?? spec.restartPolicy) {
    case "Never":
      return false;
    case "OnFailure":
      return exitCode !== 0;
    default:
      return true;
  }
}

function demandsRestart({ action, exitCodes }: ContainerRestartRule, exitCode: number): boolean {
  if (exitCodes === undefined || !RESTARTING_ACTIONS.includes(action)) return false;
  const isAmong = exitCodes.values?.includes(exitCode) === true;
  return exitCodes.operator === "NotIn" ? !isAmong : isAmong;
}
