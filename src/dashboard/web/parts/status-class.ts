/** Colours of states. The text is always shown, too: colour alone carries no information. Pure. */

const GOOD = /^(Running|Ready|Active|Bound|Available|Completed|Complete|Succeeded|True|Healthy|Normal)$/;
const WAITING =
  /^(Pending|ContainerCreating|PodInitializing|Init:.*|Terminating|Released|Unknown|NotReady|SchedulingDisabled|Suspended|Paused|Progressing|Waiting)(,.*)?$/;

export function statusClass(status: string): string {
  if (GOOD.test(status)) return "state good";
  return WAITING.test(status) ? "state waiting" : "state bad";
}
