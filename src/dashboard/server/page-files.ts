/**
 * The files of the page and the headers of every response of the dashboard. The page may load scripts, styles and data only from this
 * server, evaluates no text as code, and cannot be framed. Files are compressed at build time (tools/generate/dashboard-page.ts). Not here:
 * sessions (dashboard-exchange.ts).
 */
import type { ExchangeRequest, WholeAnswer } from "../../apiserver/framework/exchange.ts";
import type { Clock } from "../../base/clock.ts";
import { gunzipWhole } from "../../host/files/gunzip.ts";
import type { PageFile } from "./page-file.ts";

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** Names of files contain a hash of their content; the page names them and is always fetched. */
const CACHE_PAGE = "no-cache";
const CACHE_FILE = "public, max-age=31536000, immutable";

export class PageFiles {
  readonly #clock: Clock;
  #files: Promise<ReadonlyMap<string, PageFile>> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined: there is no such file. */
  async answer(request: ExchangeRequest, path: string): Promise<WholeAnswer | undefined> {
    this.#files ??= this.#clock.external(loadFiles());
    const file = (await this.#files).get(path);
    if (file === undefined) return undefined;
    const packed = Buffer.from(file.content, "base64");
    const isPacked = acceptsGzip(request.header("accept-encoding"));
    const headers = {
      ...SECURITY_HEADERS,
      "content-type": file.type,
      "cache-control": path === "" ? CACHE_PAGE : CACHE_FILE,
      vary: "accept-encoding",
      ...(isPacked ? { "content-encoding": "gzip" } : {}),
    };
    return { code: 200, headers, body: [isPacked ? packed : gunzipWhole(packed)] };
  }
}

/** Loaded on first use: most processes of the program serve no page. */
async function loadFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const { pageFiles } = await import("./generated/page.ts");
  return new Map(pageFiles.map((file) => [file.path, file]));
}

function acceptsGzip(header = ""): boolean {
  return header.split(",").some((word) => /^gzip(;q=(?!0(\.0+)?$).*)?$/.test(word.trim()));
}
