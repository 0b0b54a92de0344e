/**
 * What-if queries of postFilter after an unsuccessful cycle: the same filters with the same states, on hypothetical nodes. Computed lazily.
 */
import { assert } from "../../base/assert.ts";
import type { FilterStates, Rejection, WhatIf } from "../framework/plugin.ts";
import type { NodeInfo } from "../framework/node-info.ts";
import type { Snapshot } from "../framework/snapshot.ts";
import { type PodFilters, SharedStates } from "./pod-filters.ts";
import type { Refusals } from "./rejections.ts";

export function whatIf(snapshot: Snapshot, filters: PodFilters, refusals: Refusals): WhatIf {
  return new AfterCycle(snapshot, filters, refusals);
}

class AfterCycle implements WhatIf {
  readonly snapshot: Snapshot;
  readonly #filters: PodFilters;
  readonly #refusals: Refusals;
  #rejections: ReadonlyMap<string, Rejection> | undefined;
  #resolvableNodes: readonly NodeInfo[] | undefined;

  constructor(snapshot: Snapshot, filters: PodFilters, refusals: Refusals) {
    this.snapshot = snapshot;
    this.#filters = filters;
    this.#refusals = refusals;
  }

  get rejections(): ReadonlyMap<string, Rejection> {
    this.#rejections ??= this.#refusals.byNode();
    return this.#rejections;
  }

  get resolvableNodes(): readonly NodeInfo[] {
    this.#resolvableNodes ??= this.#refusals.resolvableNodes();
    return this.#resolvableNodes;
  }

  base(): FilterStates {
    return this.#filters.base.copy();
  }

  filter(states: FilterStates, node: NodeInfo): Rejection | undefined {
    assert(states instanceof SharedStates, "states come from base() or copy()");
    return this.#filters.firstRejection(states, node);
  }
}
