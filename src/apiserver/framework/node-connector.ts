/**
 * The contract of the transport to nodes: the API server authorizes a connection (log, exec, attach, portforward, proxy) and resolves its
 * target, the connector opens it and copies bytes. apiserver/http implements it with sockets, simulated nodes without.
 */
import type { JsonObject } from "../../api/machinery/object.ts";
import type { ExchangeAnswer, SwitchOffer, UpgradeOffer } from "./exchange.ts";

export interface NodeConnector {
  /**
   * Answers when the other side has begun to answer; a stream or WebSocket is then moved along until one side ends it. What goes wrong
   * before that is thrown: a StatusError is told to the client as it is, any other error as what prevented it.
   */
  connect(call: ConnectionCall): Promise<ExchangeAnswer>;
  /** Why something cannot be had at all, whichever way a client asks for it; undefined if it can. Absent: everything can. */
  refusal?(subresource: string, target: ConnectionTarget): string | undefined;
}

/** What goes to the connector: everything is checked. */
export interface ConnectionCall {
  /** "log", "exec", "attach", "portforward" or "proxy". */
  readonly subresource: string;
  readonly target: ConnectionTarget;
  /** Of the type that the subresource takes, without what was not said; PodExecOptions, … */
  readonly options: JsonObject;
  readonly method: string;
  /** Of a proxy: the path on the other side, percent-encoded; "" for others. */
  readonly path: string;
  /** As it was sent, without the question mark. A proxy hands it on. */
  readonly query: string;
  /** Of a proxy: those to be handed on, without what is between client and API server (its token, the connection's own). */
  readonly headers: Readonly<Record<string, string>>;
  body(): Promise<Uint8Array>;
  /** Of a proxy: a link of a page of the other side, as the client must follow it. Who carries the bytes rewrites text/html by it. */
  rewriteLink?(link: string): string;
  /** There if the client asks for a WebSocket; only then the answer may be one. */
  readonly offer?: UpgradeOffer;
  /** There if the client asks for another protocol, a WebSocket among others; only then the answer may be a tunnel. */
  readonly switching?: SwitchOffer;
  /** Aborted when the client has gone before it was answered. */
  readonly signal: AbortSignal;
}

export type ConnectionTarget =
  /** The kubelet of a node, about a Pod or, by nodes/proxy, whatever it serves. */
  | {
      readonly is: "kubelet";
      readonly node: NodeAddress;
      readonly pod?: PodName;
      /** Of log, exec and attach; it is one of the Pod's. */
      readonly container?: string;
    }
  /** An HTTP server in a Pod or on a node. */
  | {
      readonly is: "server";
      readonly scheme: "http" | "https";
      readonly host: string;
      readonly port: number;
      readonly pod?: PodName;
      readonly nodeName?: string;
    };

export interface NodeAddress {
  readonly name: string;
  /** An IP address or a name. Who resolves a name for nodes/proxy checks what comes of it with `isForwardable`. */
  readonly host: string;
  /** Of its kubelet. */
  readonly port: number;
}

export interface PodName {
  readonly namespace: string;
  readonly name: string;
}
