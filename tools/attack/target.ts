/**
 * The attacked server: `k8ts apiserver` in its own process on loopback, with an embedded store in a temporary directory, an administrator,
 * and users with the permissions of every authenticated user.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { startProgram } from "../../src/host/processes/child-process.ts";
import { freePort } from "../../src/testing/servers/free-ports.ts";
import { packageDirectory } from "../../src/testing/package-directory.ts";

/** Authenticated by token, without roles. */
const USERS = ["mallory", "trudy", "alice", "bob"] as const;

export type UserName = (typeof USERS)[number];

export interface Credentials {
  readonly certificate: string;
  readonly key: string;
}

export interface Reply {
  readonly code: number;
  readonly body: string;
}

export interface RequestOptions {
  readonly method?: string;
  readonly path: string;
  /** Undefined: without credentials. */
  readonly as?: UserName | "administrator";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface Target extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** PEM. */
  readonly authority: string;
  readonly administrator: Credentials;
  tokenOf(user: UserName): string;
  /** Sends one request on a new connection. */
  request(options: RequestOptions): Promise<Reply>;
  /** Resident memory of the API server's process. */
  residentBytes(): Promise<number>;
  /** Last log lines of the API server. */
  readonly output: readonly string[];
}

const HOST = "127.0.0.1";

export async function startTarget(flags: readonly string[] = []): Promise<Target> {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-attack-"));
  const port = await freePort();
  const tokens = join(directory, "tokens.csv");
  await writeFile(tokens, USERS.map((user) => `${tokenOf(user)},${user},${user}\n`).join(""), { mode: 0o600 });
  const kubeconfig = join(directory, "kubeconfig");
  const { listening, onLine } = listeningLine();
  const launcher = join(packageDirectory(import.meta.dirname), "out/src/main/launcher.js");
  const program = await startProgram({
    command: process.execPath,
    arguments: [
      ...[launcher, "apiserver", `--secure-port=${port}`, `--bind-address=${HOST}`, `--token-auth-file=${tokens}`],
      ...[`--kubeconfig=${kubeconfig}`, `--cert-dir=${join(directory, "pki")}`, `--data-dir=${join(directory, "data")}`],
      ...flags,
    ],
    onLine,
  });
  const ended = program.exited.then((): never => {
    throw new Error(`The API server exited: ${program.output.slice(-5).join("\n")}`);
  });
  await Promise.race([listening, ended]);
  ended.catch(() => undefined);
  const access = await readAccess(kubeconfig);
  return {
    ...access,
    host: HOST,
    port,
    tokenOf,
    request: (options) => requestOnce({ port, ...access }, options),
    residentBytes: () => residentBytes(program.pid),
    get output() {
      return program.output;
    },
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function tokenOf(user: UserName): string {
  return `token-of-${user}`;
}

function listeningLine(): { readonly listening: Promise<void>; onLine(line: string): void } {
  let resolve: () => void = () => undefined;
  const listening = new Promise<void>((done) => (resolve = done));
  return { listening, onLine: (line) => line.startsWith("listening on ") && resolve() };
}

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { readonly "certificate-authority-data": string } }];
  readonly users: readonly [{ readonly user: { readonly "client-certificate-data": string; readonly "client-key-data": string } }];
}

/** The kubeconfig of `k8ts apiserver` is written as JSON. */
async function readAccess(kubeconfig: string): Promise<Pick<Target, "authority" | "administrator">> {
  const { clusters, users } = JSON.parse(await readFile(kubeconfig, "utf8")) as Kubeconfig;
  const decode = (data: string) => Buffer.from(data, "base64").toString();
  const { "client-certificate-data": certificate, "client-key-data": key } = users[0].user;
  return {
    authority: decode(clusters[0].cluster["certificate-authority-data"]),
    administrator: { certificate: decode(certificate), key: decode(key) },
  };
}

async function requestOnce(
  { port, authority, administrator }: Pick<Target, "port" | "authority" | "administrator">,
  { method = "GET", path, as, headers = {}, body }: RequestOptions,
): Promise<Reply> {
  const certificate = as === "administrator" ? { cert: administrator.certificate, key: administrator.key } : {};
  const authorization = as === undefined || as === "administrator" ? {} : { authorization: `Bearer ${tokenOf(as)}` };
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      { host: HOST, port, path, method, ca: authority, agent: false, headers: { ...authorization, ...headers }, ...certificate },
      (response) => {
        buffer(response).then((bytes) => resolve({ code: response.statusCode ?? 0, body: bytes.toString() }), reject);
      },
    );
    request.on("error", reject).end(body);
  });
}

async function residentBytes(pid: number): Promise<number> {
  const [, resident = "0"] = (await readFile(`/proc/${pid}/statm`, "utf8")).split(" ");
  return Number(resident) * PAGE_BYTES;
}

const PAGE_BYTES = 4096;
