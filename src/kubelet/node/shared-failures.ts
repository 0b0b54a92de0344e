/**
 * Logs failures of operations that a node retries until they succeed: its registration, its lease. A single node logs each failure. Nodes
 * that share a process mostly share failures, too: if hundreds find the same server unavailable, the first one logs it, and one line
 * reports that all have recovered. Failures are the same if operation and reason are equal; messages may name the node or a connection and
 * differ per node.
 */
import { isStatusError } from "../../api/machinery/status-error.ts";
import type { Logger } from "../../base/logger.ts";

export interface NodeFailures {
  /** `sentence` names the operation and is constant over attempts. */
  failed(sentence: string, node: string, error: unknown): void;
  /** The operation succeeded, even if it never failed. */
  succeeded(sentence: string, node: string): void;
}

/** For a single node. */
export function loggedFailures(log: Logger): NodeFailures {
  return {
    failed: (sentence, node, error) => log.warn(sentence, { node, error }),
    succeeded: () => undefined,
  };
}

/** Maximum distinct failures: messages may contain numbers, so that none repeats; the oldest is dropped. */
const TROUBLES_MAX = 100;

interface Trouble {
  readonly sentence: string;
  readonly reason: string;
  /** Affected nodes. */
  readonly nodes: Set<string>;
}

export class SharedFailures implements NodeFailures {
  readonly #log: Logger;
  readonly #failures = new Map<string, Trouble>();

  constructor(log: Logger) {
    this.#log = log;
  }

  failed(sentence: string, node: string, error: unknown): void {
    const reason = isStatusError(error) ? error.reason : (error as Error).message;
    const key = `${sentence}: ${reason}`;
    const known = this.#failures.get(key);
    if (known !== undefined) {
      known.nodes.add(node);
      return;
    }
    const [oldest = ""] = this.#failures.keys();
    if (this.#failures.size >= TROUBLES_MAX) this.#failures.delete(oldest);
    this.#failures.set(key, { sentence, reason, nodes: new Set([node]) });
    this.#log.warn(sentence, { node, error, loggedFor: "all nodes" });
  }

  succeeded(sentence: string, node: string): void {
    for (const [key, trouble] of this.#failures) {
      if (trouble.sentence !== sentence || !this.#leaves(key, trouble, node)) continue;
      // Logged at the level of the failure, so that both are seen.
      this.#log.warn("All nodes recovered", { trouble: sentence, reason: trouble.reason });
    }
  }

  /** The node stopped: its failures are dropped without counting as a recovery. */
  forget(node: string): void {
    for (const [key, trouble] of this.#failures) this.#leaves(key, trouble, node);
  }

  /** Whether it was the last affected node. */
  #leaves(key: string, { nodes }: Trouble, node: string): boolean {
    const isLast = nodes.delete(node) && nodes.size === 0;
    return isLast && this.#failures.delete(key);
  }
}
