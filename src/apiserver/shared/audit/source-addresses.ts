/**
 * The addresses from which a request came, as upstream lists them: those of X-Forwarded-For, then X-Real-Ip, then the peer of the
 * connection. A client can send any but the last one.
 */
import { parseIp } from "../../../api/machinery/ip/ip-address.ts";
import type { ExchangeRequest } from "../../framework/exchange.ts";

export function sourceAddresses(request: Pick<ExchangeRequest, "header" | "peer">): readonly string[] {
  const addresses = (request.header("x-forwarded-for") ?? "").split(",").flatMap(addressOf);
  for (const real of addressOf(request.header("x-real-ip") ?? "")) if (!addresses.includes(real)) addresses.push(real);
  for (const peer of addressOf(request.peer.address)) if (addresses.at(-1) !== peer) addresses.push(peer);
  return addresses;
}

function addressOf(text: string): string[] {
  const address = text.trim();
  return address !== "" && parseIp(address) !== undefined ? [address] : [];
}
