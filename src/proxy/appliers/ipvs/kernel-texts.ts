/** Inputs of `ipvsadm -R`, `ipset restore` and `ip -batch` that turn one state into another. Pure. */
import { SETS, type Family, type IpvsState, type SetName } from "./ipvs-state.ts";

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

/** `createsSets`: creates and flushes all sets first. */
export function ipsetInput(before: IpvsState, wanted: IpvsState, names: KernelNames, { createsSets }: { readonly createsSets: boolean }) {
  const family = names.family === 4 ? "inet" : "inet6";
  const lines: string[] = [];
  for (const [set, type] of createsSets ? setTypes() : []) {
    const options = type.startsWith("hash:") ? ` family ${family}` : "";
    lines.push(`create ${setName(names, set)} ${type}${options} -exist`, `flush ${setName(names, set)}`);
  }
  const line = (command: string, entry: string) => {
    const [set = "", element = ""] = entry.split(" ");
    return `${command} ${setName(names, set as SetName)} ${element} -exist`;
  };
  for (const entry of missing(wanted.entries, before.entries)) lines.push(line("add", entry));
  for (const entry of missing(before.entries, wanted.entries)) lines.push(line("del", entry));
  return textOf(lines);
}

export function destroySetsInput(names: KernelNames): readonly (readonly string[])[] {
  return setTypes().map(([set]) => ["destroy", setName(names, set)]);
}

export function addressInput(before: IpvsState, wanted: IpvsState, owner: string): string {
  const line = (command: string, address: string) =>
    `address ${command} ${address}/${address.includes(":") ? "128 nodad" : "32"} dev ${linkName(owner)}`;
  return textOf([
    ...missing(wanted.addresses, before.addresses).map((address) => line("add", address)),
    ...missing(before.addresses, wanted.addresses).map((address) => line("delete", address)),
  ]);
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
