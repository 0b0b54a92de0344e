/**
 * Contract of the enforcers. An enforcer translates the model into the rules of one mechanism, writes only what changed, and owns
 * everything that carries its owner's name; it never touches anything else. One method is called at a time.
 */
import type { NetworkNamespace } from "../../host/network/network-namespace.ts";
import type { PolicyModel } from "../model.ts";

export interface EnforcerContext {
  /** Prefix of everything in the kernel: lower-case letters and digits, at most 6. */
  readonly owner: string;
  readonly namespace: NetworkNamespace;
  /** Ranges of this node's Pods, at most one per family: while policies exist, addresses in them that belong to no known Pod are blocked. */
  readonly podCidrs: readonly string[];
  /** The bridge of this node's Pods: while policies exist, link-local addresses, which no policy can name, are blocked between them. */
  readonly bridge?: string | undefined;
}

export interface Enforcer {
  /** Makes the kernel's rules those of `model`: all of them the first time and after a failure. Resolves when they are in effect. */
  apply(model: PolicyModel): Promise<{ readonly written: number }>;
  /** Whether the rules of the last `apply` still exist. False: the next one writes everything. */
  isIntact(): Promise<boolean>;
}

export interface EnforcerMode {
  readonly name: string;
  /** Why this machine cannot run it; undefined if it can. */
  problem(namespace: NetworkNamespace): Promise<string | undefined>;
  open(context: EnforcerContext): Enforcer;
  /** Removes everything of this owner. Idempotent; works on machines that cannot run the mode. */
  cleanUp(context: Pick<EnforcerContext, "owner" | "namespace">): Promise<void>;
}
