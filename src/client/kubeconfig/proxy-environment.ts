/**
 * Proxy selection by the environment, with Go's rules: HTTPS_PROXY or HTTP_PROXY by the server's scheme, and NO_PROXY with names, addresses
 * and networks that are reached directly. Loopback is never proxied.
 */
import { cidrContains, parseCidr, parseIp } from "../../api/machinery/ip/ip-address.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export function proxyFromEnvironment(server: string, environment: Environment): string | undefined {
  const url = new URL(server);
  const proxy = url.protocol === "https:" ? variable(environment, "HTTPS_PROXY") : variable(environment, "HTTP_PROXY");
  if (proxy === "" || isDirect(url, variable(environment, "NO_PROXY"))) return undefined;
  const withScheme = proxy.includes("://") ? proxy : `http://${proxy}`;
  return URL.canParse(withScheme) ? withScheme : undefined;
}

function variable(environment: Environment, name: string): string {
  return environment[name] || environment[name.toLowerCase()] || "";
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "https:": "443", "http:": "80" };

function isDirect(url: URL, exceptions: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const address = parseIp(host);
  const port = url.port || DEFAULT_PORTS[url.protocol];
  if (host === "localhost" || host === "::1" || (address !== undefined && host.startsWith("127."))) return true;
  return exceptions.split(",").some((text) => matches(text.trim().toLowerCase(), { host, port }));
}

function matches(exception: string, { host, port }: { readonly host: string; readonly port: string | undefined }): boolean {
  if (exception === "") return false;
  if (exception === "*") return true;
  const address = parseIp(host);
  const network = parseCidr(exception);
  if (network !== undefined) return address !== undefined && cidrContains(network, address);
  const { name, wantedPort } = withoutPort(exception);
  if (wantedPort !== undefined && wantedPort !== port) return false;
  if (parseIp(name) !== undefined) return name === host;
  // ".example.com" and "*.example.com" match subdomains, "example.com" also itself.
  const domain = name.replace(/^\*(?=\.)/, "");
  return domain.startsWith(".") ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
}

function withoutPort(exception: string): { readonly name: string; readonly wantedPort: string | undefined } {
  const bracketed = /^\[([^\]]*)\](?::(\d+))?$/.exec(exception);
  const parts = bracketed ?? /^([^:]*)(?::(\d+))?$/.exec(exception);
  return { name: parts?.[1] ?? exception, wantedPort: parts?.[2] };
}
