/** An AbortSignal that counts its listeners, to detect leaks. Pure, unlike Node's `getEventListeners`. */
export interface CountedSignal {
  readonly controller: AbortController;
  readonly signal: AbortSignal;
  listenerCount(): number;
}

export function countedSignal(): CountedSignal {
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...all: Parameters<typeof addEventListener>) => {
    listeners.add(all[1]);
    addEventListener.apply(signal, all);
  };
  signal.removeEventListener = (...all: Parameters<typeof removeEventListener>) => {
    listeners.delete(all[1]);
    removeEventListener.apply(signal, all);
  };
  return { controller, signal, listenerCount: () => listeners.size };
}
