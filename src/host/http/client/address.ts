/** Where a server is, in the forms that URLs and sockets have for it. */

export interface Address {
  readonly host: string;
  readonly port: number;
}

export function formatAddress({ host, port }: Address): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** "[::1]" of a URL as what one connects to. */
export function unbracketed(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}
