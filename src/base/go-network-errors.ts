/** What Go says when a connection fails, for what Node says: people search for these sentences, and tests look for them. */

const CONNECT_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connect: connection refused",
  EHOSTUNREACH: "connect: no route to host",
  ENETUNREACH: "connect: network is unreachable",
  ECONNRESET: "connect: connection reset by peer",
  ETIMEDOUT: "connect: connection timed out",
  EADDRNOTAVAIL: "connect: cannot assign requested address",
};

/** What is spoken at the port is no TLS: each of these is what OpenSSL takes the first bytes for. */
const NO_TLS: readonly string[] = ["EPROTO", "ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG", "ERR_SSL_BAD_RECORD_TYPE"];

/** That there was no connection. `address`: "10.0.0.1:80". */
export function goDialError(error: unknown, address: string): string {
  const { code, name, hostname, message } = nodeError(error);
  if (name === "TimeoutError") return `dial tcp ${address}: i/o timeout`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return `dial tcp: lookup ${hostname}: no such host`;
  return `dial tcp ${address}: ${CONNECT_WORDS[code] ?? message}`;
}

/** That there was no answer: no connection, or one that ended or was of another kind. What Go has no words for is said as it is. */
export function goRoundTripError(error: unknown, address: string): string {
  const { code, name, syscall, message } = nodeError(error);
  // Node has the same code for a connection that ended without an answer.
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

/** What Node said first: below what others have made of it, and of several addresses that were tried, of the first. */
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
