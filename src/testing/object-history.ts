/**
 * History of the objects of a cluster, as its watches report it: how often each was created, and the latest writes. A state shows what
 * exists; the history shows whether it was recreated, and whether writes continue.
 */
import type { KubeObject } from "../api/machinery/object.ts";
import type { TransportEvent } from "../api/machinery/transport.ts";
import type { Client, ResourceKind } from "../client/client.ts";
import { hasChosenName, shownName } from "./comparable-state.ts";

/** Longer than any scenario: a watch that the server closes would leave a gap. */
const WATCH_SECONDS = 7 * 24 * 3_600;

/** How often it was created, including objects that existed from the beginning. */
export interface Origin {
  readonly times: number;
  /** The names are generated, so objects with the same prefix cannot be distinguished. */
  readonly isChosen: boolean;
}

export class ObjectHistory {
  readonly #origins = new Map<string, Origin>();
  #written: string[] = [];
  #isBroken = false;

  /** Watches kinds from now on, until the cluster is closed. */
  async follow(client: Client, kinds: readonly ResourceKind[]): Promise<void> {
    const timeoutSeconds = WATCH_SECONDS;
    const ended = (): void => void (this.#isBroken = true);
    await Promise.all(kinds.map((kind) => client.watch(kind, { timeoutSeconds }, { event: (event) => this.#hear(kind, event), ended })));
  }

  /** By label: "configmaps default/copy", "pods default/web-*". */
  get origins(): ReadonlyMap<string, Origin> {
    if (this.#isBroken) throw new Error("The history is incomplete: a watch has ended");
    return new Map(this.#origins);
  }

  /** Returns the writes since the last call, one line each: "MODIFIED configmaps default/copy". */
  takeWritten(): readonly string[] {
    const written = this.#written;
    this.#written = [];
    return written;
  }

  #hear(kind: ResourceKind, event: TransportEvent): void {
    if (event.type === "BOOKMARK") return;
    if (event.type === "ERROR") return void (this.#isBroken = true);
    const called = nameOf(kind, event.object);
    this.#written.push(`${event.type} ${called}`);
    if (event.type !== "ADDED") return;
    const times = (this.#origins.get(called)?.times ?? 0) + 1;
    this.#origins.set(called, { times, isChosen: hasChosenName(event.object) });
  }
}

function nameOf({ plural }: ResourceKind, object: KubeObject): string {
  const { namespace } = object.metadata;
  return `${plural} ${namespace === undefined ? "" : `${namespace}/`}${shownName(object)}`;
}
