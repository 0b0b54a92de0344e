/** A request to the kubelet's server on its way to its handler, and helpers for responses. */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { HttpReply, HttpRequest, TunnelOffer, WebSocketOffer } from "../../host/http/contract.ts";
import type { Kubelet } from "../kubelet.ts";
import type { OpenStreams } from "./streaming/open-streams.ts";
import type { RouteFound } from "./routes.ts";

/** Handler interface of a node agent. */
export type ServedKubelet = Pick<Kubelet, "nodeName" | "runtime" | "pod" | "pods" | "container">;

/** Routes a request to a node. */
export interface ChosenKubelet {
  /** Node for which the request must be authorized. "": all nodes. */
  readonly nodeName: string;
  readonly kubelet: ServedKubelet | Refusal;
}

/** The node of a shared server. Undefined: the path matches none. */
export type ChooseKubelet = (found: RouteFound | undefined, query: URLSearchParams) => ChosenKubelet;

export interface ServerContext {
  readonly kubelet: ServedKubelet;
  readonly clock: Clock;
  readonly log: Logger;
  readonly streams: OpenStreams;
}

export interface Call {
  readonly request: HttpRequest;
  readonly reply: HttpReply;
  readonly offer: WebSocketOffer | undefined;
  readonly tunnel: TunnelOffer | undefined;
  /** Path parameters, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** Throws if it fails before the response has begun. */
export type Handler = (context: ServerContext, call: Call) => void | Promise<void>;

export const TEXT_TYPE = "text/plain; charset=utf-8";

export interface TextOptions {
  /** Default: TEXT_TYPE. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

export function sendText(reply: HttpReply, code: number, text: string, { type = TEXT_TYPE, headers = {} }: TextOptions = {}): void {
  reply.send({ code, headers: { "content-type": type, ...headers } }, [new TextEncoder().encode(text)]);
}

export function sendJson(reply: HttpReply, text: string): void {
  sendText(reply, 200, text, { type: "application/json" });
}

/** An error response, thrown where the problem is detected. Messages are upstream's. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;

  constructor(code: number, message: string, headers: Refusal["headers"] = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}
