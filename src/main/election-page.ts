/**
 * Who leads, for programs of any language: GET / on an address of this machine answers {"name": "…", "isLeader": true}, and GET /healthz
 * answers ok while this process runs. Plain HTTP, since it is meant for the neighbours in a Pod and says nothing that is secret.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ElectionPageOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Asked at every request. */
  state(): { readonly name: string; readonly isLeader: boolean };
}

export interface ElectionPage extends AsyncDisposable {
  readonly url: string;
}

/** Questions are one line and answers, too: whoever takes longer holds a connection for nothing. */
const REQUEST_TIMEOUT_MS = 5_000;

export async function startElectionPage({ host, port, state }: ElectionPageOptions): Promise<ElectionPage> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS }, (request, response) =>
    answer(request, response, state),
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new Error(`Cannot listen on ${host}:${port}: ${error.message}`, { cause: error })));
    server.listen(port, host, resolve);
  });
  const { address, port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${address.includes(":") ? `[${address}]` : address}:${bound}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function answer({ method, url }: IncomingMessage, response: ServerResponse, state: ElectionPageOptions["state"]): void {
  const [path] = (url ?? "").split("?");
  if (method !== "GET" && method !== "HEAD") send(response, 405, "Only GET is answered\n");
  else if (path === "/healthz") send(response, 200, "ok");
  else if (path === "/") send(response, 200, JSON.stringify(state()), "application/json");
  else send(response, 404, "There are / and /healthz\n");
}

function send(response: ServerResponse, code: number, text: string, type = "text/plain; charset=utf-8"): void {
  response.writeHead(code, { "content-type": type, "cache-control": "no-store" }).end(text);
}
