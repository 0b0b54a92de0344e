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

/** The peer's certificate is not signed by a trusted CA, in OpenSSL's codes. */
const UNTRUSTED: readonly string[] = [
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
];

/** Go's message for a certificate that was refused; undefined if the error is another one. */
function certificateError({ code, host, cert }: NodeError): string | undefined {
  const refused = "tls: failed to verify certificate: x509:";
  if (UNTRUSTED.includes(code)) return `${refused} certificate signed by unknown authority`;
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") return `${refused} certificate has expired or is not yet valid`;
  if (code !== "ERR_TLS_CERT_ALTNAME_INVALID") return undefined;
  const names = (cert?.subjectaltname ?? "").split(", ").filter((name) => name !== "");
  if (names.length === 0) return `${refused} certificate is not valid for any names, but wanted to match ${host}`;
  return `${refused} certificate is valid for ${names.map((name) => name.replace(/^[^:]*:/, "")).join(", ")}, not ${host}`;
}

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
  const failure = nodeError(error);
  const { code, name, syscall, message } = failure;
  const refusal = certificateError(failure);
  if (refusal !== undefined) return refusal;
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
  /** For a certificate of another name: the expected name, and the certificate. */
  readonly host: string;
  readonly cert: { readonly subjectaltname?: string } | undefined;
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
    host = "",
    cert,
    message = String(first),
    cause,
  } = (first ?? {}) as Partial<NodeError> & ErrorOptions;
  if (code === "" && name !== "TimeoutError" && cause !== undefined) {
    const below = nodeError(cause);
    if (below.code !== "" || below.name === "TimeoutError") return below;
  }
  return { code, name, syscall, hostname, host, cert, message };
}
