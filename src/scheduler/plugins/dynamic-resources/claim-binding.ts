/**
 * Writes a decided allocation: finalizer, allocation and reservation of a claim, and then waits for the binding conditions of its devices.
 * Everything that was written before a crash is found by the next attempt: an allocated claim is used where it is. What is decided and not
 * written is known to this process only.
 */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { AllocationResult, ResourceClaim } from "../../../api/generated/resource.k8s.io/v1.ts";
import { isReason } from "../../../api/machinery/status-error.ts";
import { formatTime } from "../../../api/machinery/time.ts";
import type { PluginContext } from "../../framework/plugin.ts";
import { hasBindingConditions, isOverdue, readinessOf } from "./binding-conditions.ts";
import type { DeviceLedger } from "./device-ledger.ts";

/** Protects a claim with devices; the ResourceClaim controller removes it after deallocation. */
export const CLAIM_FINALIZER = "resource.kubernetes.io/delete-protection";

/** Upstream's retry of conflicts: five attempts, 10 ms apart. */
const ATTEMPTS_MAX = 5;
const RETRY_MS = 10;
/** Interval of checking the time limit of binding conditions; changes of the claim are noticed at once. */
const CONDITIONS_POLL_MS = 5_000;
/** Maximum claims being written: Pods in preBind are not limited, requests are. */
const WRITES_MAX = 100;

export type ClaimBinderContext = Pick<PluginContext, "clock" | "cluster" | "effects">;

export class ClaimBinder {
  readonly #context: ClaimBinderContext;
  readonly #ledger: DeviceLedger;
  #writing = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(context: ClaimBinderContext, ledger: DeviceLedger) {
    this.#context = context;
    this.#ledger = ledger;
  }

  /** Returns the claim as written. `allocation`: undefined if the claim is allocated already. */
  async bind(claim: ResourceClaim, allocation: AllocationResult | undefined, pod: Pod, signal: AbortSignal): Promise<ResourceClaim> {
    return this.#limited(async () => {
      let current = claim;
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.#write(current, allocation, pod, signal);
        } catch (error) {
          if (attempt >= ATTEMPTS_MAX || !isReason(error, "Conflict")) throw error;
        }
        await this.#context.clock.sleep(RETRY_MS, signal);
        current = await this.#context.effects.devices.getClaim(claim, pod, signal);
      }
    });
  }

  /** Runs a write when fewer than WRITES_MAX are in flight. */
  async #limited<T>(write: () => Promise<T>): Promise<T> {
    if (this.#writing >= WRITES_MAX) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#writing++;
    try {
      return await write();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#writing--;
      else next();
    }
  }

  async #write(claim: ResourceClaim, allocation: AllocationResult | undefined, pod: Pod, signal: AbortSignal): Promise<ResourceClaim> {
    const { devices } = this.#context.effects;
    const key = `${claim.metadata.namespace ?? ""}/${claim.metadata.name}`;
    if (claim.metadata.deletionTimestamp !== undefined) throw new Error(`claim ${key} got deleted in the meantime`);
    if (allocation !== undefined && claim.status?.allocation !== undefined)
      throw new Error(`claim ${key} got allocated elsewhere in the meantime`);
    let current = claim;
    const finalizers = claim.metadata.finalizers ?? [];
    if (allocation !== undefined && !finalizers.includes(CLAIM_FINALIZER)) {
      const metadata = { ...claim.metadata, finalizers: [...finalizers, CLAIM_FINALIZER] };
      current = await devices.updateClaim({ ...claim, metadata }, pod, signal);
    }
    const allocated = allocation ?? current.status?.allocation;
    if (allocated === undefined) throw new Error(`claim ${key} got deallocated elsewhere in the meantime`);
    const { name, uid = "" } = pod.metadata;
    const { clock } = this.#context;
    const status = {
      ...current.status,
      allocation: { ...allocated, allocationTimestamp: allocated.allocationTimestamp ?? formatTime(clock.now()) },
      reservedFor: [...(current.status?.reservedFor ?? []), { resource: "pods", name, uid }],
    };
    return devices.updateClaimStatus({ ...current, status }, pod, signal);
  }

  /** Resolves when drivers have prepared the devices of all claims; rejects if one failed, or it takes too long. */
  async conditions(
    claims: readonly ResourceClaim[],
    {
      pod,
      nodeName,
      timeoutMs,
      signal,
    }: { readonly pod: Pod; readonly nodeName: string; readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const waiting = claims.filter(hasBindingConditions);
    if (waiting.length === 0) return;
    const { effects } = this.#context;
    const message = `waiting for binding conditions for device on node ${nodeName}`;
    effects.devices.report(pod, { type: "Normal", reason: "BindingConditionsPending", message });
    for (const claim of waiting) await this.#ready(claim, timeoutMs, signal);
  }

  async #ready({ metadata }: ResourceClaim, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { clock, cluster } = this.#context;
    const { namespace = "", name, uid = "" } = metadata;
    const startedMs = clock.monotonic();
    for (;;) {
      using change = this.#ledger.changed(uid);
      const claim = cluster.devices.claim(namespace, name);
      if (claim?.metadata.uid !== uid) throw new Error(`resourceclaim "${name}" not found`);
      const readiness = readinessOf(claim);
      if (readiness.is === "ready") return;
      if (readiness.is === "failed") throw new Error(readiness.message);
      if (isOverdue(claim, timeoutMs, clock.now()) || clock.monotonic() - startedMs >= timeoutMs)
        throw new Error(`device binding timeout: claim=${name}`);
      const over = new AbortController();
      await Promise.race([change, clock.sleep(CONDITIONS_POLL_MS, AbortSignal.any([signal, over.signal]))]).finally(() => over.abort());
    }
  }
}
