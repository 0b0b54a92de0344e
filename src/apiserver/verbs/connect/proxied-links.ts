/**
 * Links and redirects of what stands behind a proxy, as the client must follow them: those that stay on the proxied host begin with the
 * path of the proxy, all others are left as they are. As upstream's proxy transport.
 */
import { tidyPath } from "./tidy-path.ts";

export interface ProxiedPlace {
  /** The proxied host, as links may name it: with its port and without. */
  readonly hosts: readonly string[];
  /** The host by which the client came: the Host header of its request. */
  readonly requestHost: string | undefined;
  /** The path of the proxy: "/api/v1/namespaces/x/pods/y/proxy". */
  readonly prefix: string;
}

/** Scheme, host, path, and query with fragment. */
const PARTS = /^(?<scheme>[a-z][a-z0-9+.-]*:)?(?<authority>\/\/(?<host>[^/?#]*))?(?<path>[^?#]*)(?<rest>.*)$/is;

/** Go's URL parser refuses these, and upstream leaves such links alone. */
const MALFORMED = /[^\x20-\x7e\x80-\uffff]|%(?![0-9a-f]{2})/i;

export function rewriteLink(link: string, { hosts, requestHost, prefix }: ProxiedPlace): string {
  if (MALFORMED.test(link)) return link;
  const { scheme = "", authority = "", host = "", path = "", rest = "" } = PARTS.exec(link)?.groups ?? {};
  const isDifferentHost = host !== "" && !hosts.includes(host) && host !== requestHost;
  if (isDifferentHost || !path.startsWith("/")) return link;
  const origin = host !== "" && host === requestHost ? `${scheme}${authority}` : "";
  return `${origin}${path.startsWith(prefix) ? path : `${prefix}${tidyPath(path)}`}${rest}`;
}
