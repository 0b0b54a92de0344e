/**
 * What happened to the objects of a cluster, as the server itself tells it: how often each came to be, and what was written lately.
 * A state says what there is; this says whether it is still the same, and whether anybody goes on writing it.
 */
import type { KubeObject } from "../api/machinery/object.ts";
import type { TransportEvent } from "../api/machinery/transport.ts";
import type { Client, ResourceKind } from "../client/client.ts";
import { hasChosenName, shownName } from "./comparable-state.ts";

/** Longer than any scenario: a watch that the server ends would leave a gap. */
const WATCH_SECONDS = 7 * 24 * 3_600;

/** How often one came to be, those that were there from the beginning included. */
export interface Origin {
  readonly times: number;
  /** The server chose the names, so that which of several of one prefix this is cannot be said. */
  readonly isChosen: boolean;
}

export class ObjectHistory {
  readonly #origins = new Map<string, Origin>();
  #written: string[] = [];
  #isBroken = false;

  /** Follows kinds from now on, until the cluster ends. */
  async follow(client: Client, kinds: readonly ResourceKind[]): Promise<void> {
    const timeoutSeconds = WATCH_SECONDS;
    const ended = (): void => void (this.#isBroken = true);
    await Promise.all(kinds.map((kind) => client.watch(kind, { timeoutSeconds }, { event: (event) => this.#hear(kind, event), ended })));
  }

  /** By what each is called: "configmaps default/copy", "pods default/web-*". */
  get origins(): ReadonlyMap<string, Origin> {
    if (this.#isBroken) throw new Error("Cannot say what happened: a watch has ended");
    return new Map(this.#origins);
  }

  /** What was written since this was last asked, one line each: "MODIFIED configmaps default/copy". */
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
