/**
 * Translates failures of the store into API errors. Every call of the store by the API server goes through here, so each is translated
 * once.
 */
import { expired, internalError, StatusError, tooLarge } from "../../../api/machinery/status-error.ts";
import { StoreError } from "../../../store/store-error.ts";

/** Runs an operation on the store; its errors are translated into API errors. Hot path: not async, which would cost one more promise. */
export function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return work().then(undefined, rejectTranslated);
  } catch (error) {
    return Promise.reject(statusOfFailure(error));
  }
}

function rejectTranslated(error: unknown): never {
  throw statusOfFailure(error);
}

/** Errors that are not the store's are passed through unchanged. */
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
