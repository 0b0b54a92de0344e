/**
 * A real image registry on this machine, for tests: Debian's docker-registry on a free port, filled over its HTTP API. It can require a
 * user name and a password. Runtimes use plain HTTP with a registry at 127.0.0.1.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { OCI_MANIFEST } from "../../kubelet/machine/images/oci-image.ts";
import { busyboxImage } from "../fixtures/busybox-image.ts";
import { toolPath } from "../needs.ts";

export const REGISTRY_USER = "ali";
export const REGISTRY_PASSWORD = "sesame";
/** bcrypt cost of the password, the lowest possible. */
const PASSWORD_HASH = "$2b$04$5V.KYSpno3mOQfU6s4gYK.3QRMMlYQ32SXl3FmOFBEBpGqF33Jham";

export interface ImageRegistry extends AsyncDisposable {
  /** "127.0.0.1:41234" */
  readonly address: string;
  /** Pushes an image like those of busybox-image.ts; resolves with the digest of its manifest. */
  push(repository: string, tag: string, options?: { readonly ballastBytes?: number }): Promise<string>;
}

/** Requires `needs("registry")` in the test. */
export async function startImageRegistry({ isPrivate = false } = {}): Promise<ImageRegistry> {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-registry-"));
  await writeFile(join(directory, "users"), `${REGISTRY_USER}:${PASSWORD_HASH}\n`);
  await writeFile(join(directory, "config.yml"), JSON.stringify(configOf(directory, isPrivate)));
  const child = spawn(toolPath("registry"), ["serve", join(directory, "config.yml")], { stdio: ["ignore", "ignore", "pipe"] });
  const killWithUs = () => child.kill("SIGKILL");
  process.once("exit", killWithUs);
  const address = await addressIn(createInterface({ input: child.stderr }));
  // It logs every request, and would block if its output were not read.
  child.stderr.resume();
  const authorization = `Basic ${Buffer.from(`${REGISTRY_USER}:${REGISTRY_PASSWORD}`).toString("base64")}`;
  return {
    address,
    push: (repository, tag, { ballastBytes = 0 } = {}) => push(`http://${address}/v2/${repository}`, { tag, authorization, ballastBytes }),
    async [Symbol.asyncDispose]() {
      process.removeListener("exit", killWithUs);
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
      await rm(directory, { recursive: true });
    },
  };
}

export interface SlowRegistry extends AsyncDisposable {
  readonly address: string;
  /** Releases the rest. */
  release(): void;
}

/** A proxy to a registry that sends half of every large blob at once, and the rest when it is released. */
export async function startSlowRegistry({ address }: ImageRegistry): Promise<SlowRegistry> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const answer = async ({ method = "GET", url = "/", headers }: IncomingMessage, response: ServerResponse): Promise<void> => {
    const accept = headers.accept === undefined ? {} : { accept: headers.accept };
    const original = await fetch(`http://${address}${url}`, { method, headers: accept });
    const body = new Uint8Array(await original.arrayBuffer());
    const atOnceBytes = body.length < LARGE_BYTES ? body.length : body.length / 2;
    response.writeHead(original.status, Object.fromEntries(original.headers));
    response.write(body.subarray(0, atOnceBytes));
    if (atOnceBytes < body.length) await released;
    response.end(body.subarray(atOnceBytes));
  };
  const server = createServer((request, response) => void answer(request, response).catch((error: Error) => response.destroy(error)));
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    release,
    async [Symbol.asyncDispose]() {
      release();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const LARGE_BYTES = 1_000_000;

function configOf(directory: string, isPrivate: boolean): object {
  return {
    version: "0.1",
    log: { level: "info", formatter: "json" },
    storage: { filesystem: { rootdirectory: join(directory, "images") } },
    http: { addr: "127.0.0.1:0" },
    ...(isPrivate ? { auth: { htpasswd: { realm: "test", path: join(directory, "users") } } } : {}),
  };
}

async function addressIn(lines: AsyncIterable<string>): Promise<string> {
  const seen: string[] = [];
  for await (const line of lines) {
    const [, address] = /listening on (127\.0\.0\.1:\d+)/.exec(line) ?? [];
    if (address !== undefined) return address;
    seen.push(line);
  }
  throw new Error(`The registry exited before it listened: ${seen.join("\n")}`);
}

interface PushOptions {
  readonly tag: string;
  readonly authorization: string;
  readonly ballastBytes: number;
}

interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string }[];
}

async function push(base: string, { tag, authorization, ballastBytes }: PushOptions): Promise<string> {
  const files = tarFiles(busyboxImage(`k8ts.test/busybox:${tag}`, { ballastBytes }));
  const blob = (digest: string): Uint8Array<ArrayBuffer> => fileIn(files, `blobs/${digest.replace(":", "/")}`);
  const index = JSON.parse(Buffer.from(fileIn(files, "index.json")).toString()) as {
    readonly manifests: readonly [{ readonly digest: string }];
  };
  const { digest } = index.manifests[0];
  const { config, layers } = JSON.parse(Buffer.from(blob(digest)).toString()) as Manifest;
  for (const part of [config, ...layers]) {
    const started = await send("POST", `${base}/blobs/uploads/`, { headers: { authorization } });
    const place = new URL(started.headers.get("location") ?? "", base);
    place.searchParams.set("digest", part.digest);
    const headers = { authorization, "content-type": "application/octet-stream" };
    await send("PUT", place.href, { headers, body: blob(part.digest) });
  }
  await send("PUT", `${base}/manifests/${tag}`, { headers: { authorization, "content-type": OCI_MANIFEST }, body: blob(digest) });
  return digest;
}

async function send(method: string, url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, method });
  if (!response.ok) throw new Error(`${method} ${url} was answered ${response.status}: ${await response.text()}`);
  return response;
}

function fileIn(files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>, path: string): Uint8Array<ArrayBuffer> {
  const content = files.get(path);
  if (content === undefined) throw new Error(`The image has no ${path}`);
  return content;
}

const BLOCK_BYTES = 512;

/** Reads a tar archive written by us: short names, octal sizes. */
function tarFiles(tar: Uint8Array): ReadonlyMap<string, Uint8Array<ArrayBuffer>> {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const text = (from: number, length: number): string =>
    Buffer.from(tar.subarray(from, from + length))
      .toString()
      .replace(/\0.*$/s, "");
  for (let at = 0; at + BLOCK_BYTES <= tar.length && tar[at] !== 0;) {
    const sizeBytes = Number.parseInt(text(at + 124, 12), 8);
    const begin = at + BLOCK_BYTES;
    files.set(text(at, 100), new Uint8Array(tar.subarray(begin, begin + sizeBytes)));
    at = begin + Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
  }
  return files;
}
