/**
 * Parts of rules, written exactly as iptables-save prints them, so that rules in the kernel can be compared with wanted ones as texts: the
 * order is source, destination, interfaces, protocol, matches, target.
 */
import type { Protocol, ServiceEndpoint } from "../../model.ts";

export type Family = 4 | 6;

/** Bit of the packet mark for packets to be masqueraded; upstream's --iptables-masquerade-bit. */
const MASQUERADE_MARK = "0x4000";

export const MARK_FOR_MASQUERADE = `-j MARK --set-xmark ${MASQUERADE_MARK}/${MASQUERADE_MARK}`;
/** Inverts the bit: only after a match of it. */
export const CLEAR_MARK = `-j MARK --set-xmark ${MASQUERADE_MARK}/0x0`;
export const IS_MARKED = `-m mark --mark ${MASQUERADE_MARK}/${MASQUERADE_MARK}`;
export const IS_NOT_MARKED = `-m mark ! --mark ${MASQUERADE_MARK}/${MASQUERADE_MARK}`;

/** Kernel resolution of probabilities. */
const PROBABILITY_ONE = 0x80000000;
const PROBABILITY_DIGITS = 11;

/** The kernel's limit of a comment with its terminating zero is 256 bytes. */
const COMMENT_MAX = 255;

const UNQUOTED = /^[-_0-9a-zA-Z]+$/;

export function comment(text: string): string {
  const cut = text.slice(0, COMMENT_MAX);
  return `-m comment --comment ${UNQUOTED.test(cut) ? cut : `"${cut.replaceAll(/["'\\]/g, String.raw`\$&`)}"`}`;
}

export function isHost(option: "-s" | "-d", address: string): string {
  return `${option} ${address}/${address.includes(":") ? 128 : 32}`;
}

/** Protocol, then `between` (a comment), then the port, or a range of ports such as "30080:30207". */
export function protocolAndPort(protocol: Protocol, port: number | string, between: string): string {
  const name = protocol.toLowerCase();
  return [`-p ${name}`, between, `-m ${name} --dport ${port}`].filter((part) => part !== "").join(" ");
}

/** Matches this share of packets: one in `of`. */
export function oneIn(of: number): string {
  const probability = Math.round(PROBABILITY_ONE / of) / PROBABILITY_ONE;
  return `-m statistic --mode random --probability ${probability.toFixed(PROBABILITY_DIGITS)}`;
}

export function dnatTo({ address, port }: ServiceEndpoint): string {
  return `-j DNAT --to-destination ${address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`}`;
}

/** Refuses a connection at once. TCP by a reset: the kernel limits ICMP messages to one per second and receiver. */
export function reject(protocol: Protocol | "other", family: Family): string {
  if (protocol === "TCP") return "-j REJECT --reject-with tcp-reset";
  return `-j REJECT --reject-with ${family === 4 ? "icmp-port-unreachable" : "icmp6-port-unreachable"}`;
}

/** The source address is in the list `name` for at most `seconds`. */
export function isRecent(name: string, seconds: number, family: Family): string {
  return `-m recent --rcheck --seconds ${seconds} --reap ${recentList(name, family)}`;
}

/** Puts the source address into the list `name`. */
export function recordSource(name: string, family: Family): string {
  return `-m recent --set ${recentList(name, family)}`;
}

function recentList(name: string, family: Family): string {
  return `--name ${name} --mask ${family === 4 ? "255.255.255.255" : "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"} --rsource`;
}
