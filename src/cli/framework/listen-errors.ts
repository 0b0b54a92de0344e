/**
 * Explains why a program cannot listen on an address: which address, which process holds it, and which flag changes it. The same message
 * for every component, however the failure is wrapped; other errors pass unchanged.
 */
import { ListenError } from "../../host/http/server.ts";
import { portHolder, type PortHolder } from "../../host/network/port-holder.ts";

export interface ListenPlace {
  readonly address: string;
  readonly port: number;
  /** Flags that set address and port; a flag that sets both is named twice. */
  readonly addressFlag: string;
  readonly portFlag: string;
  /** How to choose another port, if the flag alone is not enough: "--listen ADDRESS:PORT (port 0 picks a free port)". */
  readonly anotherPort?: string;
}

/** A k8ts cluster, with the arguments that select it. */
export interface NamedCluster {
  readonly name: string;
  readonly commandArguments: string;
}

/** `clusterOf` returns the cluster of a process. Default: unknown. */
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
  // The root cause: the errors in between repeat it.
  return sentence === undefined ? error : new Error(sentence, { cause: failure.cause });
}

function listenErrorIn(error: unknown): ListenError | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (each instanceof ListenError) return each;
  return undefined;
}

export interface Holding {
  /** Undefined: unknown. */
  readonly holder?: PortHolder | undefined;
  readonly cluster?: NamedCluster | undefined;
}

/** Undefined for other error codes. */
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
