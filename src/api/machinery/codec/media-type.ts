/**
 * Content negotiation: Accept and Content-Type. The rules are upstream's: clauses by quality, then those without a wildcard first; within a
 * clause the server's order of offers. Parameters that affect the response (as, g, v, stream, pretty, profile) are returned as data, and
 * the caller decides which of them it can serve. Header values are parsed leniently, as upstream does.
 */
import { StatusError } from "../status-error.ts";

export const JSON_TYPE = "application/json";
export const YAML_TYPE = "application/yaml";
export const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";

/** Media types of built-in kinds, in the server's order of preference. */
export const BUILT_IN_TYPES: readonly string[] = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE];

/** One clause of an Accept header. */
export interface AcceptClause {
  /** "application", "*". */
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** A requested transformation of the object: `as=Table;g=meta.k8s.io;v=v1`. */
export interface Conversion {
  readonly kind: string;
  readonly group: string;
  readonly version: string;
}

export interface NegotiatedType {
  /** One of the offers. */
  readonly mediaType: string;
  readonly convert?: Conversion;
  /** "watch". */
  readonly stream?: string;
  readonly pretty: boolean;
  /** Profile of aggregated discovery: "nopeer", "local". */
  readonly profile?: string;
}

/** Decides whether a candidate can be served; if not, the next one is tried. */
export type Acceptable = (candidate: NegotiatedType) => boolean;

/** Limit for untrusted headers: real clients send a handful. */
const CLAUSES_MAX = 100;

/** Clauses in order of preference. */
export function parseAccept(header: string): readonly AcceptClause[] {
  const clauses = header.split(",", CLAUSES_MAX).flatMap(parseClause);
  return clauses.sort(
    (a, b) =>
      b.quality - a.quality || Number(a.type === "*") - Number(b.type === "*") || Number(a.subtype === "*") - Number(b.subtype === "*"),
  );
}

function parseClause(text: string): readonly AcceptClause[] {
  const [range = "", ...rest] = text.split(";");
  const [type = "", subtype = "", surplus] = range.split("/").map(trim);
  if (surplus !== undefined) return [];
  if (subtype === "" && type !== "*") return [];
  const parameters = parseParameters(rest);
  const quality = parameters.get("q");
  parameters.delete("q");
  return [{ type, subtype: subtype === "" ? "*" : subtype, quality: quality === undefined ? 1 : Number(quality) || 0, parameters }];
}

/** Parameters other than `name=value` are skipped. */
function parseParameters(parts: readonly string[]): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const part of parts) {
    const [name = "", value, surplus] = part.split("=");
    if (value !== undefined && value !== "" && surplus === undefined) parameters.set(trim(name), trim(value));
  }
  return parameters;
}

function trim(text: string): string {
  return text.trim();
}

/** For endpoints without transformations: the object itself, or a watch of it. YAML cannot be streamed. */
export function plainOnly({ mediaType, convert, stream }: NegotiatedType): boolean {
  return convert === undefined && (stream === undefined || (stream === "watch" && mediaType !== YAML_TYPE));
}

/** Undefined: none is acceptable; the answer is `notAcceptable`. */
export function negotiate(
  header: string | undefined,
  offers: readonly string[],
  isAcceptable: Acceptable = plainOnly,
): NegotiatedType | undefined {
  const [first] = offers;
  if (header === undefined || header === "") return first === undefined ? undefined : { mediaType: first, pretty: false };
  for (const clause of parseAccept(header)) {
    for (const offer of offers) {
      if (!covers(clause, offer)) continue;
      const candidate = candidateOf(clause, offer);
      if (isAcceptable(candidate)) return candidate;
    }
  }
  return undefined;
}

function covers({ type, subtype }: AcceptClause, offer: string): boolean {
  const slash = offer.indexOf("/");
  if (type === "*") return subtype === "*";
  return type === offer.slice(0, slash) && (subtype === "*" || subtype === offer.slice(slash + 1));
}

function candidateOf({ parameters }: AcceptClause, mediaType: string): NegotiatedType {
  const kind = parameters.get("as");
  const group = parameters.get("g");
  const version = parameters.get("v");
  const stream = parameters.get("stream");
  const profile = parameters.get("profile");
  const converts = kind !== undefined || group !== undefined || version !== undefined;
  return {
    mediaType,
    pretty: parameters.get("pretty") === "1",
    ...(converts ? { convert: { kind: kind ?? "", group: group ?? "", version: version ?? "" } } : {}),
    ...(stream === undefined ? {} : { stream }),
    ...(profile === undefined ? {} : { profile }),
  };
}

export interface ContentType {
  /** "application/json", lower case. */
  readonly mediaType: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Undefined: the header is malformed. */
export function parseContentType(header: string): ContentType | undefined {
  const [mediaType = "", ...rest] = header.split(";");
  const name = mediaType.trim().toLowerCase();
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]+(?:\/[!#$%&'*+.^_`|~0-9a-z-]+)?$/.test(name)) return undefined;
  const parameters = new Map([...parseParameters(rest)].map(([key, value]) => [key.toLowerCase(), value.replace(/^"(.*)"$/, "$1")]));
  return { mediaType: name, parameters };
}

/** One of the offers; the first if the header is missing. Throws a StatusError (415). */
export function negotiateContentType(header: string | undefined, offers: readonly string[]): string {
  const [first] = offers;
  const wanted = header === undefined || header === "" ? first : parseContentType(header)?.mediaType;
  const offer = offers.find((candidate) => candidate === wanted);
  if (offer === undefined) throw unsupportedMediaType(offers);
  return offer;
}

/** 406. */
export function notAcceptable(offers: readonly string[]): StatusError {
  return new StatusError("NotAcceptable", `only the following media types are accepted: ${offers.join(", ")}`);
}

/** 406 with the message of upstream's router: no media type of the path is acceptable, whatever its parameters. */
export function noRepresentation(offers: readonly string[]): StatusError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${offers.join(", ")}`;
  return new StatusError("NotAcceptable", message, { details: {} });
}

/** True if the header names one of the types, with any parameters, or accepts everything. */
export function namesOneOf(accept: string | undefined, offers: readonly string[]): boolean {
  if (accept === undefined || accept.trim() === "") return true;
  return accept.split(",").some((range) => {
    const [type = ""] = range.split(";");
    return type.trim() === "*/*" || type.trim() === "application/*" || offers.includes(type.trim());
  });
}

/** 415. */
export function unsupportedMediaType(offers: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${offers.join(", ")}`;
  return new StatusError("UnsupportedMediaType", message);
}

/** Media types of watches: upstream lists them with the parameter, without YAML. */
export function streamTypes(offers: readonly string[]): readonly string[] {
  return offers.filter((offer) => offer !== YAML_TYPE).map((offer) => `${offer};stream=watch`);
}
