/** On which addresses of this machine sockets of node ports and health checks listen. Pure. */
import { cidrContains, parseCidr, parseIp } from "../api/machinery/ip/ip-address.ts";

const EVERYTHING: Readonly<Record<4 | 6, { readonly range: string; readonly address: string }>> = {
  4: { range: "0.0.0.0/0", address: "0.0.0.0" },
  6: { range: "::/0", address: "::" },
};

/** `ranges`: `nodePortAddresses` of the model. The unspecified address if a range has all; none of a family that the machine lacks. */
export function listenAddresses(family: 4 | 6, ranges: readonly string[], localAddresses: readonly string[]): readonly string[] {
  const own = localAddresses.filter((address) => parseIp(address)?.family === family);
  if (own.length === 0) return [];
  const { range: all, address } = EVERYTHING[family];
  if (ranges.includes(all)) return [address];
  const parsed = ranges.flatMap((range) => parseCidr(range) ?? []);
  return own.filter((one) => {
    const ip = parseIp(one);
    return ip !== undefined && parsed.some((range) => range.address.family === family && cidrContains(range, ip));
  });
}
