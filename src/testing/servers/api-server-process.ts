/**
 * An API server in a process of its own, which can be killed at any time and restarted on its data directory: the program as a user starts
 * it, accessed over HTTPS with its kubeconfig. It logs at the most verbose level (--verbose), and a secret in its log is an error
 * (planted-secrets.ts). Not here: one in the test's own process (api-server.ts).
 */
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { startProgram, type Program } from "../../host/processes/child-process.ts";
import { freePort } from "./free-ports.ts";
import { plant, PLANTED_TOKENS, watchedLog } from "../fixtures/planted-secrets.ts";
import { LAUNCHER } from "./launcher.ts";

export interface ApiServerProcessOptions {
  /** Holds its certificates and kubeconfig, which the next start reuses. */
  readonly directory: string;
  /** Command-line flags: the store, the ranges and others. */
  readonly flags: readonly string[];
}

export interface Answer {
  readonly code: number;
  readonly body: string;
}

/** One persistent connection; a request rejects while the server is down. */
export interface HttpsClient extends Disposable {
  ask(method: string, path: string, body?: object): Promise<Answer>;
  /** The lines of a streaming response. */
  stream(path: string): AsyncIterable<string>;
}

const LISTENING = "listening on ";

export class ApiServerProcess implements AsyncDisposable {
  readonly #options: ApiServerProcessOptions;
  readonly #watched = watchedLog();
  #program: Program | undefined;
  #port: number | undefined;
  #access: Access | undefined;

  constructor(options: ApiServerProcessOptions) {
    this.#options = options;
  }

  /** Resolves when it listens, each time on the same port. */
  async start(): Promise<void> {
    const { directory, flags } = this.#options;
    const kubeconfig = join(directory, "kubeconfig");
    const tokens = join(directory, "tokens");
    await writeFile(tokens, PLANTED_TOKENS, { mode: 0o600 });
    const files = [`--kubeconfig=${kubeconfig}`, `--cert-dir=${join(directory, "pki")}`, `--token-auth-file=${tokens}`];
    this.#port ??= await freePort();
    let onListening: () => void = () => undefined;
    const listening = new Promise<void>((resolve) => (onListening = resolve));
    const program = await startProgram({
      command: process.execPath,
      arguments: [LAUNCHER, "apiserver", "--verbose", `--secure-port=${this.#port}`, ...files, ...flags],
      onLine: (line) => {
        this.#watched.see(line);
        if (line.startsWith(LISTENING)) onListening();
      },
    });
    this.#program = program;
    const failed = program.exited.then(({ code, signal }): never => {
      throw new Error(`Cannot start an API server: it exited with ${code ?? signal}: ${program.output.slice(-5).join("\n")}`);
    });
    await Promise.race([listening, failed]);
    failed.catch(() => undefined);
    this.#access = await readAccess(kubeconfig);
    using client = this.client();
    await plant(client.ask);
  }

  /** SIGKILL; resolves when it has exited. Rejects if its log contained a secret. */
  async kill(): Promise<void> {
    await this.#program?.[Symbol.asyncDispose]();
    this.#watched.check();
  }

  /** 0: it was not started. */
  get pid(): number {
    return this.#program?.pid ?? 0;
  }

  /** SIGTERM; resolves with its exit code. */
  async stop(): Promise<number | null> {
    this.#program?.signal("SIGTERM");
    return (await this.#program?.exited)?.code ?? null;
  }

  /** The last lines of its log. */
  get output(): readonly string[] {
    return this.#program?.output ?? [];
  }

  client(): HttpsClient {
    if (this.#access === undefined) throw new Error("Cannot send a request to an API server that was not started");
    return clientOf(this.#access);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}

interface Access {
  readonly url: string;
  readonly authority: Buffer;
  readonly certificate: Buffer;
  readonly key: Buffer;
}

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { readonly server: string; readonly "certificate-authority-data": string } }];
  readonly users: readonly [{ readonly user: { readonly "client-certificate-data": string; readonly "client-key-data": string } }];
}

/** k8ts writes its kubeconfig as JSON, which is also YAML. */
async function readAccess(kubeconfig: string): Promise<Access> {
  const { clusters, users } = JSON.parse(await readFile(kubeconfig, "utf8")) as Kubeconfig;
  const { server: url, "certificate-authority-data": authority } = clusters[0].cluster;
  const { "client-certificate-data": certificate, "client-key-data": key } = users[0].user;
  const [ca, cert, secret] = [authority, certificate, key].map((data) => Buffer.from(data, "base64")) as [Buffer, Buffer, Buffer];
  return { url, authority: ca, certificate: cert, key: secret };
}

function clientOf({ url, authority: ca, certificate: cert, key }: Access): HttpsClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = async (method: string, path: string, body: object | undefined, more: { readonly agent: Agent | false }) => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const headers = { "content-type": type };
    const asked = request(`${url}${path}`, { method, ca, cert, key, headers, ...more });
    asked.end(body === undefined ? undefined : JSON.stringify(body));
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    return answer;
  };
  return {
    async ask(method, path, body) {
      const answer = await send(method, path, body, { agent });
      return { code: answer.statusCode ?? 0, body: await text(answer) };
    },
    async *stream(path) {
      let rest = "";
      for await (const piece of (await send("GET", path, undefined, { agent: false })).setEncoding("utf8")) {
        const lines = (rest + String(piece)).split("\n");
        rest = lines.pop() ?? "";
        yield* lines;
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}
