/**
 * What one node enforces: the result of computeModel (compute/compute-model.ts), the only input of the enforcers. Everything that API
 * objects decide is decided here; enforcers only translate. Sorted and free of duplicates: equal inputs give equal models.
 */

export type Protocol = "TCP" | "UDP" | "SCTP";

export type Direction = "ingress" | "egress";

export interface PolicyModel {
  /** False: the cluster has no NetworkPolicy, and no packet is filtered. True: packets of unknown addresses of the podCIDR are dropped. */
  readonly hasPolicies: boolean;
  /** Addresses of this node's Pods, isolated or not. */
  readonly localAddresses: readonly string[];
  /** By address of a Pod of this node. A direction without an entry is not isolated. */
  readonly isolated: ReadonlyMap<string, Isolation>;
  /** By "namespace/name"; only those that select Pods of this node. */
  readonly policies: ReadonlyMap<string, AllowedTraffic>;
  /** Addresses of the Pods that selectors match, by the key that allowances refer to. May be empty. */
  readonly addressSets: ReadonlyMap<string, readonly string[]>;
}

/** Keys of the policies that select the Pod, per isolated direction. Traffic that one of them allows passes. */
export type Isolation = { readonly [direction in Direction]?: readonly string[] };

export type AllowedTraffic = { readonly [direction in Direction]: readonly Allowance[] };

/** A connection passes if it meets all members that are present. */
export interface Allowance {
  /** Key of an address set: the peer is in it. */
  readonly peers?: string;
  /** The peer is in this block. */
  readonly block?: IpBlock;
  /** Key of an address set: the selected Pod is in it. For named ports of ingress, whose number differs between Pods. */
  readonly targets?: string;
  /** Absent: every protocol and port. */
  readonly ports?: readonly PortRange[];
}

export interface IpBlock {
  readonly family: 4 | 6;
  /** "10.0.0.0/8", without host bits. */
  readonly cidr: string;
  /** None contains another. */
  readonly except: readonly string[];
}

/** Destination ports of a connection, as the Pod sees them: after the translation of Services. */
export interface PortRange {
  readonly protocol: Protocol;
  readonly first: number;
  readonly last: number;
}

/** All ports of a protocol. */
export const PORT_MAX = 65_535;
