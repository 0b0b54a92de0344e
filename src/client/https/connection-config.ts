/** What it takes to talk to one API server as somebody: where it is, how it proves itself, who one is. Types only. */
import type { Json } from "../../api/machinery/object.ts";

/** A text, or the file that holds it; files are read when they are needed, so that what was renewed in the meantime is used. */
export type Source = { readonly text: string } | { readonly file: string };

export interface ConnectionConfig {
  /** "https://127.0.0.1:6443", or with a path before all others: "https://host/k8s/clusters/one". */
  readonly server: string;
  /** Where a command looks that was told nothing else. */
  readonly namespace: string;
  /** PEM of whom to trust; absent: whom the machine trusts. */
  readonly authority?: Source;
  /** Takes whoever answers for the server. */
  readonly isInsecure?: boolean;
  /** The name that the server's certificate must have, if it is not that of its address. */
  readonly serverName?: string;
  /** http://, https:// or socks5://. */
  readonly proxyUrl?: string;
  /** Answers are not to be packed. */
  readonly disableCompression?: boolean;
  readonly credentials?: CredentialsConfig;
  readonly impersonate?: Impersonation;
}

/** Gives out tokens that change: of programs that ask for their own. */
export interface TokenSource {
  /** The one to show now. Rejects with one sentence if there is none to be had. */
  token(): string | Promise<string>;
  /** The server refused this one: the next must be another. */
  refused(token: string): void;
}

/** A certificate may be shown beside any of the others; of those, the first that is here counts: tokenSource, tokenFile, token, basic, exec. */
export interface CredentialsConfig {
  readonly tokenSource?: TokenSource;
  readonly certificate?: { readonly certificate: Source; readonly key: Source };
  /** Re-read as it rotates. As long as it cannot be read, `token` counts. */
  readonly tokenFile?: string;
  readonly token?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly exec?: ExecConfig;
}

/** Acts as somebody else, if the server lets one. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** A program that is asked for credentials. */
export interface ExecConfig {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly environment: readonly (readonly [name: string, value: string])[];
  /** In which version of client.authentication.k8s.io it is spoken to. */
  readonly apiVersion: string;
  readonly interactiveMode: string;
  /** Shown to who does not have the program. */
  readonly installHint?: string;
  readonly provideClusterInfo: boolean;
  /** What the cluster's entry keeps for such programs. */
  readonly clusterConfig?: Json;
}
