/**
 * Counts running watches by their scope, for the work estimate of writes (upstream: watch_tracker.go). Watches of the Pods of one node are
 * excluded: an index finds them, so they cost a write nothing.
 */
import { flowNameOf, type FlowRequest } from "../framework/flow-request.ts";

const OF_ONE_NODE = /(?:^|,)spec\.nodeName==?[^,!=]+/;

export class WatchCounts {
  readonly #counts = new Map<string, number>();

  started(request: FlowRequest): void {
    this.#add(request, 1);
  }

  ended(request: FlowRequest): void {
    this.#add(request, -1);
  }

  /** Returns the number of watches that a write of this request may affect. */
  concernedBy({ group, plural, namespace, name }: FlowRequest): number {
    let count = this.#counts.get(keyOf(group, plural, "", "")) ?? 0;
    if (namespace !== "") count += this.#counts.get(keyOf(group, plural, namespace, "")) ?? 0;
    if (name !== "") count += this.#counts.get(keyOf(group, plural, namespace, name)) ?? 0;
    return count;
  }

  #add(request: FlowRequest, change: number): void {
    const { group, plural, namespace, options } = request;
    if (plural === "pods" && OF_ONE_NODE.test(options.fieldSelector ?? "")) return;
    const key = keyOf(group, plural, namespace, flowNameOf(request));
    const count = (this.#counts.get(key) ?? 0) + change;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }
}

function keyOf(group: string, plural: string, namespace: string, name: string): string {
  return `${group}/${plural}/${namespace}/${name}`;
}
