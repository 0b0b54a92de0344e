/** Responses that a connection gives by itself, without a server. */
import type { JsonObject } from "../../api/machinery/object.ts";
import type { StatusError } from "../../api/machinery/status-error.ts";
import type { ConnectionResponse } from "./connection.ts";

export function jsonResponse(value: object, code = 200): ConnectionResponse {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return {
    code,
    header: (name) => (name === "content-type" ? "application/json" : undefined),
    bytes: () => Promise.resolve(bytes),
    async *pieces() {
      yield bytes;
    },
  };
}

export function errorResponse(error: StatusError): ConnectionResponse {
  const status: JsonObject = error.toStatus();
  return jsonResponse(status, error.code);
}

/** A watch without events: nothing changes in the past. It ends when the signal is aborted. */
export function silentResponse(signal: AbortSignal | undefined): ConnectionResponse {
  return {
    code: 200,
    header: () => undefined,
    bytes: () => Promise.resolve(new Uint8Array()),
    // oxlint-disable-next-line require-yield -- it has no events
    async *pieces() {
      if (signal?.aborted === true) return;
      await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
    },
  };
}
