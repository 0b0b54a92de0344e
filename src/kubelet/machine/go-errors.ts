/** Go's error messages for probes and hooks that fail over the network. Those for connections: base/go-network-errors.ts. */
import { goDialError as dialError, goRoundTripError, nodeError } from "../../base/go-network-errors.ts";

export const goTimeout = "context deadline exceeded";

export interface FailedRequest {
  /** "10.0.0.1:80". */
  readonly address: string;
  readonly signal: AbortSignal;
}

export function goDialError(error: unknown, { address, signal }: FailedRequest): string {
  return signal.aborted ? `dial tcp ${address}: i/o timeout` : dialError(error, address);
}

/** For a request, which may also fail on an open connection. */
export function goHttpError(error: unknown, { address, signal }: FailedRequest): string {
  if (signal.aborted) return `${goTimeout} (Client.Timeout exceeded while awaiting headers)`;
  const { code, message } = nodeError(error);
  if (code === "EPROTO" || code === "ERR_SSL_WRONG_VERSION_NUMBER") return "http: server gave HTTP response to HTTPS client";
  if (code.startsWith("HPE_")) return `net/http: HTTP/1.x transport connection broken: malformed HTTP response: ${message}`;
  return goRoundTripError(error, address);
}

/** "NOT_FOUND" is "NotFound" in Go, and "CANCELLED" has one letter less. */
export function goCodeName(code: string): string {
  if (code === "CANCELLED") return "Canceled";
  if (code === "OK") return "OK";
  return code.replace(/([A-Z])([A-Z]*)_?/g, (_, first: string, rest: string) => `${first}${rest.toLowerCase()}`);
}
