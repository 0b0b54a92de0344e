/**
 * Why a runtime's socket does not respond, and how to fix it: it does not exist, this user lacks permission, or nothing listens. Missing
 * permission is distinguished because starting a runtime would not help, and because a socket in an inaccessible directory looks as if it
 * were missing.
 */
import { writeAccess } from "../../../host/files/files.ts";

export type SocketState = "usable" | "missing" | "forbidden";

/** Connecting to a socket requires write permission. */
export function socketState(socket: string): Promise<SocketState> {
  return writeAccess(socket);
}

const FORBIDDEN = "run k8ts as root, or have its owner let this user write to it";

/** "there is no such socket; start it, or …". `another`: how to select another one. */
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

/** For a socket that the user did not request explicitly. */
export function forbiddenText(socket: string): string {
  return `this user may not use ${socket}; ${FORBIDDEN}`;
}
