/**
 * Serves the test control API over plain HTTP on loopback. Every request needs the bearer token, except for the OpenAPI document, which
 * contains nothing secret. A Host header of another name is rejected, so that no web page can reach it by a DNS name of its own.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { timingSafeEqual } from "node:crypto";
import { version } from "../../base/generated/version.ts";
import type { Logger } from "../../base/logger.ts";
import { createHttpServer, handleHttp1 } from "../../host/http/node-servers.ts";
import { ListenError } from "../../host/http/server.ts";
import { badRequest, notFound, Problem } from "../problem.ts";
import type { TestControl } from "../test-control.ts";
import { all } from "./all.ts";
import { readFields } from "./fields.ts";
import { openApiDocument } from "./openapi.ts";
import type { AnyRoute } from "./route.ts";

/** Loopback only: a client that has the token can become the administrator of the cluster. */
const HOST = "127.0.0.1";

/** The largest body is a fault with all its fields. */
const BODY_BYTES_MAX = 64 * 1024;

/** A request is small; its answer may take as long as a year of virtual time, and has no limit. */
const HEADERS_TIMEOUT_MS = 10_000;

/** Clients of parallel suites; each has one or two connections. */
const CONNECTIONS_MAX = 256;

/** A client that pauses for longer (a suite in a debugger) may send a request just when its connection is closed. */
const IDLE_TIMEOUT_MS = 600_000;

export interface ControlServerOptions {
  readonly control: TestControl;
  /** 0: any free port. */
  readonly port: number;
  readonly token: string;
  readonly log: Logger;
}

export interface ControlServer extends AsyncDisposable {
  readonly url: string;
}

/** Rejects with a ListenError if the port is in use. */
export async function startControlServer({ port, ...options }: ControlServerOptions): Promise<ControlServer> {
  const server = createHttpServer({
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
  });
  server.maxConnections = CONNECTIONS_MAX;
  const handler = new ControlHandler(options);
  handleHttp1(server, { request: (request, response) => void handler.serve(request, response) });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new ListenError(`Cannot listen on ${HOST}:${port}: ${error.message}`, error.code ?? "", error)),
    );
    server.listen(port, HOST, resolve);
  });
  const url = `http://${HOST}:${(server.address() as AddressInfo).port}`;
  handler.url = url;
  return {
    url,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

class ControlHandler {
  readonly #options: Omit<ControlServerOptions, "port">;
  readonly #token: Buffer;
  url = "";

  constructor(options: Omit<ControlServerOptions, "port">) {
    this.#options = options;
    this.#token = Buffer.from(`Bearer ${options.token}`);
  }

  /** Never rejects. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      send(response, 200, await this.#answer(request, response));
    } catch (error) {
      const problem = error instanceof Problem ? error : this.#unexpected(request, error);
      const { code, reason, message, remedy } = problem;
      send(response, code, { reason, message, remedy });
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<object> {
    checkHost(request);
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    if (path === "/openapi.json" && request.method === "GET") return openApiDocument(all, { version, server: this.url });
    this.#checkToken(request);
    const { route, parameters } = findRoute(request.method ?? "", path);
    const body = readFields(await readBody(request), route.body ?? {});
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    return route.handle({ control: this.#options.control, parameters, body, signal: gone.signal });
  }

  #checkToken({ headers: { authorization = "" } }: IncomingMessage): void {
    const given = Buffer.from(authorization);
    if (given.length === this.#token.length && timingSafeEqual(given, this.#token)) return;
    throw new Problem(
      "Unauthorized",
      "The bearer token is missing or wrong",
      "Send Authorization: Bearer with the token of the file that k8ts status shows",
    );
  }

  #unexpected({ method = "", url = "" }: IncomingMessage, error: unknown): Problem {
    const { message } = error as Error;
    this.#options.log.warn("A request to test control failed", { method, path: url, error });
    return new Problem("InternalError", message, "See the log of the cluster: k8ts logs");
  }
}

const LOOPBACK_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i;

function checkHost({ headers: { host = "" } }: IncomingMessage): void {
  if (!LOOPBACK_HOST.test(host))
    throw new Problem("Forbidden", `The Host header ${JSON.stringify(host)} is not this machine's`, "Use the URL with 127.0.0.1");
}

function findRoute(method: string, path: string): { readonly route: AnyRoute; readonly parameters: Readonly<Record<string, string>> } {
  const found = all.flatMap((route) => {
    const parameters = match(route.path, path);
    return parameters === undefined ? [] : [{ route, parameters }];
  });
  const chosen = found.find(({ route }) => route.method === method);
  if (chosen !== undefined) return chosen;
  const methods = found.map(({ route }) => route.method);
  if (methods.length > 0)
    throw new Problem("MethodNotAllowed", `${method} is not supported by ${path}`, `Use ${[...new Set(methods)].join(" or ")}`);
  throw notFound(`There is nothing at ${path}`, "GET /openapi.json lists all paths");
}

/** Undefined: another path. */
function match(pattern: string, path: string): Record<string, string> | undefined {
  const expected = pattern.split("/");
  const given = path.split("/");
  if (expected.length !== given.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, segment] of expected.entries()) {
    const text = given[index] ?? "";
    if (segment.startsWith("{")) parameters[segment.slice(1, -1)] = decoded(text);
    else if (segment !== text) return undefined;
  }
  return parameters;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest(`The path segment "${segment}" has an invalid escape`, "Percent-encode names in paths");
  }
}

/** An empty body is an empty object. */
async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX)
      throw new Problem("TooLarge", `The body is larger than ${BODY_BYTES_MAX} bytes`, "Send a smaller one; no request needs so much");
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8").trim();
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(`The body is not valid JSON: ${(error as Error).message}`, `Send a JSON object such as {"duration": "5m"}`);
  }
}

function send(response: ServerResponse, code: number, answer: object): void {
  if (response.headersSent || response.destroyed) return;
  const text = `${JSON.stringify(answer)}\n`;
  const headers = { "content-type": "application/json", "cache-control": "no-store", "content-length": Buffer.byteLength(text) };
  response.writeHead(code, headers).end(text);
}
