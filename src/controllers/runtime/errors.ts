/** Server errors that controllers expect in normal operation. */
import { isStatusError } from "../../api/machinery/status-error.ts";

/** Nothing can be created in a terminating namespace; a retry would not help. */
export function isNamespaceTerminating(error: unknown): boolean {
  return isStatusError(error) && (error.details?.causes ?? []).some(({ reason }) => reason === "NamespaceTerminating");
}
