/**
 * HTTP/1.1 with keep-alive connections: one request at a time on each. Node's agent pools them; this supplies the function that connects.
 */
import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { onAbort } from "../../../base/abort.ts";
import { answerOf } from "./response.ts";
import { describeFailure, HttpClientError, type HttpClientAnswer, type HttpClientLimits, type HttpClientRequest } from "./contract.ts";
import { keepAllHeaders } from "../node-servers.ts";

export interface Http1Options {
  /** For the Host header. */
  readonly authority: string;
  readonly limits: HttpClientLimits;
  dial(): Promise<Socket>;
}

export class Http1Connections {
  readonly #authority: string;
  readonly #agent: Agent;
  #underWay = 0;
  /** Called when no request is running. */
  #onEmpty: (() => void) | undefined;

  constructor({ authority, limits, dial }: Http1Options) {
    this.#authority = authority;
    const agent = new Agent({ keepAlive: true, timeout: limits.idleTimeoutMs, maxSockets: limits.connectionsMax });
    const createConnection = (_options: unknown, made: (error: Error | null, socket?: Socket) => void): void => {
      dial().then(
        (socket) => made(null, socket),
        (error: unknown) => made(error as Error),
      );
    };
    this.#agent = Object.assign(agent, { createConnection });
  }

  send(request: HttpClientRequest, sent: (abort: (reason: Error) => void) => void): Promise<HttpClientAnswer> {
    const { method, path, headers, body, signal } = request;
    const bytes = body === undefined ? undefined : Buffer.from(body);
    const length = bytes === undefined ? {} : { "content-length": bytes.length };
    return new Promise((resolve, reject) => {
      const asked = httpRequest({
        agent: this.#agent,
        method,
        path,
        headers: { host: this.#authority, ...headers, ...length } as OutgoingHttpHeaders,
      });
      keepAllHeaders(asked);
      const released = signal === undefined ? () => undefined : onAbort(signal, () => asked.destroy(signal.reason as Error));
      this.#underWay++;
      asked.once("close", () => {
        released();
        this.#underWay--;
        this.#emptied();
      });
      asked.once("response", (answer) => resolve(answerTo(asked, answer, released)));
      asked.on("error", (error) => {
        released();
        reject(signal?.aborted === true ? (signal.reason as Error) : noAnswer(error));
      });
      sent((reason) => asked.destroy(reason));
      asked.end(bytes);
    });
  }

  /** Running requests complete; no others are sent over these connections. `onEmpty`: called once, after the last of them. */
  retire(onEmpty: () => void): void {
    Object.assign(this.#agent, { keepAlive: false });
    for (const socket of Object.values(this.#agent.freeSockets).flat()) socket?.destroy();
    this.#onEmpty = onEmpty;
    this.#emptied();
  }

  destroy(): void {
    this.#agent.destroy();
  }

  #emptied(): void {
    if (this.#underWay > 0) return;
    const onEmpty = this.#onEmpty;
    this.#onEmpty = undefined;
    onEmpty?.();
  }
}

function answerTo(asked: ClientRequest, answer: IncomingMessage, released: () => void): HttpClientAnswer {
  let failure: Error | undefined;
  answer.on("error", (error) => {
    failure = error;
  });
  return answerOf({
    code: answer.statusCode ?? 0,
    headers: answer.headers,
    stream: answer,
    isWhole: () => answer.complete && answer.readableEnded,
    failure: () => failure,
    released,
    abort: () => asked.destroy(),
  });
}

function noAnswer(error: Error): HttpClientError {
  if (error instanceof HttpClientError) return error;
  return new HttpClientError("lost", `No response: ${describeFailure(error)}`, error);
}
