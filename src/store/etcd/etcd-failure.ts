/**
 * Classifies the failure of an etcd call: whether a retry can help, whether the request can have been executed, and which reason of the
 * store contract it is. One table; anything not in it is treated as a lost connection with unknown outcome, which is the safe
 * interpretation.
 */
import { GrpcError } from "../../host/grpc/channel.ts";
import { StoreError, type StoreErrorReason } from "../store-error.ts";

export type Failure =
  /** etcd rejected it; any retry gets the same response. Nothing was executed. */
  | { readonly kind: "refused"; readonly reason: StoreErrorReason; readonly cause: GrpcError }
  /** No response, or one that another member may not give. `carriedOut` "no" is certain, "perhaps" is all that is known. */
  | { readonly kind: "lost"; readonly carriedOut: "no" | "perhaps"; readonly cause: unknown };

/** Prefixes of etcd's messages (the same in all versions; the codes are not) and of the library's own. */
const REFUSALS: readonly (readonly [beginning: string, reason: StoreErrorReason])[] = [
  ["etcdserver: mvcc: required revision has been compacted", "Compacted"],
  ["etcdserver: mvcc: required revision is a future revision", "FutureRevision"],
  ["etcdserver: mvcc: database space exceeded", "Full"],
  ["etcdserver: request is too large", "TooLarge"],
  ["etcdserver: too many operations in txn request", "TooLarge"],
  ["etcdserver: corrupt cluster", "Damaged"],
  ["etcdserver: permission denied", "Unusable"],
  ["etcdserver: user name is empty", "Unusable"],
  ["etcdserver: user name not found", "Unusable"],
  ["etcdserver: invalid auth token", "Unusable"],
  ["etcdserver: authentication failed", "Unusable"],
  // A message over the size limit: ours is a response, the server's a request.
  ["Received message larger than max", "TooLarge"],
  ["grpc: received message larger than max", "TooLarge"],
];

/** etcd reports these before it does anything. */
const NOT_CARRIED_OUT: readonly string[] = [
  "etcdserver: no leader",
  "etcdserver: too many requests",
  "etcdserver: not capable",
  "etcdserver: unhealthy cluster",
  "etcdserver: rpc not supported for learner",
];

export function failureOf(error: unknown): Failure {
  if (!(error instanceof GrpcError)) return { kind: "lost", carriedOut: "perhaps", cause: error };
  const refusal = REFUSALS.find(([beginning]) => error.details.startsWith(beginning));
  if (refusal !== undefined) return { kind: "refused", reason: refusal[1], cause: error };
  if (error.code === "PERMISSION_DENIED" || error.code === "UNAUTHENTICATED") return { kind: "refused", reason: "Unusable", cause: error };
  if (error.code === "UNIMPLEMENTED") return { kind: "refused", reason: "Unsupported", cause: error };
  const untouched = !error.sent || NOT_CARRIED_OUT.some((beginning) => error.details.startsWith(beginning));
  return { kind: "lost", carriedOut: untouched ? "no" : "perhaps", cause: error };
}

const ADVICE: Partial<Record<StoreErrorReason, string>> = {
  Full: "; etcd's database is at its quota: compact and defragment it, or raise the quota, then disarm the alarm",
  Unusable: "; the client certificate must belong to an etcd user that may read and write under the root",
};

/** A rejection as StoreError. "Compacted" and "FutureRevision" carry more data and are created elsewhere. */
export function refusalError(action: string, { reason, cause }: Extract<Failure, { kind: "refused" }>): StoreError {
  return new StoreError(reason, `Cannot ${action}: ${cause.details}${ADVICE[reason] ?? ""}`, { cause });
}

/** The cause inside the library's longer connection errors. */
const EXPLANATIONS: readonly (readonly [pattern: RegExp, explanation: string])[] = [
  [/unable to verify the first certificate|self[- ]signed certificate|issuer certificate/i, "its certificate is not from the given CA"],
  [/alert bad certificate|alert certificate required|alert unknown ca/i, "it does not accept our client certificate"],
  [/ALTNAME_INVALID|does not match certificate's altnames/i, "its certificate is for another name"],
  [/certificate has expired|not yet valid/i, "its certificate is not valid at this time"],
  [
    /alert handshake failure|wrong version number|Protocol error|disconnected before secure TLS/i,
    "it does not speak TLS as we do; is http and https mixed up?",
  ],
];

/** Whether an operator has to change a certificate or an address: a retry does not help. */
export function mustBeMended(cause: unknown): boolean {
  return EXPLANATIONS.some(([pattern]) => pattern.test(textOf(cause)));
}

/** One line for an operator. */
export function explain(cause: unknown): string {
  const plain = textOf(cause);
  const known = EXPLANATIONS.find(([pattern]) => pattern.test(plain));
  return known === undefined ? plain : `${known[1]} (${plain})`;
}

function textOf(cause: unknown): string {
  const text = cause instanceof GrpcError ? cause.details : cause instanceof Error ? cause.message : String(cause);
  return text
    .replace(/^No connection established\. Last error: (Error: )?/, "")
    .replace(/ \(\d{4}-[\d-]+T[\d:.]+Z\)/, "")
    .replace(/\s*\. Resolution note: $/, "")
    .replace(/\s+/g, " ")
    .trim();
}
