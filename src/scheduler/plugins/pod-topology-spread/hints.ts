/**
 * Queueing hints of PodTopologySpread: a matching Pod was added or deleted (an added one may raise the minimum), or a domain was.
 * Upstream's rules; besides, a node that starts or stops to match the Pod's node affinity counts too.
 */
import { RequiredNodes } from "../../../api/core/v1/node/node-selector.ts";
import type { Node, Pod } from "../../../api/generated/core/v1.ts";
import { SelectorError } from "../../../api/machinery/selectors/label-requirement.ts";
import type { RetryRule } from "../../framework/cluster-event.ts";
import { domainOf, hasAllKeys, type SpreadConstraint } from "./constraints.ts";

type Labels = Readonly<Record<string, string>>;

/** The hard constraints of a Pod. Throws SelectorError. */
export type ConstraintsOf = (pod: Pod) => readonly SpreadConstraint[];

export function spreadRetryRules(constraintsOf: ConstraintsOf): readonly RetryRule[] {
  return [
    {
      of: "assigned-pod",
      changes: ["added", "labels", "deleted"],
      isWorthIt(pod, { pod: other, previous }): boolean {
        if (other.metadata.namespace !== pod.metadata.namespace) return false;
        return orYes(() => countsChanged(constraintsOf(pod), other.metadata.labels, previous?.metadata.labels, previous !== undefined));
      },
    },
    {
      of: "waiting-pod",
      changes: ["labels", "tolerations"],
      isWorthIt(pod, { changes, pod: now, previous }): boolean {
        return orYes(() => {
          const constraints = constraintsOf(pod);
          if (changes.has("tolerations") && constraints.some(({ honorsNodeTaints }) => honorsNodeTaints)) return true;
          return (
            changes.has("labels") && countsChanged(constraints, now.metadata.labels, previous?.metadata.labels, previous !== undefined)
          );
        });
      },
    },
    {
      of: "node",
      changes: ["added", "deleted", "labels", "taints"],
      isWorthIt: (pod, { node, previous }): boolean => orYes(() => nodeChanged(pod, constraintsOf(pod), node, previous)),
    },
  ];
}

function orYes(isWorthIt: () => boolean): boolean {
  try {
    return isWorthIt();
  } catch (error) {
    // A retry reports the mistake to its author.
    if (error instanceof SelectorError) return true;
    throw error;
  }
}

/** Whether a Pod change affects the number of matching Pods. */
function countsChanged(
  constraints: readonly SpreadConstraint[],
  labels: Labels | undefined,
  previous: Labels | undefined,
  isUpdate: boolean,
): boolean {
  return constraints.some(({ selector }) => selector.matches(labels) !== (isUpdate && selector.matches(previous)));
}

function nodeChanged(pod: Pod, constraints: readonly SpreadConstraint[], node: Node, previous: Node | undefined): boolean {
  const labels = node.metadata.labels ?? {};
  const counts = hasAllKeys(labels, constraints);
  if (previous === undefined) return counts;
  const labelsBefore = previous.metadata.labels ?? {};
  if (hasAllKeys(labelsBefore, constraints) !== counts) return true;
  if (!counts) return false;
  if (constraints.some(({ topologyKey }) => domainOf(labels, topologyKey) !== domainOf(labelsBefore, topologyKey))) return true;
  if (JSON.stringify(node.spec?.taints ?? []) !== JSON.stringify(previous.spec?.taints ?? [])) return true;
  const needed = new RequiredNodes(pod.spec ?? { containers: [] });
  return needed.matches(node) !== needed.matches(previous);
}
