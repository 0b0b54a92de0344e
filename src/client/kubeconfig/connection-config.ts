/** The configuration of a connection to one API server: address, server verification, credentials. Types only. */
import type { Json } from "../../api/machinery/object.ts";

/** A text, or the file that contains it; files are read on use, so that renewed content takes effect. */
export type Source = { readonly text: string } | { readonly file: string };

export interface ConnectionConfig {
  /** "https://127.0.0.1:6443", or with a path prefix: "https://host/k8s/clusters/one". */
  readonly server: string;
  /** Default namespace of commands. */
  readonly namespace: string;
  /** Trusted CA certificates, PEM; absent: the machine's. */
  readonly authority?: Source;
  /** Disables verification of the server certificate. */
  readonly isInsecure?: boolean;
  /** Name that the server certificate must have, if it is not that of its address. */
  readonly serverName?: string;
  /** http://, https:// or socks5://. */
  readonly proxyUrl?: string;
  /** Disables compression of responses. */
  readonly disableCompression?: boolean;
  readonly credentials?: CredentialsConfig;
  readonly impersonate?: Impersonation;
}

/** Source of tokens that change, for programs that obtain their own. */
export interface TokenSource {
  /** The current token. Rejects with one sentence if none exists. */
  token(): string | Promise<string>;
  /** The server rejected this token: the next one must differ. */
  refused(token: string): void;
}

/** A certificate may be combined with any of the others; of those, the first present counts: tokenSource, tokenFile, token, basic, exec. */
export interface CredentialsConfig {
  readonly tokenSource?: TokenSource;
  readonly certificate?: { readonly certificate: Source; readonly key: Source };
  /** Re-read as it rotates. While it is unreadable, `token` counts. */
  readonly tokenFile?: string;
  readonly token?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly exec?: ExecConfig;
}

/** Impersonates another user, if the server permits it. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** An exec credential plugin. */
export interface ExecConfig {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly environment: readonly (readonly [name: string, value: string])[];
  /** API version of client.authentication.k8s.io that it speaks. */
  readonly apiVersion: string;
  readonly interactiveMode: string;
  /** Shown if the program is not installed. */
  readonly installHint?: string;
  readonly provideClusterInfo: boolean;
  /** The cluster entry's extension for exec plugins. */
  readonly clusterConfig?: Json;
}
