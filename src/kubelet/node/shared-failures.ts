/**
 * Who is told of what a node tries until it succeeds: its registration, its lease. A node by itself tells each failure. Nodes that share a
 * process mostly share their troubles, too: hundreds that find the same server away have one thing to say, so the first of them says it, and
 * one line tells when none of them has it any more. Troubles are the same if the same was tried and refused for the same reason: the words
 * of an error name the node, or how a connection broke, and would tell every node's apart.
 */
import { isStatusError } from "../../api/machinery/status-error.ts";
import type { Logger } from "../../base/logger.ts";

export interface Troubles {
  /** `sentence` says what cannot be done, and stays the same from attempt to attempt. */
  failed(sentence: string, node: string, error: unknown): void;
  /** It has succeeded by now, also if it had never failed. */
  succeeded(sentence: string, node: string): void;
}

/** Of a node that is alone. */
export function toldTroubles(log: Logger): Troubles {
  return {
    failed: (sentence, node, error) => log.warn(sentence, { node, error }),
    succeeded: () => undefined,
  };
}

/** Of errors in words that never come twice, as with a number in them, the oldest is forgotten for the next. */
const TROUBLES_MAX = 100;

interface Trouble {
  readonly sentence: string;
  readonly reason: string;
  /** Who has it. */
  readonly nodes: Set<string>;
}

export class SharedTroubles implements Troubles {
  readonly #log: Logger;
  readonly #troubles = new Map<string, Trouble>();

  constructor(log: Logger) {
    this.#log = log;
  }

  failed(sentence: string, node: string, error: unknown): void {
    const reason = isStatusError(error) ? error.reason : (error as Error).message;
    const key = `${sentence}: ${reason}`;
    const known = this.#troubles.get(key);
    if (known !== undefined) {
      known.nodes.add(node);
      return;
    }
    const [oldest = ""] = this.#troubles.keys();
    if (this.#troubles.size >= TROUBLES_MAX) this.#troubles.delete(oldest);
    this.#troubles.set(key, { sentence, reason, nodes: new Set([node]) });
    this.#log.warn(sentence, { node, error, toldFor: "all nodes" });
  }

  succeeded(sentence: string, node: string): void {
    for (const [key, trouble] of this.#troubles) {
      if (trouble.sentence !== sentence || !this.#leaves(key, trouble, node)) continue;
      // As loud as its beginning: whoever heard that is to hear this.
      this.#log.warn("No node has this trouble any more", { trouble: sentence, reason: trouble.reason });
    }
  }

  /** It has stopped: what it had is over with it, and nothing is well again for that. */
  forget(node: string): void {
    for (const [key, trouble] of this.#troubles) this.#leaves(key, trouble, node);
  }

  /** Whether it was the last who had it. */
  #leaves(key: string, { nodes }: Trouble, node: string): boolean {
    const isLast = nodes.delete(node) && nodes.size === 0;
    return isLast && this.#troubles.delete(key);
  }
}
