/**
 * Which autoscalers select which Pods: two for one Pod would undo each other's decisions. In memory, learned with each reconciliation.
 * Selectors are found by a label that they require, so that hundreds of autoscalers do not compare each Pod with hundreds of selectors.
 */
import { pods } from "../../api/core/v1/pod.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { LabelSelector } from "../../api/machinery/selectors/label-selector.ts";
import type { ObjectKey } from "../../client/client.ts";
import { defineIndex } from "../../client/informer/index.ts";
import type { Reader } from "../../client/informer/informer.ts";

/** By namespace and label; built when the first autoscaler is reconciled. */
const podsByLabel = defineIndex(pods, ({ metadata }) => placesOf(metadata.namespace ?? "", metadata.labels));

/** The Pods of a namespace that a selector selects. */
export function podsSelectedBy(selector: LabelSelector, namespace: string, read: Reader): readonly Pod[] {
  const label = requiredLabel(selector);
  const candidates = label === undefined ? read.list(pods, namespace) : read.indexed(podsByLabel, `${namespace} ${label}`);
  return candidates.filter(({ metadata }) => selector.matches(metadata.labels ?? {}));
}

export class SelectorUses {
  /** By namespace and a required label ("": none), then by name of the autoscaler. An entry is removed with its object. */
  readonly #byPlace = new Map<string, Map<string, LabelSelector>>();
  /** Where each autoscaler is. */
  readonly #places = new Map<string, string>();

  set(key: ObjectKey, selector: LabelSelector): void {
    this.remove(key);
    const place = `${key.namespace ?? ""} ${requiredLabel(selector) ?? ""}`;
    const uses = this.#byPlace.get(place) ?? new Map<string, LabelSelector>();
    this.#byPlace.set(place, uses.set(key.name, selector));
    this.#places.set(textOf(key), place);
  }

  remove(key: ObjectKey): void {
    const place = this.#places.get(textOf(key));
    if (place === undefined) return;
    this.#places.delete(textOf(key));
    const uses = this.#byPlace.get(place);
    uses?.delete(key.name);
    if (uses?.size === 0) this.#byPlace.delete(place);
  }

  /** Names of the autoscalers of a namespace that select one of these Pods of it. */
  of(namespace: string, selected: readonly Pod[]): readonly string[] {
    const names = new Set<string>();
    for (const { metadata } of selected) {
      for (const place of [`${namespace} `, ...placesOf(namespace, metadata.labels)]) {
        for (const [name, selector] of this.#byPlace.get(place) ?? []) if (selector.matches(metadata.labels ?? {})) names.add(name);
      }
    }
    return [...names].sort();
  }
}

function textOf({ namespace = "", name }: ObjectKey): string {
  return `${namespace}/${name}`;
}

/** "app=web" of a selector that requires it; undefined if it requires no single value of any label. */
function requiredLabel(selector: LabelSelector): string | undefined {
  for (const { key } of selector.requirements) {
    const value = selector.exactValue(key);
    if (value !== undefined) return `${key}=${value}`;
  }
  return undefined;
}

function placesOf(namespace: string, labels: Readonly<Record<string, string>> | undefined): readonly string[] {
  return Object.entries(labels ?? {}).map(([key, value]) => `${namespace} ${key}=${value}`);
}
