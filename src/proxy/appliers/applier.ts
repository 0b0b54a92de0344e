/**
 * Contract of the proxy modes. An applier translates the model into the state of one mechanism (iptables, nftables, ipvs, userspace
 * sockets), writes only what changed, and owns everything that carries its owner's name; it never touches anything else. The engine
 * (../engine) calls one method at a time and retries failed ones with back-off.
 */
import type { Logger } from "../../base/logger.ts";
import type { Clock } from "../../base/clock.ts";
import type { NetworkNamespace } from "../../host/network/network-namespace.ts";
import type { ProxyModel } from "../model.ts";

export interface ApplierContext {
  /** Prefix of everything in the kernel: lower-case letters and digits, at most 6. Unique per cluster and node on a machine. */
  readonly owner: string;
  /** Where commands run. Nothing may assume the network namespace of this process. */
  readonly namespace: NetworkNamespace;
  /** The Pod network's bridge: cluster IPs are translated for packets from it and from this machine. Absent: from everywhere. */
  readonly podBridge?: string;
  readonly options: ApplierOptions;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface ApplierOptions {
  /** --masquerade-all */
  readonly masqueradesAll: boolean;
  /** --ipvs-scheduler */
  readonly ipvsScheduler: string;
}

/** Disposing leaves the kernel's state, so that traffic continues during a restart; `cleanUp` of the mode removes it. */
export interface Applier extends AsyncDisposable {
  /** For `k8ts status`, if there is more to say than the mode: "userspace (node ports only)". */
  readonly description?: string;
  /**
   * Makes the kernel's state that of `model`: all of it the first time and after a failure (existing state of this owner is adopted, and
   * what is no longer wanted is removed), afterwards the difference to the last model. Resolves when it is in effect.
   */
  apply(model: ProxyModel): Promise<AppliedChange>;
  /**
   * Whether the state of the last `apply` is still there. Called periodically. After false, like after a failure, the next `apply` repairs
   * everything, also if its model is the last one.
   */
  isIntact(check: IntactCheck): Promise<boolean>;
}

/**
 * "quick": notices a flush of everything; must be cheap for any number of Services. "thorough": notices a single missing chain, rule, set,
 * map or element; may read all of the state, and is called as rarely as it is slow.
 */
export type IntactCheck = "quick" | "thorough";

export interface AppliedChange {
  /** Rules or elements written; 0 if nothing differed. */
  readonly written: number;
}

/** Why a mode cannot be used here, with a remedy; the engine then logs it and falls back to iptables. */
export class UnsupportedModeError extends Error {
  override readonly name = "UnsupportedModeError";
}

export interface ProxyMode {
  readonly name: string;
  /** Rejects with an UnsupportedModeError if this machine cannot run the mode. */
  open(context: ApplierContext): Promise<Applier>;
  /** Removes everything of this owner. Idempotent; works without a running applier and if nothing exists. */
  cleanUp(context: Pick<ApplierContext, "owner" | "namespace" | "log">): Promise<void>;
}
