/**
 * A part of a benchmark that runs in its own process, so that garbage and compiled code of one subject do not affect another, and memory is
 * counted from a clean start. A child executes one task at a time and is idle in between. Not here: the child's side (serve.ts).
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { extname } from "node:path";

/** Tasks of a child by name. Input and result are passed as JSON. */
export type Tasks = Readonly<Record<string, (input: never) => Promise<unknown>>>;

export type Reply = { readonly result: unknown } | { readonly error: string };

export interface Child<T extends Tasks> extends AsyncDisposable {
  call<Name extends keyof T & string>(task: Name, input: Parameters<T[Name]>[0]): Promise<Awaited<ReturnType<T[Name]>>>;
}

export interface ChildOptions {
  /** Network namespace in which the process runs; default: that of this process. */
  readonly networkNamespace?: string;
  /** Half of V8's young generation in megabytes; default: V8's. A large one is not collected during a measurement of allocations. */
  readonly youngGenerationMb?: number;
  /** V8's limit of the heap in megabytes; default: V8's. */
  readonly heapMb?: number;
}

/**
 * Starts the module `name` beside the one whose `import.meta.url` is given. Abort and disposal kill it with SIGKILL; disposal waits until
 * it has exited.
 */
export function startChild<T extends Tasks>(besideUrl: string, name: string, signal: AbortSignal, options: ChildOptions = {}): Child<T> {
  const { networkNamespace, youngGenerationMb, heapMb } = options;
  // Lets it collect garbage before a measurement instead of during it.
  const sizes = [
    ...(youngGenerationMb === undefined ? [] : [`--max-semi-space-size=${youngGenerationMb}`]),
    ...(heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`]),
  ];
  const nodeArguments = [...process.execArgv, "--expose-gc", ...sizes];
  const child = fork(new URL(`./${name}${extname(besideUrl)}`, besideUrl), {
    // A child's output is not a figure.
    stdio: ["ignore", 2, 2, "ipc"],
    ...(networkNamespace === undefined
      ? { execArgv: nodeArguments }
      : { execPath: "nsenter", execArgv: [`--net=/run/netns/${networkNamespace}`, "--", process.execPath, ...nodeArguments] }),
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

/** Calls to a child that has exited reject with its exit status. */
function exitOf(child: ChildProcess): Promise<Reply> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ error: `its process ended with ${signal ?? code}` }));
    // Also emitted when a child is asked to end, before it has exited.
    child.on("error", (error) => void (child.pid === undefined && resolve({ error: error.message })));
  });
}
