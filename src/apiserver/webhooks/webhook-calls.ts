/**
 * Calls webhooks: resolves the target, sends the document, and checks the response. The messages of failures are those of upstream's REST
 * client, since users search for them. The contract is framework/webhook-caller.ts. Not here: what is sent (admission, conversion), and
 * sockets (apiserver/http/webhook-transport.ts).
 */
import { decodeBase64 } from "../../api/machinery/codec/base64.ts";
import { parseJson, writeJson } from "../../api/machinery/codec/json.ts";
import { parseYaml } from "../../api/machinery/codec/yaml/yaml.ts";
import type { Json } from "../../api/machinery/object.ts";
import { onAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { Objects } from "../framework/objects.ts";
import {
  IncompleteResponse,
  WEBHOOK_ANSWER_BYTES_MAX,
  type WebhookCall,
  type WebhookCaller,
  type WebhookClientConfig,
  type WebhookPost,
  type WebhookReply,
  type WebhookTransport,
} from "../framework/webhook-caller.ts";
import { resolveService } from "../shared/service-endpoint.ts";
import { responseError } from "./response-error.ts";

const DEFAULT_PORT = 443;

export interface WebhookCallsOptions {
  readonly objects: Pick<Objects, "get" | "list">;
  readonly random: Random;
  readonly clock: Clock;
  /** Absent: the server has no network, and every call fails. */
  readonly transport: WebhookTransport | undefined;
}

export function webhookCalls(options: WebhookCallsOptions): WebhookCaller {
  return { call: (call) => callWebhook(options, call) };
}

async function callWebhook(options: WebhookCallsOptions, call: WebhookCall): Promise<Json> {
  const target = targetOf(call.client);
  const path = `${target.path}${call.sendsTimeout === true ? `?timeout=${goSeconds(call.timeoutMs)}` : ""}`;
  let reply: WebhookReply;
  const waits = { isWaiting: false };
  const send = (signal: AbortSignal) => post(options, { ...target, path }, call, signal);
  try {
    reply = await beforeDeadline(options.clock, call, (signal) => withRetries(options.clock, send, waits, signal));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (waits.isWaiting || error instanceof IncompleteResponse) throw error;
    throw new Error(`Post "${target.scheme}://${target.target}${path}": ${message}`, { cause: error });
  }
  return parsed(reply);
}

/** Upstream's limit of its REST client. */
const RETRIES_MAX = 10;

/** Waits as long as the server asks to, as upstream's REST client does. `waits` has the state when the call ends. */
async function withRetries(
  clock: Clock,
  send: (signal: AbortSignal) => Promise<WebhookReply>,
  waits: { isWaiting: boolean },
  signal: AbortSignal,
): Promise<WebhookReply> {
  for (let attempt = 0; ; attempt++) {
    const reply = await send(signal);
    const seconds = retryAfterSeconds(reply);
    if (seconds === undefined || attempt >= RETRIES_MAX) return reply;
    waits.isWaiting = true;
    await clock.sleep(seconds * 1_000, signal);
    waits.isWaiting = false;
  }
}

/** Undefined: the response is final. Dates are not understood, as upstream. */
function retryAfterSeconds({ code, retryAfter = "" }: WebhookReply): number | undefined {
  if ((code !== 429 && code < 500) || !/^\+?\d{1,9}$/.test(retryAfter)) return undefined;
  return Number(retryAfter);
}

async function post(
  { objects, random, transport }: WebhookCallsOptions,
  { service, ...target }: Target,
  { client, body, answerBytesMax = WEBHOOK_ANSWER_BYTES_MAX }: WebhookCall,
  signal: AbortSignal,
): Promise<WebhookReply> {
  if (transport === undefined) throw new Error("dial tcp: this API server has no network; start it with a webhook transport");
  const address = service === undefined ? undefined : await resolveService({ objects, random }, service);
  const request: WebhookPost = {
    ...target,
    ...(address ?? { host: target.host, port: target.port }),
    body: writeJson(body),
    ...authoritiesOf(client),
    answerBytesMax,
    signal,
  };
  return transport.post(request);
}

function authoritiesOf({ caBundle = "" }: WebhookClientConfig): Pick<WebhookPost, "authorities"> {
  return caBundle === "" ? {} : { authorities: new TextDecoder().decode(decodeBase64(caBundle)) };
}

interface Target extends Pick<WebhookPost, "target" | "scheme" | "host" | "port" | "serverName" | "path"> {
  readonly service?: { readonly namespace: string; readonly name: string; readonly port: number };
}

/** Throws upstream's error for a configuration that cannot be called. */
function targetOf({ url, service }: WebhookClientConfig): Target {
  if (service !== undefined) {
    const { namespace, name, path = "", port = DEFAULT_PORT } = service;
    const serverName = `${name}.${namespace}.svc`;
    const at = { host: serverName, port, serverName, target: `${serverName}:${port}` };
    return { scheme: "https", ...at, path: cleanPath(path), service: { namespace, name, port } };
  }
  if (url === undefined || url === "") throw new Error("webhook configuration must have either service or URL");
  if (!URL.canParse(url)) throw new Error(`Unparsable URL: parse "${url}": invalid URI for request`);
  const { protocol, hostname, host, port, pathname } = new URL(url);
  const name = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  const number = Number(port) || DEFAULT_PORT;
  // The port of the URL is shown as it was written: the parser drops the default one.
  const written = port === "" && /^[a-z]+:\/\/[^/]*:443(\/|$)/i.test(url) ? `${host}:${DEFAULT_PORT}` : host;
  const scheme = protocol === "http:" ? "http" : "https";
  return { scheme, host: name, port: number, serverName: name, target: written, path: cleanPath(pathname) };
}

/** As Go's path.Join: no empty segments, no "." and "..", no slash at the end. */
function cleanPath(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") kept.pop();
    else if (segment !== "" && segment !== ".") kept.push(segment);
  }
  return `/${kept.join("/")}`;
}

/** Whole seconds, rounded up, in Go's notation. */
function goSeconds(durationMs: number): string {
  const seconds = Math.ceil(durationMs / 1_000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

/** Go's error for a call whose time has run out. */
const DEADLINE_EXCEEDED = "context deadline exceeded";
const CANCELED = "context canceled";

/** Aborts `work` at the timeout, or when the caller disconnects, and rejects then even if `work` does not react. */
async function beforeDeadline<T>(clock: Clock, { timeoutMs, signal }: WebhookCall, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const done = new AbortController();
  const ended = new Promise<never>((_resolve, reject) => {
    const end = (message: string): void => {
      const error = new Error(message);
      reject(error);
      stop.abort(error);
    };
    if (signal?.aborted === true) return end(CANCELED);
    clock.sleep(timeoutMs, done.signal).then(
      () => end(DEADLINE_EXCEEDED),
      () => undefined,
    );
    if (signal !== undefined)
      onAbort(
        done.signal,
        onAbort(signal, () => end(CANCELED)),
      );
  });
  ended.catch(() => undefined);
  try {
    return await Promise.race([ended, work(stop.signal)]);
  } finally {
    done.abort();
  }
}

function parsed(reply: WebhookReply): Json {
  const { code, contentType, body } = reply;
  if (code < 200 || code > 206) throw responseError(reply);
  if (body.length === 0) {
    throw new Error(
      `0-length response with status code: ${code} and content type: ${contentType === "" ? "application/json" : contentType}`,
    );
  }
  try {
    return parseJson(body, { duplicates: false }).value;
  } catch (error) {
    const yaml = startsAsJson(body) ? undefined : yamlIn(body);
    if (yaml !== undefined) return yaml.value;
    throw new Error(`couldn't get version/kind; json parse error: ${(error as Error).message}`, { cause: error });
  }
}

const WHITE_SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);
const OPENING_BRACE = 0x7b;

/** Upstream takes what does not start with a brace for YAML, whatever its content type. */
function startsAsJson(body: Uint8Array): boolean {
  return body.find((byte) => !WHITE_SPACE.has(byte)) === OPENING_BRACE;
}

/** Undefined: it is no YAML either. */
function yamlIn(body: Uint8Array): { readonly value: Json } | undefined {
  try {
    return parseYaml(body);
  } catch {
    return undefined;
  }
}
