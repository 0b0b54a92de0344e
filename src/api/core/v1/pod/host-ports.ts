/**
 * The host ports of a Pod. The scheduler and the kubelet's admission must agree on when two of them conflict. Not here: duplicate ports
 * inside one Pod, which validation rejects.
 */
import type { ContainerPort, Pod } from "../../../generated/core/v1.ts";
import { isSidecar } from "./containers.ts";

export interface HostPort {
  /** "0.0.0.0" for all addresses of the node. */
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

const ALL_ADDRESSES = "0.0.0.0";
const NONE: readonly HostPort[] = [];

/** Host ports of the containers that run as long as the Pod: the regular ones and the sidecars. */
export function hostPortsOf({ spec }: Pod): readonly HostPort[] {
  if (spec === undefined) return NONE;
  let found: HostPort[] | undefined;
  for (const container of spec.initContainers ?? []) if (isSidecar(container)) found = collect(container.ports, found);
  for (const container of spec.containers) found = collect(container.ports, found);
  return found ?? NONE;
}

function collect(ports: readonly ContainerPort[] = [], found: HostPort[] | undefined): HostPort[] | undefined {
  let all = found;
  for (const { hostIP = "", protocol = "TCP", hostPort = 0 } of ports) {
    if (hostPort <= 0) continue;
    all ??= [];
    all.push({ ip: hostIP === "" ? ALL_ADDRESSES : hostIP, protocol, port: hostPort });
  }
  return all;
}

/** True if two Pods cannot have these on one node. */
export function doCollide(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.ip === b.ip || a.ip === ALL_ADDRESSES || b.ip === ALL_ADDRESSES;
}

/** Hot path (called per node): must not allocate. */
export function doAnyCollide(wanted: readonly HostPort[], used: readonly HostPort[]): boolean {
  for (const want of wanted) for (const use of used) if (doCollide(want, use)) return true;
  return false;
}
