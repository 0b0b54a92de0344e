/**
 * Credentials from an exec plugin (client.authentication.k8s.io): run on first use, when they have expired and when the server rejected
 * them; once for all waiting requests. Its output is kept in memory only.
 */
import { encodeBase64 } from "../../api/machinery/codec/base64.ts";
import { parseJson, writeJson } from "../../api/machinery/codec/json.ts";
import type { Json } from "../../api/machinery/object.ts";
import { parseTime } from "../../api/machinery/time.ts";
import type { Clock } from "../../base/clock.ts";
import { hasTerminal, type ExecOptions, type ExecOutcome } from "../../host/processes/exec-program.ts";
import type { ConnectionConfig, ExecConfig } from "../kubeconfig/connection-config.ts";

/** A user may have to log in with a browser meanwhile. */
const INTERACTIVE_TIMEOUT_MS = 10 * 60_000;
const TIMEOUT_MS = 60_000;

const NOT_INSTALLED = `

It looks like you are trying to use a client-go credential plugin that is not installed.

To learn more about this feature, consult the documentation available at:
      https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins`;

export interface ExecCredentials {
  readonly token: string;
  readonly certificate?: { readonly certificate: string; readonly key: string };
  /** Milliseconds since the epoch; absent: valid until rejected. */
  readonly expiresMs?: number;
}

export interface ExecPluginOptions {
  readonly clock: Clock;
  readonly run: (options: ExecOptions) => Promise<ExecOutcome>;
  /** Trusted CA certificates, PEM, for plugins that request them. */
  readonly authority: () => Promise<string | undefined>;
}

export class ExecPlugin {
  readonly #exec: ExecConfig;
  readonly #connection: ConnectionConfig;
  readonly #options: ExecPluginOptions;
  #known: ExecCredentials | undefined;
  #running: Promise<ExecCredentials> | undefined;

  constructor(exec: ExecConfig, connection: ConnectionConfig, options: ExecPluginOptions) {
    this.#exec = exec;
    this.#connection = connection;
    this.#options = options;
  }

  /** Rejects with one sentence, in upstream's wording. */
  credentials(): ExecCredentials | Promise<ExecCredentials> {
    const known = this.#known;
    const isGood = known !== undefined && (known.expiresMs === undefined || this.#options.clock.now() <= known.expiresMs);
    return isGood ? known : this.#fetch();
  }

  /** Returns others than those that were rejected, unless another request has already renewed them. */
  async refused(was: ExecCredentials | undefined): Promise<ExecCredentials> {
    return was === undefined || this.#known !== was ? this.credentials() : this.#fetch();
  }

  #fetch(): Promise<ExecCredentials> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(): Promise<ExecCredentials> {
    const isInteractive = this.#isInteractive();
    const info = await this.#info(isInteractive);
    const outcome = await this.#options.run({
      command: this.#exec.command,
      arguments: this.#exec.arguments,
      environment: Object.fromEntries([...this.#exec.environment, ["KUBERNETES_EXEC_INFO", writeJson(info)]]),
      isInteractive,
      clock: this.#options.clock,
      timeoutMs: isInteractive ? INTERACTIVE_TIMEOUT_MS : TIMEOUT_MS,
    });
    this.#known = readCredentials(this.#outputOf(outcome), this.#exec.apiVersion);
    return this.#known;
  }

  #isInteractive(): boolean {
    const { interactiveMode } = this.#exec;
    if (interactiveMode === "Always" && !hasTerminal())
      throw new Error("exec plugin cannot support interactive mode: standard input is not a terminal");
    return interactiveMode !== "Never" && hasTerminal();
  }

  async #info(isInteractive: boolean): Promise<Json> {
    const { apiVersion, provideClusterInfo } = this.#exec;
    const cluster = provideClusterInfo ? { cluster: await this.#cluster() } : {};
    return { kind: "ExecCredential", apiVersion, spec: { ...cluster, interactive: isInteractive } };
  }

  async #cluster(): Promise<Json> {
    const { server, serverName, isInsecure, proxyUrl, disableCompression } = this.#connection;
    const authority = await this.#options.authority();
    const { clusterConfig } = this.#exec;
    return {
      server,
      ...(serverName === undefined ? {} : { "tls-server-name": serverName }),
      ...(isInsecure === true ? { "insecure-skip-tls-verify": true } : {}),
      ...(authority === undefined ? {} : { "certificate-authority-data": encodeBase64(new TextEncoder().encode(authority)) }),
      ...(proxyUrl === undefined ? {} : { "proxy-url": proxyUrl }),
      ...(disableCompression === true ? { "disable-compression": true } : {}),
      ...(clusterConfig === undefined ? {} : { config: clusterConfig }),
    };
  }

  #outputOf(outcome: ExecOutcome): Uint8Array {
    const { command, installHint } = this.#exec;
    switch (outcome.is) {
      case "missing":
        throw new Error(`exec: executable ${command} not found${NOT_INSTALLED}${installHint === undefined ? "" : `\n\n${installHint}`}`);
      case "failed":
        throw new Error(`exec: executable ${command} failed: ${outcome.why}`);
      case "ended":
        if (outcome.code !== 0) throw new Error(`exec: executable ${command} failed with exit code ${outcome.code}`);
        return outcome.output;
    }
  }
}

interface WireCredential {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly status?: {
    readonly token?: string;
    readonly clientCertificateData?: string;
    readonly clientKeyData?: string;
    readonly expirationTimestamp?: string;
  } | null;
}

/** Throws one sentence; never quotes the output, which may be a secret. */
function readCredentials(output: Uint8Array, wanted: string): ExecCredentials {
  const { apiVersion, kind, status } = parsed(output);
  if (kind !== "ExecCredential") throw new Error(`decoding stdout: no ExecCredential but ${JSON.stringify(kind ?? "")}`);
  if (apiVersion !== wanted)
    throw new Error(`exec plugin is configured to use API version ${wanted}, plugin returned version ${apiVersion ?? ""}`);
  if (status === undefined || status === null) throw new Error("exec plugin didn't return a status field");
  const [token, certificate, key] = [textOf(status, "token"), textOf(status, "clientCertificateData"), textOf(status, "clientKeyData")];
  const { expirationTimestamp } = status;
  if (token === "" && certificate === "" && key === "") throw new Error("exec plugin didn't return a token or cert/key pair");
  if ((certificate === "") !== (key === "")) throw new Error("exec plugin returned only certificate or key, not both");
  const expiresMs = expirationTimestamp === undefined || expirationTimestamp === null ? undefined : parseTime(expirationTimestamp);
  if (typeof expirationTimestamp === "string" && expiresMs === undefined)
    throw new Error(`decoding stdout: expirationTimestamp must be a time, is "${expirationTimestamp}"`);
  return {
    token,
    ...(certificate === "" ? {} : { certificate: { certificate, key } }),
    ...(expiresMs === undefined ? {} : { expiresMs }),
  };
}

/** "" if it is absent. */
function textOf(status: NonNullable<WireCredential["status"]>, name: "token" | "clientCertificateData" | "clientKeyData"): string {
  const value: unknown = status[name] ?? "";
  if (typeof value !== "string") throw new Error(`decoding stdout: ${name} must be a string, is a ${typeof value}`);
  return value;
}

function parsed(output: Uint8Array): WireCredential {
  let value: Json;
  try {
    value = parseJson(output, { duplicates: false }).value;
  } catch (error) {
    throw new Error("decoding stdout: it is not JSON", { cause: error });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("decoding stdout: it is not a JSON object");
  return value as WireCredential;
}
