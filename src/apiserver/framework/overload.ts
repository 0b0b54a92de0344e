/** The answer to a request that the server has no seat for. Over HTTP it is upstream's plain text, unlike other 429s. */
import { StatusError } from "../../api/machinery/status-error.ts";

export const OVERLOAD_MESSAGE = "Too many requests, please try again later.";

export class OverloadError extends StatusError {
  constructor(retryAfterSeconds: number) {
    super("TooManyRequests", OVERLOAD_MESSAGE, { details: { retryAfterSeconds } });
  }
}
