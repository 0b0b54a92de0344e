/**
 * A network namespace as a handle: commands run in it. A node on this machine may be in another namespace than this process, so whatever
 * configures links, routes or rules takes one of these instead of assuming its own. Sockets of a process are always in the process's own
 * namespace: components that listen run as a process inside the node's namespace.
 */
import { spawn } from "node:child_process";
import { readlinkSync } from "node:fs";
import { killWithParent } from "../processes/child-cleanup.ts";

/** More than the rules of a node with tens of thousands of Services. */
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;

export interface NetworkNamespace {
  /** "host", or the name of a namespace in /run/netns. */
  readonly name: string;
  /**
   * Runs a command to its end with `input` as its standard input. Resolves with its standard output; rejects with a CommandError unless it
   * exits with 0.
   */
  run(command: string, commandArguments: readonly string[], input?: string): Promise<string>;
}

/** A command that could not be started or failed. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  /** Absent: it could not be started, or a signal ended it. */
  readonly exitCode?: number;
  /** True if the program does not exist. */
  readonly isMissing: boolean;

  constructor(message: string, { exitCode, isMissing = false }: { readonly exitCode?: number; readonly isMissing?: boolean }) {
    super(message);
    this.isMissing = isMissing;
    if (exitCode !== undefined) this.exitCode = exitCode;
  }
}

/** Identifies the network namespace of a process: "net:[4026531840]". Undefined: unknown, or the process does not exist. */
export function networkNamespaceOf(pid: number | "self"): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return undefined;
  }
}

/** False if this process was started in another network namespace than the machine's services. */
export function isInMachineNamespace(): boolean {
  const [own, machine] = [networkNamespaceOf("self"), networkNamespaceOf(1)];
  return own === undefined || machine === undefined || own === machine;
}

/** The namespace of this process. */
export const ownNetworkNamespace: NetworkNamespace = { name: "host", run };

/** A namespace that `ip netns add` created. */
export function namedNetworkNamespace(name: string): NetworkNamespace {
  return {
    name,
    run: (command, commandArguments, input) => run("nsenter", [`--net=/run/netns/${name}`, "--", command, ...commandArguments], input),
  };
}

function run(command: string, commandArguments: readonly string[], input?: string): Promise<string> {
  const shown = `${command} ${commandArguments.join(" ")}`;
  return new Promise((resolve, reject) => {
    const child = spawn(command, commandArguments, { stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"] });
    killWithParent(child);
    const output: Buffer[] = [];
    const messages: Buffer[] = [];
    let sizeBytes = 0;
    const keep = (to: Buffer[]) => (piece: Buffer) => {
      sizeBytes += piece.length;
      if (sizeBytes <= OUTPUT_BYTES_MAX) to.push(piece);
      else child.kill("SIGKILL");
    };
    child.stdout?.on("data", keep(output));
    child.stderr?.on("data", keep(messages));
    child.once("error", (error: NodeJS.ErrnoException) =>
      reject(new CommandError(`Cannot run ${command}: ${error.message}`, { isMissing: error.code === "ENOENT" })),
    );
    child.once("close", (code, signal) => {
      if (code === 0) return resolve(Buffer.concat(output).toString());
      const how = signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
      const said = Buffer.concat(messages.length > 0 ? messages : output)
        .toString()
        .trim();
      reject(new CommandError(`Cannot run ${shown}: it ${how}: ${said}`, code === null ? {} : { exitCode: code }));
    });
    child.stdin?.on("error", () => {}); // It exited without reading all of it, which its exit code reports.
    child.stdin?.end(input);
  });
}
