/**
 * Whether a ServiceCIDR can be removed: its addresses in use are also in another one, or it has none. Pure. Not here: allocation of
 * addresses (apiserver/resources/service).
 */
import type { IPAddress, ServiceCIDR } from "../../api/generated/networking.k8s.io/v1.ts";
import { cidrContains, parseIp, parseSloppyCidr, type Cidr, type IpAddress } from "../../api/machinery/ip/ip-address.ts";

const MANAGER_LABEL = "ipaddress.kubernetes.io/managed-by";
const SERVICE_ALLOCATOR = "ipallocator.k8s.io";

export function cidrsOf({ spec }: ServiceCIDR): readonly Cidr[] {
  return (spec?.cidrs ?? []).flatMap((text) => parseSloppyCidr(text) ?? []);
}

/** The address, if the API server allocated it for a Service. */
export function serviceAddressOf({ metadata }: IPAddress): IpAddress | undefined {
  return metadata.labels?.[MANAGER_LABEL] === SERVICE_ALLOCATOR ? parseIp(metadata.name) : undefined;
}

export function isAddressIn(address: IpAddress, serviceCidr: ServiceCIDR): boolean {
  return cidrsOf(serviceCidr).some((cidr) => cidrContains(cidr, address));
}

/** True if no Service would keep an address outside of all the others. `all` may include the one in question. */
export function isRemovable(serviceCidr: ServiceCIDR, all: readonly ServiceCIDR[], addresses: Iterable<IPAddress>): boolean {
  const others = all.filter(({ metadata }) => metadata.name !== serviceCidr.metadata.name);
  if (cidrsOf(serviceCidr).every((cidr) => others.some((other) => cidrsOf(other).some((larger) => isWithin(cidr, larger))))) return true;
  for (const object of addresses) {
    const address = serviceAddressOf(object);
    if (address !== undefined && isAddressIn(address, serviceCidr) && !others.some((other) => isAddressIn(address, other))) return false;
  }
  return true;
}

function isWithin({ address, prefixLength }: Cidr, larger: Cidr): boolean {
  return larger.prefixLength <= prefixLength && cidrContains(larger, address);
}
