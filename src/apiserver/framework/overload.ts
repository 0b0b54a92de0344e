/** The rejection of a request without a free seat. Over HTTP it is upstream's plain text, unlike other 429s. */
import { StatusError } from "../../api/machinery/status-error.ts";

export const OVERLOAD_MESSAGE = "Too many requests, please try again later.";

export class OverloadError extends StatusError {
  constructor(retryAfterSeconds: number) {
    super("TooManyRequests", OVERLOAD_MESSAGE, { details: { retryAfterSeconds } });
  }
}
