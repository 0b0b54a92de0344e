/**
 * Serves the node's logs (/logs/), as upstream serves /var/log: directories as links, files with ranges and If-Modified-Since, as Go's
 * http.FileServer. Differs in two ways: links out of the directory return 404, and a file is never served as HTML, so that no log can run a
 * script in a browser. Not here: journal queries (?query=), which upstream serves only if enabled.
 */
import type { FileTree, TreeDirectory, TreeFile } from "../../host/files/file-tree.ts";
import type { HttpSink } from "../../host/http/contract.ts";
import { Refusal, TEXT_TYPE, type Call, type Handler } from "./call.ts";

const PREFIX = "/logs/";
const NOT_FOUND = "404 page not found\n";
const INDEX = "index.html";

/** Read chunk size. */
const PIECE_BYTES = 65_536;
/** Bytes buffered for a slow client; above it reading pauses. A thousand clients that never read cost a quarter of a GiB. */
const WAITING_BYTES_MAX = 256 << 10;
/** Bytes for content type detection, as in Go. */
const SNIFFED_BYTES = 512;

/** `tree` undefined: this node has no logs. */
export function nodeLogsHandler(tree: FileTree | undefined): Handler {
  return async (_context, call) => {
    if (tree === undefined) throw new Refusal(404, NOT_FOUND);
    const path = pathOf(call.request.path);
    if (path === undefined) return redirect(call, "logs/");
    if (path === INDEX || path.endsWith(`/${INDEX}`)) return redirect(call, "./");
    const found = await openShown(tree, path.replace(/\/$/, ""));
    if (found === undefined) throw new Refusal(404, NOT_FOUND);
    const name =
      path
        .split("/")
        .filter((part) => part !== "")
        .at(-1) ?? "";
    const isAsDirectory = path === "" || path.endsWith("/");
    if (found.is === "directory") return isAsDirectory ? sendDirectory(call, found) : redirect(call, `${name}/`);
    await using file = found;
    if (isAsDirectory && name !== "" && !found.isIndex) return redirect(call, `../${name}`);
    await sendFile(call, file);
  };
}

/** Decoded, below /logs/; undefined without the trailing slash of /logs. */
function pathOf(requested: string): string | undefined {
  const path = decodeURIComponent(requested);
  return path.startsWith(PREFIX) ? path.slice(PREFIX.length) : undefined;
}

type Shown = TreeDirectory | (TreeFile & { readonly isIndex: boolean });

/** A directory with an index.html is served as that, as Go does. */
async function openShown(tree: FileTree, path: string): Promise<Shown | undefined> {
  const found = await tree.open(path);
  if (found === undefined) return undefined;
  if (found.is === "file") return { ...found, isIndex: false };
  if (!found.entries.some(({ name }) => name === INDEX)) return found;
  const index = await tree.open(path === "" ? INDEX : `${path}/${INDEX}`);
  return index?.is === "file" ? { ...index, isIndex: true } : found;
}

/** Relative, so that it works behind the API server's proxy. */
function redirect({ request, reply }: Call, to: string): void {
  const location = `${encodeURI(to)}${request.query === "" ? "" : `?${request.query}`}`;
  reply.send({ code: 301, headers: { location } }, []);
}

function sendDirectory(call: Call, { entries, modifiedAtMs }: TreeDirectory): void {
  if (isUnmodified(call, modifiedAtMs)) return call.reply.send({ code: 304, headers: {} }, []);
  const lines = entries.map(({ name, isDirectory }) => lineOf(isDirectory ? `${name}/` : name));
  const page = `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${lines.join("")}</pre>\n`;
  const headers = { "content-type": "text/html; charset=utf-8", "last-modified": httpTime(modifiedAtMs) };
  call.reply.send({ code: 200, headers }, [new TextEncoder().encode(page)]);
}

function lineOf(name: string): string {
  // Without "./", a colon would end a URL scheme.
  const address = name.split("/")[0]?.includes(":") === true ? `./${name}` : name;
  return `<a href="${escaped(encodeURI(address).replace(/[?#]/g, encodeURIComponent))}">${escaped(name)}</a>\n`;
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;" };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

async function sendFile(call: Call, file: TreeFile): Promise<void> {
  if (isUnmodified(call, file.modifiedAtMs)) return call.reply.send({ code: 304, headers: {} }, []);
  const common = {
    "accept-ranges": "bytes",
    "last-modified": httpTime(file.modifiedAtMs),
    "content-type": typeOf(await file.read(0, SNIFFED_BYTES)),
    "x-content-type-options": "nosniff",
  };
  const range = rangeOf(call.request.header("range"), file.sizeBytes);
  if (range === "unsatisfiable")
    throw new Refusal(416, "invalid range: failed to overlap\n", { "content-range": `bytes */${file.sizeBytes}` });
  const { from, to } = range ?? { from: 0, to: file.sizeBytes };
  const partial = range === undefined ? {} : { "content-range": `bytes ${from}-${to - 1}/${file.sizeBytes}` };
  const sink = call.reply.stream({ code: range === undefined ? 200 : 206, headers: { ...common, ...partial } });
  await pour(file, { from, to }, sink);
}

interface ByteRange {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** Undefined: the whole file. For several ranges, which Go answers as multipart, the whole file is sent, as the RFC permits. */
export function rangeOf(header: string | undefined, sizeBytes: number): ByteRange | "unsatisfiable" | undefined {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") return { from: Math.max(0, sizeBytes - Number(last)), to: sizeBytes };
  const [from, to] = [Number(first), last === "" ? sizeBytes : Math.min(sizeBytes, Number(last) + 1)];
  if (from >= sizeBytes) return "unsatisfiable";
  return from < to ? { from, to } : undefined;
}

/** Data that is appended meanwhile is not sent. */
async function pour(file: TreeFile, { from, to }: ByteRange, sink: HttpSink): Promise<void> {
  let isOver = false;
  let resume = (): void => undefined;
  sink.onDrained(() => resume());
  sink.onClosed(() => {
    isOver = true;
    resume();
  });
  for (let position = from; position < to && !isOver;) {
    const bytes = await file.read(position, Math.min(PIECE_BYTES, to - position));
    if (bytes.length === 0) break; // It was truncated.
    position += bytes.length;
    if (sink.write({ bytes }) > WAITING_BYTES_MAX && !isOver) await new Promise<void>((resolve) => (resume = resolve));
  }
  sink.end();
}

function isUnmodified({ request }: Call, modifiedAtMs: number): boolean {
  const since = Date.parse(request.header("if-modified-since") ?? "");
  return Math.floor(modifiedAtMs / 1_000) * 1_000 <= since;
}

function httpTime(timeMs: number): string {
  return new Date(timeMs).toUTCString();
}

/** Text, gzip, or octet-stream. */
function typeOf(bytes: Uint8Array): string {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return "application/x-gzip";
  return bytes.some(isBinary) ? "application/octet-stream" : TEXT_TYPE;
}

/** As in the MIME Sniffing Standard: control characters that no text has. */
function isBinary(byte: number): boolean {
  return byte <= 0x08 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f);
}
