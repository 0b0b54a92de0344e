/** Resource records as values, of class IN. */
import { TYPE } from "./codes.ts";

export type RecordData =
  /** A: 4 bytes, AAAA: 16 bytes. */
  | { readonly is: "address"; readonly bytes: Uint8Array }
  /** CNAME, NS, PTR. */
  | { readonly is: "name"; readonly name: string }
  | { readonly is: "srv"; readonly priority: number; readonly weight: number; readonly port: number; readonly target: string }
  | { readonly is: "txt"; readonly texts: readonly string[] }
  | { readonly is: "soa"; readonly soa: StartOfAuthority }
  /** Any other type, as it is on the wire, without compressed names. */
  | { readonly is: "raw"; readonly bytes: Uint8Array };

export interface StartOfAuthority {
  readonly server: string;
  readonly mailbox: string;
  readonly serial: number;
  readonly refreshSeconds: number;
  readonly retrySeconds: number;
  readonly expireSeconds: number;
  /** TTL of negative answers. */
  readonly minimumSeconds: number;
}

export interface DnsRecord {
  readonly name: string;
  readonly type: number;
  readonly ttlSeconds: number;
  readonly data: RecordData;
}

export interface NamedAddress {
  readonly name: string;
  readonly ttlSeconds: number;
  /** 4 or 16 bytes. */
  readonly bytes: Uint8Array;
}

/** An A or an AAAA record. */
export function addressRecord({ name, ttlSeconds, bytes }: NamedAddress): DnsRecord {
  return { name, type: bytes.length === 4 ? TYPE.A : TYPE.AAAA, ttlSeconds, data: { is: "address", bytes } };
}
