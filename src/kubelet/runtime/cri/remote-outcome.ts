/** Exit status of a command, as a runtime's streaming server reports it at the end of v4.channel.k8s.io: a Status. */
import { RuntimeError } from "../../contracts/runtime.ts";

/** Prefixes of upstream's error message, which the kubelet's own answer to the client repeats. */
const INTERNAL_ERROR = "Internal error occurred: ";

/** Throws a RuntimeError for everything but an exit code. */
export function exitCodeOf(outcome: string): number {
  if (outcome === "")
    throw new RuntimeError("Unavailable", "The container runtime closed the connection without reporting the exit status of the command");
  const { status, reason, message, details } = statusOf(outcome);
  if (status === "Success") return 0;
  if (status !== "Failure") throw new RuntimeError("CannotRun", "error stream protocol error: unknown error");
  if (reason !== "NonZeroExitCode") throw new RuntimeError("CannotRun", withoutPrefix(typeof message === "string" ? message : ""));
  const causes = Array.isArray(details?.causes) ? (details.causes as readonly unknown[]) : [];
  const cause = causes.map((each) => Object(each) as StatusCause).find((each) => each.reason === "ExitCode");
  if (cause === undefined) throw new RuntimeError("CannotRun", "error stream protocol error: no ExitCode cause given");
  const code = String(cause.message);
  if (!/^\d{1,3}$/.test(code) || Number(code) > 255)
    throw new RuntimeError("CannotRun", `error stream protocol error: invalid exit code value ${JSON.stringify(code)}`);
  return Number(code);
}

interface RemoteStatus {
  readonly status?: unknown;
  readonly reason?: unknown;
  readonly message?: unknown;
  readonly details?: { readonly causes?: unknown };
}

interface StatusCause {
  readonly reason?: unknown;
  readonly message?: unknown;
}

function statusOf(outcome: string): RemoteStatus {
  try {
    return Object(JSON.parse(outcome)) as RemoteStatus;
  } catch (error) {
    throw new RuntimeError("CannotRun", `error stream protocol error: ${String(error)} in ${JSON.stringify(outcome)}`, { cause: error });
  }
}

function withoutPrefix(message: string): string {
  return message.startsWith(INTERNAL_ERROR) ? message.slice(INTERNAL_ERROR.length) : message;
}
