/**
 * Why a program cannot listen where it was told to, as one sentence that a person can act on, the same for every part: which address, who
 * has it, and which flag of this command helps. Whatever the failure was wrapped in; what is no such failure passes unchanged.
 */
import { ListenError } from "../../host/http/server.ts";
import { portHolder, type PortHolder } from "../../host/network/port-holder.ts";

export interface ListenPlace {
  readonly address: string;
  readonly port: number;
  /** The flags by which they are said; one that says both is named twice. */
  readonly addressFlag: string;
  readonly portFlag: string;
  /** How another port is asked for, if the flag alone does not say it: "--listen ADDRESS:PORT (port 0 takes any that is free)". */
  readonly anotherPort?: string;
}

/** A cluster of k8ts, with what names it on a command line. */
export interface NamedCluster {
  readonly name: string;
  readonly commandArguments: string;
}

/** `clusterOf`: which cluster a process is of. Default: nobody knows. */
export async function explainListenError(
  error: unknown,
  place: ListenPlace,
  clusterOf?: (pid: number) => Promise<NamedCluster | undefined>,
): Promise<unknown> {
  const failure = listenErrorIn(error);
  if (failure === undefined) return error;
  const holder = failure.code === "EADDRINUSE" ? portHolder(place.port) : undefined;
  const cluster = holder === undefined ? undefined : await clusterOf?.(holder.pid);
  const sentence = listenText(failure.code, place, { holder, cluster });
  // What came first: everything in between says again what we say.
  return sentence === undefined ? error : new Error(sentence, { cause: failure.cause });
}

function listenErrorIn(error: unknown): ListenError | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (each instanceof ListenError) return each;
  return undefined;
}

export interface Holding {
  /** Undefined: nobody knows. */
  readonly holder?: PortHolder | undefined;
  readonly cluster?: NamedCluster | undefined;
}

/** Undefined: nothing is known about a failure of this code. */
export function listenText(code: string, place: ListenPlace, { holder, cluster }: Holding = {}): string | undefined {
  const { address, port, addressFlag, portFlag } = place;
  const where = `Cannot listen on ${address.includes(":") ? `[${address}]` : address}:${port}`;
  const way = `choose another port with ${place.anotherPort ?? `${portFlag} (0 picks a free port)`}`;
  switch (code) {
    case "EADDRINUSE":
      if (cluster !== undefined)
        return `${where}: cluster "${cluster.name}" already listens there (process ${holder?.pid}); stop it with "k8ts down${cluster.commandArguments}", or ${way}`;
      return `${where}: ${holder === undefined ? "another program" : `process ${holder.pid} (${holder.command})`} already listens there; stop it, or ${way}`;
    case "EACCES":
      return `${where}: permission denied; choose a port of 1024 or higher with ${portFlag}`;
    case "EADDRNOTAVAIL":
      return `${where}: this machine does not have that address; choose another with ${addressFlag}`;
    case "ENOTFOUND":
      return `${where}: the host name does not resolve; choose another with ${addressFlag}`;
    default:
      return undefined;
  }
}
