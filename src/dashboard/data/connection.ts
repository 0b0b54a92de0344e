/**
 * The contract between the pages and a cluster: HTTP requests of the Kubernetes API as plain values. Drivers: `fetch` of a browser
 * (web/page/fetch-connection.ts), an API server in the same process (exchange-connection.ts), any of them at a revision of the past
 * (time/past-connection.ts), and a file (recording/recording-connection.ts). Types only.
 */

export interface ConnectionRequest {
  /** Default: GET. */
  readonly method?: string;
  /** With its query, beginning with a slash. */
  readonly path: string;
  /** Default: application/json. */
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: string;
  /** Ends the request, and the body of a response that is still being read. */
  readonly signal?: AbortSignal;
}

export interface ConnectionResponse {
  readonly code: number;
  /** By its lower-case name. */
  header(name: string): string | undefined;
  /** The whole body. */
  bytes(): Promise<Uint8Array>;
  /** The body as it arrives. Ends early if the signal is aborted. */
  pieces(): AsyncIterable<Uint8Array>;
}

export interface ClusterConnection {
  /** Resolves with any response, an error status included. Rejects if there was none. */
  send(request: ConnectionRequest): Promise<ConnectionResponse>;
  /** Opens a WebSocket with one of the subprotocols. */
  open(path: string, protocols: readonly string[], listener: SocketListener): ClusterSocket;
}

export interface SocketListener {
  opened(): void;
  message(bytes: Uint8Array): void;
  /** Called exactly once, last. `reason` is "" if the server gave none. */
  closed(reason: string): void;
}

export interface ClusterSocket {
  send(bytes: Uint8Array): void;
  close(): void;
}
