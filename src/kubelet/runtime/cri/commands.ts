/**
 * Commands in containers and connections into Pods. The runtime returns a URL for each, which serves the streams (streaming.ts); probe
 * commands need no streams and are one call.
 */
import type { ByteStream } from "../../../base/byte-stream.ts";
import { RuntimeError, type ExecResult, type ExecStreams } from "../../contracts/runtime.ts";
import { attach, CONTAINER_RUNNING, exec, execSync, portForward } from "./messages/container.ts";
import { CriError, withRuntimeMessage, type CriClient } from "./cri-client.ts";
import type { PodViews } from "./pod-views.ts";
import { SANDBOX_READY } from "./messages/sandbox.ts";
import { streamAttach, streamExec, streamPortForward } from "./streaming.ts";

/** Maximum output of a probe command; the rest is dropped. */
const OUTPUT_BYTES_MAX = 16 * 1024;
/** For a command without a timeout: longer than any, and still finite. */
const ALL_THE_TIME_MS = 24 * 3_600_000;

export class Commands {
  readonly #client: CriClient;
  readonly #views: PodViews;

  constructor(client: CriClient, views: PodViews) {
    this.#client = client;
    this.#views = views;
  }

  async exec(id: string, command: readonly string[], streams: ExecStreams, signal: AbortSignal): Promise<number> {
    await this.#mustRun(id);
    const tty = streams.tty === true;
    const request = { id, command, tty, stdin: streams.input !== undefined, stdout: true, stderr: !tty };
    const { url } = await this.#client.call(exec, request, { signal }).catch(throwRuntimeMessage);
    return streamExec(url, streams, signal);
  }

  async attach(id: string, streams: ExecStreams, signal: AbortSignal): Promise<void> {
    await this.#mustRun(id);
    const tty = streams.tty === true;
    const request = { id, tty, stdin: streams.input !== undefined, stdout: true, stderr: !tty };
    const { url } = await this.#client.call(attach, request, { signal }).catch(throwRuntimeMessage);
    await streamAttach(url, streams, signal);
  }

  async portForward(podUid: string, port: number, stream: ByteStream, signal: AbortSignal): Promise<void> {
    const [sandbox] = await this.#views.sandboxes(podUid);
    if (sandbox?.state !== SANDBOX_READY)
      throw new RuntimeError("NotFound", `Cannot connect to port ${port}: Pod ${podUid} has no sandbox`);
    const { url } = await this.#client.call(portForward, { sandboxId: sandbox.id, ports: [port] }, { signal }).catch(throwRuntimeMessage);
    await streamPortForward(url, port, stream, signal);
  }

  async execSync(id: string, command: readonly string[], timeoutMs: number): Promise<ExecResult> {
    const timeoutSeconds = Math.ceil(timeoutMs / 1000);
    try {
      const extraMs = timeoutMs === 0 ? ALL_THE_TIME_MS : timeoutMs;
      const { stdout, stderr, exitCode } = await this.#client.call(execSync, { id, command, timeoutSeconds }, { extraMs });
      return { exitCode, output: beginningOf(stdout, stderr) };
    } catch (error) {
      if (error instanceof CriError && error.code === "DEADLINE_EXCEEDED") return { exitCode: undefined, output: new Uint8Array(0) };
      throw error;
    }
  }

  /** The runtime would return a URL and fail only there. */
  async #mustRun(id: string): Promise<void> {
    const status = await this.#views.containerStatus(id);
    if (status === undefined) throw new RuntimeError("NotFound", `Cannot connect to container ${id}: it does not exist`);
    if (status.state !== CONTAINER_RUNNING) throw new RuntimeError("CannotRun", `Cannot connect to container ${id}: it is not running`);
  }
}

function throwRuntimeMessage(error: unknown): never {
  throw withRuntimeMessage(error);
}

function beginningOf(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let length = 0;
  for (const part of parts) {
    all.set(part, length);
    length += part.length;
  }
  return all.subarray(0, OUTPUT_BYTES_MAX);
}
