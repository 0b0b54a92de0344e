/**
 * Negotiates the protocol inside SPDY: the client lists its protocols in X-Stream-Protocol-Version in order of preference, and the response
 * has the selected one in the same header. Messages are upstream's.
 */
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import type { HttpRequest, TunnelOffer } from "../../../host/http/contract.ts";
import type { ByteStream } from "../../../base/byte-stream.ts";
import { Refusal } from "../call.ts";

const HEADER = "X-Stream-Protocol-Version";

/** The client's first supported protocol; throws a Refusal. */
export function chooseStreamProtocol<P extends string>(request: HttpRequest, known: readonly P[]): P {
  const values = request.headerValues(HEADER.toLowerCase());
  if (values.length === 0)
    throw new Refusal(400, `unable to upgrade: header ${HEADER} does not exist in request with ${request.headerNames().length} headers\n`);
  const offered = values.flatMap((value) => value.split(",")).flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
  if (offered.length === 0)
    throw new Refusal(400, `unable to upgrade: header ${HEADER} contains [${values.map(quoteGo).join(" ")}], but no valid protocols\n`);
  const chosen = offered.find((name): name is P => (known as readonly string[]).includes(name));
  if (chosen !== undefined) return chosen;
  throw new Refusal(
    403,
    `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(" ")}], server accepts [${known.join(" ")}]\n`,
    { "x-accepted-stream-protocol-versions": known.join(", ") },
  );
}

export function switchToSpdy(tunnel: TunnelOffer, protocol: string): Promise<ByteStream> {
  return tunnel.switch({ connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": protocol });
}
