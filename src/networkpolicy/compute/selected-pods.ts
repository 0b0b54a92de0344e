/**
 * Which Pods selectors match, each selector evaluated once per computation. The key of a selection is its canonical text, so that equal
 * selectors of different policies share one address set.
 */
import type { Namespace } from "../../api/generated/core/v1.ts";
import {
  labelSelectorFromObject,
  NOTHING,
  type LabelSelector,
  type LabelSelectorObject,
} from "../../api/machinery/selectors/label-selector.ts";
import { SelectorError } from "../../api/machinery/selectors/label-requirement.ts";
import type { PolicyPod } from "./policy-pod.ts";

export interface Selection {
  readonly key: string;
  readonly pods: readonly PolicyPod[];
}

export interface PodQuery {
  /** Only this namespace. Ignored if `namespaceSelector` is present. */
  readonly namespace: string;
  readonly namespaceSelector?: LabelSelectorObject | undefined;
  /** Absent: all Pods of the namespaces. */
  readonly podSelector?: LabelSelectorObject | undefined;
}

/** Every Pod of every namespace. */
export const ALL_PODS: PodQuery = { namespace: "", namespaceSelector: {} };

export class SelectedPods {
  readonly #namespaces: readonly Namespace[];
  readonly #byNamespace = new Map<string, PolicyPod[]>();
  readonly #selections = new Map<string, Selection>();

  constructor(pods: Iterable<PolicyPod>, namespaces: readonly Namespace[]) {
    this.#namespaces = namespaces;
    for (const pod of pods) {
      const siblings = this.#byNamespace.get(pod.namespace);
      if (siblings === undefined) this.#byNamespace.set(pod.namespace, [pod]);
      else siblings.push(pod);
    }
  }

  select({ namespace, namespaceSelector, podSelector }: PodQuery): Selection {
    const pods = selectorOf(podSelector ?? {});
    const namespaces = namespaceSelector === undefined ? undefined : selectorOf(namespaceSelector);
    const key = `${namespaces === undefined ? `namespace ${namespace}` : `namespaces {${textOf(namespaces)}}`} pods {${textOf(pods)}}`;
    let selection = this.#selections.get(key);
    if (selection === undefined) {
      const names = namespaces === undefined ? [namespace] : this.#namesOf(namespaces);
      const matching = names.flatMap((name) => (this.#byNamespace.get(name) ?? []).filter(({ labels }) => pods.matches(labels)));
      this.#selections.set(key, (selection = { key, pods: matching }));
    }
    return selection;
  }

  /** Whether the query would match a Pod with this namespace and these labels. */
  matches({ namespace, namespaceSelector, podSelector }: PodQuery, pod: Pick<PolicyPod, "namespace" | "labels">): boolean {
    const isNamespace =
      namespaceSelector === undefined ? pod.namespace === namespace : this.#namesOf(selectorOf(namespaceSelector)).includes(pod.namespace);
    return isNamespace && selectorOf(podSelector ?? {}).matches(pod.labels);
  }

  #namesOf(selector: LabelSelector): readonly string[] {
    return this.#namespaces.filter(({ metadata }) => selector.matches(metadata.labels)).map(({ metadata }) => metadata.name);
  }
}

/** The API server validates selectors; one that is invalid all the same selects nothing. */
function selectorOf(selector: LabelSelectorObject): LabelSelector {
  try {
    return labelSelectorFromObject(selector);
  } catch (error) {
    if (error instanceof SelectorError) return NOTHING;
    throw error;
  }
}

function textOf(selector: LabelSelector): string {
  return selector.isNothing ? "nothing" : selector.toString();
}
