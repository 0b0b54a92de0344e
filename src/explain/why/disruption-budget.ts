/** A PodDisruptionBudget that allows no eviction, which blocks the drain of nodes. */
import { labelSelectorFromObject } from "../../api/machinery/selectors/label-selector.ts";
import type { ClusterView, Seen, Subject } from "./cluster-view.ts";
import { conditionOf, defineExplainer, found, nameOf, patch, subjectOf, type Finding } from "./explainer.ts";
import { labelsOf } from "./pod-template.ts";

export const BUDGETS = "poddisruptionbudgets.policy";

export const disruptionBudget = defineExplainer({
  resources: [BUDGETS],
  explain(object, subject, { view, explain }) {
    const { disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0, expectedPods = 0 } = object.status ?? {};
    const text = `${nameOf(subject)} allows no eviction`;
    const allowed = conditionOf(object, "DisruptionAllowed");
    if (allowed?.status === "False" && allowed.reason === "SyncFailed")
      return found({ text, because: [{ text: allowed.message, root: "SyncFailed" }] });
    if (disruptionsAllowed > 0) return undefined;
    const pods = coveredBy(object, view);
    if (expectedPods === 0 || pods.length === 0) return undefined;
    if (currentHealthy < desiredHealthy) {
      const explained = pods.flatMap((pod) => explain(subjectOf("pods", pod)) ?? []);
      const short = `${currentHealthy} of ${expectedPods} Pods are healthy, and ${desiredHealthy} must be`;
      const because: readonly Finding[] = explained.slice(0, 1).map(({ finding }) => finding);
      if (because.length > 0)
        return found(
          { text, because: [{ text: short, because }] },
          explained[0]?.remedies.map((each) => ({ ...each, goal: subject })),
        );
      return found({ text, because: [{ text: short, root: "TooFewHealthyPods" }] });
    }
    const cause = {
      text: `all ${expectedPods} Pods are healthy, and ${desiredHealthy} must be: none may be evicted, so that a drain never ends`,
      root: "NoDisruptionAllowed",
    };
    return found({ text, because: [cause] }, [
      {
        text: "Allow the eviction of one Pod at a time; with a single Pod that is an interruption",
        changes: [patch(subject, { spec: { minAvailable: null, maxUnavailable: 1 } })],
      },
    ]);
  },
});

function coveredBy(budget: Seen, view: ClusterView): readonly Seen[] {
  const selector = labelSelectorFromObject(budget.spec.selector);
  return view
    .list("pods", budget.metadata.namespace)
    .filter(({ metadata, status }) => isActive(status) && selector.matches(labelsOf(metadata.labels)));
}

function isActive(status: Seen): boolean {
  return !["Succeeded", "Failed"].includes(status?.phase);
}

/** The Pods of a node whose eviction a budget refuses now. */
export function blockedEvictions(nodeName: string, view: ClusterView): readonly { readonly pod: Seen; readonly budget: Subject }[] {
  const exhausted = view.list(BUDGETS).filter(({ status }) => (status?.disruptionsAllowed ?? 0) === 0);
  return exhausted.flatMap((budget) =>
    coveredBy(budget, view)
      .filter(({ spec, metadata }) => spec.nodeName === nodeName && metadata.deletionTimestamp === undefined)
      .map((pod) => ({ pod, budget: subjectOf(BUDGETS, budget) })),
  );
}

/** The budgets that cover a Pod; none if it does not exist any more. */
export function budgetsOf(pod: Subject, view: ClusterView): readonly Subject[] {
  return view
    .list(BUDGETS, pod.namespace)
    .filter((budget) => coveredBy(budget, view).some(({ metadata }) => metadata.name === pod.name))
    .map((budget) => subjectOf(BUDGETS, budget));
}
