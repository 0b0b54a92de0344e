/** The path exists, but does not support this method. */
import { StatusError } from "../../api/machinery/status-error.ts";

export function methodNotAllowed(): StatusError {
  return new StatusError("MethodNotAllowed", "the server does not allow this method on the requested resource", { details: {} });
}
