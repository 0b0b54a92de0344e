/**
 * Sets of ports: equality, and display order. The order is upstream's, so that tables look alike: by the FNV-1a hash (128 bits) of the text
 * that Go's dumper makes of a port, which differs for Endpoints and EndpointSlices.
 */
import type { EndpointPort as SubsetPort } from "../../../api/generated/core/v1.ts";
import type { EndpointPort as SlicePort } from "../../../api/generated/discovery.k8s.io/v1.ts";

const FNV_OFFSET = 0x6c62272e07bb014262b821756295c58dn;
const FNV_PRIME = 0x1000000000000000000013bn;
const NIL = "<nil>";
/** Distinct from "", which a protocol may be. */
const ABSENT = "-";

/** Equal for the same ports in any order. Names and protocols have no spaces. */
export function portSetKey(ports: readonly (SubsetPort | SlicePort)[] = []): string {
  return ports.map(portKey).toSorted().join(",");
}

export function portKey({ name, protocol, port, appProtocol }: SubsetPort | SlicePort): string {
  return `${name ?? ""} ${protocol ?? ""} ${port ?? ""} ${appProtocol ?? ABSENT}`;
}

export function inSubsetOrder(ports: readonly SubsetPort[]): readonly SubsetPort[] {
  return inOrderOf(ports, ({ name = "", port, protocol = "", appProtocol = NIL }) => {
    return `(v1.EndpointPort){Name:(string)${name} Port:(int32)${port} Protocol:(v1.Protocol)${protocol} AppProtocol:(*string)${appProtocol}}`;
  });
}

export function inSliceOrder(ports: readonly SlicePort[]): readonly SlicePort[] {
  return inOrderOf(ports, ({ name = NIL, protocol = NIL, port = NIL, appProtocol = NIL }) => {
    return `(v1.EndpointPort){Name:(*string)${name} Protocol:(*v1.Protocol)${protocol} Port:(*int32)${port} AppProtocol:(*string)${appProtocol}}`;
  });
}

function inOrderOf<P>(ports: readonly P[], dump: (port: P) => string): readonly P[] {
  if (ports.length < 2) return ports;
  return ports
    .map((port) => ({ port, hash: fnv128(dump(port)) }))
    .toSorted((a, b) => (a.hash < b.hash ? -1 : Number(a.hash > b.hash)))
    .map(({ port }) => port);
}

/** Names of ports and protocols are ASCII: one byte per character. */
function fnv128(text: string): bigint {
  let hash = FNV_OFFSET;
  for (let at = 0; at < text.length; at++) hash = BigInt.asUintN(128, (hash ^ BigInt(text.charCodeAt(at))) * FNV_PRIME);
  return hash;
}
