/**
 * Who one is to the server: the Authorization header of each request and the certificate of each connection. What can be renewed is renewed
 * when it has expired, and when the server refuses it; of several ways the first counts, as upstream has it.
 */
import { encodeBase64 } from "../../api/machinery/codec/base64.ts";
import { decodeText } from "../../api/machinery/codec/json.ts";
import type { Clock } from "../../base/clock.ts";
import type { ExecOptions, ExecOutcome } from "../../host/processes/exec-program.ts";
import type { ConnectionConfig, Source } from "./connection-config.ts";
import { ExecPlugin, type ExecCredentials } from "./exec-plugin.ts";
import { TokenFile } from "./token-file.ts";

export interface CertificateWithKey {
  readonly certificate: string;
  readonly key: string;
}

/** What one request was sent with. */
export interface Shown {
  readonly authorization?: string;
  /** Of a source, which is told if it was refused. */
  readonly token?: string;
  /** To know later whether it was these that were refused. */
  readonly exec?: ExecCredentials;
}

/** What to do after a refusal: nothing; send again; send again over new connections, since the certificate is another. */
export type AfterRefusal = "give-up" | "again" | "again-anew";

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
  /** What the last connection was made with. */
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

  /** Rejects with one sentence if there are none to be had. */
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

  /** For a connection that is made now. */
  async tls(): Promise<{ readonly authorities: string | undefined } & Partial<CertificateWithKey>> {
    const authorities = await this.#text(this.#connection.authority);
    this.#certificate = await this.#currentCertificate();
    return { authorities, ...this.#certificate };
  }

  async refused(shown: Shown): Promise<AfterRefusal> {
    const { tokenSource } = this.#connection.credentials ?? {};
    // It is told even if the certificate turns out to be the one that was not good enough.
    if (shown.token !== undefined) tokenSource?.refused(shown.token);
    const used = this.#certificate;
    const next = await this.#exec?.refused(shown.exec);
    const current = next === undefined ? await this.#currentCertificate() : next.certificate;
    if (current?.certificate !== used?.certificate || current?.key !== used?.key) return "again-anew";
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

/** Throws if it is no token: Node would only say that some header is wrong. */
function bearer(token: string): Shown {
  const problem = tokenProblem(token);
  if (problem !== undefined) throw new Error(problem);
  return { authorization: `Bearer ${token}` };
}

/** What cannot stand in a header: line breaks, other control characters, and letters beyond those of one byte. */
const NO_HEADER = /[^\t\x20-\x7e\x80-\xff]/;

/** Names the place and the character, and shows nothing of the rest: it is a secret. */
export function tokenProblem(token: string): string | undefined {
  const at = token.search(NO_HEADER);
  if (at < 0) return undefined;
  const code = (token.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `the token must be one line of letters, digits and signs, and character ${at + 1} is another (U+${code})`;
}

function sourceShown(token: string): Shown {
  return { token, ...bearer(token) };
}

function execShown(exec: ExecCredentials): Shown {
  return { exec, ...(exec.token === "" ? {} : bearer(exec.token)) };
}
