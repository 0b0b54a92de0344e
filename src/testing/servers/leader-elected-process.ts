/**
 * `k8ts controller-manager` or `k8ts scheduler` as a user starts it, in a process of its own, which can be stopped, frozen and killed. It
 * prints when it becomes the leader and when it is on standby; tests wait for these lines. Not here: the API server that it connects to
 * (api-server.ts, api-server-process.ts).
 */
import { startProgram, type Program } from "../../host/processes/child-process.ts";
import { LAUNCHER } from "./launcher.ts";

export interface LeaderElectedProcessOptions {
  readonly kubeconfig: string;
  /** Further command-line flags. */
  readonly flags: readonly string[];
}

export interface LeaderElectedProcess extends AsyncDisposable {
  readonly program: Program;
  /** Resolves when it has become the leader, possibly before this call; once for each time that it does. */
  becomesLeader(): Promise<void>;
  /** Resolves when it has stopped leading; once for each time. */
  losesLeadership(): Promise<void>;
  /** Returns its metrics, which it serves between two steps of its work. */
  metrics(): Promise<string>;
  /** Returns another of its debug endpoints: "/debug/k8ts/decisions?pod=default/web". */
  page(path: string): Promise<string>;
}

/** The command, and the first word of the line that it prints when it joins the election. */
export type LeaderElectedCommand =
  | { readonly command: "controller-manager"; readonly says: "controllers" }
  | { readonly command: "scheduler"; readonly says: "scheduler" };

const METRICS_AT = "metrics at ";

/** Resolves when it has joined the election. Disposing of it sends SIGKILL. */
export async function startLeaderElectedProcess(
  { command, says }: LeaderElectedCommand,
  options: LeaderElectedProcessOptions,
): Promise<LeaderElectedProcess> {
  const said = new Lines();
  const words = [LAUNCHER, command, `--kubeconfig=${options.kubeconfig}`, "--metrics-address=127.0.0.1:0"];
  const program = await startProgram({ command: process.execPath, arguments: [...words, ...options.flags], onLine: said.push });
  const hears = (beginning: string): Promise<string> =>
    Promise.race([
      said.next(beginning),
      program.exited.then((): never => {
        const last = program.output.slice(-5).join("\n");
        throw new Error(`Expected k8ts ${command} to say "${beginning}", it ended: ${last}`);
      }),
    ]);
  const metricsUrl = (await hears(METRICS_AT)).slice(METRICS_AT.length);
  await hears(`${says} for `);
  return {
    program,
    becomesLeader: async () => void (await hears("active as ")),
    losesLeadership: async () => void (await hears("on standby")),
    metrics: () => read(metricsUrl),
    page: (path) => read(new URL(path, metricsUrl)),
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}

/** Over a new connection: a persistent one may be closed by the server just as it is reused. */
async function read(url: string | URL): Promise<string> {
  return (await fetch(url, { headers: { connection: "close" } })).text();
}

/** Output of a program, consumed once from the first line to the last. */
class Lines {
  #unread: string[] = [];
  #look = (): void => undefined;

  readonly push = (line: string): void => {
    this.#unread.push(line);
    this.#look();
  };

  /** Returns the next line with this prefix as soon as it is printed; lines before it are skipped. */
  next(beginning: string): Promise<string> {
    return new Promise((resolve) => {
      this.#look = () => {
        const place = this.#unread.findIndex((line) => line.startsWith(beginning));
        const found = this.#unread[place];
        if (found === undefined) return;
        this.#unread = this.#unread.slice(place + 1);
        resolve(found);
      };
      this.#look();
    });
  }
}
