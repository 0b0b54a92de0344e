/** How long to wait after a failed request before it is repeated. */
import { isReason } from "../../api/machinery/status-error.ts";

const RETRY_MS = 2_000;
/** A missing permission or kind is added by a person: more frequent requests would only fill the record of refused ones. */
const REFUSED_RETRY_MS = 60_000;

/** Answers that the same request gets again, until something else changes. */
const REFUSALS = ["Forbidden", "BadRequest", "NotFound", "MethodNotAllowed"] as const;

export function retryDelayMs(error?: unknown): number {
  return REFUSALS.some((reason) => isReason(error, reason)) ? REFUSED_RETRY_MS : RETRY_MS;
}
