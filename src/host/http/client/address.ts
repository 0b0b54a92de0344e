/** Addresses of servers, in the forms of URLs and sockets. */

export interface Address {
  readonly host: string;
  readonly port: number;
}

export function formatAddress({ host, port }: Address): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** "[::1]" of a URL as a socket address. */
export function unbracketed(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}
