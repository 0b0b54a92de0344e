/**
 * Credentials: the Authorization header of each request and the client certificate of each connection. Renewable ones are renewed when they
 * expire and when the server rejects them; of several kinds the first counts, as upstream.
 */
import { tokenProblem } from "../kubeconfig/bearer-token.ts";
import { encodeBase64 } from "../../api/machinery/codec/base64.ts";
import { decodeText } from "../../api/machinery/codec/json.ts";
import type { Clock } from "../../base/clock.ts";
import type { ExecOptions, ExecOutcome } from "../../host/processes/exec-program.ts";
import type { ConnectionConfig, Source } from "../kubeconfig/connection-config.ts";
import { ExecPlugin, type ExecCredentials } from "./exec-plugin.ts";
import { TokenFile } from "./token-file.ts";

export interface CertificateWithKey {
  readonly certificate: string;
  readonly key: string;
}

/** The credentials of one request. */
export interface Shown {
  readonly authorization?: string;
  /** From a token source, which is informed if the token is rejected. */
  readonly token?: string;
  /** Identifies which credentials were rejected. */
  readonly exec?: ExecCredentials;
}

/** What to do after a 401: nothing; retry; retry over new connections, since the certificate changed. */
export type AfterRefusal = "give-up" | "again" | "again-reconnected";

export interface CredentialsOptions {
  readonly clock: Clock;
  readFile(path: string): Promise<Uint8Array>;
  run(options: ExecOptions): Promise<ExecOutcome>;
}

const NOTHING: Shown = {};

export class Credentials {
  readonly #connection: ConnectionConfig;
  readonly #options: CredentialsOptions;
  #fixed: Shown | undefined;
  readonly #tokenFile: TokenFile | undefined;
  readonly #exec: ExecPlugin | undefined;
  /** Credentials of the last connection. */
  #certificate: CertificateWithKey | undefined;

  constructor(connection: ConnectionConfig, options: CredentialsOptions) {
    this.#connection = connection;
    this.#options = options;
    const { tokenFile, token, basic, exec, certificate } = connection.credentials ?? {};
    const { clock, readFile } = options;
    if (tokenFile !== undefined) this.#tokenFile = new TokenFile({ path: tokenFile, fallback: token, clock, readFile });
    const hasOther = tokenFile !== undefined || token !== undefined || basic !== undefined || certificate !== undefined;
    if (exec !== undefined && !hasOther)
      this.#exec = new ExecPlugin(exec, connection, { clock, run: options.run, authority: () => this.#text(connection.authority) });
  }

  /** Rejects with one sentence if none exist. */
  show(): Shown | Promise<Shown> {
    const { tokenSource, token: fixedToken, basic } = this.#connection.credentials ?? {};
    if (tokenSource !== undefined) {
      const token = tokenSource.token();
      return typeof token === "string" ? sourceShown(token) : token.then(sourceShown);
    }
    if (this.#tokenFile !== undefined) {
      const token = this.#tokenFile.token();
      return typeof token === "string" ? bearer(token) : token.then(bearer);
    }
    if (this.#exec === undefined) return (this.#fixed ??= fixed(fixedToken, basic));
    const credentials = this.#exec.credentials();
    return credentials instanceof Promise ? credentials.then(execShown) : execShown(credentials);
  }

  /** For a connection that is being opened. */
  async tls(): Promise<{ readonly authorities: string | undefined } & Partial<CertificateWithKey>> {
    const authorities = await this.#text(this.#connection.authority);
    this.#certificate = await this.#currentCertificate();
    return { authorities, ...this.#certificate };
  }

  async refused(shown: Shown): Promise<AfterRefusal> {
    const { tokenSource } = this.#connection.credentials ?? {};
    // Informed even if the certificate turns out to be the one that was insufficient.
    if (shown.token !== undefined) tokenSource?.refused(shown.token);
    const used = this.#certificate;
    const next = await this.#exec?.refused(shown.exec);
    const current = next === undefined ? await this.#currentCertificate() : next.certificate;
    if (current?.certificate !== used?.certificate || current?.key !== used?.key) return "again-reconnected";
    if (next !== undefined) return next === shown.exec ? "give-up" : "again";
    if (tokenSource !== undefined) return (await tokenSource.token()) === shown.token ? "give-up" : "again";
    if (this.#tokenFile === undefined) return "give-up";
    return bearer(await this.#tokenFile.reread()).authorization === shown.authorization ? "give-up" : "again";
  }

  async #currentCertificate(): Promise<CertificateWithKey | undefined> {
    const configured = this.#connection.credentials?.certificate;
    if (configured !== undefined) {
      const [certificate = "", key = ""] = await Promise.all([this.#text(configured.certificate), this.#text(configured.key)]);
      return { certificate, key };
    }
    return (await this.#exec?.credentials())?.certificate;
  }

  async #text(source: Source | undefined): Promise<string | undefined> {
    if (source === undefined) return undefined;
    return "text" in source ? source.text : decodeText(await this.#options.readFile(source.file));
  }
}

function fixed(token: string | undefined, basic: { readonly username: string; readonly password: string } | undefined): Shown {
  if (token !== undefined) return bearer(token);
  if (basic === undefined) return NOTHING;
  const pair = new TextEncoder().encode(`${basic.username}:${basic.password}`);
  return { authorization: `Basic ${encodeBase64(pair)}` };
}

/** Throws if it is not a token: Node would only report an invalid header. */
function bearer(token: string): Shown {
  const problem = tokenProblem(token);
  if (problem !== undefined) throw new Error(problem);
  return { authorization: `Bearer ${token}` };
}

function sourceShown(token: string): Shown {
  return { token, ...bearer(token) };
}

function execShown(exec: ExecCredentials): Shown {
  return { exec, ...(exec.token === "" ? {} : bearer(exec.token)) };
}
