/** Network links and routes of the machine, and operations of `ip`, `iptables` and sysctl for the Pod network. */
import { readFile, writeFile } from "node:fs/promises";
import { runProgram, startProgram } from "../processes/child-process.ts";

/** Links of this process's network namespace. Not from /sys/class/net, which shows the namespace in which sysfs was mounted. */
export async function linkNames(): Promise<readonly string[]> {
  return parseLinkNames(await readFile("/proc/net/dev", "utf8").catch(() => ""));
}

export async function linkExists(name: string): Promise<boolean> {
  return (await linkNames()).includes(name);
}

/** The lines of /proc/net/dev after its two headings: "  eth0: 1296 …". */
export function parseLinkNames(table: string): readonly string[] {
  return table
    .split("\n")
    .slice(2)
    .flatMap((line) => /^\s*([^:\s]+):/.exec(line)?.[1] ?? []);
}

/** Ports of a bridge; none if it does not exist. */
export async function bridgePorts(bridge: string): Promise<readonly string[]> {
  if (!(await linkExists(bridge))) return [];
  const lines = await ipLines("-oneline", "link", "show", "master", bridge);
  // "7: veth1a@if2: <BROADCAST,…": the peer follows the at sign.
  return lines.flatMap((line) => /^\d+: ([^:@\s]+)/.exec(line)?.[1] ?? []);
}

/**
 * Creates the bridge if it is missing, brings it up, and makes `addresses` ("10.244.0.1/24", "fd00:10:244::1/64") its only ones, apart from
 * those of the link. Its MAC address is pinned: otherwise the bridge takes that of its lowest port, which changes as Pods come and go and
 * makes their ARP entries stale.
 */
export async function ensureBridge(bridge: string, ...addresses: readonly string[]): Promise<void> {
  const ip = (...words: readonly string[]) => runProgram({ command: "ip", arguments: words });
  if (!(await linkExists(bridge))) await ip("link", "add", "name", bridge, "type", "bridge");
  const [shown = ""] = await ipLines("-oneline", "link", "show", "dev", bridge);
  const mac = / link\/ether (\S+)/.exec(shown)?.[1];
  if (mac !== undefined) await ip("link", "set", "dev", bridge, "address", mac);
  const present = await bridgeAddresses(bridge);
  for (const other of present) if (!addresses.includes(other)) await ip("address", "delete", other, "dev", bridge);
  // Duplicate address detection waits for a port, and until then no server can listen on the address.
  const detection = (address: string): readonly string[] => (address.includes(":") ? ["nodad"] : []);
  for (const address of addresses)
    if (!present.includes(address)) await ip("address", "add", address, "dev", bridge, ...detection(address));
  await ip("link", "set", "dev", bridge, "up");
}

/** With their prefix: "10.244.0.1/24". */
async function bridgeAddresses(link: string): Promise<readonly string[]> {
  const lines = await ipLines("-oneline", "address", "show", "dev", link, "scope", "global");
  return lines.flatMap((line) => / inet6? (\S+)/.exec(line)?.[1] ?? []);
}

/** Output of `ip`; what it printed before it failed, if it did. */
async function ipLines(...words: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  const program = await startProgram({ command: "ip", arguments: words, onLine: (line) => lines.push(line) });
  await program.exited;
  return lines;
}

/** A missing one is fine. The peer of a veth pair is deleted with it. */
export async function deleteLink(name: string): Promise<void> {
  await runProgram({ command: "ip", arguments: ["link", "delete", name] }).catch(async (error: unknown) => {
    if (await linkExists(name)) throw error;
  });
}

export interface Route {
  readonly link: string;
  /** "10.1.0.0/16"; "0.0.0.0/0" is the default route. */
  readonly destination: string;
  readonly metric: number;
}

/** Link of the default route that the kernel prefers; undefined if no default route exists. Pure. */
export function uplinkOf(routes: readonly Route[]): string | undefined {
  const defaults = routes.filter(({ destination }) => destination === "0.0.0.0/0");
  return defaults.toSorted((a, b) => a.metric - b.metric)[0]?.link;
}

/** Undefined: the link does not exist. */
export async function linkMtu(link: string): Promise<number | undefined> {
  const [shown = ""] = await ipLines("-oneline", "link", "show", "dev", link);
  const mtu = / mtu (\d+) /.exec(shown)?.[1];
  return mtu === undefined ? undefined : Number(mtu);
}

export async function ipv4Routes(): Promise<readonly Route[]> {
  return parseRoutes(await readFile("/proc/net/route", "utf8").catch(() => ""));
}

/** The lines of /proc/net/route: link, destination, …, metric and mask as the seventh and eighth; addresses as hexadecimal numbers, last byte first. */
export function parseRoutes(table: string): readonly Route[] {
  return table
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      const [link, destination, , , , , metric, mask] = line.trim().split(/\s+/);
      if (link === undefined || destination === undefined || mask === undefined) return [];
      const bits = [...bytesOf(mask)].reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
      return [{ link, destination: `${bytesOf(destination).join(".")}/${bits}`, metric: Number(metric) }];
    });
}

function bytesOf(hexadecimal: string): number[] {
  return (hexadecimal.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)).toReversed();
}

/** A sysctl such as "net/ipv4/ip_forward"; undefined if this kernel does not have it. */
export async function readSwitch(name: string): Promise<string | undefined> {
  return readFile(`/proc/sys/${name}`, "utf8").then(
    (text) => text.trim(),
    () => undefined,
  );
}

export async function setSwitch(name: string, value: string): Promise<void> {
  await writeFile(`/proc/sys/${name}`, value);
}

/** Waits for the xtables lock. Rejects with the program's message. */
export function iptables(...programArguments: readonly string[]): Promise<readonly string[]> {
  return xtables(4, ...programArguments);
}

const XTABLES = { 4: "iptables", 6: "ip6tables" } as const;

/** `iptables`, or `ip6tables` for the rules of IPv6. */
export async function xtables(family: 4 | 6, ...programArguments: readonly string[]): Promise<readonly string[]> {
  const command = XTABLES[family];
  const lines: string[] = [];
  // The rules of a machine can exceed the output that is kept of a program by default.
  const program = await startProgram({ command, arguments: ["--wait", ...programArguments], onLine: (line) => lines.push(line) });
  const { code } = await program.exited;
  if (code !== 0) throw new Error(`Cannot run ${command} ${programArguments.join(" ")}: ${lines.join("\n")}`);
  return lines;
}

/** Rules of a table; none for IPv6 on a machine without it. */
export async function listRules(family: 4 | 6, table: string): Promise<readonly string[]> {
  if (family === 6 && !(await hasIpv6())) return [];
  return xtables(family, "-t", table, "-S");
}

/** True if the kernel has IPv6 and it is not disabled. */
export async function hasIpv6(): Promise<boolean> {
  return (await readSwitch("net/ipv6/conf/all/disable_ipv6")) === "0";
}

/** Destinations of the routing table of IPv6. */
export async function ipv6Routes(): Promise<readonly Route[]> {
  return parseIpv6Routes(await readFile("/proc/net/ipv6_route", "utf8").catch(() => ""));
}

/** The lines of /proc/net/ipv6_route: destination, prefix length, source and its length, gateway, metric, three counters, link; hexadecimal. */
export function parseIpv6Routes(table: string): readonly Route[] {
  return table.split("\n").flatMap((line) => {
    const [destination, bits, , , , metric, , , , link] = line.trim().split(/\s+/);
    if (destination === undefined || bits === undefined || metric === undefined || link === undefined) return [];
    const groups = destination.match(/..../g) ?? [];
    return [{ link, destination: `${groups.join(":")}/${Number.parseInt(bits, 16)}`, metric: Number.parseInt(metric, 16) }];
  });
}
