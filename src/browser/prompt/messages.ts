/** Errors as kubectl prints them. Pure. */
import { isStatusError } from "../../api/machinery/status-error.ts";
import { UsageError } from "./flags.ts";

export function errorText(error: unknown): string {
  if (isStatusError(error)) return `Error from server (${error.reason}): ${error.message}`;
  if (error instanceof UsageError) return `error: ${error.message}`;
  return `error: ${(error as Error).message}`;
}
