/** An object of any other kind, a custom one for instance, whose conditions report a problem: what its controller says is all that is known. */
import type { Seen } from "./cluster-view.ts";
import { defineExplainer, found, nameOf, since, type Finding } from "./explainer.ts";

/** Conditions that are "True" when all is well, by the conventions of the API, and of projects that many clusters run. */
const WELL = new Set([
  ...["Ready", "Available", "Established", "NamesAccepted", "Accepted", "Programmed", "ResolvedRefs", "Initialized", "Reconciled"],
  ...["Synced", "Healthy", "Valid", "Bound", "Issued", "Approved", "Succeeded"],
]);

/** Those that are "True" when something is wrong. */
const PROBLEM = new Set(["Failed", "Failure", "Degraded", "Stalled", "NonStructuralSchema"]);

export const conditions = defineExplainer({
  resources: ["others", "customresourcedefinitions.apiextensions.k8s.io"],
  explain(object, subject) {
    const reported = ((object.status?.conditions ?? []) as readonly Seen[]).filter(isProblem);
    if (reported.length === 0) return undefined;
    const [first] = reported;
    return found({
      text: `${nameOf(subject)} reports ${first.type} ${first.status}${since(first.lastTransitionTime)}`,
      because: reported.map(findingOf),
    });
  },
});

function isProblem({ type, status }: Seen): boolean {
  return status === (PROBLEM.has(type) ? "True" : WELL.has(type) ? "False" : undefined);
}

function findingOf({ type, status, reason, message }: Seen): Finding {
  const text = [reason, message].filter(Boolean).join(": ");
  return text === ""
    ? { text: `its controller reports ${type} ${status} without a reason`, isUnknown: true }
    : { text: `its controller reports ${type} ${status}: ${text}`, root: String(reason || type) };
}
