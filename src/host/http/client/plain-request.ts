/**
 * One GET or one connection to check whether something responds. Certificates are not verified, no proxy is used, connections are not kept,
 * redirects are not followed, and only the beginning of the response is read.
 */
import { request as requestHttp, type IncomingMessage, type RequestOptions } from "node:http";
import { request as requestHttps } from "node:https";
import { connect, isIP } from "node:net";
import { keepAllHeaders } from "../node-servers.ts";

export interface PlainRequest {
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
  /** With its query, already escaped. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly bodyBytesMax: number;
}

export interface PlainAnswer {
  readonly code: number;
  readonly location: string | undefined;
  /** Up to the requested length. */
  readonly body: string;
}

/** Rejects with Node's error, or with the signal's. */
export function requestOnce(request: PlainRequest, signal: AbortSignal): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    const send = request.scheme === "https" ? requestHttps : requestHttp;
    const sent = send({ ...optionsOf(request), signal }, (answer) => {
      readBeginning(answer, request.bodyBytesMax).then((body) => {
        resolve({ code: answer.statusCode ?? 0, location: answer.headers.location, body });
      }, reject);
    });
    keepAllHeaders(sent);
    sent.on("error", reject);
    sent.end();
  });
}

/** Resolves when a connection was established, which is then closed. */
export function connectOnce(host: string, port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const socket = connect({ host, port });
    const given = (): void => void socket.destroy(signal.reason as Error);
    signal.addEventListener("abort", given, { once: true });
    socket.once("connect", () => {
      resolve();
      socket.destroy();
    });
    socket.once("error", reject);
    socket.once("close", () => signal.removeEventListener("abort", given));
  });
}

function optionsOf({ scheme, host, port, path, headers }: PlainRequest): RequestOptions {
  const common = { host, port, path: escaped(path), method: "GET", agent: false as const, headers: grouped(headers) };
  if (scheme === "http") return common;
  // Without a server name, Node would send that of the Host header.
  return { ...common, rejectUnauthorized: false, servername: isIP(host) === 0 ? host : "" } as RequestOptions;
}

/** Headers of one name are combined. */
function grouped(headers: PlainRequest["headers"]): Record<string, string | string[]> {
  const byName = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (const [name, value] of headers) {
    const known = byName.get(name.toLowerCase());
    if (known === undefined) byName.set(name.toLowerCase(), { name, values: [value] });
    else known.values.push(value);
  }
  const entries = Array.from(byName.values(), ({ name, values: [first = "", ...more] }) => [
    name,
    more.length === 0 ? first : [first, ...more],
  ]);
  return { ...(Object.fromEntries(entries) as Record<string, string | string[]>), Connection: "close" };
}

function escaped(path: string): string {
  return path.replace(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character.toWellFormed()));
}

async function readBeginning(answer: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes >= bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax).toString("utf8");
}
