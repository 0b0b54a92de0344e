/**
 * Finds the process that listens on a local TCP port, for error messages. From /proc, so on Linux only, and for other users' processes only
 * as root; otherwise unknown.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface PortHolder {
  readonly pid: number;
  /** Its command line, shortened. */
  readonly command: string;
}

/** The state "LISTEN" in /proc/net/tcp. */
const LISTENING = "0A";
/** The state of a bound socket without a peer in /proc/net/udp. */
const UNCONNECTED = "07";
const COMMAND_LENGTH_MAX = 80;

export function portHolder(port: number): PortHolder | undefined {
  return holderOf(new Set([...listeners("/proc/net/tcp", port), ...listeners("/proc/net/tcp6", port)]));
}

/** The process that receives packets for this port of an IPv4 address: bound to the address, or to all. `pid` 0: unknown. */
export function addressPortHolder(address: string, port: number, protocol: "TCP" | "UDP"): PortHolder | undefined {
  const [table, state] = protocol === "TCP" ? ["tcp", LISTENING] : ["udp", UNCONNECTED];
  const own = address
    .split(".")
    .toReversed()
    .map((byte) => Number(byte).toString(16).toUpperCase().padStart(2, "0"));
  const inodes = new Set([
    ...listeners(`/proc/net/${table}`, port, { state, addresses: [own.join(""), "0".repeat(8)] }),
    ...listeners(`/proc/net/${table}6`, port, { state, addresses: ["0".repeat(32)] }),
  ]);
  return inodes.size === 0 ? undefined : (holderOf(inodes) ?? { pid: 0, command: "unknown" });
}

function holderOf(inodes: ReadonlySet<string>): PortHolder | undefined {
  if (inodes.size === 0) return undefined;
  for (const pid of numbersIn("/proc")) {
    if (socketsOf(pid).some((inode) => inodes.has(inode))) return { pid, command: commandOf(pid) };
  }
  return undefined;
}

/** The inodes of the sockets that listen on the port. */
function listeners(
  table: string,
  port: number,
  { state = LISTENING, addresses }: { readonly state?: string; readonly addresses?: readonly string[] } = {},
): readonly string[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return readOr(table, "")
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(wanted) === true && fields[3] === state)
    .filter((fields) => addresses === undefined || addresses.includes(fields[1]?.split(":")[0] ?? ""))
    .map((fields) => fields[9] ?? "");
}

function socketsOf(pid: number): readonly string[] {
  const directory = `/proc/${pid}/fd`;
  return numbersIn(directory).flatMap((descriptor) => {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`${directory}/${descriptor}`))?.[1];
      return inode === undefined ? [] : [inode];
    } catch {
      return []; // Closed in the meantime.
    }
  });
}

function commandOf(pid: number): string {
  const command = readOr(`/proc/${pid}/cmdline`, "").replaceAll("\0", " ").trim();
  return command.length > COMMAND_LENGTH_MAX ? `${command.slice(0, COMMAND_LENGTH_MAX)}…` : command;
}

function numbersIn(directory: string): readonly number[] {
  try {
    return readdirSync(directory).map(Number).filter(Number.isInteger);
  } catch {
    return []; // Exited, or not accessible.
  }
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return otherwise;
  }
}
