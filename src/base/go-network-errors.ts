/** Translates Node's connection errors to Go's messages: users search for these sentences, and tests match them. */

const CONNECT_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connect: connection refused",
  EHOSTUNREACH: "connect: no route to host",
  ENETUNREACH: "connect: network is unreachable",
  ECONNRESET: "connect: connection reset by peer",
  ETIMEDOUT: "connect: connection timed out",
  EADDRNOTAVAIL: "connect: cannot assign requested address",
};

/** The peer does not speak TLS: OpenSSL's errors for the first bytes of another protocol. */
const NO_TLS: readonly string[] = ["EPROTO", "ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG", "ERR_SSL_BAD_RECORD_TYPE"];

/** Message for a failed dial. `address`: "10.0.0.1:80". */
export function goDialError(error: unknown, address: string): string {
  const { code, name, hostname, message } = nodeError(error);
  if (name === "TimeoutError") return `dial tcp ${address}: i/o timeout`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return `dial tcp: lookup ${hostname}: no such host`;
  return `dial tcp ${address}: ${CONNECT_WORDS[code] ?? message}`;
}

/**
 * Message for a request without a response: no connection, or one that ended early or speaks another protocol. Errors unknown to Go keep
 * Node's text.
 */
export function goRoundTripError(error: unknown, address: string): string {
  const { code, name, syscall, message } = nodeError(error);
  // Node uses the same code for a connection that closed without a response.
  if (code === "ECONNRESET") return syscall === "read" ? `read tcp ->${address}: read: connection reset by peer` : "EOF";
  if (NO_TLS.includes(code)) return "tls: first record does not look like a TLS handshake";
  if (code in CONNECT_WORDS || code === "ENOTFOUND" || code === "EAI_AGAIN" || name === "TimeoutError") return goDialError(error, address);
  return message;
}

export interface NodeError {
  readonly code: string;
  readonly name: string;
  readonly syscall: string;
  readonly hostname: string;
  readonly message: string;
}

/** Node's original error: the innermost cause, and the first of several attempted addresses. */
export function nodeError(error: unknown): NodeError {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const {
    code = "",
    name = "",
    syscall = "",
    hostname = "",
    message = String(first),
    cause,
  } = (first ?? {}) as Partial<NodeError> & ErrorOptions;
  if (code === "" && name !== "TimeoutError" && cause !== undefined) {
    const below = nodeError(cause);
    if (below.code !== "" || below.name === "TimeoutError") return below;
  }
  return { code, name, syscall, hostname, message };
}
