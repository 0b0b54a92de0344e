/**
 * Contract of the ways to make packets between two Pods of one bridge pass the rules of IP, below which the kernel bridges them.
 */
import type { NetworkNamespace } from "../../host/network/network-namespace.ts";

export interface BridgeContext {
  /** As that of the enforcer. */
  readonly owner: string;
  readonly namespace: NetworkNamespace;
  /** The bridge of the node's Pods. */
  readonly bridge: string;
  /** Ranges of this node's Pods, at most one per family. */
  readonly podCidrs: readonly string[];
}

/** One way. Its methods are called one at a time. */
export interface BridgedPackets {
  /** Resolves when bridged packets pass the rules. Rejects with the reason if this way is not possible here. */
  ensure(): Promise<void>;
  /** Whether they still do. */
  isIntact(): Promise<boolean>;
}

export interface BridgedPacketsWay {
  readonly name: string;
  open(context: BridgeContext): BridgedPackets;
  /** Removes what is not removed with the bridge. Idempotent; works on machines that cannot use this way. */
  cleanUp(context: Pick<BridgeContext, "owner" | "namespace">): Promise<void>;
}
