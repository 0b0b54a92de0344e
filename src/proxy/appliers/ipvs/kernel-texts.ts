/** Inputs of `ipvsadm -R`, `ipset restore` and `ip -batch` that turn one state into another. Pure. */
import { OPTION_OF, RECORD, SETS, type Family, type IpvsState, type SetName } from "./ipvs-state.ts";

export interface KernelNames {
  readonly owner: string;
  readonly family: Family;
}

/** Names have at most 31 characters. */
export function setName({ owner, family }: KernelNames, set: SetName): string {
  return `${owner}-ipvs-${set}-${family}`;
}

/** Names of links have at most 15 characters. */
export function linkName(owner: string): string {
  return `${owner}-ipvs`;
}

/** Nothing of it exists. */
export const NO_STATE: IpvsState = { servers: new Map(), destinations: new Set(), addresses: new Set(), entries: new Set() };

/** New servers and endpoints before the removal of old ones, so that a server that keeps its name is never without endpoints. */
export function ipvsadmInput(before: IpvsState, wanted: IpvsState): string {
  const lines: string[] = [];
  for (const [server, options] of wanted.servers) {
    const known = before.servers.get(server);
    if (known !== options) lines.push(`${known === undefined ? "-A" : "-E"} ${server} ${options}`);
  }
  for (const one of missing(wanted.destinations, before.destinations)) lines.push(`-a ${one} -m -w 1`);
  for (const one of missing(before.destinations, wanted.destinations)) if (wanted.servers.has(serverOf(one))) lines.push(`-d ${one}`);
  for (const server of before.servers.keys()) if (!wanted.servers.has(server)) lines.push(`-D ${server}`);
  return textOf(lines);
}

/**
 * `createsSets`: creates and flushes all sets first, except the record of servers. Its elements are never removed here: a proxy that is
 * killed before it removes their servers must still find them.
 */
export function ipsetInput(before: IpvsState, wanted: IpvsState, names: KernelNames, { createsSets }: { readonly createsSets: boolean }) {
  const family = names.family === 4 ? "inet" : "inet6";
  const lines: string[] = [];
  for (const [set, type] of createsSets ? setTypes() : []) {
    const options = type.startsWith("hash:") ? ` family ${family}` : "";
    lines.push(`create ${setName(names, set)} ${type}${options} -exist`);
    if (set !== RECORD) lines.push(`flush ${setName(names, set)}`);
  }
  for (const entry of missing(wanted.entries, before.entries)) lines.push(entryLine("add", entry, names));
  for (const entry of missing(before.entries, wanted.entries)) if (!isRecord(entry)) lines.push(entryLine("del", entry, names));
  return textOf(lines);
}

/** Removes servers from the record, after they were removed. */
export function forgetInput(before: IpvsState, wanted: IpvsState, names: KernelNames): string {
  return textOf(
    missing(before.entries, wanted.entries)
      .filter(isRecord)
      .map((entry) => entryLine("del", entry, names)),
  );
}

function isRecord(entry: string): boolean {
  return entry.startsWith(`${RECORD} `);
}

function entryLine(command: string, entry: string, names: KernelNames): string {
  const [set = "", element = ""] = entry.split(" ");
  return `${command} ${setName(names, set as SetName)} ${element} -exist`;
}

/** Entries of the record of servers in the output of `ipset save`. */
export function parseRecord(saved: string): readonly string[] {
  return [...saved.matchAll(/^add \S+ (\S+)/gm)].map(([, element]) => `${RECORD} ${element}`);
}

/** "-t 192.0.2.1:30080" of "srv 192.0.2.1,tcp:30080". */
export function recordedServer(entry: string): string | undefined {
  const [, address = "", protocol = "", port] = /^\S+ ([^,]+),(\w+):(\d+)$/.exec(entry) ?? [];
  const option = Object.entries(OPTION_OF).find(([name]) => name.toLowerCase() === protocol)?.[1];
  return option === undefined ? undefined : `${option} ${address.includes(":") ? `[${address}]` : address}:${port}`;
}

export function destroySetsInput(names: KernelNames): readonly (readonly string[])[] {
  return setTypes().map(([set]) => ["destroy", setName(names, set)]);
}

/** Addresses of new servers, before the servers. */
export function newAddressInput(before: IpvsState, wanted: IpvsState, owner: string): string {
  return textOf(missing(wanted.addresses, before.addresses).map((address) => addressLine("replace", address, owner)));
}

/** Addresses of removed servers, after them: a proxy that is killed in between finds its servers by their addresses. */
export function oldAddressInput(before: IpvsState, wanted: IpvsState, owner: string): string {
  return textOf(missing(before.addresses, wanted.addresses).map((address) => addressLine("delete", address, owner)));
}

function addressLine(command: string, address: string, owner: string): string {
  return `address ${command} ${address}/${address.includes(":") ? "128 nodad" : "32"} dev ${linkName(owner)}`;
}

/** Lines of `ipvsadm -S -n` as a state. */
export function parseIpvsadm(text: string): Pick<IpvsState, "servers" | "destinations"> {
  const servers = new Map<string, string>();
  const destinations = new Set<string>();
  for (const line of text.split("\n")) {
    const [, command, server = "", rest = ""] = /^(-[Aa]) (\S+ \S+) (.*)$/.exec(line.trim()) ?? [];
    if (command === "-A") servers.set(server, rest.trim());
    const destination = /^-r (\S+)/.exec(rest)?.[1];
    if (command === "-a" && destination !== undefined) destinations.add(`${server} -r ${destination}`);
  }
  return { servers, destinations };
}

/** The part of what the kernel has that belongs to these addresses and servers. */
export function ownPart(kernel: Pick<IpvsState, "servers" | "destinations">, isOwn: (server: string) => boolean) {
  return {
    servers: new Map([...kernel.servers].filter(([server]) => isOwn(server))),
    destinations: new Set([...kernel.destinations].filter((one) => isOwn(serverOf(one)))),
  };
}

/** "10.96.0.10" of "-t 10.96.0.10:80". */
export function addressOf(server: string): string {
  return server.replace(/^\S+ /, "").replace(/:\d+$/, "").replaceAll(/[[\]]/g, "");
}

function serverOf(destination: string): string {
  return destination.slice(0, destination.indexOf(" -r "));
}

function missing(wanted: ReadonlySet<string>, present: ReadonlySet<string>): readonly string[] {
  return [...wanted].filter((one) => !present.has(one));
}

function setTypes(): readonly (readonly [SetName, string])[] {
  return Object.entries(SETS) as [SetName, string][];
}

function textOf(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}
