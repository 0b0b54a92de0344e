/**
 * Connects to a Pod or node: decodes and validates the options, calls admission, resolves the target; then the connector copies the bytes.
 * All errors that need no kubelet are returned here, with upstream's messages.
 */
import { signalOf } from "../../../base/abort.ts";
import { groupResourceOf, type JsonObject, type KubeObject } from "../../../api/machinery/object.ts";
import type { Subresource } from "../../../api/machinery/resource.ts";
import { badRequest, internalError, invalidObject, isStatusError, noSuchPath, StatusError } from "../../../api/machinery/status-error.ts";
import { mustBeAllowed } from "../../framework/access/access.ts";
import { encodePath, forwardedAnswer, forwardedHeaders, proxiedPlace, proxyPath } from "./forwarding.ts";
import { decodeOptions } from "./options.ts";
import { rewriteLink } from "./proxied-links.ts";
import { tidyPath } from "./tidy-path.ts";
import type { Endpoint } from "../../framework/endpoints.ts";
import type { ExchangeAnswer, ExchangeRequest } from "../../framework/exchange.ts";
import type { Outcome } from "../../framework/outcome.ts";
import type { ApiRequest, ConnectionRequest } from "../../framework/request.ts";
import type { ServerContext } from "../../framework/server-context.ts";
import type { ConnectionCall, ConnectionTarget } from "../../framework/node-connector.ts";

type Connection = Extract<Subresource, { readonly of: "connection" }>;

export interface ConnectCall {
  readonly endpoint: Endpoint;
  readonly request: ApiRequest;
  readonly subresource: Connection;
}

export async function connect(server: ServerContext, call: ConnectCall): Promise<Outcome> {
  const { endpoint, request, subresource } = call;
  const { connection } = request;
  if (connection === undefined) throw badRequest(`${request.plural}/${request.subresource} is a connection and available over HTTP only`);
  const resolve = server.resolvers.get(`${groupResourceOf(endpoint.name.group, endpoint.name.plural)}/${request.subresource}`);
  if (resolve === undefined) throw noSuchPath();
  const options = await admitted(server, call, optionsOf(server, call, connection));
  const { alsoNeeds } = subresource;
  if (alsoNeeds !== undefined && alsoNeeds !== request.verb) mustBeAllowed(server.authorizer, request, alsoNeeds);
  const errors = [...(subresource.validateOptions?.(options) ?? [])];
  if (errors.length > 0) throw invalidObject(subresource.options, request.name, errors);
  const target = await resolve(server, { endpoint, request, options });
  if (target === undefined) return { is: "connection", answer: { code: 204, headers: {}, body: [] } };
  return { is: "connection", answer: await carried(server, call, { connection, options, target }) };
}

function optionsOf({ schemas }: ServerContext, { subresource }: ConnectCall, { exchange, path }: ConnectionRequest): JsonObject {
  const parameters = new URLSearchParams(exchange.query);
  // Reading text is an ordinary read and ignores upgrades.
  if (parameters.has("dryRun") && subresource.answersText !== true) throw badRequest("dryRun is not supported");
  if (subresource.forwards === true) parameters.set("path", path);
  const schema = schemas.get(subresource.options.schema);
  if (schema?.type !== "object") throw internalError(new Error(`Schema ${subresource.options.schema} does not exist`));
  return decodeOptions(subresource.options, schema, parameters);
}

/** As upstream, admission is not called for reading text. */
async function admitted({ admission }: ServerContext, call: ConnectCall, options: JsonObject): Promise<JsonObject> {
  if (call.subresource.answersText === true) return options;
  const { endpoint, request } = call;
  const { subresource, namespace, name, context } = request;
  const object = options as KubeObject;
  const connecting = { operation: "CONNECT", endpoint, subresource, namespace, name, object, dryRun: false, context } as const;
  const changed = await admission.mutate(connecting, object);
  const charge = await admission.validate({ ...connecting, object: changed });
  await charge.settle(false);
  return changed;
}

interface Resolved {
  readonly connection: ConnectionRequest;
  readonly options: JsonObject;
  readonly target: ConnectionTarget;
}

async function carried(server: ServerContext, call: ConnectCall, resolved: Resolved): Promise<ExchangeAnswer> {
  const { subresource } = call;
  if (subresource.answersText === true) return textAnswer(call, await called(server, call, resolved));
  return subresource.forwards === true ? forwarded(server, call, resolved) : talk(server, call, resolved);
}

async function forwarded(server: ServerContext, call: ConnectCall, resolved: Resolved): Promise<ExchangeAnswer> {
  const { exchange } = resolved.connection;
  const path = tidyPath((resolved.options["path"] ?? "") as string);
  const isReading = exchange.method === "GET" || exchange.method === "HEAD";
  // Links of a page are relative to the last slash, so the path must have one.
  if (path === "" && isReading && !asksForUpgrade(exchange)) return redirection(exchange);
  const [prefix, behind] = [proxyPath(call.request), encodePath(path)];
  const forwarding = { request: exchange, target: resolved.target, prefix };
  const answer = await called(server, call, resolved, {
    path: behind,
    headers: forwardedHeaders(exchange, `${prefix}${behind}`),
    rewriteLink: (link) => rewriteLink(link, proxiedPlace(forwarding)),
  });
  return forwardedAnswer(answer, forwarding);
}

/** Bidirectional streams until one side ends them: exec, attach, portforward. */
function talk(server: ServerContext, call: ConnectCall, resolved: Resolved): Promise<ExchangeAnswer> {
  const { exchange, offer, switching } = resolved.connection;
  if (!asksForUpgrade(exchange)) throw badRequest("Upgrade request required");
  // Clients fall back to another protocol when the first is rejected, and show the last error.
  const refusal = server.connector?.refusal?.(call.request.subresource, resolved.target);
  if (refusal !== undefined) throw unreachable(call, new Error(refusal));
  if (server.connector !== undefined && offer === undefined && switching === undefined)
    throw badRequest(
      `unable to upgrade to ${JSON.stringify(exchange.header("upgrade") ?? "")}: this connection does not support protocol upgrades`,
    );
  return called(server, call, resolved);
}

async function called(
  { connector }: ServerContext,
  call: ConnectCall,
  { connection, options, target }: Resolved,
  forwarding: Pick<ConnectionCall, "path" | "headers" | "rewriteLink"> = { path: "", headers: {} },
): Promise<ExchangeAnswer> {
  const { exchange, offer, switching } = connection;
  const { subresource } = call.request;
  const { method, query, signal } = exchange;
  if (connector === undefined) throw unreachable(call, noKubelet(target));
  const body = async () => exchange.body();
  try {
    const answer = await connector.connect({
      subresource,
      target,
      options,
      method,
      query,
      ...forwarding,
      body,
      signal: signalOf(signal),
      ...(offer === undefined ? {} : { offer }),
      ...(switching === undefined ? {} : { switching }),
    });
    if ("run" in answer && offer === undefined) throw new Error("the target answered with a WebSocket, which the client did not request");
    return answer;
  } catch (error) {
    throw isStatusError(error) ? error : unreachable(call, error);
  }
}

function asksForUpgrade(exchange: ExchangeRequest): boolean {
  return (exchange.header("connection") ?? "")
    .toLowerCase()
    .split(",")
    .some((word) => word.trim() === "upgrade");
}

function redirection({ path, query }: ExchangeRequest): ExchangeAnswer {
  return { code: 301, headers: { location: `${path}/${query === "" ? "" : `?${query}`}` }, body: [] };
}

function noKubelet(target: ConnectionTarget): Error {
  const where = target.is === "kubelet" ? `the kubelet of node "${target.node.name}"` : `${target.host}:${target.port}`;
  return new Error(`cannot reach ${where}: no kubelet is connected to this API server; start one there and try again`);
}

/** Upstream's error has a reason for a failed proxy, and none for a kubelet that does not respond. */
function unreachable({ subresource }: ConnectCall, error: unknown): StatusError {
  const message = error instanceof Error ? error.message : String(error);
  if (subresource.forwards === true)
    return new StatusError("ServiceUnavailable", `error trying to reach service: ${message}`, { cause: error });
  return new StatusError("Unknown", message, { cause: error });
}

/** The last success code of a text response (partial content). */
const TEXT_CODE_MAX = 206;

function textAnswer({ request }: ConnectCall, answer: ExchangeAnswer): ExchangeAnswer {
  if ("run" in answer || "switching" in answer) return answer;
  if ("body" in answer && (answer.code < 200 || answer.code > TEXT_CODE_MAX)) throw textFailure(request, answer.code, textOf(answer.body));
  return { ...answer, code: 200, headers: { "content-type": "text/plain" } };
}

/** The error of a kubelet that has no text. */
function textFailure({ plural, subresource, name }: ApiRequest, code: number, text: string): StatusError {
  if (code === 400) return badRequest(text);
  if (code === 500) return internalError(new Error(text));
  const what = `( ${plural}/${subresource} ${name})`;
  const details = { name, kind: `${plural}/${subresource}` };
  if (code === 404) return new StatusError("NotFound", `the server could not find the requested resource ${what}`, { details });
  const message = `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding ${what}`;
  return new StatusError("InternalError", message, { details });
}

/** Longer error texts are truncated. */
const FAILURE_BYTES_MAX = 50_000;

function textOf(body: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return body
    .map((piece) => decoder.decode(piece, { stream: true }))
    .join("")
    .slice(0, FAILURE_BYTES_MAX);
}
