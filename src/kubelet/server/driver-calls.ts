/** Passes calls of the control plane to the controller service of a storage driver on this node (contracts/driver-calls.ts). */
import { signalOf } from "../../base/abort.ts";
import { CALLED_SERVICES, CODE_HEADER, MESSAGE_HEADER, type DriverCalls } from "../contracts/driver-calls.ts";
import { Refusal, type Handler } from "./call.ts";

/** `calls` undefined: the node has no drivers. */
export function driverCallHandler(calls: DriverCalls | undefined): Handler {
  return async (_context, { request, reply, parameters }) => {
    const { driver = "", service = "", method = "" } = parameters;
    if (!CALLED_SERVICES.has(service)) throw new Refusal(404, `service "${service}" of a CSI driver is not served here`);
    const answer = await calls?.call(driver, `/${service}/${method}`, await request.body(), signalOf(request.signal));
    const head = (headers: Readonly<Record<string, string>>) => ({ code: 200, headers: { "content-type": BYTES_TYPE, ...headers } });
    switch (answer?.is) {
      case "answer":
        return reply.send(head({ [CODE_HEADER]: "OK" }), [answer.message]);
      case "failed":
        return reply.send(head({ [CODE_HEADER]: answer.code, [MESSAGE_HEADER]: messageHeader(answer.message) }), []);
      default:
        throw new Refusal(404, `CSI driver "${driver}" is not registered on this node`);
    }
  };
}

const BYTES_TYPE = "application/octet-stream";

/** Percent-encoded at most nine times as long: more than 16 KiB of headers are rejected by the client. */
const MESSAGE_LENGTH_MAX = 1_500;

function messageHeader(message: string): string {
  return encodeURIComponent(message.slice(0, MESSAGE_LENGTH_MAX).toWellFormed());
}
