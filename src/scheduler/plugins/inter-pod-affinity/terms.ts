/**
 * Matching of pod affinity terms. The incoming Pod's namespace selectors are resolved first, so that matching depends only on namespace
 * names and labels. (Upstream also evaluates the selector against a namespace without labels, so that `NotIn` matches every namespace; here
 * a namespace selector means what its documentation says.) Terms of existing Pods are matched against one Pod, whose namespace's labels are
 * at hand.
 */
import type { Namespace } from "../../../api/generated/core/v1.ts";
import type { LabelSelector } from "../../../api/machinery/selectors/label-selector.ts";
import type { AffinityTerm, PodInfo } from "../../framework/pod-info.ts";

type Labels = Readonly<Record<string, string>>;

/** A term with resolved namespaces. */
export interface PlainTerm {
  /** Equal texts mean the same. */
  readonly text: string;
  /** Undefined: all namespaces. */
  readonly namespaces: ReadonlySet<string> | undefined;
  readonly selector: LabelSelector;
  readonly topologyKey: string;
}

/** The relevant part of a Pod. */
export type Subject = Pick<PodInfo, "namespace" | "labels">;

export function plainTerm(term: AffinityTerm, allNamespaces: () => readonly Namespace[]): PlainTerm {
  const { selector, topologyKey, namespaceSelector } = term;
  const namespaces = namespaceSelector.isEverything ? undefined : namespacesOf(term, allNamespaces);
  const names = namespaces === undefined ? "*" : joined(namespaces);
  return { text: `${topologyKey} ${names} ${selectorText(selector)}`, namespaces, selector, topologyKey };
}

function namespacesOf({ namespaces, namespaceSelector }: AffinityTerm, allNamespaces: () => readonly Namespace[]): ReadonlySet<string> {
  if (namespaceSelector.isNothing) return namespaces;
  const names = new Set(namespaces);
  for (const { metadata } of allNamespaces()) {
    if (namespaceSelector.matches(metadata?.labels) && metadata?.name !== undefined) names.add(metadata.name);
  }
  return names;
}

function joined(names: ReadonlySet<string>): string {
  return names.size === 1 ? [...names].join("") : [...names].toSorted().join(",");
}

/** Unlike toString it distinguishes "nothing" from "everything". */
function selectorText(selector: LabelSelector): string {
  return selector.isNothing ? "-" : selector.toString();
}

export function covers(term: PlainTerm, pod: Subject): boolean {
  return (term.namespaces === undefined || term.namespaces.has(pod.namespace)) && term.selector.matches(pod.labels);
}

/** No terms cover nothing. */
export function allCover(terms: readonly PlainTerm[], pod: Subject): boolean {
  if (terms.length === 0) return false;
  for (const term of terms) if (!covers(term, pod)) return false;
  return true;
}

/** Whether an unresolved term matches a Pod, given its namespace's labels. */
export function termCovers(term: AffinityTerm, pod: Subject, namespaceLabels: Labels | undefined): boolean {
  if (!term.namespaces.has(pod.namespace) && !term.namespaceSelector.matches(namespaceLabels ?? NO_LABELS)) return false;
  return term.selector.matches(pod.labels);
}

const NO_LABELS: Labels = {};

const texts = new WeakMap<AffinityTerm, string>();

/** For an unresolved term. Cached with the term: it is needed on every change of its Pod's node. */
export function termText(term: AffinityTerm): string {
  let text = texts.get(term);
  if (text === undefined) {
    const { namespaces, namespaceSelector, selector, topologyKey } = term;
    text = `${topologyKey} ${joined(namespaces)} ${selectorText(namespaceSelector)} ${selectorText(selector)}`;
    texts.set(term, text);
  }
  return text;
}

/** The domain of a node. A label may be named "constructor": inherited members are not labels. */
export function domainOf(labels: Labels, topologyKey: string): string | undefined {
  const value: unknown = labels[topologyKey];
  return typeof value === "string" ? value : undefined;
}
