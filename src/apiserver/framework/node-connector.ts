/**
 * The contract of the transport to nodes: the API server authorizes a connection (log, exec, attach, portforward, proxy) and resolves its
 * target, the connector opens it and copies bytes. apiserver/http implements it with sockets, simulated nodes without.
 */
import type { JsonObject } from "../../api/machinery/object.ts";
import type { ExchangeAnswer, SwitchOffer, UpgradeOffer } from "./exchange.ts";

export interface NodeConnector {
  /**
   * Resolves when the target has begun to respond; a stream or WebSocket is then copied until one side ends it. Failures before that are
   * thrown: a StatusError is returned to the client as it is, any other error is wrapped.
   */
  connect(call: ConnectionCall): Promise<ExchangeAnswer>;
  /** The reason why a request is not supported at all, whatever the protocol; undefined if it is. Absent: everything is supported. */
  refusal?(subresource: string, target: ConnectionTarget): string | undefined;
}

/** A validated request for the connector. */
export interface ConnectionCall {
  /** "log", "exec", "attach", "portforward" or "proxy"; "metrics" for a page of a kubelet that the server itself reads, "kubelet" for its other
   * requests to a kubelet. */
  readonly subresource: string;
  readonly target: ConnectionTarget;
  /** Of the subresource's options type (PodExecOptions, …), without unset fields. */
  readonly options: JsonObject;
  readonly method: string;
  /** For a proxy, and for the server's own requests: the path on the target, percent-encoded; "" otherwise. */
  readonly path: string;
  /** As received, without the question mark. A proxy forwards it. */
  readonly query: string;
  /** For a proxy: the headers to forward, without those between client and API server (its token, hop-by-hop headers). */
  readonly headers: Readonly<Record<string, string>>;
  body(): Promise<Uint8Array>;
  /** For a proxy: rewrites a link in a page of the target for the client. The connector applies it to text/html. */
  rewriteLink?(link: string): string;
  /** Set if the client requests a WebSocket; only then the answer may be one. */
  readonly offer?: UpgradeOffer;
  /** Set if the client requests a protocol upgrade, to WebSocket or another protocol; only then the answer may be a tunnel. */
  readonly switching?: SwitchOffer;
  /** Aborted when the client disconnects before it was answered. */
  readonly signal: AbortSignal;
}

export type ConnectionTarget =
  /** The kubelet of a node, for a Pod or, by nodes/proxy, for any path that it serves. */
  | {
      readonly is: "kubelet";
      readonly node: NodeAddress;
      readonly pod?: PodName;
      /** For log, exec and attach: one of the Pod's containers. */
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
  /** An IP address or a name. A connector that resolves a name for nodes/proxy checks the result with `isForwardable`. */
  readonly host: string;
  /** The port of its kubelet. */
  readonly port: number;
}

export interface PodName {
  readonly namespace: string;
  readonly name: string;
}
