/**
 * The HTTPS server of a cluster whose components can be replaced: address, certificates and kubeconfig stay, and every request is passed to
 * the current generation. When that is replaced, its watches and other streams end, so that clients reconnect.
 */
import { StatusError } from "../api/machinery/status-error.ts";
import type { Advertised } from "../apiserver/bootstrap/kubernetes-endpoints.ts";
import type { Exchange, ExchangeAnswer, Sink } from "../apiserver/framework/exchange.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { VirtualClock } from "../base/virtual-clock.ts";
import { startApiServerPart, type ApiServerPart } from "../components/api-server/secure-serving.ts";
import type { ApiServerOptions } from "../config/api-server-config.ts";
import { realClock, realMacrotask } from "../host/real-clock.ts";
import type { Pki } from "../pki/pki.ts";
import type { ServedAs } from "./generation.ts";
import { statusAnswer } from "./status-answer.ts";

export interface DoorOptions {
  readonly apiServer: ApiServerOptions;
  /** With virtual time the certificates are valid at any time, because clients check them by real time. */
  readonly isVirtual: boolean;
  /** Certificates of another cluster. Default: its own. */
  readonly pki?: Pki;
  readonly log: Logger;
}

export class Door implements AsyncDisposable {
  readonly part: ApiServerPart;
  readonly served: ServedAs;
  readonly #switch: Switch;

  /** Rejects with a ListenError if it cannot listen there. */
  static async open({ apiServer, isVirtual, pki, log }: DoorOptions): Promise<Door> {
    const exchanges = new Switch();
    let advertised: Advertised | undefined;
    const part = await startApiServerPart(apiServer, {
      startCore: async () => ({
        exchange: (request, offer, switching) => exchanges.exchange(request, offer, switching),
        advertise: async (self) => void (advertised = self),
        close: async () => exchanges.endStreams(),
      }),
      ...(pki === undefined ? {} : { pki }),
      clock: doorClock(isVirtual),
      log,
    });
    return new Door(part, exchanges, { pki: part.pki, advertised });
  }

  private constructor(part: ApiServerPart, exchanges: Switch, served: ServedAs) {
    this.part = part;
    this.#switch = exchanges;
    this.served = served;
  }

  /** Requests from now on are for this generation; streams of the earlier one end. */
  use(exchange: Exchange): void {
    this.#switch.use(exchange);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#switch.use(undefined);
    await this.part.close();
  }
}

/** With virtual time nothing is ever renewed, so that one needs no driver. */
function doorClock(isVirtual: boolean): Clock {
  return isVirtual ? new VirtualClock({ macrotask: realMacrotask, startMs: realClock.now() }) : realClock;
}

class Switch {
  #current: Exchange | undefined;
  readonly #streams = new Set<Pick<Sink, "end">>();

  readonly exchange: Exchange = async (request, offer, switching) => {
    const current = this.#current;
    if (current === undefined) return stopping();
    const answer = await current(request, offer, switching);
    // A stream that a replaced generation begins ends at once.
    return this.#current === current ? this.#tracked(answer) : ended(answer);
  };

  use(exchange: Exchange | undefined): void {
    this.#current = exchange;
    this.endStreams();
  }

  endStreams(): void {
    for (const stream of this.#streams) stream.end();
    this.#streams.clear();
  }

  #tracked(answer: ExchangeAnswer): ExchangeAnswer {
    if (!("stream" in answer)) return answer;
    return {
      ...answer,
      stream: (sink) => {
        this.#streams.add(sink);
        sink.onClosed(() => this.#streams.delete(sink));
        answer.stream(sink);
      },
    };
  }
}

function ended(answer: ExchangeAnswer): ExchangeAnswer {
  if (!("stream" in answer)) return answer;
  return {
    ...answer,
    stream: (sink) => {
      answer.stream(sink);
      sink.end();
    },
  };
}

function stopping(): ExchangeAnswer {
  return statusAnswer(new StatusError("ServiceUnavailable", "the cluster is starting or stopping"));
}
