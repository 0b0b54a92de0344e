/**
 * Settings of a route from annotations of its Ingress, `ingress.k8ts.io/…`, and the protocol from the Service's port. A value that is not
 * valid is reported and its default applies. Pure. docs/ingress.md has the table.
 */
import type { ProxyProtocol } from "../../host/http/proxy/contract.ts";
import { durationToMs, parseDuration } from "../../api/machinery/duration.ts";
import { parseQuantity, quantityToNumber } from "../../api/machinery/quantity.ts";
import type { Problem, RouteSettings } from "../model.ts";

export const ANNOTATION_PREFIX = "ingress.k8ts.io/";

const CONNECT_TIMEOUT_MS = 5_000;
/** As nginx. */
const RESPONSE_TIMEOUT_MS = 60_000;
/** Long enough for WebSockets and event streams without keepalive messages. */
const IDLE_TIMEOUT_MS = 3_600_000;
/** A longer timeout would outlive every deployment. */
const TIMEOUT_MAX_MS = 24 * 3_600_000;
/** Two more endpoints after the first. */
const RETRIES_DEFAULT = 2;
const RETRIES_MAX = 10;
/** Requests that a client may send at once, as a multiple of its rate; as ingress-nginx. */
const BURST_FACTOR = 5;
const RATE_MAX = 1_000_000;

const PROTOCOLS: Readonly<Record<string, ProxyProtocol>> = { HTTP: "http", HTTPS: "https", H2C: "h2c", GRPC: "h2c" };

/** Values of a Service port's appProtocol that select a protocol; all others are HTTP/1.1. */
const APP_PROTOCOLS: Readonly<Record<string, ProxyProtocol>> = { "kubernetes.io/h2c": "h2c", grpc: "h2c", https: "https", HTTPS: "https" };

export const DEFAULT_SETTINGS: RouteSettings = {
  protocol: "http",
  connectTimeoutMs: CONNECT_TIMEOUT_MS,
  responseTimeoutMs: RESPONSE_TIMEOUT_MS,
  idleTimeoutMs: IDLE_TIMEOUT_MS,
  bodyBytesMax: 0,
  attemptsMax: 1 + RETRIES_DEFAULT,
  rewritePath: undefined,
  rateLimit: undefined,
  stickyCookie: undefined,
  sslRedirect: undefined,
};

type Values = Partial<RouteSettings> & { readonly rate?: number; readonly burst?: number };

/** Returns the expected value if `text` is not valid. */
type Parser = (text: string) => Values | string;

const PARSERS: Readonly<Record<string, Parser>> = {
  "backend-protocol": (text) => oneOf(PROTOCOLS, text, (protocol) => ({ protocol })),
  "connect-timeout": duration((connectTimeoutMs) => ({ connectTimeoutMs })),
  "response-timeout": duration((responseTimeoutMs) => ({ responseTimeoutMs })),
  "idle-timeout": duration((idleTimeoutMs) => ({ idleTimeoutMs })),
  "max-body-size": bodySize,
  retries: integer(0, RETRIES_MAX, (retries) => ({ attemptsMax: 1 + retries })),
  "rewrite-path": (text) => (/^\/[^\s?#]*$/.test(text) ? { rewritePath: text } : "a path that begins with a slash, without query"),
  "rate-limit": integer(1, RATE_MAX, (rate) => ({ rate })),
  "rate-limit-burst": integer(1, RATE_MAX, (burst) => ({ burst })),
  "sticky-cookie": (text) =>
    /^[A-Za-z0-9_.-]{1,64}$/.test(text) ? { stickyCookie: text } : "the name of a cookie: letters, digits, _ . -",
  "ssl-redirect": (text) => oneOf({ true: true, false: false }, text, (sslRedirect) => ({ sslRedirect })),
};

export interface ParsedAnnotations {
  /** The protocol is absent unless it is set. */
  readonly settings: RouteSettings;
  readonly hasProtocol: boolean;
  readonly problems: readonly Problem[];
}

export function parseAnnotations(annotations: Readonly<Record<string, string>> = {}): ParsedAnnotations {
  const problems: Problem[] = [];
  let values: Values = {};
  for (const [key, text] of Object.entries(annotations)) {
    if (!key.startsWith(ANNOTATION_PREFIX)) continue;
    const name = key.slice(ANNOTATION_PREFIX.length);
    const parser = Object.hasOwn(PARSERS, name) ? PARSERS[name] : undefined;
    const parsed = parser === undefined ? `no annotation of this name; known are ${Object.keys(PARSERS).join(", ")}` : parser(text);
    if (typeof parsed === "string") problems.push(invalid(key, text, parsed));
    else values = { ...values, ...parsed };
  }
  const { rate, burst, ...given } = values;
  const rateLimit = rate === undefined ? undefined : { perSecond: rate, burst: burst ?? rate * BURST_FACTOR };
  return { settings: { ...DEFAULT_SETTINGS, ...given, rateLimit }, hasProtocol: given.protocol !== undefined, problems };
}

/** An annotation wins over the Service. */
export function settingsFor({ settings, hasProtocol }: ParsedAnnotations, appProtocol: string | undefined): RouteSettings {
  const protocol =
    hasProtocol || appProtocol === undefined
      ? undefined
      : Object.hasOwn(APP_PROTOCOLS, appProtocol)
        ? APP_PROTOCOLS[appProtocol]
        : undefined;
  return protocol === undefined ? settings : { ...settings, protocol };
}

/** Annotations come from users: what is quoted is bounded. */
const QUOTED_LENGTH_MAX = 100;

function invalid(key: string, text: string, expected: string): Problem {
  const quoted = JSON.stringify(text.slice(0, QUOTED_LENGTH_MAX));
  return { reason: "InvalidAnnotation", message: `Annotation ${key} is ignored: expected ${expected}, got ${quoted}` };
}

function oneOf<T>(choices: Readonly<Record<string, T>>, text: string, values: (choice: T) => Values): Values | string {
  const choice = Object.hasOwn(choices, text) ? choices[text] : undefined;
  return choice === undefined ? Object.keys(choices).join(" or ") : values(choice);
}

function integer(min: number, max: number, values: (value: number) => Values): Parser {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    return value < min || value > max ? `an integer from ${min} to ${max}` : values(value);
  };
}

function duration(values: (durationMs: number) => Values): Parser {
  return (text) => {
    try {
      const durationMs = durationToMs(parseDuration(text));
      if (durationMs >= 1 && durationMs <= TIMEOUT_MAX_MS) return values(durationMs);
    } catch {
      // Not a duration.
    }
    return 'a duration from 1ms to 24h such as "30s"';
  };
}

function bodySize(text: string): Values | string {
  try {
    const bytes = quantityToNumber(parseQuantity(text));
    if (Number.isSafeInteger(bytes) && bytes >= 0) return { bodyBytesMax: bytes };
  } catch {
    // Not a quantity.
  }
  return 'a size such as "8Mi", or "0" for no limit';
}
