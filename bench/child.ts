/**
 * The part of a benchmark that runs in a process of its own, so that neither the garbage nor the compiled code of one subject
 * touches another, and memory is counted from a clean start. A child carries out one task at a time and is idle in between.
 * Not here: the child's side (serve.ts).
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { extname } from "node:path";

/** What a child can be asked for, by name. Input and result cross as JSON. */
export type Tasks = Readonly<Record<string, (input: never) => Promise<unknown>>>;

export type Reply = { readonly result: unknown } | { readonly error: string };

export interface Child<T extends Tasks> extends AsyncDisposable {
  call<Name extends keyof T & string>(task: Name, input: Parameters<T[Name]>[0]): Promise<Awaited<ReturnType<T[Name]>>>;
}

/**
 * Starts the module `name` beside the one whose `import.meta.url` is given. Aborting ends it with SIGKILL, and disposing of it
 * too, and waits until it is gone.
 */
export function startChild<T extends Tasks>(besideUrl: string, name: string, signal: AbortSignal): Child<T> {
  const child = fork(new URL(`./${name}${extname(besideUrl)}`, besideUrl), {
    // What a child prints is not a figure.
    stdio: ["ignore", 2, 2, "ipc"],
    // Lets it collect its garbage before, and not while, something is measured.
    execArgv: [...process.execArgv, "--expose-gc"],
    signal,
    killSignal: "SIGKILL",
  });
  const exited = exitOf(child);
  return {
    async call(task, input) {
      child.send({ task, input });
      const reply = await Promise.race([once(child, "message").then(([message]) => message as Reply), exited]);
      if ("error" in reply) throw new Error(`Cannot measure ${name} (${task}): ${reply.error}`);
      return reply.result as never;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** A child that is gone answers every question with that. */
function exitOf(child: ChildProcess): Promise<Reply> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ error: `its process ended with ${signal ?? code}` }));
    // Also comes when a child is told to end, which then still has to.
    child.on("error", (error) => void (child.pid === undefined && resolve({ error: error.message })));
  });
}
