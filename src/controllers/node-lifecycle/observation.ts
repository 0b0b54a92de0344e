/**
 * Since when each Node is silent, by our own clock: whatever a Node's clock says, a heartbeat counts from when we observed it. And since
 * when we are observing at all: silence before that says nothing about the Nodes. So after a start, a pause of this process or an outage of
 * the API server, every Node has its whole grace period again. All of it may be lost: then no Node is silent yet. Times are monotonic
 * milliseconds.
 */
import type { Lease } from "../../api/generated/coordination.k8s.io/v1.ts";
import type { Node } from "../../api/generated/core/v1.ts";
import { readyCondition } from "../../api/core/v1/node/health.ts";

/** A kubelet renews its lease every 10 s. One that is half as late again makes us check our own connection. */
const SUSPICIOUS_SILENCE_MS = 15_000;

/** What differs between heartbeats. This controller's own writes change none of it. */
export function heartbeatOf(node: Node, lease: Lease | undefined): string {
  const { uid = "", creationTimestamp = "" } = node.metadata;
  return [uid, lease?.spec?.renewTime ?? "", readyCondition(node)?.lastHeartbeatTime ?? creationTimestamp].join(" ");
}

export class Observation {
  readonly #heard = new Map<string, { readonly sign: string; readonly atMs: number }>();
  readonly #pauseMs: number;
  #listeningSinceMs: number;
  #checkedAtMs: number;

  /** A process whose checks are `pauseMs` late was paused. */
  constructor({ nowMs, pauseMs }: { readonly nowMs: number; readonly pauseMs: number }) {
    this.#pauseMs = pauseMs;
    this.#listeningSinceMs = nowMs;
    this.#checkedAtMs = nowMs;
  }

  observe(name: string, sign: string, nowMs: number): void {
    if (this.#heard.get(name)?.sign !== sign) this.#heard.set(name, { sign, atMs: nowMs });
  }

  forget(name: string): void {
    this.#heard.delete(name);
  }

  get isEmpty(): boolean {
    return this.#heard.size === 0;
  }

  /** Records that this process runs. */
  check(nowMs: number): void {
    this.#noticePause(nowMs);
    this.#checkedAtMs = nowMs;
  }

  /** Nothing could have been received up to now. */
  restart(nowMs: number): void {
    this.#listeningSinceMs = nowMs;
  }

  /** How long this Node has been silent while we were observing. */
  silentMs(name: string, nowMs: number): number {
    this.#noticePause(nowMs);
    const heardAtMs = this.#heard.get(name)?.atMs ?? nowMs;
    return nowMs - Math.max(heardAtMs, this.#listeningSinceMs);
  }

  /** The first late Node, whatever the cause. */
  suspect(nowMs: number, isCounted: (name: string) => boolean): string | undefined {
    for (const [name, { atMs }] of this.#heard) if (nowMs - atMs >= SUSPICIOUS_SILENCE_MS && isCounted(name)) return name;
    return undefined;
  }

  #noticePause(nowMs: number): void {
    if (nowMs - this.#checkedAtMs > this.#pauseMs) this.restart(nowMs);
  }
}
