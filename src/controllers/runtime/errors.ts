/** Answers of the server that controllers meet in the ordinary course of things. */
import { isStatusError } from "../../api/machinery/status-error.ts";

/** Nothing can be made in a namespace that is going; trying again would not help. */
export function isNamespaceTerminating(error: unknown): boolean {
  return isStatusError(error) && (error.details?.causes ?? []).some(({ reason }) => reason === "NamespaceTerminating");
}
