/**
 * Rewrites links and redirects of a proxied backend: those on the proxied host get the path of the proxy as prefix, all others are kept. As
 * upstream's proxy transport.
 */
import { tidyPath } from "./tidy-path.ts";

export interface ProxiedPlace {
  /** The proxied host as links may name it: with and without its port. */
  readonly hosts: readonly string[];
  /** The Host header of the client's request. */
  readonly requestHost: string | undefined;
  /** The path of the proxy: "/api/v1/namespaces/x/pods/y/proxy". */
  readonly prefix: string;
}

/** Scheme, host, path, and query with fragment. */
const PARTS = /^(?<scheme>[a-z][a-z0-9+.-]*:)?(?<authority>\/\/(?<host>[^/?#]*))?(?<path>[^?#]*)(?<rest>.*)$/is;

/** Go's URL parser rejects these, and upstream keeps such links. */
const MALFORMED = /[^\x20-\x7e\x80-\uffff]|%(?![0-9a-f]{2})/i;

export function rewriteLink(link: string, { hosts, requestHost, prefix }: ProxiedPlace): string {
  if (MALFORMED.test(link)) return link;
  const { scheme = "", authority = "", host = "", path = "", rest = "" } = PARTS.exec(link)?.groups ?? {};
  const isDifferentHost = host !== "" && !hosts.includes(host) && host !== requestHost;
  if (isDifferentHost || !path.startsWith("/")) return link;
  const origin = host !== "" && host === requestHost ? `${scheme}${authority}` : "";
  return `${origin}${path.startsWith(prefix) ? path : `${prefix}${tidyPath(path)}`}${rest}`;
}
