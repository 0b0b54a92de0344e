/** Blocks of addresses in the form that enforcers need: canonical, without ranges inside of others. */
import type { IPBlock } from "../../api/generated/networking.k8s.io/v1.ts";
import { disjointCidrs } from "../../api/machinery/ip/disjoint-cidrs.ts";
import { formatCidr, networkOf, parseSloppyCidr } from "../../api/machinery/ip/ip-address.ts";
import type { IpBlock } from "../model.ts";

/** Undefined if it is not a CIDR, which the API server rejects. */
export function ipBlock({ cidr, except = [] }: IPBlock): IpBlock | undefined {
  const block = parseSloppyCidr(cidr);
  if (block === undefined) return undefined;
  const { family } = block.address;
  const ranges = disjointCidrs(except).filter((range) => range.includes(":") === (family === 6));
  return { family, cidr: formatCidr(networkOf(block)), except: ranges.toSorted() };
}
