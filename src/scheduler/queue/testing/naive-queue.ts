/**
 * The rules of the scheduling queue in their plainest form: one list, every rule evaluated every time, no heap, no index, no timer. The oracle
 * for the real queue. The plugins' rules are written a second time here, as plain predicates.
 */
export interface NaivePod {
  readonly name: string;
  readonly priority: number;
  place: "active" | "backoff" | "unschedulable" | "gated" | "in-flight";
  queuedAtMs: number;
  sequence: number;
  refusals: number;
  errors: number;
  refusedBy: readonly string[];
  pendingOn: readonly string[];
  isWanted: boolean;
  missed: NaiveEvent[];
}

/** `size` is what the hint of "Sized" looks at. */
export type NaiveEvent = { readonly is: "node-added" | "pod-bound" | "pod-deleted" | "namespace"; readonly size: number };

export interface NaiveSettings {
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
  readonly maxUnschedulableMs: number;
}

export class NaiveQueue {
  readonly pods: NaivePod[] = [];
  isGateOpen = true;
  #nowMs = 0;
  #sequence = 0;
  readonly #settings: NaiveSettings;

  constructor(settings: NaiveSettings) {
    this.#settings = settings;
  }

  add(name: string, priority: number): void {
    const fresh = { queuedAtMs: this.#nowMs, sequence: this.#sequence++, refusals: 0, errors: 0, isWanted: false };
    const pod: NaivePod = { name, priority, place: "active", refusedBy: [], pendingOn: [], missed: [], ...fresh };
    this.pods.push(pod);
    this.#enter(pod, "soon");
  }

  delete(name: string): void {
    const index = this.pods.findIndex((pod) => pod.name === name);
    if (index >= 0) this.pods.splice(index, 1);
  }

  pop(): string | undefined {
    const inOrder = (a: NaivePod, b: NaivePod) => b.priority - a.priority || a.queuedAtMs - b.queuedAtMs || a.sequence - b.sequence;
    const [active] = this.pods.filter(({ place }) => place === "active").toSorted(inOrder);
    const [early] = this.pods
      .filter(({ place, errors }) => place === "backoff" && errors === 0)
      .toSorted((a, b) => this.#waitEndsMs(a) - this.#waitEndsMs(b) || inOrder(a, b));
    const next = active ?? early;
    if (next !== undefined) Object.assign(next, { place: "in-flight", missed: [], isWanted: false });
    return next?.name;
  }

  putBack(name: string, refusedBy: readonly string[], pendingOn: readonly string[]): void {
    const pod = this.pods.find((other) => other.name === name && other.place === "in-flight");
    if (pod === undefined) return;
    const isError = refusedBy.length + pendingOn.length === 0;
    const counts = isError ? { errors: pod.errors + 1 } : { errors: 0, refusals: pod.refusals + 1 };
    Object.assign(pod, { refusedBy, pendingOn, queuedAtMs: this.#nowMs, sequence: this.#sequence++, ...counts });
    const answers = pod.missed.map((event) => helps(pod, event));
    if (answers.includes("now")) this.#enter(pod, "now");
    else if (isError || pod.isWanted || answers.includes("soon")) this.#enter(pod, "soon");
    else pod.place = "unschedulable";
  }

  done(name: string): void {
    if (this.pods.some((pod) => pod.name === name && pod.place === "in-flight")) this.delete(name);
  }

  activate(name: string): void {
    const pod = this.pods.find((other) => other.name === name);
    if (pod?.place === "in-flight") pod.isWanted = true;
    else if (pod !== undefined && pod.place !== "active") this.#enter(pod, "now");
  }

  happen(event: NaiveEvent): void {
    for (const pod of this.pods) {
      if (pod.place === "in-flight") pod.missed.push(event);
      if (pod.place === "gated" && event.is === "namespace") this.#enter(pod, "soon");
      else if (pod.place === "unschedulable") {
        const answer = helps(pod, event);
        if (answer !== "no") this.#enter(pod, answer);
      }
    }
  }

  advance(durationMs: number): void {
    this.#nowMs += durationMs;
    for (const pod of this.pods) {
      const isFlushed = pod.place === "unschedulable" && pod.queuedAtMs + this.#settings.maxUnschedulableMs <= this.#nowMs;
      if (isFlushed) this.#enter(pod, "soon");
      if (pod.place === "backoff" && this.#waitEndsMs(pod) <= this.#nowMs) pod.place = "active";
    }
  }

  #enter(pod: NaivePod, when: "now" | "soon"): void {
    if (!this.isGateOpen) pod.place = "gated";
    else pod.place = when === "soon" && this.#nowMs < this.#waitEndsMs(pod) ? "backoff" : "active";
  }

  /** The end of the whole second in which the backoff expires. */
  #waitEndsMs({ errors, refusals, queuedAtMs }: NaivePod): number {
    const failures = errors || refusals;
    if (failures === 0) return 0;
    let waitMs = this.#settings.initialBackoffMs;
    for (let count = 1; count < failures; count++) waitMs = Math.min(waitMs * 2, this.#settings.maxBackoffMs);
    return (Math.floor((queuedAtMs + waitMs) / 1_000) + 1) * 1_000;
  }
}

function helps(pod: NaivePod, event: NaiveEvent): "no" | "soon" | "now" {
  if (pod.pendingOn.some((plugin) => isHelped(plugin, pod, event))) return "now";
  return pod.refusedBy.some((plugin) => isHelped(plugin, pod, event)) ? "soon" : "no";
}

function isHelped(plugin: string, { priority }: NaivePod, { is, size }: NaiveEvent): boolean {
  switch (plugin) {
    case "Sized":
      return is === "node-added" && size >= priority;
    case "Freed":
      return is === "pod-deleted" || is === "node-added";
    case "Unsure":
      return true;
    default:
      return false;
  }
}
