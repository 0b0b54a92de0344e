/** Proxy mode userspace in a process of its own inside the context's network namespace, for the traffic suite. */
import { spawn, type ChildProcess } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { AppliedChange, Applier, ProxyMode } from "../appliers/applier.ts";
import { userspace } from "../appliers/userspace/userspace.ts";
import type { UserspaceCommand } from "./userspace-agent.ts";

export const userspaceInNamespace: ProxyMode = {
  name: userspace.name,
  async open({ owner, podBridge, options, namespace }) {
    const process = new AgentProcess(namespace.name);
    await process.send({ do: "open", context: { owner, options, ...(podBridge === undefined ? {} : { podBridge }) } });
    return process;
  },
  cleanUp: (context) => userspace.cleanUp(context),
};

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

class AgentProcess implements Applier {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  #lastId = 0;

  constructor(namespaceName: string) {
    const agent = fileURLToPath(new URL(`./userspace-agent${extname(import.meta.url)}`, import.meta.url));
    this.#child = spawn("nsenter", [`--net=/run/netns/${namespaceName}`, "--", process.execPath, agent], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      serialization: "advanced",
    });
    this.#child.on("message", (message) => this.#receive(message as Answer));
    this.#child.on("exit", (code) => this.#fail(new Error(`The userspace proxy in ${namespaceName} exited with code ${code}`)));
  }

  send(command: UserspaceCommand): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, command });
    });
  }

  async apply(model: Parameters<Applier["apply"]>[0]): Promise<AppliedChange> {
    return (await this.send({ do: "apply", model })) as AppliedChange;
  }

  async isIntact(): Promise<boolean> {
    return (await this.send({ do: "isIntact" })) === true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = new Promise((resolve) => this.#child.once("exit", resolve));
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL");
    await exited;
  }

  #receive({ id, result, error }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(error));
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
