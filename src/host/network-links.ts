/** The machine's network links and routes, and what is asked of `ip`, `iptables` and the kernel's switches for a network of our own. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { runProgram, startProgram } from "./child-process.ts";

export async function linkExists(name: string): Promise<boolean> {
  const names: readonly string[] = await readdir("/sys/class/net").catch(() => []);
  return names.includes(name);
}

/** What is plugged into a bridge; none if there is no such bridge. */
export async function bridgePorts(bridge: string): Promise<readonly string[]> {
  return readdir(`/sys/class/net/${bridge}/brif`).catch(() => []);
}

/** One that is not there is fine. The other end of a pair goes with it. */
export async function deleteLink(name: string): Promise<void> {
  await runProgram({ command: "ip", arguments: ["link", "delete", name] }).catch(async (error: unknown) => {
    if (await linkExists(name)) throw error;
  });
}

export interface Route {
  readonly link: string;
  /** "10.1.0.0/16"; "0.0.0.0/0" is the way to everything else. */
  readonly destination: string;
}

export async function ipv4Routes(): Promise<readonly Route[]> {
  return parseRoutes(await readFile("/proc/net/route", "utf8").catch(() => ""));
}

/** The lines of /proc/net/route: link, destination, …, mask as the eighth; addresses as hexadecimal numbers, last byte first. */
export function parseRoutes(table: string): readonly Route[] {
  return table
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      const [link, destination, , , , , , mask] = line.trim().split(/\s+/);
      if (link === undefined || destination === undefined || mask === undefined) return [];
      const bits = [...bytesOf(mask)].reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
      return [{ link, destination: `${bytesOf(destination).join(".")}/${bits}` }];
    });
}

function bytesOf(hexadecimal: string): number[] {
  return (hexadecimal.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)).toReversed();
}

/** A switch of the kernel, such as "net/ipv4/ip_forward"; undefined if this kernel has none of that name. */
export async function readSwitch(name: string): Promise<string | undefined> {
  return readFile(`/proc/sys/${name}`, "utf8").then(
    (text) => text.trim(),
    () => undefined,
  );
}

export async function setSwitch(name: string, value: string): Promise<void> {
  await writeFile(`/proc/sys/${name}`, value);
}

/** Waits for others who change the rules. Rejects with what it said. */
export async function iptables(...programArguments: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  // The list of rules of a machine with many is longer than what a program's last words are.
  const program = await startProgram({
    command: "iptables",
    arguments: ["--wait", ...programArguments],
    onLine: (line) => lines.push(line),
  });
  const { code } = await program.exited;
  if (code !== 0) throw new Error(`Cannot run iptables ${programArguments.join(" ")}: ${lines.join("\n")}`);
  return lines;
}
