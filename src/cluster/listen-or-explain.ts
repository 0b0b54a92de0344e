/** Listens for a command: errors name the command's flags, and the cluster that holds the port. */
import type { Io } from "../cli/framework/command.ts";
import { clusterOfProcess } from "./home/known-homes.ts";
import { explainListenError, type ListenPlace } from "../cli/framework/listen-errors.ts";

type Surroundings = Pick<Io, "clock" | "environment">;

/** Like `start`, with explained errors. */
export async function listenOrExplain<T>(place: ListenPlace, { clock, environment }: Surroundings, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    throw await explainListenError(error, place, (pid) => clock.external(clusterOfProcess(pid, environment)));
  }
}

/** For a flag with address and port: "127.0.0.1:10257". */
export function placeOfFlag({ host, port }: { readonly host: string; readonly port: number }, flag: string): ListenPlace {
  const anotherPort = `${flag} HOST:PORT (port 0 picks a free port)`;
  return { address: host, port, addressFlag: flag, portFlag: flag, anotherPort };
}
