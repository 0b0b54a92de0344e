/**
 * Failures of the machine as sentences that a person can act on: which thing, what is wrong with it, which flag or command helps.
 * What is no such failure passes unchanged.
 */
import type { PortHolder } from "../../host/port-holder.ts";
import { ListenError } from "../../host/http/server.ts";

interface FileAction {
  /** Such as "use /var/lib/k8ts". */
  readonly action: string;
  /** With which another place can be given. */
  readonly flag: string;
}

/** By the system's code; `flag` is put in. */
const FILE_ADVICE: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there; give another place with FLAG, or let its owner allow it",
  EPERM: "this user may not change it, or it is immutable (lsattr shows that); give another place with FLAG, or let its owner allow it",
  EROFS: "the file system is read-only; give another place with FLAG, or mount it for writing",
  ENOSPC: "no space is left on the disk; make room (df -h shows where), or give another place with FLAG",
  EDQUOT: "this user's share of the disk is used up; make room, or give another place with FLAG",
  EEXIST: "it is a file and no directory; give another place with FLAG",
  ENOENT: "it cannot be made there; give another place with FLAG",
  ENOTDIR: "a part of the path is a file; give another place with FLAG",
  EISDIR: "it is a directory and no file; give another place with FLAG",
  EMFILE: "this process has too many files open; raise the limit (ulimit -n)",
  ENFILE: "this machine has too many files open; raise its limit (fs.file-max)",
};

export function explainFileError(error: unknown, { action, flag }: FileAction): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (!(error instanceof Error) || code === undefined || !Object.hasOwn(FILE_ADVICE, code)) return error;
  const path = meantPath(error);
  const place = path === undefined || action.endsWith(path) ? "" : ` (${path})`;
  return new Error(`Cannot ${action}: ${(FILE_ADVICE[code] ?? "").replaceAll("FLAG", flag)}${place}`, { cause: error });
}

/** What is written is first a file of another name, which nobody has asked for (writeFileWhole). */
function meantPath({ path, dest }: NodeJS.ErrnoException & { readonly dest?: string }): string | undefined {
  return (dest ?? path)?.replace(/\.\d+\.partial$/, "");
}

/** Of another user's cluster, by whoever only wants to look at it, stop it or remove it. */
export function explainForeignHome(error: unknown, directory: string): unknown {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  if (code !== "EACCES" && code !== "EPERM") return error;
  const advice = "run this as the user whose cluster it is, or with sudo, or name another with --name or --data-dir";
  return new Error(`Cannot look into ${directory}: this user may not; ${advice}`, { cause: error });
}

/** Where something is missing or there already in a home that was made, these say nothing of the home. */
const OF_THE_PLACE_ITSELF = ["ENOENT", "EEXIST"];

/** Of a start: only files of the cluster's own are meant, since of others it is said which flag names them. Whatever it was wrapped in. */
export function explainHomeError(error: unknown, directory: string): unknown {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { path = "", code = "" } = each as NodeJS.ErrnoException;
    if (!path.startsWith(`${directory}/`) || OF_THE_PLACE_ITSELF.includes(code)) continue;
    const explained = explainFileError(each, { action: `use ${directory}`, flag: "--data-dir" });
    return explained === each ? error : explained;
  }
  return error;
}

/** Who listens on a port that was to be taken, in words; "" if nobody knows. */
export function portHolderText(holder: PortHolder | undefined): string {
  return holder === undefined ? "another program" : `process ${holder.pid} (${holder.command})`;
}

/** Whether a start failed since a port is taken, whatever it was wrapped in. */
export function isPortTaken(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof ListenError && each.code === "EADDRINUSE") return true;
  }
  return false;
}

export interface Listening {
  readonly address: string;
  readonly port: number;
  /** The flags that were used to say so. */
  readonly addressFlag: string;
  readonly portFlag: string;
}

/** Of a start: a place where it cannot listen, whatever that was wrapped in, with the flags that were used. */
export function explainListenError(error: unknown, { address, port, addressFlag, portFlag }: Listening): unknown {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (!(each instanceof ListenError)) continue;
    const advice = new Map([
      ["EACCES", `this user may not listen there; choose a port from 1024 on with ${portFlag}`],
      ["EADDRNOTAVAIL", `this machine has no such address; choose another with ${addressFlag}`],
    ]).get(each.code);
    return advice === undefined ? error : new Error(`Cannot listen on ${shown(address, port)}: ${advice}`, { cause: each.cause });
  }
  return error;
}

/** IPv6 addresses stand in brackets. */
function shown(address: string, port: number): string {
  return `${address.includes(":") ? `[${address}]` : address}:${port}`;
}

export interface TakenPort {
  readonly address: string;
  readonly port: number;
  readonly holder: PortHolder | undefined;
  /** The name of the cluster, if it is one of k8ts; with its arguments on a command line. */
  readonly cluster?: { readonly name: string; readonly commandArguments: string };
}

export function portTakenText({ address, port, holder, cluster }: TakenPort): string {
  const where = `Cannot listen on ${shown(address, port)}`;
  const way = "choose another port with --listen ADDRESS:PORT (port 0 takes any that is free)";
  if (cluster !== undefined)
    return `${where}: the cluster "${cluster.name}" listens there (process ${holder?.pid}); stop it with "k8ts down${cluster.commandArguments}", or ${way}`;
  return `${where}: ${portHolderText(holder)} listens there; stop it, or ${way}`;
}
