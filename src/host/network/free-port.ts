/** Checks whether a port is free by listening on it. Another process may take it before the caller does. */
import { createServer } from "node:net";
import { ListenError } from "../http/server.ts";

/** Rejects with a ListenError if it cannot. */
export async function tryPort({ host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new ListenError(`Cannot listen on ${host}:${port}: ${error.message}`, error.code ?? "", error)),
    );
    server.listen({ host, port }, resolve);
  });
  await new Promise((resolve) => server.close(resolve));
}
