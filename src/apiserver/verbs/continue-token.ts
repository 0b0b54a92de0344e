/**
 * The continue token of a paged list: the revision of its first page, and the key after which the next one starts. Opaque to clients; the
 * form is upstream's (base64url of JSON), so a token's size is what clients expect.
 */
import { decodeBase64Url, encodeBase64Url } from "../../api/machinery/codec/base64-url.ts";
import { isObject } from "../../api/machinery/object.ts";
import { badRequest } from "../../api/machinery/status-error.ts";

export interface ContinueToken {
  /** undefined: at the newest revision, since the first page's is compacted. */
  readonly revision: number | undefined;
  /** Relative to the prefix of the resource: `<namespace>/<name>` or `<name>`. */
  readonly startAfter: string;
}

const VERSION = "meta.k8s.io/v1";

/** Means "the newest" where the revision of the first page can no longer be read. */
const INCONSISTENT = -1;

export function writeContinueToken({ revision, startAfter }: ContinueToken): string {
  const text = JSON.stringify({ v: VERSION, rv: revision ?? INCONSISTENT, start: `${startAfter}\0` });
  return encodeBase64Url(new TextEncoder().encode(text));
}

export function readContinueToken(token: string): ContinueToken {
  const value = parse(token);
  if (value.v !== VERSION) throw invalid(`server does not recognize this encoded version ${typeof value.v === "string" ? value.v : ""}`);
  const { rv, start } = value;
  if (typeof rv !== "number" || !Number.isSafeInteger(rv) || rv === 0 || rv < INCONSISTENT) {
    throw invalid("incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  }
  if (typeof start !== "string" || start === "") throw invalid(`encoded start key empty (version ${VERSION})`);
  if (start.startsWith("/") || start.split("/").includes("..")) {
    throw invalid(`invalid start key ${JSON.stringify(start)}`);
  }
  return { revision: rv === INCONSISTENT ? undefined : rv, startAfter: start.endsWith("\0") ? start.slice(0, -1) : start };
}

function parse(token: string): { readonly v?: unknown; readonly rv?: unknown; readonly start?: unknown } {
  try {
    const bytes = decodeBase64Url(token);
    const value: unknown = bytes === undefined ? undefined : JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (isObject(value)) return value;
  } catch {
    // Not one of our tokens: reported below, with the same message for all of them.
  }
  throw invalid("illegal base64 data or JSON");
}

function invalid(why: string) {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}
