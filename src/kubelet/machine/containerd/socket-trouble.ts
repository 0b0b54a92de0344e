/**
 * Why nobody answers at a runtime's socket, and what helps: it is not there, this user may not use it, or nothing listens. The second is
 * told apart since starting a runtime would not help, and since a socket in a directory that is closed looks as if it were not there.
 */
import { writeAccess } from "../../../host/files/files.ts";

export type SocketState = "usable" | "missing" | "forbidden";

/** To connect to a socket is to write to it. */
export function socketState(socket: string): Promise<SocketState> {
  return writeAccess(socket);
}

const FORBIDDEN = "run k8ts as root, or have its owner let this user write to it";

/** "there is no such socket; start it, or …". `another`: how another is named. */
export async function socketTrouble(socket: string, { another }: { readonly another: string }): Promise<string> {
  switch (await socketState(socket)) {
    case "missing":
      return `there is no such socket; start it, or ${another}`;
    case "forbidden":
      return `this user may not use it; ${FORBIDDEN}, or ${another}`;
    case "usable":
      return `nothing answers there; start it, or ${another}`;
  }
}

/** Of one that nobody asked for by name. */
export function forbiddenText(socket: string): string {
  return `this user may not use ${socket}; ${FORBIDDEN}`;
}
