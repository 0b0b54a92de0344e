/** A plain HTTP server for probes of other machines: every GET has one short answer, computed per request. No state, no bodies. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpServer, handleHttp1 } from "./node-servers.ts";
import { ListenError } from "./server.ts";

export interface SmallAnswer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface SmallServer extends AsyncDisposable {
  readonly port: number;
}

/** Requests are one line and answers are short: slow clients are disconnected. */
const REQUEST_TIMEOUT_MS = 5_000;

/** Per address: load balancers probe with a few connections each. */
const CONNECTIONS_MAX = 64;

/** On all `hosts`, or rejects with a ListenError. With port 0 each host gets a port of its own; `port` is the first one's. */
export async function serveSmallPages(
  { hosts, port }: { readonly hosts: readonly string[]; readonly port: number },
  answer: (path: string) => SmallAnswer,
): Promise<SmallServer> {
  const servers: Awaited<ReturnType<typeof listen>>[] = [];
  const closeAll = async () => void (await Promise.all(servers.map(close)));
  try {
    for (const host of hosts) servers.push(await listen({ host, port }, answer));
  } catch (error) {
    await closeAll();
    throw error;
  }
  const bound = servers[0]?.address() as AddressInfo | undefined;
  return { port: bound?.port ?? port, [Symbol.asyncDispose]: closeAll };
}

async function listen({ host, port }: { readonly host: string; readonly port: number }, answer: (path: string) => SmallAnswer) {
  const server = createHttpServer({ requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS });
  server.maxConnections = CONNECTIONS_MAX;
  handleHttp1(server, { request: (request, response) => reply(request, response, answer) });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new ListenError(`Cannot listen on ${host}:${port}: ${error.message}`, error.code ?? "", error)),
    );
    server.listen({ port, host, ipv6Only: host.includes(":") }, resolve);
  });
  return server;
}

async function close(server: Awaited<ReturnType<typeof listen>>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

function reply({ method, url = "" }: IncomingMessage, response: ServerResponse, answer: (path: string) => SmallAnswer): void {
  const isRead = method === "GET" || method === "HEAD";
  const { code, headers, text } = isRead ? answer(url.split("?")[0] ?? "") : { code: 405, headers: {}, text: "Only GET is supported\n" };
  response.writeHead(code, headers).end(text);
}
