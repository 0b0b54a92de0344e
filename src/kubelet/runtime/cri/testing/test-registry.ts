/**
 * An image registry for tests, in this process: serves the content of a tar created by busyboxImage, under any name. It can require a
 * password and limit its rate, so that a pull can be watched and cancelled.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

export interface TestRegistryOptions {
  /** "name:password"; without: anonymous pulls are allowed. */
  readonly password?: string;
  /** Maximum bytes per second of each blob. */
  readonly bytesPerSecond?: number;
}

export interface TestRegistry extends AsyncDisposable {
  /** "127.0.0.1:40001": the first part of an image's name. */
  readonly host: string;
}

const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";
const PIECES_PER_SECOND = 10;

export async function startTestRegistry(tar: Uint8Array, options: TestRegistryOptions = {}): Promise<TestRegistry> {
  const files = filesOf(tar);
  const server = createServer((request, response) => answer(files, options, request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function answer(
  files: ReadonlyMap<string, Buffer>,
  options: TestRegistryOptions,
  { url = "", headers, method }: IncomingMessage,
  response: ServerResponse,
): void {
  const { password } = options;
  if (password !== undefined && headers.authorization !== `Basic ${Buffer.from(password).toString("base64")}`) {
    response.writeHead(401, { "WWW-Authenticate": 'Basic realm="test"' }).end();
    return;
  }
  const [, kind, reference = ""] = /\/(manifests|blobs)\/([^/]+)$/.exec(url) ?? [];
  const digest = reference.startsWith("sha256:") ? reference : manifestDigest(files);
  const bytes = files.get(`blobs/sha256/${digest.slice("sha256:".length)}`);
  if (kind === undefined || bytes === undefined || reference === "absent") {
    response.writeHead(url === "/v2/" ? 200 : 404).end();
    return;
  }
  const type = kind === "manifests" ? MANIFEST_TYPE : "application/octet-stream";
  response.writeHead(200, { "Content-Type": type, "Content-Length": bytes.length, "Docker-Content-Digest": digest });
  if (method === "HEAD") response.end();
  else if (kind === "manifests" || options.bytesPerSecond === undefined) response.end(bytes);
  else drip(response, bytes, options.bytesPerSecond);
}

function drip(response: ServerResponse, bytes: Buffer, bytesPerSecond: number): void {
  const pieceBytes = Math.ceil(bytesPerSecond / PIECES_PER_SECOND);
  let sent = 0;
  const timer = setInterval(() => {
    response.write(bytes.subarray(sent, sent + pieceBytes));
    sent += pieceBytes;
    if (sent < bytes.length) return;
    // Not only on close: until a slow reader has consumed all of it, a write after the end would occur.
    clearInterval(timer);
    response.end();
  }, 1000 / PIECES_PER_SECOND);
  response.on("close", () => clearInterval(timer));
}

function manifestDigest(files: ReadonlyMap<string, Buffer>): string {
  const index = JSON.parse(files.get("index.json")!.toString()) as { readonly manifests: readonly { readonly digest: string }[] };
  return index.manifests[0]!.digest;
}

const BLOCK = 512;

function filesOf(tar: Uint8Array): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0;) {
    const header = Buffer.from(tar.subarray(at, at + BLOCK));
    const text = (from: number, length: number): string => header.toString("latin1", from, from + length).replace(/\0.*$/s, "");
    const size = Number.parseInt(text(124, 12), 8) || 0;
    const prefix = text(345, 155);
    files.set(prefix === "" ? text(0, 100) : `${prefix}/${text(0, 100)}`, Buffer.from(tar.subarray(at + BLOCK, at + BLOCK + size)));
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}
