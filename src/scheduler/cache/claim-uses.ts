/** How many Pods use each PersistentVolumeClaim. Costs nothing for Pods without claims. */
import type { PodInfo } from "../framework/pod-info.ts";

export class ClaimUses {
  readonly #counts = new Map<string, number>();

  count(claimKey: string): number {
    return this.#counts.get(claimKey) ?? 0;
  }

  add({ claimKeys }: PodInfo): void {
    for (const key of claimKeys) this.#counts.set(key, this.count(key) + 1);
  }

  remove({ claimKeys }: PodInfo): void {
    for (const key of claimKeys) {
      const left = this.count(key) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    }
  }
}
