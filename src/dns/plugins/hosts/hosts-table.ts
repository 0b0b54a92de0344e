/** Names and addresses of a file in the format of /etc/hosts. Pure. */
import { addressBytes, canonicalAddress } from "../../addresses.ts";
import { nameOfText } from "../../wire/names.ts";

export interface HostsTable {
  /** Addresses by name, in the order of the file. */
  readonly addresses: ReadonlyMap<string, readonly Uint8Array[]>;
  /** Names by canonical address. */
  readonly names: ReadonlyMap<string, readonly string[]>;
}

/** Lines that are not an address with names are ignored, as the system's resolver does. */
export function parseHosts(text: string): HostsTable {
  const addresses = new Map<string, Uint8Array[]>();
  const names = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [address = "", ...texts] = (line.split("#")[0] ?? "").trim().split(/\s+/);
    const bytes = addressBytes(address);
    const canonical = canonicalAddress(address);
    if (bytes === undefined || canonical === undefined) continue;
    for (const name of texts.flatMap((each) => nameOfText(each) ?? [])) {
      addresses.set(name, [...(addresses.get(name) ?? []), bytes]);
      names.set(canonical, [...(names.get(canonical) ?? []), name]);
    }
  }
  return { addresses, names };
}
