/** Failures of the store as what a client sees. Every call of the store by this room goes through here, so each is translated once. */
import { expired, internalError, StatusError, tooLarge } from "../../../api/machinery/status-error.ts";
import { StoreError } from "../../../store/store-error.ts";

/** Runs something of the store; its errors come out as what a client sees. */
export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw statusOfFailure(error);
  }
}

/** Anything that is not the store's stays what it is. */
export function statusOfFailure(error: unknown): unknown {
  return error instanceof StoreError ? statusOf(error) : error;
}

function statusOf(error: StoreError): StatusError {
  switch (error.reason) {
    case "TooLarge":
      return tooLarge(error.message);
    case "Compacted":
      return expired("The resourceVersion for the provided list is too old.");
    case "Invalid":
      return new StatusError("BadRequest", error.message, { cause: error });
    case "Unavailable":
    case "Closed":
      return new StatusError("ServiceUnavailable", error.message, { details: { retryAfterSeconds: 1 }, cause: error });
    case "Uncertain":
      return new StatusError("Timeout", error.message, { cause: error });
    default:
      return internalError(error);
  }
}
