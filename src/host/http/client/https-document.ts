/**
 * Fetches one JSON document over HTTPS, such as the key set of a token issuer. The server is untrusted: its certificate is verified, the
 * response size is limited, and redirects must be HTTPS.
 */
import { request } from "node:https";
import type { IncomingMessage } from "node:http";
import { keepAllHeaders } from "../node-servers.ts";

/** Real ones have a few thousand bytes. */
const DOCUMENT_BYTES_MAX = 1024 * 1024;
/** Maximum number of redirects, as in browsers. */
const REDIRECTS_MAX = 5;

/** As returned by JSON.parse. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonDocument;
export interface JsonDocument {
  readonly [member: string]: JsonValue;
}

export interface DocumentOptions {
  /** PEM; absent: what the machine trusts. */
  readonly certificateAuthority?: string;
  readonly signal: AbortSignal;
}

/** Rejects with one sentence, or with the signal's reason. */
export async function fetchHttpsDocument(url: string, options: DocumentOptions): Promise<JsonDocument> {
  let at = url;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const { answer, text } = await get(at, options);
    const { statusCode: code = 0 } = answer;
    const { location } = answer.headers;
    if (code >= 300 && code < 400 && location !== undefined) at = new URL(location, at).href;
    else if (code !== 200) throw new Error(`Cannot fetch "${at}": the response status must be 200, is ${code}`);
    else return parse(at, text);
  }
  throw new Error(`Cannot fetch "${url}": more than ${REDIRECTS_MAX} redirects`);
}

function parse(url: string, text: string): JsonDocument {
  const value = parseOrUndefined(text);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error(`Cannot use the response of "${url}": it must be a JSON object`);
  return value as JsonDocument;
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Got {
  readonly answer: IncomingMessage;
  readonly text: string;
}

function get(url: string, { certificateAuthority, signal }: DocumentOptions): Promise<Got> {
  if (!URL.canParse(url) || new URL(url).protocol !== "https:")
    return Promise.reject(new Error(`Cannot fetch "${url}": it must be an HTTPS URL`));
  return new Promise((resolve, reject) => {
    const failed = (error: Error) =>
      reject(signal.aborted ? (signal.reason as Error) : new Error(`Cannot fetch "${url}": ${error.message}`, { cause: error }));
    // A connection of its own, which ends with the response: fetches are rare, and an idle connection would keep the process alive.
    const options = {
      agent: false,
      signal,
      headers: { accept: "application/json" },
      ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
    };
    const sent = request(url, options, (answer) => {
      readText(answer).then((text) => resolve({ answer, text }), failed);
    });
    keepAllHeaders(sent);
    sent.on("error", failed).end();
  });
}

async function readText(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > DOCUMENT_BYTES_MAX) throw new Error(`the response exceeds ${DOCUMENT_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
