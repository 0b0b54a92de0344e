/** Addresses of Pods between their admission and the status that reports them, and Pods that the informer does not have yet. */
import type { Pod } from "../api/generated/core/v1.ts";
import type { KubeObject } from "../api/machinery/object.ts";

/** More Pods than a node starts at the same time. The oldest entry is dropped beyond it; by then its status reports the address. */
const ADMITTED_MAX = 1_000;

export class AdmittedPods {
  readonly #pods = new Map<string, { readonly pod: Pod; readonly addresses: readonly string[] }>();

  admit(pod: Pod, addresses: readonly string[]): void {
    keep(this.#pods, keyOf(pod), { pod, addresses }, ADMITTED_MAX);
  }

  /** The Pod's status has the addresses of its sandbox, or the Pod is finished: the entry is no longer needed. */
  reported({ metadata, status }: Pod): void {
    const entry = this.#pods.get(keyOf({ metadata }));
    if (entry === undefined) return;
    const addresses = status?.podIPs?.map(({ ip }) => ip) ?? [];
    const isFinished = status?.phase === "Succeeded" || status?.phase === "Failed";
    if (isFinished || entry.addresses.every((address) => addresses.includes(address))) this.#pods.delete(keyOf({ metadata }));
  }

  deleted(pod: Pod): void {
    if (this.#pods.get(keyOf(pod))?.pod.metadata.uid === pod.metadata.uid) this.#pods.delete(keyOf(pod));
  }

  withAdmitted(known: readonly Pod[]): {
    readonly pods: readonly Pod[];
    readonly sandboxAddresses: ReadonlyMap<string, readonly string[]>;
  } {
    if (this.#pods.size === 0) return { pods: known, sandboxAddresses: new Map() };
    const missing = new Map(this.#pods);
    for (const pod of known) missing.delete(keyOf(pod));
    return {
      pods: [...known, ...[...missing.values()].map(({ pod }) => pod)],
      sandboxAddresses: new Map([...this.#pods].map(([key, { addresses }]) => [key, addresses])),
    };
  }
}

function keep<T>(map: Map<string, T>, key: string, value: T, sizeMax: number): void {
  map.delete(key);
  const [oldest] = map.size >= sizeMax ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
  map.set(key, value);
}

function keyOf({ metadata: { namespace = "", name } }: Pick<KubeObject, "metadata">): string {
  return `${namespace}/${name}`;
}
