/** Wakes Pods in preBind when one of their claims, or a volume for it, changes. Costs a lookup per change while none waits. */
export class ClaimWaiters {
  readonly #byClaim = new Map<string, Set<() => void>>();

  /** A claim ("namespace/name") or a volume that refers to it has changed. */
  changed(claimKey: string): void {
    for (const wake of this.#byClaim.get(claimKey) ?? []) wake();
  }

  /** `wake` is called on every change of these claims until disposal. */
  listen(claimKeys: Iterable<string>, wake: () => void): Disposable {
    const keys = new Set(claimKeys);
    for (const key of keys) {
      const waiting = this.#byClaim.get(key) ?? new Set();
      this.#byClaim.set(key, waiting.add(wake));
    }
    return {
      [Symbol.dispose]: () => {
        for (const key of keys) {
          const waiting = this.#byClaim.get(key);
          waiting?.delete(wake);
          if (waiting?.size === 0) this.#byClaim.delete(key);
        }
      },
    };
  }
}
