/** Named states of a cluster, kept in memory: what a reset or a fork begins with. They share unchanged objects with the running cluster. */
import type { NodesConfig } from "../components/simulated-nodes/simulated-nodes.ts";
import type { MemoryStore } from "../store/memory/memory-store.ts";
import { conflict, notFound, tooMany } from "./problem.ts";

/** The state right after the start, which always exists. */
export const EMPTY = "empty";

/** Each holds the objects that differ from the others; a suite needs a handful. */
export const SNAPSHOTS_MAX = 100;

export interface Snapshot {
  readonly name: string;
  /** Never written to. */
  readonly store: MemoryStore;
  readonly revision: number;
  /** Number of keys in the store: objects and a few records of the server. */
  readonly keys: number;
  /** Time of the cluster. */
  readonly nowMs: number;
  readonly nodes: NodesConfig;
}

export class Snapshots {
  readonly #byName = new Map<string, Snapshot>();

  list(): readonly Snapshot[] {
    return [...this.#byName.values()];
  }

  /** Throws a NotFound problem. */
  get(name: string): Snapshot {
    const found = this.#byName.get(name);
    if (found !== undefined) return found;
    const known = [...this.#byName.keys()].join(", ");
    throw notFound(`Snapshot "${name}" does not exist`, `Take it first with PUT /v1/snapshots/${name}, or use one of: ${known}`);
  }

  /** Throws a problem if no other fits, or if it is the reserved one. */
  checkAddition(name: string): void {
    if (name === EMPTY) throw conflict(`Snapshot "${EMPTY}" cannot be replaced: it is the state after the start`, "Choose another name");
    if (!this.#byName.has(name) && this.#byName.size >= SNAPSHOTS_MAX)
      throw tooMany(`There are ${SNAPSHOTS_MAX} snapshots, the maximum`, "Delete some with DELETE /v1/snapshots/{name}");
  }

  /** Replaces one of the same name. */
  add(snapshot: Snapshot): void {
    this.#byName.set(snapshot.name, snapshot);
  }

  /** Throws a problem if it does not exist or is the reserved one. */
  remove(name: string): void {
    if (name === EMPTY) throw conflict(`Snapshot "${EMPTY}" cannot be deleted: it is the state after the start`, "Delete another one");
    this.get(name);
    this.#byName.delete(name);
  }
}
