/** The failure of a CSI call, with its gRPC code and upstream's message, as users know it from Events. */

/** Canonical gRPC codes, each at the index of its number. */
const CODES = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;

export type CsiCode = (typeof CODES)[number];

/** gRPC's number of a code. */
export function numberOfCode(code: CsiCode): number {
  return CODES.indexOf(code);
}

export class CsiError extends Error {
  override readonly name = "CsiError";
  readonly code: CsiCode;
  /** The driver's own message. */
  readonly details: string;

  constructor(code: CsiCode, details: string, options: { readonly cause?: unknown } = {}) {
    super(`rpc error: code = ${goNameOfCode(code)} desc = ${details}`, options);
    this.code = code;
    this.details = details;
  }
}

/** Codes after which the driver may still be working on the request, or may have completed it. Upstream's list of errors that are not final. */
const UNCERTAIN: ReadonlySet<CsiCode> = new Set(["CANCELLED", "DEADLINE_EXCEEDED", "UNAVAILABLE", "RESOURCE_EXHAUSTED", "ABORTED"]);

/** True if the driver answered that the request failed and nothing of it is in progress. */
export function isFinalCsiError(error: unknown): boolean {
  return error instanceof CsiError && !UNCERTAIN.has(error.code);
}

/** Upstream's list of codes after which the same request can never succeed. All of them are final. */
const INFEASIBLE: ReadonlySet<CsiCode> = new Set(["INVALID_ARGUMENT", "OUT_OF_RANGE", "NOT_FOUND"]);

export function isInfeasibleCsiError(error: unknown): boolean {
  return error instanceof CsiError && INFEASIBLE.has(error.code);
}

export function hasCsiCode(error: unknown, code: CsiCode): error is CsiError {
  return error instanceof CsiError && error.code === code;
}

/** "InvalidArgument" of "INVALID_ARGUMENT": how gRPC's Go library prints a code. CANCELLED has one "l" there. */
export function goNameOfCode(code: CsiCode): string {
  if (code === "OK") return code;
  if (code === "CANCELLED") return "Canceled";
  return code.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
