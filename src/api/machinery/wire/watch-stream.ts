/**
 * An accepted watch: lines become events, in order, until one side ends it; then `ended` is called exactly once. An event that was cut in
 * the middle is not delivered: resuming from the last resourceVersion seen delivers it again.
 */
import { parseJson } from "../codec/json.ts";
import { isObject, type JsonObject, type KubeObject } from "../object.ts";
import { internalError, type StatusError } from "../status-error.ts";
import type { TransportEvent, TransportWatch, TransportWatchListener } from "../transport.ts";
import { errorOfStatus, isStatus } from "./status-response.ts";
import { WATCH_LINE_BYTES_MAX, WatchLines } from "./watch-lines.ts";

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/** The body of an accepted watch, as it arrives. */
export interface WatchBody {
  /** `ended` is called exactly once, last. */
  stream(listener: { piece(bytes: Uint8Array): void; ended(): void }): void;
  abort(): void;
}

export class WatchStream implements TransportWatch {
  readonly #answer: WatchBody;
  readonly #listener: TransportWatchListener;
  readonly #lines = new WatchLines();
  readonly #onEnded: () => void;
  #isOver = false;

  /** `onEnded` is called before the listener. */
  constructor(answer: WatchBody, listener: TransportWatchListener, onEnded: () => void) {
    this.#answer = answer;
    this.#listener = listener;
    this.#onEnded = onEnded;
  }

  /** Nothing is delivered before. */
  start(): void {
    if (this.#isOver) return;
    this.#answer.stream({ piece: (bytes) => this.#received(bytes), ended: () => this.#end() });
  }

  stop(): void {
    if (this.#isOver) return;
    this.#end();
    this.#answer.abort();
  }

  #received(bytes: Uint8Array): void {
    if (this.#isOver) return;
    const fits = this.#lines.push(bytes, (line) => this.#line(line));
    if (!fits && !this.#isOver) this.#fail(new Error(`an event may have ${WATCH_LINE_BYTES_MAX} bytes at most, and has more`));
  }

  /** Whether to continue. */
  #line(bytes: Uint8Array): boolean {
    let event: TransportEvent;
    try {
      event = eventOf(bytes);
    } catch (error) {
      this.#fail(error);
      return false;
    }
    this.#listener.event(event);
    // Nothing after an error can be relied upon.
    if (event.type === "ERROR") this.stop();
    return !this.#isOver;
  }

  #fail(error: unknown): void {
    this.#listener.event({ type: "ERROR", error: undecodable(error) });
    this.stop();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnded();
    this.#listener.ended();
  }
}

/** Throws if it is not an object: listeners rely on its name and resourceVersion. */
function eventOf(line: Uint8Array): TransportEvent {
  const event = parseJson(line, { duplicates: false }).value;
  if (!isObject(event)) throw new Error("it must be an object, and is not");
  const { type, object } = event;
  if (!isObject(object)) throw new Error("it has no object");
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED": {
      const { name, namespace } = metadataOf(object);
      if (typeof name !== "string" || name === "") throw new Error("its object has no name");
      if (typeof namespace !== "string" && namespace !== undefined) throw new Error("its object's namespace must be a text, and is not");
      return { type, object: object as KubeObject };
    }
    case "BOOKMARK": {
      const { resourceVersion, annotations } = metadataOf(object);
      return { type, resourceVersion, initialEventsEnd: isObject(annotations) && annotations[INITIAL_EVENTS_END] === "true" };
    }
    case "ERROR":
      return { type, error: isStatus(object) ? errorOfStatus(object) : undecodable(new Error("the error is not a Status")) };
    default:
      throw new Error(`got invalid watch event type: ${typeof type === "string" ? type : "none"}`);
  }
}

function metadataOf({ metadata }: JsonObject): JsonObject & { readonly resourceVersion: string } {
  if (!isObject(metadata)) throw new Error("its object has no metadata");
  if (typeof metadata["resourceVersion"] !== "string") throw new Error("its object has no resourceVersion");
  return metadata as JsonObject & { readonly resourceVersion: string };
}

function undecodable(error: unknown): StatusError {
  return internalError(new Error(`unable to decode an event from the watch stream: ${(error as Error).message}`, { cause: error }));
}
