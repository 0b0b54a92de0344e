/**
 * Which Pods of a node cannot be evicted without violating a PodDisruptionBudget. Preemption violates budgets if there is no other way; it
 * only prefers not to. The last computed `status.disruptionsAllowed` is trusted.
 */
import type { PodDisruptionBudget } from "../../../api/generated/policy/v1.ts";
import { labelSelectorFromObject, NOTHING, type LabelSelector } from "../../../api/machinery/selectors/label-selector.ts";
import { SelectorError } from "../../../api/machinery/selectors/label-requirement.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import type { ClusterView } from "../../framework/plugin.ts";

/** Pods in the order in which they are spared. */
export interface SparingOrder {
  readonly pods: readonly PodInfo[];
  /** That many at the start would violate a budget. */
  readonly violating: number;
}

interface Budget {
  readonly selector: LabelSelector;
  readonly allowed: number;
  /** Those whose eviction is already counted in `allowed`, by name. */
  readonly disrupted: Readonly<Record<string, unknown>>;
}

const NO_BUDGETS: readonly Budget[] = [];

/** The budgets at one instant: created for each preemption attempt. */
export class DisruptionBudgets {
  readonly #cluster: Pick<ClusterView, "podDisruptionBudgets">;
  readonly #ofNamespace = new Map<string, readonly Budget[]>();

  constructor(cluster: Pick<ClusterView, "podDisruptionBudgets">) {
    this.#cluster = cluster;
  }

  /** Those that would violate a budget, given all before them are evicted, too, come first; otherwise the order stays. */
  sparingOrder(pods: readonly PodInfo[]): SparingOrder {
    let used: Map<Budget, number> | undefined;
    let violating: PodInfo[] | undefined;
    for (const pod of pods) {
      for (const budget of this.#budgetsOf(pod)) {
        used ??= new Map();
        const count = (used.get(budget) ?? 0) + 1;
        used.set(budget, count);
        if (count > budget.allowed && violating?.at(-1) !== pod) (violating ??= []).push(pod);
      }
    }
    if (violating === undefined) return { pods, violating: 0 };
    const others = pods.filter((pod) => !violating.includes(pod));
    return { pods: [...violating, ...others], violating: violating.length };
  }

  /** A Pod without labels is in no budget, even if the selector requires the absence of one: as upstream. */
  #budgetsOf({ namespace, labels, pod }: PodInfo): readonly Budget[] {
    const budgets = this.#budgetsIn(namespace);
    if (budgets.length === 0 || Object.keys(labels).length === 0) return NO_BUDGETS;
    return budgets.filter(({ selector, disrupted }) => selector.matches(labels) && !Object.hasOwn(disrupted, pod.metadata.name));
  }

  #budgetsIn(namespace: string): readonly Budget[] {
    const known = this.#ofNamespace.get(namespace);
    if (known !== undefined) return known;
    const budgets = this.#cluster.podDisruptionBudgets(namespace).map(budgetOf);
    this.#ofNamespace.set(namespace, budgets);
    return budgets;
  }
}

function budgetOf({ spec, status }: PodDisruptionBudget): Budget {
  return { selector: selectorOf(spec?.selector), allowed: status?.disruptionsAllowed ?? 0, disrupted: status?.disruptedPods ?? {} };
}

/** For preemption an empty selector matches nothing, unlike in the disruption controller: as upstream. */
function selectorOf(written: Parameters<typeof labelSelectorFromObject>[0]): LabelSelector {
  try {
    const selector = labelSelectorFromObject(written);
    return selector.isEverything ? NOTHING : selector;
  } catch (error) {
    if (error instanceof SelectorError) return NOTHING;
    throw error;
  }
}
