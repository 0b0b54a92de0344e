/**
 * A small HTTP server for local programs: leader election status, metrics. GET and HEAD only, without state; /healthz returns "ok" while
 * the process runs. Not here: the pages (election-page.ts, metrics-pages.ts).
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { HealthReporter, PING, type HealthCheck } from "../../base/health-reporter.ts";
import { PROMETHEUS_TYPE, prometheusText } from "../../base/metrics/prometheus-text.ts";
import { createHttpServer, handleHttp1 } from "../../host/http/node-servers.ts";
import { ListenError } from "../../host/http/server.ts";

export interface HttpAddress {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

export interface Page {
  /** Content type of the response. */
  readonly type: string;
  /** Called for every request, with the query string. */
  text(query: URLSearchParams): string | Refusal;
}

/** Why a request is rejected. */
export interface Refusal {
  readonly code: number;
  readonly problem: string;
}

/** Health endpoints in upstream's format, with counters of their results. The only check is that the process responds. */
export function healthPages(checks: readonly HealthCheck[] = [PING]): Pages {
  const reporter = new HealthReporter();
  const page = (type: string): Page => ({
    type: PLAIN,
    text: (query) => {
      const { code, text } = reporter.answer(type, checks, query);
      return code === 200 ? text : { code, problem: text.trimEnd() };
    },
  });
  return {
    "/healthz": page("healthz"),
    "/livez": page("livez"),
    "/readyz": page("readyz"),
    "/metrics/slis": { type: PROMETHEUS_TYPE, text: () => prometheusText(reporter.families()) },
  };
}

/** By path: "/metrics". */
export type Pages = Readonly<Record<string, Page>>;

export interface HttpPages extends AsyncDisposable {
  readonly url: string;
}

/** Requests are one line and responses are short: slow clients are disconnected. */
const REQUEST_TIMEOUT_MS = 5_000;

const PLAIN = "text/plain; charset=utf-8";
const HEALTH: Page = { type: PLAIN, text: () => "ok" };

/** Rejects with a ListenError if it cannot listen there. */
export async function startHttpPages({ host, port }: HttpAddress, pages: Pages): Promise<HttpPages> {
  const all = new Map(Object.entries({ ...pages, "/healthz": pages["/healthz"] ?? HEALTH }));
  const limits = { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS };
  const server = createHttpServer(limits);
  handleHttp1(server, { request: (request, response) => answer(request, response, all) });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new ListenError(`Cannot listen on ${host}:${port}: ${error.message}`, error.code ?? "", error)),
    );
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

function answer({ method, url = "" }: IncomingMessage, response: ServerResponse, pages: ReadonlyMap<string, Page>): void {
  const [path = "", query = ""] = url.split("?");
  const page = pages.get(path);
  if (method !== "GET" && method !== "HEAD") return refuse(response, { code: 405, problem: "Only GET is supported" });
  if (page === undefined) return refuse(response, { code: 404, problem: `Not found; the paths are ${[...pages.keys()].join(" and ")}` });
  const text = page.text(new URLSearchParams(query));
  if (typeof text === "string") send(response, 200, { type: page.type, text });
  else refuse(response, text);
}

function refuse(response: ServerResponse, { code, problem }: Refusal): void {
  send(response, code, { type: PLAIN, text: `${problem}\n` });
}

function send(response: ServerResponse, code: number, { type, text }: { readonly type: string; readonly text: string }): void {
  response.writeHead(code, { "content-type": type, "cache-control": "no-store" }).end(text);
}

/** "127.0.0.1:4040", "[::1]:4040", ":4040" (all addresses); undefined if invalid. */
export function parseHttpAddress(text: string): HttpAddress | undefined {
  const [, bracketed, plain, port = ""] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s[\]]*)):(\d{1,5})$/.exec(text) ?? [];
  const number = Number(port);
  if (port === "" || number > 65_535) return undefined;
  return { host: bracketed ?? (plain === "" || plain === undefined ? "0.0.0.0" : plain), port: number };
}
