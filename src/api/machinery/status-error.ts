/**
 * The one error that crosses the wire. Every failure that a client can see has one of these reasons; the HTTP code follows from the reason,
 * so no handler chooses a code. The messages are upstream's: tools match them.
 */
import { quoteGo } from "./codec/go-text.ts";
import { describeFieldError, type FieldError } from "./field-error.ts";
import { groupResourceOf } from "./object.ts";
import { joinedErrors } from "../../base/joined-errors.ts";

const HTTP_CODE = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  /** Upstream sets no reason where a plain error reaches the client; neither does this Status. */
  Unknown: 500,
  ServerTimeout: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const;

export type Reason = keyof typeof HTTP_CODE;

export type StatusCause = {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
};

export type StatusDetails = {
  readonly name?: string;
  readonly group?: string;
  /** The plural resource for most reasons, the kind for Invalid: as upstream. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
};

/** meta.v1.Status, as it is sent. */
export type Status = {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string; readonly resourceVersion?: string; readonly remainingItemCount?: number };
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
};

export interface StatusErrorOptions {
  readonly details?: StatusDetails;
  /** A fresh continue token with which an expired paged list can be resumed. */
  readonly continue?: string;
  readonly cause?: unknown;
  /** Set only for responses of other servers with codes of their own; otherwise it follows from the reason. */
  readonly code?: number;
  /** The reason as it is sent, for responses of other servers with reasons of their own. Default: the reason. */
  readonly sentReason?: string;
}

export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly reason: Reason;
  readonly code: number;
  readonly details: StatusDetails | undefined;
  readonly continue: string | undefined;
  readonly #sentReason: string | undefined;

  constructor(reason: Reason, message: string, options: StatusErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.code = options.code ?? HTTP_CODE[reason];
    this.details = options.details;
    this.continue = options.continue;
    this.#sentReason = options.sentReason ?? (reason === "Unknown" ? undefined : reason);
  }

  /** The Status as sent to the client. */
  toStatus(): Status {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: this.continue === undefined ? {} : { continue: this.continue },
      status: "Failure",
      message: this.message,
      ...(this.#sentReason === undefined ? {} : { reason: this.#sentReason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

/** Parses a reason; undefined if it is unknown. */
export function reasonNamed(text: string): Reason | undefined {
  return Object.hasOwn(HTTP_CODE, text) ? (text as Reason) : undefined;
}

export function isStatusError(error: unknown): error is StatusError {
  return error instanceof StatusError;
}

export function isReason(error: unknown, reason: Reason): error is StatusError {
  return error instanceof StatusError && error.reason === reason;
}

/** A resource as messages name it. */
export interface ResourceName {
  readonly group: string;
  readonly plural: string;
}

function detailsOf({ group, plural }: ResourceName, name: string): StatusDetails {
  return { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind: plural };
}

function title({ group, plural }: ResourceName): string {
  return groupResourceOf(group, plural);
}

export function notFound(resource: ResourceName, name: string): StatusError {
  return new StatusError("NotFound", `${title(resource)} "${name}" not found`, { details: detailsOf(resource, name) });
}

/** An unknown path. */
export function noSuchPath(): StatusError {
  return new StatusError("NotFound", "the server could not find the requested resource", { details: {} });
}

/** `isTerminating`: the object is being deleted, so that a later retry may succeed. */
export function alreadyExists(resource: ResourceName, name: string, { isTerminating = false } = {}): StatusError {
  const message = `${isTerminating ? "object is being deleted: " : ""}${title(resource)} "${name}" already exists`;
  return new StatusError("AlreadyExists", message, { details: detailsOf(resource, name) });
}

export const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

export function conflict(resource: ResourceName, name: string, why = MODIFIED): StatusError {
  return new StatusError("Conflict", `Operation cannot be fulfilled on ${title(resource)} "${name}": ${why}`, {
    details: detailsOf(resource, name),
  });
}

export function forbiddenError(resource: ResourceName, name: string, why: string): StatusError {
  const what = name === "" ? title(resource) : `${title(resource)} ${quoteGo(name)}`;
  return new StatusError("Forbidden", `${what} is forbidden: ${why}`, { details: detailsOf(resource, name) });
}

export function badRequest(message: string, cause?: unknown): StatusError {
  return new StatusError("BadRequest", message, { cause });
}

/** Lists every cause, not only the first. */
export function invalidObject(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const what = `${groupResourceOf(kind.group, kind.kind)} "${name}" is invalid`;
  return new StatusError("Invalid", `${what}: ${joinedErrors(errors.map(describeFieldError))}`, {
    details: {
      ...(name === "" ? {} : { name }),
      ...(kind.group === "" ? {} : { group: kind.group }),
      ...(kind.kind === "" ? {} : { kind: kind.kind }),
      causes: errors.map(({ type, body, field }) => ({ reason: type, message: body, field })),
    },
  });
}

export function expired(message: string, freshToken?: string): StatusError {
  return new StatusError("Expired", message, freshToken === undefined ? {} : { continue: freshToken });
}

export function tooLarge(message: string): StatusError {
  return new StatusError("RequestEntityTooLarge", `Request entity too large: ${message}`);
}

export function internalError(error: unknown): StatusError {
  const message = error instanceof Error ? error.message : String(error);
  return new StatusError("InternalError", `Internal error occurred: ${message}`, { details: { causes: [{ message }] }, cause: error });
}

export function timeoutError(message: string): StatusError {
  return new StatusError("Timeout", `Timeout: ${message}`, { details: {} });
}

export function tooManyRequests(message: string, retryAfterSeconds: number): StatusError {
  return new StatusError("TooManyRequests", message, { details: { retryAfterSeconds } });
}
