/**
 * `k8ts controller-manager` or `k8ts scheduler` as a user starts it, in a process of its own, which can be stopped, frozen and killed. It
 * says when it acts and when it stands by; that is waited for here. Not here: the API server that it speaks to (api-server.ts,
 * api-server-process.ts).
 */
import { join } from "node:path";
import { startProgram, type Program } from "../../host/processes/child-process.ts";

export interface LedProcessOptions {
  readonly kubeconfig: string;
  /** Whatever else is to be said on the command line. */
  readonly flags: readonly string[];
}

export interface LedProcess extends AsyncDisposable {
  readonly program: Program;
  /** Resolves when it has begun to act, be it before this call; once for each time that it does. */
  acts(): Promise<void>;
  /** Resolves when it acted and does no more; once for each time. */
  standsBy(): Promise<void>;
  /** What its page of figures shows, which it answers between two things that it does. */
  figures(): Promise<string>;
  /** What another of its pages answers: "/debug/k8ts/decisions?pod=default/web". */
  page(path: string): Promise<string>;
}

/** The command, and the first word of its line when it stands in the election. */
export type LedCommandName =
  | { readonly command: "controller-manager"; readonly says: "controllers" }
  | { readonly command: "scheduler"; readonly says: "scheduler" };

const LAUNCHER = join(import.meta.dirname, "..", "..", "main", "launcher.js");
const FIGURES_AT = "metrics at ";

/** Resolves when it stands in the election. Disposing of it ends it with SIGKILL. */
export async function startLedProcess({ command, says }: LedCommandName, options: LedProcessOptions): Promise<LedProcess> {
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
  const figuresUrl = (await hears(FIGURES_AT)).slice(FIGURES_AT.length);
  await hears(`${says} for `);
  return {
    program,
    acts: async () => void (await hears("active as ")),
    standsBy: async () => void (await hears("on standby")),
    figures: () => read(figuresUrl),
    page: (path) => read(new URL(path, figuresUrl)),
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}

/** Over a connection of its own: one that is kept may be closed by the other side in the moment in which it is used again. */
async function read(url: string | URL): Promise<string> {
  return (await fetch(url, { headers: { connection: "close" } })).text();
}

/** What a program said, to be gone through once, from the first line to the last. */
class Lines {
  #unread: string[] = [];
  #look = (): void => undefined;

  readonly push = (line: string): void => {
    this.#unread.push(line);
    this.#look();
  };

  /** The next line that begins so, as soon as it is there; those before it are left behind. */
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
