/**
 * CRI calls over one channel, which reconnects by itself. Every failure is a RuntimeError with upstream's message, as users know it from
 * events: "rpc error: code = NotFound desc = …". Nothing is retried here.
 */
import type { Clock } from "../../../base/clock.ts";
import { decode, encode, type Decoded, type Encodable } from "../../../base/protobuf/messages.ts";
import { GrpcError, openGrpcChannel, type GrpcChannel, type GrpcCode } from "../../../host/grpc/channel.ts";
import { RuntimeError, type RuntimeErrorReason, type RuntimeObserver } from "../../contracts/runtime.ts";
import type { CriMethod } from "./messages/common.ts";

export interface CriCallOptions {
  /** Added to the method's own timeout. */
  readonly extraMs?: number;
  readonly signal?: AbortSignal | undefined;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface CriStreamHandlers<M extends CriMethod> {
  message(message: Decoded<M["response"]>): void;
  /** Called once, last. */
  ended(error: RuntimeError | undefined): void;
}

export interface CriClientOptions {
  readonly clock: Clock;
  /** Absent: calls are not counted. */
  readonly observer?: RuntimeObserver | undefined;
}

export class CriClient implements Disposable {
  readonly endpoint: string;
  readonly #channel: GrpcChannel;
  readonly #clock: Clock;
  readonly #observer: RuntimeObserver | undefined;

  constructor(endpoint: string, channel: GrpcChannel, { clock, observer }: CriClientOptions) {
    this.endpoint = endpoint;
    this.#channel = channel;
    this.#clock = clock;
    this.#observer = observer;
  }

  async call<M extends CriMethod>(
    method: M,
    request: Encodable<M["request"]>,
    { extraMs = 0, signal, metadata }: CriCallOptions = {},
  ): Promise<Decoded<M["response"]>> {
    const bytes = encode(method.request, request);
    const startedAtMs = this.#clock.monotonic();
    let isFailed = true;
    try {
      const answer = await this.#channel.call(method.path, bytes, { timeoutMs: method.timeoutMs + extraMs, signal, metadata });
      const decoded = decode<M["response"]>(method.response, answer);
      isFailed = false;
      return decoded;
    } catch (error) {
      throw runtimeError(error);
    } finally {
      const operation = operationOf(method);
      if (operation !== undefined) this.#observer?.called({ operation, durationMs: this.#clock.monotonic() - startedAtMs, isFailed });
    }
  }

  /** Opens a server stream; it ends by itself or when the returned function cancels it. */
  stream<M extends CriMethod>(method: M, request: Encodable<M["request"]>, handlers: CriStreamHandlers<M>): () => void {
    const stream = this.#channel.stream(
      method.path,
      {},
      {
        message: (bytes) => handlers.message(decode<M["response"]>(method.response, bytes)),
        ended: (error) => handlers.ended(error === undefined ? undefined : runtimeError(error)),
      },
    );
    stream.send(encode(method.request, request));
    stream.end();
    return () => stream.cancel();
  }

  [Symbol.dispose](): void {
    this.#channel.close();
  }
}

/** "unix:///run/x.sock", or the path alone. */
export async function openCriClient(endpoint: string, clock: Clock, observer?: RuntimeObserver): Promise<CriClient> {
  return new CriClient(endpoint, await openGrpcChannel({ host: socketPath(endpoint), port: 0, clock }), { clock, observer });
}

const CRI_PATH = /^\/runtime\.v1\.\w+\/(?<name>\w+)$/;

/** "/runtime.v1.RuntimeService/ListPodSandbox" is "list_podsandbox" in upstream's metrics. Undefined for methods outside the CRI. */
export function operationOf({ path }: Pick<CriMethod, "path">): string | undefined {
  const name = CRI_PATH.exec(path)?.groups?.["name"];
  if (name === "UpdateContainerResources") return "update_container";
  return name
    ?.replace("PodSandbox", "Podsandbox")
    .replace(/(?<=.)[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase();
}

function socketPath(endpoint: string): string {
  const path = endpoint.replace(/^unix:(?:\/\/)?(?=\/)/, "");
  if (path.startsWith("/")) return path;
  throw new Error(
    `Cannot use the container runtime at "${endpoint}": it must be a Unix socket, such as unix:///run/containerd/containerd.sock`,
  );
}

const REASONS: Readonly<Partial<Record<GrpcCode, RuntimeErrorReason>>> = {
  NOT_FOUND: "NotFound",
  UNAVAILABLE: "Unavailable",
  DEADLINE_EXCEEDED: "Unavailable",
};
/** Error text of containerd while it starts; it has no code of its own. */
const STARTING = "server is not initialized yet";

function reasonOf({ code, details }: GrpcError): RuntimeErrorReason {
  return details.includes(STARTING) ? "Unavailable" : (REASONS[code] ?? "CannotRun");
}

export class CriError extends RuntimeError {
  readonly code: GrpcCode;
  /** The runtime's own message. Upstream reports it alone for containers. */
  readonly details: string;

  constructor(error: GrpcError) {
    super(reasonOf(error), `rpc error: code = ${goName(error.code)} desc = ${error.details}`, { cause: error });
    this.code = error.code;
    this.details = error.details;
  }
}

function runtimeError(error: unknown): RuntimeError {
  if (error instanceof GrpcError) return new CriError(error);
  return new RuntimeError("CannotRun", error instanceof Error ? error.message : String(error), { cause: error });
}

/** With the runtime's own message alone. */
export function withRuntimeMessage(error: unknown): unknown {
  return error instanceof CriError ? new RuntimeError(error.reason, error.details, { cause: error }) : error;
}

export function isNotFound(error: unknown): boolean {
  return error instanceof RuntimeError && error.reason === "NotFound";
}

export function isAlreadyExists(error: unknown): boolean {
  return error instanceof CriError && error.code === "ALREADY_EXISTS";
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof RuntimeError && error.reason === "Unavailable";
}

export function isUnimplemented(error: unknown): boolean {
  return error instanceof CriError && error.code === "UNIMPLEMENTED";
}

/** Status codes as Go prints them: "NotFound", "DeadlineExceeded". */
function goName(code: GrpcCode): string {
  if (code === "CANCELLED") return "Canceled";
  return code.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
