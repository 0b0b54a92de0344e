/**
 * A watch that was accepted: lines become events, in order, until one side ends it; then `ended` is called, exactly once. An event that was
 * cut in the middle was not heard: whoever comes back with the last version seen gets it again.
 */
import { parseJson } from "../../api/machinery/codec/json.ts";
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import { internalError, type StatusError } from "../../api/machinery/status-error.ts";
import type { TransportEvent, TransportWatch, TransportWatchListener } from "../../api/machinery/transport.ts";
import type { HttpClientAnswer } from "../../host/http/client-contract.ts";
import { errorOfStatus, isStatus } from "./status-answer.ts";
import { WATCH_LINE_BYTES_MAX, WatchLines } from "./watch-lines.ts";

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

export class WatchStream implements TransportWatch {
  readonly #answer: HttpClientAnswer;
  readonly #listener: TransportWatchListener;
  readonly #lines = new WatchLines();
  readonly #onEnded: () => void;
  #isOver = false;

  /** `onEnded` is called before the listener is told. */
  constructor(answer: HttpClientAnswer, listener: TransportWatchListener, onEnded: () => void) {
    this.#answer = answer;
    this.#listener = listener;
    this.#onEnded = onEnded;
  }

  /** Nothing is heard before. */
  start(): void {
    if (this.#isOver) return;
    this.#answer.stream({ piece: (bytes) => this.#heard(bytes), ended: () => this.#end() });
  }

  stop(): void {
    if (this.#isOver) return;
    this.#end();
    this.#answer.abort();
  }

  #heard(bytes: Uint8Array): void {
    if (this.#isOver) return;
    const fits = this.#lines.push(bytes, (line) => this.#line(line));
    if (!fits && !this.#isOver) this.#fail(new Error(`an event may have ${WATCH_LINE_BYTES_MAX} bytes at most, and has more`));
  }

  /** Whether to go on. */
  #line(bytes: Uint8Array): boolean {
    let event: TransportEvent;
    try {
      event = eventOf(bytes);
    } catch (error) {
      this.#fail(error);
      return false;
    }
    this.#listener.event(event);
    // After an error nothing follows that could be relied upon.
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

interface WireEvent {
  readonly type?: string;
  readonly object?: JsonObject;
}

function eventOf(line: Uint8Array): TransportEvent {
  const { type, object } = parseJson(line, { duplicates: false }).value as WireEvent;
  if (typeof object !== "object" || object === null) throw new Error("it has no object");
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type, object: object as unknown as KubeObject };
    case "BOOKMARK": {
      const { resourceVersion = "", annotations } = (object as unknown as KubeObject).metadata;
      return { type, resourceVersion, initialEventsEnd: annotations?.[INITIAL_EVENTS_END] === "true" };
    }
    case "ERROR":
      return { type, error: isStatus(object) ? errorOfStatus(object) : undecodable(new Error("the error is not a Status")) };
    default:
      throw new Error(`got invalid watch event type: ${String(type)}`);
  }
}

function undecodable(error: unknown): StatusError {
  return internalError(new Error(`unable to decode an event from the watch stream: ${(error as Error).message}`, { cause: error }));
}
