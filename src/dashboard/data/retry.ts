/** How long to wait after a failed request before it is repeated. */
import { isReason } from "../../api/machinery/status-error.ts";

const RETRY_MS = 2_000;
/** A missing permission is granted by a person: more frequent requests would only fill the record of refused ones. */
const FORBIDDEN_RETRY_MS = 60_000;

export function retryDelayMs(error?: unknown): number {
  return isReason(error, "Forbidden") ? FORBIDDEN_RETRY_MS : RETRY_MS;
}
